"""A partition into a given number of groups: bisects the tolerance, then merges groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from coterie._core.criteria import Criterion
from coterie._core.fit._groupable import Groupable, MergeQuestion
from coterie._core.fit._spec import TrainingData
from coterie._core.must_link import MustLink
from coterie._core.search import SEARCHES, Limits, Reach
from coterie._core.values import TRACE_DTYPE, FloatArray, IntArray, Partition, SearchResult, Trace

# Bisection steps in the range from LOWEST_TOLERANCE to 1, on a logarithmic scale.
N_HALVINGS = 40
LOWEST_TOLERANCE = 1e-12


class Sized(NamedTuple):
    """The result of a search, and the tolerance that led to it."""

    found: SearchResult
    tolerance: float

    @property
    def partition(self) -> Partition:
        """The groups."""
        return self.found.partition


def of_size(
    n_groups: int,
    groupable: Groupable,
    data: TrainingData,
    criterion_of: Callable[[float], Criterion],
) -> Sized:
    """The partition into `n_groups` groups.

    A larger tolerance gives fewer groups, but not every number of groups has a tolerance. If it
    has none, the next larger number is taken and groups are merged, the cheapest pair first.

    Parameters
    ----------
    n_groups : int
    groupable : Groupable
    data : TrainingData
        The data that `groupable` was made from.
    criterion_of : callable
        Returns the criterion at a tolerance.
    """

    def with_tolerance(tolerance: float) -> Sized:
        return Sized(groupable.by(criterion_of(tolerance)), tolerance)

    best = with_tolerance(-np.inf)
    if len(best.partition.groups) < n_groups:
        raise ValueError(
            f"n_groups must be {len(best.partition.groups)} or less, the number of inputs (or of "
            f"groups to begin with), got {n_groups}."
        )
    low, high = np.log(LOWEST_TOLERANCE) - 1, 0.0
    for _ in range(N_HALVINGS):
        if len(best.partition.groups) == n_groups:
            return best
        middle = (low + high) / 2
        tried = with_tolerance(float(np.exp(middle)))
        if len(tried.partition.groups) < n_groups:
            high = middle
        else:
            low = middle
            if len(tried.partition.groups) < len(best.partition.groups):
                best = tried
    return _merged(best, n_groups, data, criterion_of(0.0))


def _merged(sized: Sized, n_groups: int, data: TrainingData, criterion: Criterion) -> Sized:
    """Merge the cheapest pair of groups until `n_groups` are left."""
    if data.unmergeable is not None:
        raise ValueError(
            f"No tolerance gives n_groups={n_groups} with {data.unmergeable}; complete columns "
            "with aggregation='mean' or 'sum' can have any number."
        )
    while len(sized.partition.groups) > n_groups:
        before = sized.partition
        units = MustLink(before.groups, before.signs)
        pairs = data.groupable(SEARCHES["restart"], units)
        opened, joined, price = _cheapest_pair(pairs, n_groups, criterion)
        together = Partition.of(
            [
                *(g for k, g in enumerate(before.groups) if k not in (opened, joined)),
                np.concatenate([before.groups[opened], before.groups[joined]]),
            ]
        )
        signs = _signs_of_both(before, pairs, opened, joined)
        now = together.labels[[group[0] for group in before.groups]]
        last = (now[opened], units.firsts[joined], price)
        found = SearchResult(
            Partition(together.groups, signs).oriented(),
            _traced(sized.found.trace, now, last),
            np.bincount(now, sized.found.n_refused).astype(np.intp),
        )
        sized = Sized(found, sized.tolerance)
    return sized


def _signs_of_both(
    before: Partition, pairs: Groupable, opened: int, joined: int
) -> FloatArray | None:
    """The signs after a merge of two groups, -1 if the groups are negatively correlated."""
    if before.signs is None:
        return None
    signs, both = before.signs.copy(), pairs.signs_in_turn(np.array([opened, joined]))
    for group, sign in zip((opened, joined), both, strict=True):
        signs[before.groups[group]] *= sign
    return signs


def _cheapest_pair(pairs: Groupable, n_groups: int, criterion: Criterion) -> tuple[int, int, float]:
    """The two groups whose merge has the lowest price, and the price."""
    everyone = np.arange(pairs.evidence.n_features)
    price = MergeQuestion(pairs.evidence, criterion).judge_singles(everyone, everyone).price
    may_join = _may_join(pairs.limits, len(everyone))
    if not may_join.any():
        raise ValueError(
            f"n_groups={n_groups} cannot be reached: with the other limits, {len(everyone)} groups "
            "are left at least."
        )
    opened, joined = np.unravel_index(np.where(may_join, price, np.inf).argmin(), price.shape)
    return int(opened), int(joined), float(price[opened, joined])


def _may_join(limits: Limits, n_units: int) -> FloatArray:
    everyone = np.arange(n_units)
    may_join = np.zeros((n_units, n_units), dtype=bool)
    for unit in everyone:
        reach = Reach(limits, n_units, int(unit))
        may_join[unit, reach.among(everyone)] = True
    np.fill_diagonal(may_join, False)
    return may_join


def _traced(trace: Trace, now: IntArray, last: tuple[int, int, float]) -> Trace:
    """The trace with new group numbers and one more merge, whose allowance is infinite."""
    record = np.array([(*last, np.inf, True)], dtype=TRACE_DTYPE)
    renumbered = trace.copy()
    renumbered.group = now[trace.group]
    return np.concatenate([renumbered, record]).view(np.recarray)
