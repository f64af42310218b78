"""Additive aggregations: sum, mean and sum of squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie._core.aggregations._protocols import Weights
from coterie._core.values import FloatArray, IntArray


@dataclass(frozen=True)
class LinearSum:
    """Sum of the columns, or their mean."""

    name: str
    average: bool
    keeps_single: bool = True

    def contribution(self, columns: FloatArray) -> FloatArray:
        return columns

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        size = len(members)
        return Weights(np.zeros(size), np.full(size, 1 / size if self.average else 1.0))

    def values(self, columns: FloatArray) -> FloatArray:
        return columns.mean(axis=1) if self.average else columns.sum(axis=1)


@dataclass(frozen=True)
class SumOfSquares:
    """Sum of the squared columns; a group of one column is squared too."""

    name: str = "sum_of_squares"
    keeps_single: bool = False

    def contribution(self, columns: FloatArray) -> FloatArray:
        return np.square(columns)

    def values(self, columns: FloatArray) -> FloatArray:
        return np.square(columns).sum(axis=1)
