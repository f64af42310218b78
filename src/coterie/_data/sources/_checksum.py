"""Checksums of rows, to verify that a checkpoint belongs to the same data."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray, is_sparse

Bits = NDArray[np.uint64]
MODULUS = 2**64


class Checksum(NamedTuple):
    """Sums of the bits of all values, each times a factor that depends on its position.

    Sums of integers do not depend on how the rows are split into chunks.
    """

    n_rows: int = 0  # of y, sample_weight and folds
    n_counted: int = 0  # of X, without rows of weight 0
    X: int = 0
    y: int = 0
    sample_weight: int = 0
    folds: int = 0

    def with_rows(
        self, X: FloatArray, n_rows: int, y: Any, sample_weight: Any, folds: Any
    ) -> Checksum:
        """The checksum after more rows."""
        return Checksum(
            self.n_rows + n_rows,
            self.n_counted + len(X),
            (self.X + _table_checksum(X, self.n_counted)) % MODULUS,
            (self.y + column_checksum(y, self.n_rows)) % MODULUS,
            (self.sample_weight + column_checksum(sample_weight, self.n_rows)) % MODULUS,
            (self.folds + column_checksum(folds, self.n_rows)) % MODULUS,
        )


EMPTY_CHECKSUM = Checksum()


def _table_checksum(X: FloatArray, start: int) -> int:
    """The checksum of a table; it changes with the order of rows or columns."""
    bits = X.view(np.uint64)
    return _sum_by_position(bits.sum(axis=1), start) + _sum_by_position(bits.sum(axis=0), 0)


def column_checksum(values: Any, start: int) -> int:
    """The checksum of an array of y, sample weights or folds from row `start` on; 0 for None."""
    if values is None:
        return 0
    array = np.asarray(values.toarray() if is_sparse(values) else values)
    columns = array.T if array.ndim == 2 else array[None]
    each = (_sum_by_position(_bits(column), start) for column in columns)
    return sum((2 * position + 1) * one for position, one in enumerate(each)) % MODULUS


def _sum_by_position(bits: Bits, start: int) -> int:
    """The sum of all bits, each times an odd number that depends on its position."""
    positions = np.arange(start, start + len(bits), dtype=np.uint64)
    return int((bits * (2 * positions + 1)).sum())


def _bits(column: NDArray[Any]) -> Bits:
    if column.dtype.kind in "biuf":
        return np.ascontiguousarray(column, dtype=np.float64).view(np.uint64)
    texts = [str(value) for value in column.tolist()]
    code = {text: zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in {*texts}}
    return np.array([code[text] for text in texts], dtype=np.uint64)
