"""Which fold each row of a piece belongs to."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from coterie.sources._pieces import Opened, Piece
from coterie.values import IntArray

FoldOf = Callable[[IntArray], Any]


def fold_of_rows(folds: Any, opened: Opened) -> FoldOf | None:
    """The fold of rows by their numbers; None where there are none, or a column tells."""
    if folds is None or isinstance(folds, str):
        return None
    if callable(folds):
        return folds
    if not isinstance(folds, Integral):
        numbers = np.asarray(folds)
        return lambda rows: numbers[rows]
    n_folds, n_rows = int(folds), opened.n_rows
    if n_rows is None:
        raise ValueError(
            f"folds={n_folds} cuts all rows into {n_folds} parts, and this source does not tell "
            "their number: give a function of row numbers, such as lambda rows: rows % 5, or the "
            "name of a column."
        )
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"folds must be from 2 to the number of rows, {n_rows}, got {n_folds}.")
    # As KFold does: contiguous, the first ones with a row more.
    edges = np.cumsum([len(part) for part in np.array_split(np.arange(n_rows), n_folds)])
    return lambda rows: np.searchsorted(edges, rows, side="right")


def folds_in(piece: Piece, fold_of: FoldOf | None, start: int) -> Any:
    """The fold of each row of a piece that begins at a row; None if there are none."""
    if piece.folds is not None:
        return np.asarray(piece.folds)
    if fold_of is None:
        return None
    return np.asarray(fold_of(np.arange(start, start + piece.n_rows)))
