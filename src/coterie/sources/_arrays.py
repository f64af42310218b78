"""Arrays that need not be in memory: .npy files, HDF5, Zarr, whatever can be sliced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from coterie.sources._pieces import Opened, Piece, Wanted, rows_at_a_time
from coterie.values import FloatArray


def is_array(source: Any) -> bool:
    """Whether a source has a shape, a type of numbers and slices."""
    return hasattr(source, "shape") and hasattr(source, "dtype") and hasattr(source, "__getitem__")


def opened_npy(path: str | os.PathLike[str]) -> Any:
    """The array in a file of numpy, left on the disk."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        reason = "it is no array of numpy, or not all of it"
        raise ValueError(f"{os.fspath(path)} cannot be read: {reason}.") from error


def opened_array(source: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """An array of shape (n_rows, n_features), beside which the target lies."""
    if len(source.shape) != 2:
        raise ValueError(f"The source must have 2 dimensions, got shape {tuple(source.shape)}.")
    if y is None or wanted.target is not None or wanted.columns is not None:
        raise ValueError(
            "An array has no names of columns: give y as an array or the path of one, and neither "
            "target nor columns."
        )
    n_rows, n_features = source.shape
    y, weights = beside("y", y, n_rows), beside("weights", weights, n_rows)
    step = rows_at_a_time(wanted.chunk_rows, n_features)

    def pieces(rows: int, _: int) -> Iterator[Piece]:
        for start in range(rows, n_rows, step):
            at = slice(start, min(start + step, n_rows))
            counts = None if weights is None else np.asarray(weights[at])
            yield Piece(np.asarray(source[at]), np.asarray(y[at]), counts, None, at.stop - start)

    return Opened(pieces, int(n_rows), int(n_features), expected(weights, n_rows), step)


def beside(name: str, given: Any, n_rows: int) -> Any:
    """An array with one entry for each row, which may be the path of a file of numpy."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        given = opened_npy(Path(given))
    elif not is_array(given):
        given = np.asarray(given)
    if hasattr(given, "iloc"):
        given = given.to_numpy()
    if given.shape[0] != n_rows:
        raise ValueError(f"The source has {n_rows} rows, and {name} has {given.shape[0]}.")
    return given


def expected(weights: Any, n_rows: int) -> float:
    """How many rows there are, as often as each counts."""
    if weights is None:
        return float(n_rows)
    values: FloatArray = np.asarray(weights[:], dtype=np.float64)
    return float(values.sum())
