"""What is kept of a fit: how columns become aggregates, and how they come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from coterie.aggregations import Aggregation, Linear
from coterie.statistics import standardised
from coterie.values import FloatArray, IntArray, Partition

# Weights in a matrix small enough to be multiplied with its zeros.
DENSE = 2**21


@dataclass(frozen=True)
class Scaling:
    """Columns less a centre, divided by a spread; each has shape (n_columns,)."""

    centre: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> Scaling:
        """The scaling that standardises these columns; constant ones are only centred."""
        _, centre, spread = standardised(columns)
        return cls(centre, np.where(spread > 0, spread, 1.0))

    def applied(self, columns: FloatArray) -> FloatArray:
        """Scaled columns, in the precision they came in."""
        return ((columns - self.centre) / self.spread).astype(columns.dtype, copy=False)

    def undone(self, columns: FloatArray) -> FloatArray:
        """The columns again."""
        return columns * self.spread + self.centre


@dataclass(frozen=True)
class LinearAggregates:
    """Aggregates that are one matrix product: ``(columns - centre) @ weights.T``.

    The way back gives the shortest members that have the same aggregate.
    """

    centre: FloatArray
    weights: sparse.csr_array  # (n_groups, n_columns)

    @classmethod
    def of(
        cls,
        aggregation: Linear,
        groups: Sequence[IntArray],
        columns: FloatArray,
        signs: FloatArray,
    ) -> LinearAggregates:
        """Weights of each group, learned where need be from training columns."""
        centre = np.zeros(columns.shape[1])
        weights = np.zeros(columns.shape[1])
        for members in groups:
            centre[members], weights[members] = aggregation.weights(columns, members)
        weights *= signs
        ends = np.cumsum([0, *map(len, groups)])
        members = np.concatenate(groups)
        shape = (len(groups), columns.shape[1])
        return cls(centre, sparse.csr_array((weights[members], members, ends), shape=shape))

    def values(self, columns: FloatArray) -> FloatArray:
        """Aggregates of shape (n_samples, n_groups)."""
        centre = self.centre.astype(columns.dtype)
        centred = columns - centre if centre.any() else columns
        weights = self.weights.astype(columns.dtype)
        if np.prod(weights.shape) <= DENSE:
            # One product by BLAS, zeros included, is faster than skipping them.
            return centred @ weights.toarray().T
        return np.ascontiguousarray((weights @ centred.T).T)

    def members(self, values: FloatArray) -> FloatArray:
        """Columns of shape (n_samples, n_columns) with these aggregates."""
        lengths = self.weights.power(2).sum(axis=1)
        return (self.weights.T @ (values / lengths).T).T + self.centre


@dataclass(frozen=True)
class PlainAggregates:
    """Aggregates that are computed group by group."""

    aggregation: Aggregation
    groups: Sequence[IntArray]

    def values(self, columns: FloatArray) -> FloatArray:
        """Aggregates of shape (n_samples, n_groups)."""
        chosen = (columns[:, members].astype(np.float64) for members in self.groups)
        values = np.column_stack([self.aggregation.values(group) for group in chosen])
        return values.astype(columns.dtype, copy=False)


def oriented(partition: Partition) -> FloatArray:
    """1 or -1 for each feature, 1 for the first of each group."""
    if partition.signs is None:
        return np.ones(sum(map(len, partition.groups)))
    signs = partition.signs.copy()
    for members in partition.groups:
        signs[members] *= signs[members[0]]
    return signs


def aggregates_of(
    aggregation: Aggregation, groups: Sequence[IntArray], columns: FloatArray, signs: FloatArray
) -> LinearAggregates | PlainAggregates:
    """How columns become aggregates, with what is learned from training columns."""
    if isinstance(aggregation, Linear):
        return LinearAggregates.of(aggregation, groups, columns, signs)
    return PlainAggregates(aggregation, groups)
