"""Computes aggregates from columns (transform), and columns from aggregates (inverse)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.aggregations import Aggregation, Linear, filled
from coterie._core.devices import OnDevice
from coterie._core.evidence import available, standardised_there
from coterie._core.values import FloatArray, IntArray, is_sparse

# A weight matrix with at most this many entries is multiplied as a dense matrix.
MAX_DENSE_WEIGHTS = 2**21
# Groups whose aggregates are computed at a time on a device.
GROUPS_AT_A_TIME = 512


@dataclass(frozen=True)
class Scaling:
    """Scales columns: subtracts a centre and divides by a spread, each of shape (n_columns,)."""

    centre: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, columns: Any, weights: FloatArray | None = None) -> Scaling:
        """The scaling that standardises these columns; constant ones are only centred."""
        if is_sparse(columns):
            # Imported late: only needed for sparse columns.
            from sklearn.utils.sparsefuncs import mean_variance_axis

            centre, variance = mean_variance_axis(columns, axis=0, weights=weights)
            spread = np.sqrt(variance)
        elif isinstance(columns, OnDevice):
            counts = None if weights is None else columns.moved(weights)
            _, centre, spread = standardised_there(columns, counts)
        else:
            _, centre, spread = available(columns, weights)
        return cls(centre, np.where(spread > 0, spread, 1.0))

    def applied(self, columns: Any) -> Any:
        """Scaled columns, with their dtype unchanged.

        Sparse columns are divided but not centred; ``shift`` is the difference.
        """
        if is_sparse(columns):
            return (columns @ sparse.diags_array(1 / self.spread)).asformat("csr")
        return ((columns - self.centre) / self.spread).astype(columns.dtype, copy=False)

    @property
    def shift(self) -> FloatArray:
        """The centre divided by the spread."""
        return self.centre / self.spread

    def undone(self, columns: FloatArray) -> FloatArray:
        """The original columns, from scaled ones."""
        return columns * self.spread + self.centre


@dataclass(frozen=True)
class LinearAggregates:
    """Aggregates that are one matrix product: ``(columns - centre) @ weights.T``.

    The inverse gives the members of minimum norm that have the same aggregates.

    Parameters
    ----------
    centre : ndarray of shape (n_columns,)
    weights : csr_array of shape (n_groups, n_columns)
    means : ndarray of shape (n_columns,) or None
        Means of the training columns, if columns may have missing values. The deviation of a
        missing member from its mean is the average deviation of the other members.
    spread : ndarray of shape (n_columns,) or None
        Standard deviations in which these deviations are measured. With them, an aggregate whose
        members are all missing is at its mean; without them it is NaN.
    """

    centre: FloatArray
    weights: sparse.csr_array
    means: FloatArray | None = None
    spread: FloatArray | None = None

    @classmethod
    def of(
        cls,
        aggregation: Linear,
        groups: Sequence[IntArray],
        columns: FloatArray,
        signs: FloatArray,
        means: FloatArray | None = None,
    ) -> LinearAggregates:
        """Aggregates with the weights of an aggregation, learned from columns if needed."""
        centre = np.zeros(columns.shape[1])
        weights = np.zeros(columns.shape[1])
        for members in groups:
            centre[members], weights[members] = aggregation.weights(columns, members)
        return cls.with_weights(centre, weights * signs, groups, means)

    @classmethod
    def with_weights(
        cls,
        centre: FloatArray,
        weights: FloatArray,
        groups: Sequence[IntArray],
        means: FloatArray | None,
        spread: FloatArray | None = None,
    ) -> LinearAggregates:
        """Aggregates with a given centre and weight for each column."""
        ends = np.cumsum([0, *map(len, groups)])
        members = np.concatenate(groups)
        shape = (len(groups), len(weights))
        matrix = sparse.csr_array((weights[members], members, ends), shape=shape)
        return cls(centre, matrix, means, spread)

    @property
    def weight_of_each(self) -> FloatArray:
        """The weight of each column in its group, of shape (n_columns,)."""
        weights = np.zeros(self.weights.shape[1])
        weights[self.weights.indices] = self.weights.data
        return weights

    def values(self, columns: Any) -> Any:
        """Aggregates of shape (n_samples, n_groups); sparse if the columns are sparse."""
        if is_sparse(columns):
            values, shift = (
                columns @ self.weights.T.astype(columns.dtype),
                self.weights @ self.centre,
            )
            return values.toarray() - shift.astype(columns.dtype) if shift.any() else values
        if isinstance(columns, OnDevice):
            return self._values_there(columns)
        if self.means is not None and np.isnan(columns).any():
            return self._over_available(columns, self.means)
        centre = self.centre.astype(columns.dtype, copy=False)
        centred = columns - centre if centre.any() else columns
        weights = self.weights
        if weights.dtype != columns.dtype:
            weights = weights.astype(columns.dtype)
        if math.prod(weights.shape) <= MAX_DENSE_WEIGHTS:
            # One dense BLAS product is faster than a sparse product here.
            return centred @ weights.toarray().T
        return np.ascontiguousarray((weights @ centred.T).T)

    def _values_there(self, columns: OnDevice) -> Any:
        """Aggregates of columns on a device, computed for some groups at a time."""
        made = []
        for start in range(0, self.weights.shape[0], GROUPS_AT_A_TIME):
            weights = self.weights[start : start + GROUPS_AT_A_TIME].tocsc()
            members = np.flatnonzero(np.diff(weights.indptr))
            some = columns[:, members] - self.centre[members].astype(columns.dtype)
            made.append(some @ weights[:, members].toarray().T.astype(columns.dtype))
        return np.concatenate(made, axis=1)

    def _over_available(self, columns: FloatArray, means: FloatArray) -> FloatArray:
        """Aggregates of members with missing values; NaN where all members are missing."""
        has, weights = ~np.isnan(columns), self.weights
        unit = np.ones(len(means)) if self.spread is None else self.spread
        sign = weights.sign()
        count = abs(sign) @ has.T
        deviation = sign @ np.where(has, (columns - means) / unit, 0.0).T
        each = deviation / np.where(count > 0, count, np.nan if self.spread is None else 1.0)
        filled = sparse.csr_array(abs(weights) @ sparse.diags_array(unit))
        values = weights @ np.where(has, columns, means).T + (filled @ ~has.T) * each
        values -= (weights @ self.centre)[:, None]
        return np.ascontiguousarray(values.T).astype(columns.dtype, copy=False)

    def members(self, values: Any) -> Any:
        """Columns of shape (n_samples, n_columns) that have these aggregates."""
        if self.spread is not None:
            return self._equal_members(values)
        lengths = self.weights.power(2).sum(axis=1)
        if is_sparse(values):
            return values @ (sparse.diags_array(1 / lengths) @ self.weights)
        if isinstance(values, OnDevice):
            group_of = np.zeros(self.weights.shape[1], dtype=np.intp)
            group_of[self.weights.indices] = np.repeat(
                np.arange(len(lengths)), np.diff(self.weights.indptr)
            )
            return (values / lengths)[:, group_of] * self.weight_of_each + self.centre
        return (self.weights.T @ (values / lengths).T).T + self.centre

    def _equal_members(self, values: Any) -> Any:
        """Columns whose weighted deviations from the centre are the same within each group."""
        sizes = np.diff(self.weights.indptr)
        each = self.weights.copy()
        each.data = 1 / (each.data * np.repeat(sizes, sizes))
        if is_sparse(values) and not self.centre.any():
            return values @ each
        values = values.toarray() if is_sparse(values) else values
        if isinstance(values, OnDevice):
            group_of = np.zeros(each.shape[1], dtype=np.intp)
            group_of[each.indices] = np.repeat(np.arange(len(sizes)), sizes)
            weights = np.zeros(each.shape[1])
            weights[each.indices] = each.data
            return values[:, group_of] * weights + self.centre
        return (each.T @ values.T).T + self.centre


@dataclass(frozen=True)
class PlainAggregates:
    """Aggregates that are computed group by group; ``means`` as in LinearAggregates."""

    aggregation: Aggregation
    groups: Sequence[IntArray]
    means: FloatArray | None = None

    def values(self, columns: FloatArray) -> FloatArray:
        """Aggregates of shape (n_samples, n_groups)."""
        values = np.column_stack([self._value(columns, members) for members in self.groups])
        return values.astype(columns.dtype, copy=False)

    def _value(self, columns: FloatArray, members: IntArray) -> FloatArray:
        chosen: FloatArray = columns[:, members].astype(np.float64)
        if self.means is not None:
            chosen = filled(chosen, self.means[members])
        return self.aggregation.values(chosen)


def same_kind(values: Any, like: Any) -> Any:
    """Sparse values as a sparse matrix or a sparse array, like the columns."""
    if not is_sparse(values):
        return values
    return sparse.csr_matrix(values) if isinstance(like, sparse.spmatrix) else values.tocsr()


Aggregates = LinearAggregates | PlainAggregates


def aggregates_of(
    aggregation: Aggregation,
    groups: Sequence[IntArray],
    columns: FloatArray,
    signs: FloatArray,
    means: FloatArray | None = None,
) -> Aggregates:
    """The aggregates of groups, with parameters learned from training columns.

    If columns may have missing values, ``means`` are the means of the training columns.
    """
    if isinstance(aggregation, Linear):
        return LinearAggregates.of(aggregation, groups, columns, signs, means)
    return PlainAggregates(aggregation, groups, means)
