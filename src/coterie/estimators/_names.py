"""Readable names for aggregates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from coterie.values import IntArray

# Names longer than this are shortened: runs of a series first, then the rest by number.
READABLE = 60


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
    if len(", ".join(spelled)) > READABLE:
        spelled = _shortened(members, names)
    return f"{word}({', '.join(spelled)})"


def _shortened(members: IntArray, names: Sequence[str]) -> list[str]:
    """Runs of a series as 'first to last', as many as are readable."""
    runs = list(_runs(members.tolist(), names))
    parts = [_spelled(run, names) for run in runs]
    if len(", ".join(parts)) <= READABLE:
        return parts
    shown = max(1, len(parts) - 1)
    while shown > 1 and len(", ".join(parts[:shown])) > READABLE:
        shown -= 1
    more = sum(map(len, runs[shown:]))
    return [*parts[:shown], f"... {more} more"] if more else parts


def _spelled(run: Sequence[int], names: Sequence[str]) -> str:
    if len(run) > 2:
        return f"{names[run[0]]} to {names[run[-1]]}"
    return ", ".join(names[member] for member in run)


def _runs(members: Sequence[int], names: Sequence[str]) -> Iterable[list[int]]:
    """Members that are next to each other and differ only in a number, together.

    'nm_850 to nm_928' says what is meant; 'age to income' would not.
    """

    def series(place: tuple[int, int]) -> tuple[int, str]:
        position, member = place
        return member - position, re.sub(r"\d+(\.\d+)?", "#", names[member])

    for _, run in groupby(enumerate(members), key=series):
        yield [member for _, member in run]


def made_unique(names: Sequence[str]) -> list[str]:
    """The names, with a number after each that stands more than once.

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
