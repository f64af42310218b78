"""Where scatters between columns come from: one matrix, or the columns themselves."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from coterie.statistics._moments import Moments
from coterie.statistics._rows import RowSets
from coterie.values import FloatArray, IntArray


class Source(Protocol):
    """Scatters between the columns of a standardised table, within each batch of rows.

    The last column is the target. A *sum* is whatever the source keeps of a weighted sum of
    columns; nobody else looks inside.
    """

    rows: RowSets
    max_columns: int  # that had better be asked for at once
    count: FloatArray  # (n_batches, 1)
    mean: FloatArray  # (n_batches, n_columns)
    own: FloatArray  # (n_batches, n_columns), scatter of each column with itself
    with_target: FloatArray  # (n_batches, n_columns)

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left column with each right one, (n_batches, len(left), len(right))."""

    def nothing(self) -> Any:
        """The empty sum."""

    def added(self, total: Any, columns: IntArray, weights: FloatArray) -> Any:
        """The sum with weighted columns added."""

    def against(self, total: Any, columns: IntArray) -> FloatArray:
        """Scatter of the sum with each column, (n_batches, len(columns))."""


class GramSource:
    """Scatters looked up in one matrix per batch; a sum is a row of such a matrix.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_columns)
        Standardised columns, the target last.
    rows : RowSets
    """

    def __init__(self, table: FloatArray, rows: RowSets) -> None:
        batches = [Moments.of(table[batch]) for batch in rows.batches]
        self.rows = rows
        self.max_columns = table.shape[1]
        self.count = np.array([[batch.count] for batch in batches])
        self.mean = np.stack([batch.mean for batch in batches])
        self._scatters = [batch.scatter for batch in batches]
        self.own = np.stack([np.diagonal(scatter) for scatter in self._scatters])
        self.with_target = np.stack([scatter[-1] for scatter in self._scatters])

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left column with each right one."""
        return np.stack([scatter[left[:, None], right] for scatter in self._scatters])

    def nothing(self) -> FloatArray:
        """The empty sum, of shape (n_batches, n_columns)."""
        return np.zeros(self.own.shape)

    def added(self, total: FloatArray, columns: IntArray, weights: FloatArray) -> FloatArray:
        """The sum with weighted columns added."""
        return total + np.stack([weights @ scatter[columns] for scatter in self._scatters])

    def against(self, total: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of the sum with each column."""
        return np.take(total, columns, axis=1)


def gram_bytes(n_samples: int, n_columns: int, rows: RowSets) -> int:
    """Memory that a GramSource of such a table takes, the table included."""
    return 8 * n_columns * (2 * n_samples + len(rows.batches) * n_columns)
