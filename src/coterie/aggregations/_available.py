"""Aggregates over the members that have a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie.aggregations._protocols import Additive
from coterie.values import FloatArray


class AvailableState(NamedTuple):
    """What the members that have a value add up to, how many have one, and how many there are."""

    total: FloatArray
    there: FloatArray
    size: int


@dataclass(frozen=True)
class AvailableSum:
    """A sum, a mean or a length over the members that have a value.

    A sum over some members is scaled up to all of them, so that rows can be compared.
    """

    name: str
    of: Additive
    average: bool = False
    root: bool = False
    keeps_single: bool = True

    def first(self, column: FloatArray) -> AvailableState:
        nothing = np.zeros(len(column))
        return self.joined(AvailableState(nothing, nothing, 0), column)

    def joined(self, state: AvailableState, column: FloatArray) -> AvailableState:
        added, has = self._added(column)
        return AvailableState(state.total + added, state.there + has, state.size + 1)

    def _added(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        missing = np.isnan(columns)
        return np.where(missing, 0.0, self.of.contribution(columns)), np.where(missing, 0.0, 1.0)

    def value(self, state: AvailableState) -> FloatArray:
        return self._scaled(*state)

    def with_each(self, state: AvailableState, columns: FloatArray) -> FloatArray:
        added, has = self._added(columns)
        return self._scaled(
            state.total[:, None] + added, state.there[:, None] + has, state.size + 1
        )

    def _scaled(self, total: FloatArray, count: FloatArray, size: int) -> FloatArray:
        share = np.where(count > 0, count if self.average else count / size, np.nan)
        return np.sqrt(total / share) if self.root else total / share

    def values(self, columns: FloatArray) -> FloatArray:
        added, has = self._added(columns)
        return self._scaled(added.sum(axis=1), has.sum(axis=1), columns.shape[1])


@dataclass(frozen=True)
class AvailableMedian:
    """The median of the members that have a value; its state is the columns."""

    name: str = "median"
    keeps_single: bool = True

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
        # Sorting puts NaN last.
        values = np.sort(columns, axis=1)
        count = (~np.isnan(values)).sum(axis=1)
        rows = np.arange(len(values))
        below, above = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
        return (values[rows, below] + values[rows, above]) / 2
