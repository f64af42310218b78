"""Aggregates of columns with missing values.

In each row, a missing value is replaced by the mean of its column plus the average deviation, from
their own means, of the members that have a value. So the level and the scale of an aggregate do not
depend on which members are missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from coterie._core.values import BoolArray, FloatArray


def means_of_available(columns: FloatArray, row_weights: FloatArray | None = None) -> FloatArray:
    """Mean of each column over the rows that have a value; 0 for columns without values.

    Parameters
    ----------
    columns : ndarray of shape (n_samples,) or (n_samples, n_columns)
    row_weights : ndarray of shape (n_samples,) or None
        Weight of each row.
    """
    has = ~np.isnan(columns)
    counts = has if row_weights is None else (row_weights * has.T).T
    total = (counts * np.where(has, columns, 0.0)).sum(axis=0)
    count = counts.sum(axis=0)
    return np.divide(total, count, out=np.zeros(np.shape(total)), where=count > 0)


def filled(columns: FloatArray, means: FloatArray) -> FloatArray:
    """Columns of one group, with missing values replaced.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
        NaN for missing values.
    means : ndarray of shape (n_columns,)

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        NaN in rows in which all values are missing.

    Examples
    --------
    Two stations, one of which is 20 degrees warmer:

    >>> import numpy as np
    >>> filled(np.array([[26.0, 4.0], [np.nan, 7.0]]), np.array([25.0, 5.0])).tolist()
    [[26.0, 4.0], [27.0, 7.0]]
    """
    missing = np.isnan(columns)
    count = (~missing).sum(axis=1)
    total = np.where(missing, 0.0, columns - means).sum(axis=1)
    return np.where(missing, means + _average(total, count)[:, None], columns)


def _average(total: FloatArray, count: FloatArray) -> FloatArray:
    """Mean, and NaN where the count is 0."""
    return np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)


class Parts(NamedTuple):
    """Values of columns of shape (n,) or (n, m), their means, and deviations from the means."""

    has: BoolArray
    values: FloatArray  # 0 where missing
    means: FloatArray  # where missing, else 0
    deviations: FloatArray  # 0 where missing

    @classmethod
    def of(cls, columns: FloatArray, row_weights: FloatArray | None) -> Parts:
        """Parts of some columns, with means over the rows that have a value."""
        means, has = means_of_available(columns, row_weights), ~np.isnan(columns)
        return cls(
            has,
            np.where(has, columns, 0.0),
            np.where(has, 0.0, means),
            np.where(has, columns - means, 0.0),
        )


@dataclass(frozen=True)
class AvailableSum:
    """Sum or mean with missing values; the state is additive, of shape (4, n_samples)."""

    average: bool = False
    row_weights: FloatArray | None = field(default=None, compare=False)
    # Whether members can cancel each other, so that the result is only rounding error.
    cancels: ClassVar[bool] = True

    def first(self, column: FloatArray) -> FloatArray:
        parts = Parts.of(column, self.row_weights)
        each = np.ones(parts.values.shape)
        return np.stack([parts.values + parts.means, parts.deviations, parts.has, each])

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return state + self.first(column)

    def value(self, state: FloatArray) -> FloatArray:
        total, deviation, count, size = state
        total = total + (size - count) * _average(deviation, count)
        return total / size if self.average else total

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        return self.value(state[..., None] + self.first(columns))


@dataclass(frozen=True)
class AvailableSquares:
    """Sum of squares or its root with missing values; the state has shape (5, n_samples).

    The state is additive. A missing value of a member with mean m is replaced by m + d, where d is
    the same for all members of the row. Its square is ``m^2 + 2 m d + d^2``.
    """

    root: bool = False
    row_weights: FloatArray | None = field(default=None, compare=False)

    def first(self, column: FloatArray) -> FloatArray:
        parts = Parts.of(column, self.row_weights)
        squares = np.square(parts.values) + np.square(parts.means)
        each = np.ones(squares.shape)
        return np.stack([squares, parts.means, parts.deviations, parts.has, each])

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return state + self.first(column)

    def value(self, state: FloatArray) -> FloatArray:
        squares, means, deviation, count, size = state
        each = _average(deviation, count)
        total = squares + each * (2 * means + (size - count) * each)
        # Rounding errors may make the sum negative if all members are 0.
        return np.sqrt(np.maximum(total, 0.0)) if self.root else total

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        return self.value(state[..., None] + self.first(columns))


class ExtremeState(NamedTuple):
    """Extreme of the available values, of the means of missing members, and sum of deviations.

    ``there`` is the number of members that have a value.
    """

    present: FloatArray
    absent: FloatArray
    deviation: FloatArray
    there: FloatArray


@dataclass(frozen=True)
class AvailableExtreme:
    """Maximum or minimum of each row with missing values: ``of`` is np.fmax or np.fmin."""

    of: np.ufunc
    row_weights: FloatArray | None = field(default=None, compare=False)

    def first(self, column: FloatArray) -> ExtremeState:
        parts = Parts.of(column, self.row_weights)
        absent = np.where(parts.has, np.nan, parts.means)
        return ExtremeState(column, absent, parts.deviations, 1.0 * parts.has)

    def joined(self, state: ExtremeState, column: FloatArray) -> ExtremeState:
        return self._with(state, self.first(column))

    def _with(self, state: ExtremeState, more: ExtremeState) -> ExtremeState:
        return ExtremeState(
            self.of(state.present, more.present),
            self.of(state.absent, more.absent),
            state.deviation + more.deviation,
            state.there + more.there,
        )

    def value(self, state: ExtremeState) -> FloatArray:
        return self.of(state.present, state.absent + _average(state.deviation, state.there))

    def with_each(self, state: ExtremeState, columns: FloatArray) -> FloatArray:
        wide = ExtremeState(*(part[:, None] for part in state))
        return self.value(self._with(wide, self.first(columns)))


@dataclass(frozen=True)
class AvailableMedian:
    """Median of each row with missing values; the state is the columns."""

    row_weights: FloatArray | None = field(default=None, compare=False)

    def first(self, column: FloatArray) -> FloatArray:
        return column[:, None]

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return np.column_stack([state, column])

    def value(self, state: FloatArray) -> FloatArray:
        # Rows without any value stay NaN.
        return np.median(filled(state, means_of_available(state, self.row_weights)), axis=1)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        merged = [self.value(np.column_stack([state, column])) for column in columns.T]
        return np.column_stack(merged)
