"""Readable names for aggregates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from coterie._core.values import IntArray

# Longer names are shortened: first to 'first to last' for runs, then with '... 7 more'.
MAX_NAME_LENGTH = 60


def aggregate_name(word: str, members: IntArray, names: Sequence[str]) -> str:
    """A name such as ``mean(a, b, c)`` for the aggregate of some features.

    Examples
    --------
    >>> import numpy as np
    >>> names = [f"nm_{w}" for w in range(850, 1050, 2)]
    >>> aggregate_name("mean", np.array([0, 1]), names)
    'mean(nm_850, nm_852)'
    >>> aggregate_name("mean", np.r_[0:40, 60], names)
    'mean(nm_850 to nm_928, nm_970)'
    >>> aggregate_name("mean", np.arange(0, 100, 2), names)
    'mean(nm_850, nm_854, nm_858, nm_862, nm_866, nm_870, nm_874, ... 43 more)'
    """
    spelled = [names[m] for m in members]
    if len(", ".join(spelled)) > MAX_NAME_LENGTH:
        spelled = _shortened(members, names)
    return f"{word}({', '.join(spelled)})"


def _shortened(members: IntArray, names: Sequence[str]) -> list[str]:
    """Runs of names as 'first to last', and the number of those that are not shown."""
    runs = list(_runs(members.tolist(), names))
    parts = [_spelled([_abridged(names[member]) for member in run]) for run in runs]
    shown = len(parts)
    while shown > 1 and len(", ".join(parts[:shown])) > MAX_NAME_LENGTH:
        shown -= 1
    more = sum(map(len, runs[shown:]))
    return [*parts[:shown], f"... {more} more"] if more else parts


def _spelled(run: Sequence[str]) -> str:
    return f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run)


def _abridged(name: str) -> str:
    """A name without its middle, if it is long."""
    half = MAX_NAME_LENGTH // 3
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:half]}...{name[-half:]}"


def _runs(members: Sequence[int], names: Sequence[str]) -> Iterable[list[int]]:
    """Runs of adjacent members whose names contain a number that grows by a constant step.

    'nm_850 to nm_928' is clear; 'age to income' or 'site_7 to site_3' would not be.
    """
    run, pace = [members[0]], None
    for member in members[1:]:
        step = _step(names[run[-1]], names[member]) if member == run[-1] + 1 else None
        if step is None or (len(run) > 1 and step != pace):
            yield run
            run = []
        run.append(member)
        pace = step
    yield run


def _step(name: str, following: str) -> tuple[int, Decimal] | None:
    """The position of the number that grows from one name to the next, and the step.

    None if the names differ in any other way.
    """
    number = r"\d+(?:\.\d+)?"
    if re.sub(number, "#", name) != re.sub(number, "#", following):
        return None
    numbers = zip(re.findall(number, name), re.findall(number, following), strict=True)
    steps = [(place, Decimal(b) - Decimal(a)) for place, (a, b) in enumerate(numbers) if a != b]
    return steps[0] if len(steps) == 1 and steps[0][1] > 0 else None


def checked_names(given: Any, seen: Any, n_features: int) -> list[str]:
    """Names of features: as seen in fit, else as given, else x0, x1, ..."""
    if given is None:
        return list(seen) if seen is not None else [f"x{j}" for j in range(n_features)]
    given = np.array([str(name) for name in given], dtype=object)
    if seen is not None and not np.array_equal(given, seen):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(given) != n_features:
        raise ValueError(
            f"input_features should have length equal to {n_features}, got {len(given)}."
        )
    return list(given)


def made_unique(names: Sequence[str]) -> list[str]:
    """The names, with a number added to each that occurs more than once.

    Examples
    --------
    >>> made_unique(["a", "b", "a"])
    ['a#1', 'b', 'a#2']
    """
    repeats = Counter(names)
    taken, unique = set(names), []
    numbers: Counter[str] = Counter()
    for name in names:
        fresh = name
        while repeats[name] > 1 and fresh in taken:
            numbers[name] += 1
            fresh = f"{name}#{numbers[name]}"
        taken.add(fresh)
        unique.append(fresh)
    return unique
