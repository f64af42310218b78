"""The long hunt: ``PYTHONPATH=tests python -m hunt --minutes 10``, or ``make hunt``."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
import time
from importlib.util import find_spec
from typing import Any

from hunt.laws import LAWS, frames_of_spark_give_the_same_fit
from hunt.running import FAILURES, Tally
from hunt.trials import Law

# A frame of Spark takes a second: one in so many rounds.
SPARK_EVERY = 20


def main(arguments: list[str] | None = None) -> int:
    """Hunt, tell what was tried, and give 1 if a law was broken."""
    asked = _asked(arguments)
    laws = {name: law for name, law in _laws().items() if asked.law in name}
    if not laws:
        print(f"No law has {asked.law!r} in its name. There are:", *_laws(), sep="\n  ")
        return 2
    print(f"{len(laws)} laws, seeds from {asked.seed} on, {asked.minutes:g} minutes", flush=True)
    begin = time.monotonic()
    tally = _hunted(laws, asked, begin + 60 * asked.minutes)
    print(*tally.lines(), sep="\n")
    n, minutes = sum(tally.tried.values()), (time.monotonic() - begin) / 60
    broken = len({failure.law for failure in tally.failures})
    skipped = [name for name in laws if tally.skips_too_many(name)]
    print(f"\n{n:,} tries in {minutes:.1f} minutes: {broken} laws broken", end="")
    print(f", {len(skipped)} skipped too often: {', '.join(skipped)}" if skipped else "")
    return int(bool(broken or skipped))


def _asked(arguments: list[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="python -m hunt", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--cases", type=int, default=None, help="how many seeds, at most")
    parser.add_argument("--law", default="", help="only laws with this in their name")
    return parser.parse_args(arguments)


def _laws() -> dict[str, Law]:
    """All laws; that of Spark where there is one, now and then."""
    has_spark = find_spec("pyspark") and (shutil.which("java") or "JAVA_HOME" in os.environ)
    if not has_spark:
        return LAWS
    law = frames_of_spark_give_the_same_fit
    return {**LAWS, law.__name__.replace("_", " "): law}


def _hunted(laws: dict[str, Law], asked: Any, until: float) -> Tally:
    """Try all laws with one seed after the other until the clock says so."""
    tally = Tally()
    turns = itertools.count() if asked.cases is None else range(asked.cases)
    try:
        for turn in turns:
            for name, law in laws.items():
                if time.monotonic() > until:
                    return tally
                is_rare = law is frames_of_spark_give_the_same_fit and turn % SPARK_EVERY
                if is_rare or tally.failed(name) == FAILURES:
                    continue
                if failure := tally.run(name, law, asked.seed + turn):
                    print(failure, "", sep="\n", flush=True)
    except KeyboardInterrupt:
        print("Stopped.")
    return tally


if __name__ == "__main__":
    sys.exit(main())
