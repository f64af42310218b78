"""What a search asks, whom it may ask, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from coterie.values import Decision, IntArray, Partition, Trace, Verdict, trace_of

State = TypeVar("State")


class Question(Protocol[State]):
    """May these candidates join this group? The state of a group is the question's own."""

    @property
    def n_features(self) -> int:
        """Number of features to be grouped."""

    def alone(self, feature: int) -> State:
        """The group of one feature."""

    def joined(self, group: State, feature: int) -> State:
        """The group with one feature more."""

    def judge(self, group: State, candidates: IntArray) -> Verdict:
        """The verdict on each candidate, as if it were the only one."""


@dataclass(frozen=True)
class Limits:
    """Who may be asked at all, whatever the price.

    Parameters
    ----------
    neighbours : csr_array of shape (n_features, n_features) or None
        A candidate must touch a member of the group: an entry that is not zero, either way.
    max_group_size : int or None
    """

    neighbours: sparse.csr_array | None = None
    max_group_size: int | None = None

    def full(self, size: int) -> bool:
        """Whether a group of this size may take nobody more."""
        return self.max_group_size is not None and size >= self.max_group_size

    def reordered(self, order: IntArray) -> Limits:
        """The same limits for features numbered in another order."""
        graph = self.neighbours
        return self if graph is None else Limits(graph[order][:, order], self.max_group_size)


NO_LIMITS = Limits()


class Group:
    """A group while it grows: its members, its state, and whom it touches."""

    def __init__(self, question: Question[Any], limits: Limits, seed: int) -> None:
        self._question, self._limits = question, limits
        self.seed = seed
        self.members = [seed]
        self.state = question.alone(seed)
        self._touched = np.zeros(question.n_features, dtype=bool)
        self._touch(seed)

    def _touch(self, feature: int) -> None:
        graph = self._limits.neighbours
        if graph is not None:
            self._touched[graph.indices[graph.indptr[feature] : graph.indptr[feature + 1]]] = True

    def join(self, feature: int) -> None:
        """Take in one feature."""
        self.members.append(feature)
        self.state = self._question.joined(self.state, feature)
        self._touch(feature)

    def reachable(self, candidates: IntArray) -> IntArray:
        """The candidates who may be asked at all."""
        if self._limits.full(len(self.members)):
            return candidates[:0]
        if self._limits.neighbours is None:
            return candidates
        return candidates[self._touched[candidates]]

    def judge(self, candidates: IntArray) -> Verdict:
        """The verdict on each candidate."""
        return self._question.judge(self.state, candidates)


def outcome(groups: list[list[int]], decisions: list[Decision]) -> tuple[Partition, Trace]:
    """Partition into these groups, and the trace of these decisions."""
    partition = Partition.of(groups)
    return partition, trace_of(decisions, partition)
