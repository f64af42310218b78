"""The shortest time of something, on its own or in turns with other things."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(run: Callable[[], object], *, repeats: int = 5, at_most: float = 20.0) -> float:
    """Shortest time of a few runs; fewer if they are long."""
    return interleaved({"": run}, repeats=repeats, at_most=at_most)[""]


def interleaved(
    runs: dict[str, Callable[[], object]], *, repeats: int = 5, at_most: float = 20.0
) -> dict[str, float]:
    """Shortest time of each of several runs that take turns, so that all see the same machine."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            if sum(times[name]) < at_most:
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}
