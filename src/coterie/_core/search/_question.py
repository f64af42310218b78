"""What a search works with: the question (verdicts on candidates) and the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from coterie._core.values import BoolArray, IntArray, SearchResult, Verdict

State = TypeVar("State")


class Question(Protocol[State]):
    """Gives verdicts on candidates that might join a group.

    The state of a group is private to the question. A search may ask about several groups at
    once, if it can predict them. This is only faster: no decision depends on it. ``n_features``,
    ``alone``, ``joined`` and ``judge`` are enough for a search of one's own.

    Examples
    --------
    A search that judges all features as candidates of the first:

    >>> import numpy as np
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.extending import outcome
    >>> def beside_the_first(question, limits):
    ...     others = np.arange(1, question.n_features)
    ...     verdict = question.judge(question.alone(0), others)
    ...     nearest = others[np.argmin(verdict.price)]
    ...     print(f"of {len(others)} candidates, the cheapest is {nearest}")
    ...     return outcome([[feature] for feature in range(question.n_features)], [])
    >>> X, y, _ = make_groups(300, 6, 2, noise=3.0, random_state=0)
    >>> reducer = NonLinCFA(0.05, search=beside_the_first).fit(X, y)
    of 5 candidates, the cheapest is 2
    """

    @property
    def n_features(self) -> int:
        """Number of features to be grouped."""

    @property
    def foresight(self) -> int:
        """How many groups are worth judging at once."""

    @property
    def restarts(self) -> int:
        """The same for restarts, where each group costs a row of verdicts."""

    @property
    def breadth(self) -> int:
        """The smallest number of candidates that is worth judging at once."""

    def alone(self, feature: int) -> State:
        """The state of a group of one feature."""

    def joined(self, group: State, features: IntArray) -> State:
        """The state of the group after some features have joined."""

    def judge(self, group: State, candidates: IntArray) -> Verdict:
        """The verdict on each candidate on its own: (m,)."""

    def judge_along(self, group: State, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate after each of k links has joined in turn: (k, m)."""

    def judge_in_turn(self, group: State, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdict on each candidate once the links before it have joined: (m,)."""

    def judge_singles(self, features: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate for groups of one, one for each of k features: (k, m)."""


@dataclass(frozen=True)
class Limits:
    """Which candidates may join a group at all, whatever the price.

    Parameters
    ----------
    neighbours : csr_array of shape (n_features, n_features) or None
        A candidate must be a neighbour of a member of the group. Nonzero entries are neighbours,
        in either direction.
    max_group_size : int or None
        The largest number of members in a group.
    kinds : ndarray of shape (n_features,) or None
        Features of different kinds 1, 2, ... never share a group. Kind 0 may join any kind, and
        kind ALONE joins none.
    sizes : ndarray of shape (n_features,) or None
        How many members each feature counts for.
    constant : ndarray of shape (n_features,) or None
        Which features are constant. They share no group with features that vary.
    copies : ndarray of shape (n_features,) or None
        The same number, from 1 on, for features that are copies of each other. A search that must
        not depend on their order adds all of them to a group, or none.
    watched : ndarray of bool, shape (n_features,), or None
        The features whose refusals belong in the trace, besides all merges; None: those of all.
        There are far more refusals than merges.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.extending import Limits
    >>> limits = Limits(max_group_size=2, constant=np.array([False, True, False]))
    >>> limits.alike(0, np.array([1, 2]))
    array([2])
    """

    neighbours: sparse.csr_array | None = None
    max_group_size: int | None = None
    kinds: IntArray | None = None
    sizes: IntArray | None = None
    constant: BoolArray | None = None
    copies: IntArray | None = None
    watched: BoolArray | None = None

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
            taken(self.watched),
        )

    @property
    def have_copies(self) -> bool:
        """Whether some features are copies of others."""
        return self.copies is not None and len(np.unique(self.copies)) < len(self.copies)

    def alike(self, seed: int, features: IntArray) -> IntArray:
        """The features that are constant if the seed is constant, else those that vary."""
        if self.constant is None:
            return features
        return features[self.constant[features] == self.constant[seed]]

    @property
    def exist(self) -> bool:
        """Whether there are any limits."""
        is_limited = self.max_group_size is not None or self.constant is not None
        return is_limited or self.change_as_groups_grow

    @property
    def change_as_groups_grow(self) -> bool:
        """Whether the allowed candidates depend on the present members."""
        return any(limit is not None for limit in (self.neighbours, self.kinds, self.sizes))

    def size(self, features: IntArray) -> int:
        """How many members these features count for."""
        return len(features) if self.sizes is None else int(self.sizes[features].sum())

    def get_along(self, kind: int, features: IntArray) -> BoolArray:
        """Which features may share a group with features of a kind."""
        assert self.kinds is not None
        kinds = self.kinds[features]
        return (kinds >= 0) & (kind >= 0) & ((kinds == 0) | (kind == 0) | (kinds == kind))

    def neighbours_of(self, feature: int) -> IntArray:
        """The neighbours of one feature; needs `neighbours`."""
        graph = self.neighbours
        assert graph is not None
        touching = slice(graph.indptr[feature], graph.indptr[feature + 1])
        return graph.indices[touching].astype(np.intp, copy=False)


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Search:
    """A named search: the order in which candidates are tested.

    Parameters
    ----------
    name : str
        The name, for messages and ``repr``.
    run : callable
        Takes a :class:`Question` and :class:`Limits`, and returns a :class:`SearchResult`, such as
        :func:`outcome` makes of groups and decisions.
    ignores_order : bool, default=False
        Whether the result must not depend on the order of the columns. The columns are then sorted
        by their content, and the limits know which are copies.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.extending import Search, outcome
    >>> def all_alone(question, limits):
    ...     return outcome([[feature] for feature in range(question.n_features)], [])
    >>> X, y, _ = make_groups(300, 6, 2, noise=3.0, random_state=0)
    >>> NonLinCFA(0.05, search=Search("alone", all_alone)).fit(X, y).n_groups_
    6
    """

    name: str
    run: Callable[[Question[Any], Limits], SearchResult]
    ignores_order: bool = False


# The kind of features that stay alone.
ALONE = -1


class Reach:
    """The candidates that a group may test, given its members."""

    def __init__(self, limits: Limits, n_features: int, seed: int) -> None:
        self._limits = limits
        self._n_features = n_features
        self._touched = np.zeros(n_features if limits.neighbours is not None else 0, dtype=bool)
        self._kind = self._size = 0
        self._seed = seed
        self.count_in(np.array([seed]))

    def count_in(self, features: IntArray) -> None:
        """Count some features as members."""
        self._size += self._limits.size(features)
        if self._limits.kinds is not None:
            kinds = self._limits.kinds[features]
            self._kind = ALONE if kinds.min() < 0 else max(self._kind, int(kinds.max()))
        if self._limits.neighbours is not None:
            for feature in features.tolist():
                self._touched[self._limits.neighbours_of(feature)] = True

    @property
    def room(self) -> int:
        """How many more members there may be."""
        most = self._limits.max_group_size
        return self._n_features if most is None else most - self._size

    def among(self, candidates: IntArray) -> IntArray:
        """The candidates that the limits allow."""
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
