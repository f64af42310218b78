"""What a search asks, whom it may ask, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from coterie._core.values import BoolArray, Decision, IntArray, Partition, Trace, Verdict, trace_of

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

    @property
    def restarts(self) -> int:
        """The same where each group costs a row of answers."""

    @property
    def breadth(self) -> int:
        """How many candidates are not worth asking about in parts."""

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
    kinds : ndarray of shape (n_features,) or None
        Features of different kinds never share a group: 1, 2, ...; 0 for those that go with any
        kind, and ALONE for those that go with nobody.
    sizes : ndarray of shape (n_features,) or None
        How many members each feature counts for.
    constant : ndarray of shape (n_features,) or None
        Which features do not vary; they share no group with those that do.
    """

    neighbours: sparse.csr_array | None = None
    max_group_size: int | None = None
    kinds: IntArray | None = None
    sizes: IntArray | None = None
    constant: BoolArray | None = None

    def reordered(self, order: IntArray) -> Limits:
        """The same limits for features numbered in another order."""
        graph, kinds, sizes = self.neighbours, self.kinds, self.sizes
        return Limits(
            None if graph is None else graph[order][:, order],
            self.max_group_size,
            None if kinds is None else kinds[order],
            None if sizes is None else sizes[order],
            None if self.constant is None else self.constant[order],
        )

    def alike(self, seed: int, features: IntArray) -> IntArray:
        """The features that vary, if the seed does; else those that do not either."""
        if self.constant is None:
            return features
        return features[self.constant[features] == self.constant[seed]]

    @property
    def exist(self) -> bool:
        """Whether there are any."""
        is_limited = self.max_group_size is not None or self.constant is not None
        return is_limited or self.change_as_groups_grow

    @property
    def change_as_groups_grow(self) -> bool:
        """Whether who may be asked depends on who is in already."""
        return any(limit is not None for limit in (self.neighbours, self.kinds, self.sizes))

    def size(self, features: IntArray) -> int:
        """How many members these features count for."""
        return len(features) if self.sizes is None else int(self.sizes[features].sum())

    def get_along(self, kind: int, features: IntArray) -> BoolArray:
        """Which features may be with those of a kind."""
        assert self.kinds is not None
        kinds = self.kinds[features]
        return (kinds >= 0) & (kind >= 0) & ((kinds == 0) | (kind == 0) | (kinds == kind))

    def neighbours_of(self, feature: int) -> IntArray:
        """The features that touch one feature, where there are neighbours at all."""
        graph = self.neighbours
        assert graph is not None
        touching = slice(graph.indptr[feature], graph.indptr[feature + 1])
        return graph.indices[touching].astype(np.intp, copy=False)


NO_LIMITS = Limits()
# The kind of those that go with nobody.
ALONE = -1


class Reach:
    """Whom a group may ask, given who is in."""

    def __init__(self, limits: Limits, n_features: int) -> None:
        self._limits = limits
        self._n_features = n_features
        self._touched = np.zeros(n_features if limits.neighbours is not None else 0, dtype=bool)
        self._kind = self._size = 0
        self._member = -1

    def count_in(self, features: IntArray) -> None:
        """Let some features be in."""
        self._member = int(features[0])
        self._size += self._limits.size(features)
        if self._limits.kinds is not None:
            kinds = self._limits.kinds[features]
            self._kind = ALONE if kinds.min() < 0 else max(self._kind, int(kinds.max()))
        if self._limits.neighbours is not None:
            for feature in features.tolist():
                self._touched[self._limits.neighbours_of(feature)] = True

    @property
    def room(self) -> int:
        """How many members more there may be."""
        most = self._limits.max_group_size
        return self._n_features if most is None else most - self._size

    def among(self, candidates: IntArray) -> IntArray:
        """The candidates who may be asked at all."""
        limits = self._limits
        if self.room <= 0:
            return candidates[:0]
        candidates = limits.alike(self._member, candidates)
        if limits.neighbours is not None:
            candidates = candidates[self._touched[candidates]]
        if limits.kinds is not None:
            candidates = candidates[limits.get_along(self._kind, candidates)]
        if limits.sizes is not None:
            candidates = candidates[limits.sizes[candidates] <= self.room]
        return candidates


class Group:
    """A group while it grows: its members, its state, and whom it reaches."""

    def __init__(self, question: Question[Any], limits: Limits, seed: int) -> None:
        self._question, self._limits = question, limits
        self._reach = Reach(limits, question.n_features)
        self._reach.count_in(np.array([seed]))
        self.seed = seed
        self.members = [seed]
        self.state = question.alone(seed)

    def join(self, features: IntArray) -> None:
        """Take in some features."""
        self.state = self._question.joined(self.state, features)
        self.members += features.tolist()
        self._reach.count_in(features)

    @property
    def foresight(self) -> int:
        """How many merges may be foreseen: one, if each changes who may be asked."""
        return min(self.room, 1 if self._limits.change_as_groups_grow else self._question.foresight)

    @property
    def restarts(self) -> int:
        """The same where each merge costs a row of answers."""
        return min(self.foresight, self._question.restarts)

    @property
    def breadth(self) -> int:
        """How many candidates are not worth asking about in parts."""
        return self._question.breadth

    @property
    def room(self) -> int:
        """How many members more it may have."""
        return self._reach.room

    def reachable(self, candidates: IntArray) -> IntArray:
        """The candidates who may be asked at all."""
        return self._reach.among(candidates)

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
