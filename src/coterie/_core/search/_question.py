"""What a search asks, and whom it may ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from coterie._core.values import BoolArray, IntArray, Partition, Trace, Verdict

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
    copies : ndarray of shape (n_features,) or None
        The same number for features that are copies of each other, numbered from 1: a search that
        must not depend on their order lets all of them into a group, or none.
    """

    neighbours: sparse.csr_array | None = None
    max_group_size: int | None = None
    kinds: IntArray | None = None
    sizes: IntArray | None = None
    constant: BoolArray | None = None
    copies: IntArray | None = None

    def reordered(self, order: IntArray) -> Limits:
        """The same limits for features numbered in another order."""
        graph = self.neighbours

        def taken(values: Any) -> Any:
            return None if values is None else values[order]

        return Limits(
            None if graph is None else graph[order][:, order],
            self.max_group_size,
            taken(self.kinds),
            taken(self.sizes),
            taken(self.constant),
            taken(self.copies),
        )

    @property
    def have_copies(self) -> bool:
        """Whether some features are copies of others."""
        return self.copies is not None and len(np.unique(self.copies)) < len(self.copies)

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


@dataclass(frozen=True)
class Search:
    """An order in which questions are asked.

    Parameters
    ----------
    name : str
    run : callable
        Takes a :class:`Question` and :class:`Limits`, and gives a partition and its trace.
    ignores_order : bool, default=False
        Whether the outcome must not depend on the order of the columns. They are then put into an
        order of their own, and copies among them are known to the limits.
    """

    name: str
    run: Callable[[Question[Any], Limits], tuple[Partition, Trace]]
    ignores_order: bool = False


# The kind of those that go with nobody.
ALONE = -1


class Reach:
    """Whom a group may ask, given who is in."""

    def __init__(self, limits: Limits, n_features: int, seed: int) -> None:
        self._limits = limits
        self._n_features = n_features
        self._touched = np.zeros(n_features if limits.neighbours is not None else 0, dtype=bool)
        self._kind = self._size = 0
        self._seed = seed
        self.count_in(np.array([seed]))

    def count_in(self, features: IntArray) -> None:
        """Let some features be in."""
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
        candidates = limits.alike(self._seed, candidates)
        if limits.neighbours is not None:
            candidates = candidates[self._touched[candidates]]
        if limits.kinds is not None:
            candidates = candidates[limits.get_along(self._kind, candidates)]
        if limits.sizes is not None:
            candidates = candidates[limits.sizes[candidates] <= self.room]
        return candidates
