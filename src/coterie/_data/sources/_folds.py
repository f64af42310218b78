"""Fold numbers of the rows of a source."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import IntArray
from coterie._data.sources._arrays import check_length
from coterie._data.sources._chunks import ChunkedSource, n_unique_folds

# Number of row numbers passed to a function of folds at a time.
ROWS_PER_CALL = 2**20


class RowFolds(NamedTuple):
    """Folds by row number, for folds that are not a column of the source."""

    function: Callable[[IntArray], Any] | None
    n_folds: int | None  # None if it is unknown before the rows are read
    n_rows: int | None = None  # length of an array of folds

    def of_rows(self, start: int, stop: int) -> Any:
        """The fold of each row in a range; None if there are no folds."""
        if self.function is None:
            return None
        found = np.asarray(self.function(np.arange(start, stop)))
        return np.broadcast_to(found, stop - start) if found.ndim == 0 else found


def make_row_folds(cv: Any, source: ChunkedSource) -> RowFolds:
    """Folds from their number, an array with one entry for each row, or a function of rows."""
    if cv is None or isinstance(cv, str):
        return RowFolds(None, 1 if cv is None else source.n_folds)
    if callable(cv):
        return _folds_from_function(cv, source.n_rows)
    if not isinstance(cv, Integral):
        numbers = np.asarray(cv)
        if numbers.ndim != 1:
            raise ValueError(f"cv must have one entry for each row, got shape {numbers.shape}.")
        if source.n_rows is not None:
            check_length("cv", len(numbers), source.n_rows)
        return RowFolds(
            lambda rows: numbers[rows[rows < len(numbers)]], n_unique_folds(numbers), len(numbers)
        )
    return _contiguous_folds(int(cv), source.n_rows, source.zero_weight_rows)


def _contiguous_folds(
    n_folds: int, n_rows: int | None, zero_weight_rows: IntArray | None
) -> RowFolds:
    """Contiguous folds as in KFold, of the rows with a weight above 0."""
    if n_rows is None:
        raise ValueError(
            f"cv={n_folds} needs the number of rows, and this source does not give it: pass a "
            "function of row numbers, such as lambda rows: rows % 5, or the name of a column."
        )
    zero_weight_rows = np.empty(0, dtype=np.intp) if zero_weight_rows is None else zero_weight_rows
    n_rows -= len(zero_weight_rows)
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"cv must be from 2 to the number of rows, {n_rows}, got {n_folds}.")
    sizes = np.full(n_folds, n_rows // n_folds)
    sizes[: n_rows % n_folds] += 1
    # The fold of a row of weight 0 does not matter.
    edges = np.cumsum(sizes)[:-1]

    def fold_of(rows: IntArray) -> IntArray:
        numbers = rows - np.searchsorted(zero_weight_rows, rows)
        return np.searchsorted(edges, numbers, side="right")

    return RowFolds(fold_of, n_folds)


def _folds_from_function(function: Callable[[IntArray], Any], n_rows: int | None) -> RowFolds:
    """Folds from a function of row numbers; they are counted if the number of rows is known."""
    if n_rows is None:
        return RowFolds(function, None)
    folds, different = RowFolds(function, None), set()
    for start in range(0, n_rows, ROWS_PER_CALL):
        different.update(
            np.unique(folds.of_rows(start, min(start + ROWS_PER_CALL, n_rows))).tolist()
        )
    return RowFolds(function, max(1, len(different)))
