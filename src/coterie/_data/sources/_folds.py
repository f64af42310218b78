"""Which fold each row of a piece belongs to."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import IntArray
from coterie._data.sources._arrays import check_length
from coterie._data.sources._chunks import Opened, n_different

# Row numbers that a function is asked about at a time.
AT_A_TIME = 2**20


class Folds(NamedTuple):
    """The folds of rows by their numbers, where no column tells them."""

    of_rows: Callable[[IntArray], Any] | None
    n_folds: int | None  # None where it is not known beforehand
    n_rows: int | None = None  # how many rows have a fold, where there is an end to them

    def of(self, start: int, stop: int) -> Any:
        """The fold of each row; None if there are none."""
        if self.of_rows is None:
            return None
        found = np.asarray(self.of_rows(np.arange(start, stop)))
        return np.broadcast_to(found, stop - start) if found.ndim == 0 else found


def folds_by_row(folds: Any, opened: Opened) -> Folds:
    """The folds that are asked for: a number of them, one for each row, or a function of rows."""
    if folds is None or isinstance(folds, str):
        return Folds(None, 1 if folds is None else opened.n_folds)
    if callable(folds):
        return _counted(folds, opened.n_rows)
    if not isinstance(folds, Integral):
        numbers = np.asarray(folds)
        if numbers.ndim != 1:
            raise ValueError(f"folds must have one entry for each row, got shape {numbers.shape}.")
        if opened.n_rows is not None:
            check_length("folds", len(numbers), opened.n_rows)
        return Folds(
            lambda rows: numbers[rows[rows < len(numbers)]], n_different(numbers), len(numbers)
        )
    return _contiguous(int(folds), opened.n_rows, opened.idle)


def _contiguous(n_folds: int, n_rows: int | None, idle: IntArray | None) -> Folds:
    """As KFold does: contiguous, the first ones with a row more; rows of weight 0 do not count."""
    if n_rows is None:
        raise ValueError(
            f"folds={n_folds} cuts all rows into {n_folds} parts, and this source does not tell "
            "their number: give a function of row numbers, such as lambda rows: rows % 5, or the "
            "name of a column."
        )
    idle = np.empty(0, dtype=np.intp) if idle is None else idle
    n_rows -= len(idle)
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"folds must be from 2 to the number of rows, {n_rows}, got {n_folds}.")
    sizes = np.full(n_folds, n_rows // n_folds)
    sizes[: n_rows % n_folds] += 1
    # Rows of weight 0 at the end belong to no fold, and it does not matter to which.
    edges = np.cumsum(sizes)[:-1]

    def fold_of(rows: IntArray) -> IntArray:
        numbers = rows - np.searchsorted(idle, rows)
        return np.searchsorted(edges, numbers, side="right")

    return Folds(fold_of, n_folds)


def _counted(of_rows: Callable[[IntArray], Any], n_rows: int | None) -> Folds:
    """A function of row numbers, with the number of folds that it gives."""
    if n_rows is None:
        return Folds(of_rows, None)
    folds, different = Folds(of_rows, None), set()
    for start in range(0, n_rows, AT_A_TIME):
        different.update(np.unique(folds.of(start, min(start + AT_A_TIME, n_rows))).tolist())
    return Folds(of_rows, max(1, len(different)))
