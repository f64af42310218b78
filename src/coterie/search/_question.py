"""What a search asks, whom it may ask, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from coterie.values import Decision, IntArray, Partition, Trace, Verdict, trace_of

State = TypeVar("State")


class Question(Protocol[State]):
    """May these candidates join this group? The state of a group is the question's own.

    A search may ask about several groups at once, where it can foresee them. It is free not
    to, and no decision depends on it.
    """

    @property
    def n_features(self) -> int:
        """Number of features to be grouped."""

    @property
    def foresight(self) -> int:
        """How many groups at once are worth asking about."""

    def alone(self, feature: int) -> State:
        """The group of one feature."""

    def joined(self, group: State, features: IntArray) -> State:
        """The group with some features more."""

    def judge(self, group: State, candidates: IntArray) -> Verdict:
        """The verdict on each candidate, as if it were the only one: (m,)."""

    def judge_along(self, group: State, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts after each of k links has joined in turn: (k, m)."""

    def judge_in_turn(self, group: State, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdict on each candidate once the links before it have joined: (m,)."""

    def judge_singles(self, features: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts for joining each of k features alone: (k, m)."""


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

    def reordered(self, order: IntArray) -> Limits:
        """The same limits for features numbered in another order."""
        graph = self.neighbours
        return self if graph is None else Limits(graph[order][:, order], self.max_group_size)

    def neighbours_of(self, feature: int) -> IntArray:
        """The features that touch one feature, where there are neighbours at all."""
        graph = self.neighbours
        assert graph is not None
        touching = slice(graph.indptr[feature], graph.indptr[feature + 1])
        return graph.indices[touching].astype(np.intp, copy=False)


NO_LIMITS = Limits()


class Group:
    """A group while it grows: its members, its state, and whom it touches."""

    def __init__(self, question: Question[Any], limits: Limits, seed: int) -> None:
        self._question, self._limits = question, limits
        self._touched = np.zeros(question.n_features, dtype=bool)
        self.seed = seed
        self.members: list[int] = []
        self.state = question.alone(seed)
        self._count_in(np.array([seed]))

    def _count_in(self, features: IntArray) -> None:
        self.members += features.tolist()
        if self._limits.neighbours is not None:
            for feature in features.tolist():
                self._touched[self._limits.neighbours_of(feature)] = True

    def join(self, features: IntArray) -> None:
        """Take in some features."""
        self.state = self._question.joined(self.state, features)
        self._count_in(features)

    @property
    def foresight(self) -> int:
        """How many merges may be foreseen: with neighbours, each changes who may be asked."""
        return min(
            self.room, 1 if self._limits.neighbours is not None else self._question.foresight
        )

    @property
    def room(self) -> int:
        """How many members more it may have."""
        most = self._limits.max_group_size
        return self._question.n_features if most is None else most - len(self.members)

    def reachable(self, candidates: IntArray) -> IntArray:
        """The candidates who may be asked at all."""
        if self.room <= 0:
            return candidates[:0]
        if self._limits.neighbours is None:
            return candidates
        return candidates[self._touched[candidates]]

    def judge(self, candidates: IntArray) -> Verdict:
        """The verdict on each candidate."""
        return self._question.judge(self.state, candidates)

    def judge_along(self, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate after each link has joined in turn."""
        return self._question.judge_along(self.state, links, candidates)

    def judge_in_turn(self, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdict on each candidate once the links before it have joined."""
        return self._question.judge_in_turn(self.state, links, candidates)


def outcome(groups: Iterable[ArrayLike], decisions: list[Decision]) -> tuple[Partition, Trace]:
    """Partition into these groups, and the trace of these decisions."""
    partition = Partition.of(groups)
    return partition, trace_of(decisions, partition)
