"""Aggregations with a running state: norm, maximum, minimum, median and custom functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.values import FloatArray


@dataclass(frozen=True)
class Norm:
    """Euclidean norm of each row; the state is the sum of squares."""

    name: str = "norm"
    keeps_single: bool = False

    def first(self, column: FloatArray) -> FloatArray:
        return np.square(column)

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return state + np.square(column)

    def value(self, state: FloatArray) -> FloatArray:
        return np.sqrt(state)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        return np.sqrt(state[:, None] + np.square(columns))

    def values(self, columns: FloatArray) -> FloatArray:
        return np.sqrt(np.square(columns).sum(axis=1))


@dataclass(frozen=True)
class Extreme:
    """Maximum or minimum of each row; the state is the aggregate itself."""

    name: str
    of: np.ufunc
    keeps_single: bool = True

    def first(self, column: FloatArray) -> FloatArray:
        return column

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return self.of(state, column)

    def value(self, state: FloatArray) -> FloatArray:
        return state

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        return self.of(state[:, None], columns)

    def values(self, columns: FloatArray) -> FloatArray:
        return self.of.reduce(columns, axis=1)


@dataclass(frozen=True)
class Median:
    """Median of each row; the state is the columns, sorted within each row."""

    name: str = "median"
    keeps_single: bool = True

    def first(self, column: FloatArray) -> FloatArray:
        return column[:, None]

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return np.sort(np.column_stack([state, column]), axis=1)

    def value(self, state: FloatArray) -> FloatArray:
        return np.median(state, axis=1)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        # One further value can move the median at most to the next sorted value.
        middle, is_odd = divmod(state.shape[1], 2)
        below = state[:, [middle - 1]] if middle > 0 else -np.inf
        if not is_odd:
            return np.clip(columns, below, state[:, [middle]])
        above = state[:, [middle + 1]] if middle > 0 else np.inf
        return (state[:, [middle]] + np.clip(columns, below, above)) / 2

    def values(self, columns: FloatArray) -> FloatArray:
        return np.median(columns, axis=1)


@dataclass(frozen=True)
class Custom:
    """User-defined function from an (n, m) array to n values; the state is the columns.

    The function is called with the columns in the order in which they joined the group. Its values
    should not depend on that order.
    """

    function: Callable[[FloatArray], FloatArray]
    keeps_single: bool = False
    given: Any = None  # the object given by the user, if it was not a function

    @property
    def name(self) -> str:
        name = getattr(self.given, "name", "") or getattr(self.function, "__name__", "")
        return name if name.isidentifier() else "aggregate"

    def first(self, column: FloatArray) -> FloatArray:
        return column[:, None]

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return np.column_stack([state, column])

    def value(self, state: FloatArray) -> FloatArray:
        return self.values(state)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        merged = [self.values(np.column_stack([state, column])) for column in columns.T]
        return np.column_stack(merged)

    def values(self, columns: FloatArray) -> FloatArray:
        # A copy, since the function may work in place.
        values = np.asarray(self.function(columns.copy()))
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"aggregation '{self.name}' must return real numbers, got an array of "
                f"{values.dtype}."
            )
        if values.shape not in {(len(columns),), (len(columns), 1)}:
            raise ValueError(
                f"aggregation '{self.name}' must return one value per row: expected "
                f"{len(columns)} values, got an array of shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"aggregation '{self.name}' returned NaN or infinity for a group of "
                f"{columns.shape[1]}; it must return a finite number for every row."
            )
        return values.reshape(-1).astype(np.float64, copy=False)
