"""Refuse to measure on a machine where others are at work: --busy goes on with a warning."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure import IDLE, load_now


def refuse_unless_idle(is_busy_allowed: bool) -> float:
    """The share of the processors that others take; ends the program if that is too much."""
    load = load_now()
    if load > IDLE:
        words = f"Others take {load:.0%} of the processors, at most {IDLE:.0%} are allowed."
        if not is_busy_allowed:
            sys.exit(f"{words} Wait until the machine is idle, or add BUSY=1 to make.")
        print(f"{words} The figures are preliminary.", flush=True)
    return load


if __name__ == "__main__":
    refuse_unless_idle("--busy" in sys.argv)
