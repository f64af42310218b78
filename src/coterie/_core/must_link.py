"""Must-link constraints: features of one unit stay together and are searched as one column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.search import Limits
from coterie._core.values import FloatArray, IntArray, Partition, SearchResult, is_sparse


@dataclass(frozen=True)
class MustLink:
    """An initial partition of the features into units, which a search may only make coarser.

    A sum of sums is the sum of all members. So, for additive aggregations, a search on the sums
    of the units is equivalent to a search on their members.

    Parameters
    ----------
    members : tuple of ndarray
        The features of each unit; every feature is in exactly one unit.
    signs : ndarray of shape (n_features,) or None
        -1 for features that are multiplied by -1 in their unit.
    """

    members: tuple[IntArray, ...]
    signs: FloatArray | None = None

    @classmethod
    def of(cls, groups: Sequence[IntArray], n_features: int) -> MustLink:
        """Units made of these groups and of every other feature alone, sorted by first member."""
        grouped = np.concatenate([np.empty(0, dtype=np.intp), *groups])
        others = np.setdiff1d(np.arange(n_features), grouped)
        units = [*(np.sort(group) for group in groups), *others[:, None]]
        return cls(tuple(sorted(units, key=lambda unit: int(unit[0]))))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(map(len, self.members))

    def signed(self, scatter_among: Callable[[IntArray], FloatArray]) -> MustLink:
        """The same units with signs: each member has the sign of its scatter with those before it.

        Parameters
        ----------
        scatter_among : callable
            Returns the scatter matrix of the given features.
        """
        if self.signs is not None:
            return self
        signs = np.ones(self.n_features)
        for unit in self.members:
            if len(unit) > 1:
                signs[unit] = _signs_in_turn(scatter_among(unit))
        return replace(self, signs=signs)

    @property
    def firsts(self) -> IntArray:
        """The first feature of each unit."""
        return np.array([unit[0] for unit in self.members])

    @property
    def first_of_each(self) -> IntArray:
        """The first feature of the unit of each feature."""
        first = np.empty(self.n_features, dtype=np.intp)
        for unit in self.members:
            first[unit] = unit[0]
        return first

    def sums(self, columns: Any) -> Any:
        """Sum of the features of each unit, one column per unit."""
        if len(self.members) == columns.shape[1] and (self.signs is None or self.signs.min() > 0):
            return columns
        if is_sparse(columns):
            return columns @ self.weights(columns.shape[1]).T
        if self.signs is None:
            return np.column_stack([columns[:, unit].sum(axis=1) for unit in self.members])
        signs = self.signs.astype(columns.dtype)
        return np.column_stack(
            [(columns[:, unit] * signs[unit]).sum(axis=1) for unit in self.members]
        )

    def limits(self, limits: Limits) -> Limits:
        """Limits on units, from limits on features."""
        graph, largest, kinds = limits.neighbours, limits.max_group_size, limits.kinds
        return Limits(
            None if graph is None else self._joined_graph(graph),
            largest,
            None if kinds is None else np.array([kinds[unit].max() for unit in self.members]),
            None if largest is None else np.array([len(unit) for unit in self.members]),
        )

    def _joined_graph(self, graph: sparse.csr_array) -> sparse.csr_array:
        """Graph of the units: two units are neighbours if any of their members are."""
        within = self.membership(graph.shape[0])
        joined = sparse.coo_array(within @ graph @ within.T)
        apart = (joined.row != joined.col) & (joined.data != 0)
        places = (joined.row[apart], joined.col[apart])
        return sparse.csr_array((joined.data[apart], places), shape=joined.shape)

    def membership(self, n_features: int) -> sparse.csr_array:
        """Indicator matrix of shape (n_units, n_features): 1 where a unit has a feature."""
        unit_of = np.repeat(np.arange(len(self.members)), [len(unit) for unit in self.members])
        features = np.concatenate(self.members)
        shape = (len(self.members), n_features)
        return sparse.csr_array((np.ones(len(features)), (unit_of, features)), shape=shape)

    def weights(self, n_features: int) -> sparse.csr_array:
        """Membership matrix multiplied by the sign of each feature in its unit."""
        weights = self.membership(n_features)
        if self.signs is not None:
            weights.data = self.signs[weights.indices]
        return weights

    def of_each(self, values: FloatArray) -> FloatArray:
        """Value of each feature, copied from the value of its unit."""
        each = np.empty(self.n_features)
        for unit, value in zip(self.members, values, strict=True):
            each[unit] = value
        return each

    def expanded(self, found: SearchResult) -> SearchResult:
        """The result for features, from that for units.

        A candidate unit is named by its first feature.
        """
        partition = found.partition
        groups = [np.concatenate([self.members[u] for u in group]) for group in partition.groups]
        signs = None if partition.signs is None else self.of_each(partition.signs)
        if signs is not None and self.signs is not None:
            signs = signs * self.signs
        trace = found.trace.copy()
        trace.candidate = self.firsts[trace.candidate]
        return SearchResult(Partition(Partition.of(groups).groups, signs), trace, found.n_refused)


def _signs_in_turn(scatter: FloatArray) -> FloatArray:
    """Sign of each column, 1 or -1: the sign of its scatter with the sum of those before it."""
    signs = np.ones(len(scatter))
    for place in range(1, len(scatter)):
        signs[place] = -1.0 if signs[:place] @ scatter[:place, place] < 0 else 1.0
    return signs
