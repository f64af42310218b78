"""Which fold each row of a piece belongs to."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import IntArray
from coterie._data.sources._arrays import check_length
from coterie._data.sources._chunks import ChunkedSource, n_unique_folds

# Row numbers that a function is asked about at a time.
ROWS_PER_CALL = 2**20


class RowFolds(NamedTuple):
    """The folds of rows by their numbers, where no column tells them."""

    function: Callable[[IntArray], Any] | None
    n_folds: int | None  # None where it is not known beforehand
    n_rows: int | None = None  # how many rows have a fold, where there is an end to them

    def of_rows(self, start: int, stop: int) -> Any:
        """The fold of each row; None if there are none."""
        if self.function is None:
            return None
        found = np.asarray(self.function(np.arange(start, stop)))
        return np.broadcast_to(found, stop - start) if found.ndim == 0 else found


def make_row_folds(folds: Any, source: ChunkedSource) -> RowFolds:
    """The folds that are asked for: a number of them, one for each row, or a function of rows."""
    if folds is None or isinstance(folds, str):
        return RowFolds(None, 1 if folds is None else source.n_folds)
    if callable(folds):
        return _folds_from_function(folds, source.n_rows)
    if not isinstance(folds, Integral):
        numbers = np.asarray(folds)
        if numbers.ndim != 1:
            raise ValueError(f"folds must have one entry for each row, got shape {numbers.shape}.")
        if source.n_rows is not None:
            check_length("folds", len(numbers), source.n_rows)
        return RowFolds(
            lambda rows: numbers[rows[rows < len(numbers)]], n_unique_folds(numbers), len(numbers)
        )
    return _contiguous_folds(int(folds), source.n_rows, source.zero_weight_rows)


def _contiguous_folds(
    n_folds: int, n_rows: int | None, zero_weight_rows: IntArray | None
) -> RowFolds:
    """As KFold does: contiguous, the first ones with a row more; rows of weight 0 do not count."""
    if n_rows is None:
        raise ValueError(
            f"folds={n_folds} cuts all rows into {n_folds} parts, and this source does not tell "
            "their number: give a function of row numbers, such as lambda rows: rows % 5, or the "
            "name of a column."
        )
    zero_weight_rows = np.empty(0, dtype=np.intp) if zero_weight_rows is None else zero_weight_rows
    n_rows -= len(zero_weight_rows)
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"folds must be from 2 to the number of rows, {n_rows}, got {n_folds}.")
    sizes = np.full(n_folds, n_rows // n_folds)
    sizes[: n_rows % n_folds] += 1
    # Rows of weight 0 at the end belong to no fold, and it does not matter to which.
    edges = np.cumsum(sizes)[:-1]

    def fold_of(rows: IntArray) -> IntArray:
        numbers = rows - np.searchsorted(zero_weight_rows, rows)
        return np.searchsorted(edges, numbers, side="right")

    return RowFolds(fold_of, n_folds)


def _folds_from_function(function: Callable[[IntArray], Any], n_rows: int | None) -> RowFolds:
    """A function of row numbers, with the number of folds that it gives."""
    if n_rows is None:
        return RowFolds(function, None)
    folds, different = RowFolds(function, None), set()
    for start in range(0, n_rows, ROWS_PER_CALL):
        different.update(
            np.unique(folds.of_rows(start, min(start + ROWS_PER_CALL, n_rows))).tolist()
        )
    return RowFolds(function, max(1, len(different)))
