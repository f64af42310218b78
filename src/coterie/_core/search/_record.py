"""What a search keeps of its decisions: all merges, the refusals that are watched, and counts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from coterie._core.values import (
    BoolArray,
    Decision,
    IntArray,
    Partition,
    SearchResult,
    Verdict,
    trace_of,
)


class Record:
    """The decisions of a search so far.

    Parameters
    ----------
    n_features : int
    watched : ndarray of bool, shape (n_features,), or None
        The features whose refusals are kept, as in :class:`Limits`; None: those of all.
    """

    def __init__(self, n_features: int, watched: BoolArray | None) -> None:
        self._watched = watched
        self._decisions: list[Decision] = []
        self._n_refused: IntArray = np.zeros(n_features, dtype=np.intp)

    def add(self, decision: Decision, n_forgotten: int = 0) -> None:
        """Add a decision, and refusals of the same group that only count."""
        n_refused = len(decision.accepted) - np.count_nonzero(decision.accepted)
        self._n_refused[decision.seed] += n_refused + n_forgotten
        if n_refused and self._watched is not None:
            decision = _of_candidates(
                decision, decision.accepted | self._watched[decision.candidates]
            )
        if len(decision.candidates):
            self._decisions.append(decision)

    def result(self, groups: Iterable[ArrayLike]) -> SearchResult:
        """The result of the search that led to these groups."""
        partition = Partition.of(groups)
        # Each refusal counts for the feature that opened the group.
        n_refused = [int(self._n_refused[members].sum()) for members in partition.groups]
        return SearchResult(
            partition, trace_of(self._decisions, partition), np.array(n_refused, dtype=np.intp)
        )


def outcome(groups: Iterable[ArrayLike], decisions: Iterable[Decision]) -> SearchResult:
    """The partition into these groups, and the trace of these decisions.

    Parameters
    ----------
    groups : iterable of array-like
        The members of each group.
    decisions : iterable of Decision
        The decisions of a search, in their order.

    Returns
    -------
    SearchResult
        The partition, its trace and the numbers of refusals.

    Examples
    --------
    >>> from coterie.extending import Decision, Verdict, outcome
    >>> verdict = Verdict(np.array([0.01, 0.2]), np.array([0.05, 0.05]))
    >>> decision = Decision(0, np.array([1, 2]), verdict, verdict.accepts)
    >>> found = outcome([[0, 1], [2]], [decision])
    >>> found.trace.candidate, found.n_refused
    (array([1, 2], dtype=int32), array([1, 0]))
    """
    members = [np.asarray(group, dtype=np.intp) for group in groups]
    record = Record(sum(len(group) for group in members), None)
    for decision in decisions:
        record.add(decision)
    return record.result(members)


def merges_and_watched(found: SearchResult, watched: BoolArray | None) -> SearchResult:
    """The result without the refusals that nobody watches."""
    if watched is None:
        return found
    trace = found.trace
    return found._replace(trace=trace[trace.accepted | watched[trace.candidate]])


def _of_candidates(decision: Decision, kept: BoolArray) -> Decision:
    price, allowance = decision.verdict
    return Decision(
        decision.seed,
        decision.candidates[kept],
        Verdict(price[kept], allowance[kept]),
        decision.accepted[kept],
    )
