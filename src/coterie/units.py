"""Features that stay together: one column for the search, all of them in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from coterie.search import Limits
from coterie.values import IntArray, Partition, Trace, is_sparse


@dataclass(frozen=True)
class Units:
    """A partition of the features to begin with, which a search may only make coarser.

    A sum of sums is a sum of all members, so for aggregations that add up, a search among the
    sums of the units is a search among their members.

    Parameters
    ----------
    members : tuple of ndarray
        The features of each unit; every feature is in one.
    """

    members: tuple[IntArray, ...]

    @classmethod
    def of(cls, groups: Sequence[IntArray], n_features: int) -> Units:
        """These groups, and every other feature by itself, in the order of first members."""
        grouped = np.concatenate([np.empty(0, dtype=np.intp), *groups])
        others = np.setdiff1d(np.arange(n_features), grouped)
        units = [*(np.sort(group) for group in groups), *others[:, None]]
        return cls(tuple(sorted(units, key=lambda unit: int(unit[0]))))

    @property
    def firsts(self) -> IntArray:
        """The first feature of each unit."""
        return np.array([unit[0] for unit in self.members])

    def sums(self, columns: Any) -> Any:
        """One column per unit."""
        if len(self.members) == columns.shape[1]:
            return columns
        if is_sparse(columns):
            return columns @ self.membership(columns.shape[1]).T
        return np.column_stack([columns[:, unit].sum(axis=1) for unit in self.members])

    def limits(self, limits: Limits) -> Limits:
        """Limits among features as limits among units."""
        graph, largest, kinds = limits.neighbours, limits.max_group_size, limits.kinds
        return Limits(
            None if graph is None else self._joined_graph(graph),
            largest,
            None if kinds is None else np.array([kinds[unit].max() for unit in self.members]),
            None if largest is None else np.array([len(unit) for unit in self.members]),
        )

    def _joined_graph(self, graph: sparse.csr_array) -> sparse.csr_array:
        """Units touch where their members do."""
        within = self.membership(graph.shape[0])
        joined = sparse.csr_array(within @ graph @ within.T)
        joined.setdiag(0)
        joined.eliminate_zeros()
        return joined

    def membership(self, n_features: int) -> sparse.csr_array:
        """1 where a unit has a feature."""
        unit_of = np.repeat(np.arange(len(self.members)), [len(unit) for unit in self.members])
        features = np.concatenate(self.members)
        shape = (len(self.members), n_features)
        return sparse.csr_array((np.ones(len(features)), (unit_of, features)), shape=shape)

    def told(self, partition: Partition, trace: Trace) -> tuple[Partition, Trace]:
        """A partition of units as one of their features, candidates named by their first."""
        groups = [np.concatenate([self.members[u] for u in group]) for group in partition.groups]
        signs = partition.signs
        if signs is not None:
            unit_signs, signs = signs, np.empty(sum(map(len, groups)))
            for unit, sign in zip(self.members, unit_signs, strict=True):
                signs[unit] = sign
        trace = trace.copy()
        trace.candidate = self.firsts[trace.candidate]
        return Partition(Partition.of(groups).groups, signs), trace
