"""Moments of what does not fit in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from coterie.accumulating import Moments, told_bytes
from coterie.engines import engine_of
from coterie.gathering import half_the_memory
from coterie.progress import Tell, followed
from coterie.sources._arrays import is_array, opened_array, opened_npy
from coterie.sources._arrow import is_arrow, opened_arrow, opened_parquet
from coterie.sources._batches import opened_batches, opened_frame
from coterie.sources._elsewhere import moments_elsewhere
from coterie.sources._folds import fold_of_rows, folds_in
from coterie.sources._pieces import Opened, Wanted
from coterie.statistics import ROWS

# Seconds between two checkpoints.
SAVED_EVERY = 60.0
# What engines see to themselves.
OF_ENGINES = {
    "chunk_rows": "they are cut already",
    "checkpoint": "what was lost on the way is counted again, and moments can be saved",
    "progress": "the engine shows its own, such as dask.diagnostics.ProgressBar",
}


def moments_from(
    source: Any,
    y: Any = None,
    *,
    target: str | list[str] | None = None,
    columns: list[str] | None = None,
    weights: Any = None,
    folds: Any = None,
    chunk_rows: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Tell = False,
    memory: float | None = None,
) -> Moments:
    """Moments of a file, a stream or batches, chunk by chunk.

    At most there are in memory one matrix of all pairs of features for each fold, about a thousand
    rows, and three times one chunk; it is refused beforehand if that is more than `memory`.

    Parameters
    ----------
    source : path, array, table or iterable
        The path of a Parquet file or of a folder of them; that of a ``.npy`` file; an array of
        shape (n_rows, n_features) that can be sliced, such as those of h5py and zarr; anything that
        hands over a stream of Arrow, such as tables of pyarrow and polars and relations of DuckDB;
        an array or a data frame of Dask, counted by whatever scheduler is active; a frame of Spark,
        which counts its rows itself; or an iterable of batches: (X, y), (X, y, weights), or frames.
    y : array-like of shape (n_rows,) or (n_rows, n_targets), or path, optional
        The target, where it is no column: an array, or the path of a ``.npy`` file.
    target : str or list of str, optional
        The column that is the target, or several.
    columns : list of str, optional
        The features; by default all columns but those that are named otherwise.
    weights : str, array-like of shape (n_rows,) or path, optional
        How many times each row counts: a column of tables, or an array.
    folds : int, str, array-like of shape (n_rows,) or callable, optional
        The folds that prices are scored on: so many contiguous ones, as ``KFold`` has them; the
        name of a column; the number of each row; or a function from row numbers to these.
    chunk_rows : int, optional
        Rows to be read at a time; by default 64 MB of them.
    checkpoint : str or path, optional
        A file to save the moments to about every minute, at the end, and when something stops the
        work. If it is there already, the work goes on where it stopped. Remove it to begin anew.
    progress : bool or callable, default=False
        Whether to show a bar; a function is called with the number of chunks done and of all, 0
        where it is not known.
    memory : float, optional
        Bytes that may be taken. By default half the memory of the machine.

    Returns
    -------
    Moments

    Examples
    --------
    >>> from coterie import NonLinCFA, moments_from
    >>> from coterie.datasets import make_groups
    >>> X, y, _ = make_groups(3000, 12, 3, noise=3.0, random_state=0)
    >>> some = (slice(start, start + 500) for start in range(0, 3000, 500))
    >>> moments_from((X[rows], y[rows]) for rows in some)
    Moments of 3,000 rows: 12 features, 1 target, 2 kB
    >>> moments = moments_from(X, y, folds=5, chunk_rows=1000)
    >>> NonLinCFA(0.01).fit_moments(moments).labels_
    array([0, 1, 2, 0, 0, 0, 0, 0, 2, 0, 2, 2])
    """
    if (engine := engine_of(source)) is not None:
        asked = {"chunk_rows": chunk_rows, "checkpoint": checkpoint, "progress": progress or None}
        refused = {name: OF_ENGINES[name] for name, given in asked.items() if given is not None}
        counted = (target, columns, weights, folds, memory)
        return moments_elsewhere(engine, source, y, *counted, refused)
    wanted = _wanted(target, columns, weights, folds, chunk_rows)
    opened = _opened(source, y, None if wanted.weights else weights, wanted)
    fold_of = fold_of_rows(folds, opened)
    n_folds = int(folds) if isinstance(folds, Integral) else 1
    check = partial(_checked_bytes, n_folds=n_folds, memory=memory)
    told = "chunks"
    if opened.n_features is not None:
        told += f", up to {told_bytes(check(opened.n_features, opened.chunk_rows or 0))}"
    moments = _begun(checkpoint, opened)
    pieces = opened.pieces(moments.n_read, moments.n_batches)
    with _saved_now_and_then(moments, checkpoint) as save:
        for piece in followed(progress, opened.n_pieces, told)(pieces):
            if not moments.n_samples_ and opened.n_features is None:
                check(np.shape(piece.X)[1], piece.n_rows)
            fold = folds_in(piece, fold_of, moments.n_read)
            moments.update(piece.X, piece.y, piece.weights, fold)
            save()
    if not moments.n_samples_:
        raise ValueError("The source has no rows that count.")
    return moments


@contextmanager
def _saved_now_and_then(moments: Moments, checkpoint: Any) -> Iterator[Callable[[], None]]:
    """Something to call after each chunk, that saves now and then; and saves in the end."""
    start, saved = moments.n_read, time.monotonic()

    def save() -> None:
        nonlocal saved
        if checkpoint is not None and time.monotonic() - saved > SAVED_EVERY:
            moments.save(checkpoint)
            saved = time.monotonic()

    try:
        yield save
    finally:
        if checkpoint is not None and moments.n_read > start:
            moments.save(checkpoint)


def _wanted(target: Any, columns: Any, weights: Any, folds: Any, chunk_rows: Any) -> Wanted:
    """What is wanted by name."""
    if chunk_rows is not None and (not isinstance(chunk_rows, Integral) or int(chunk_rows) < 1):
        raise ValueError(f"chunk_rows must be 1 or more, got {chunk_rows!r}.")
    return Wanted(
        [target] if isinstance(target, str) else None if target is None else list(target),
        None if columns is None else list(columns),
        weights if isinstance(weights, str) and not weights.endswith(".npy") else None,
        folds if isinstance(folds, str) else None,
        None if chunk_rows is None else int(chunk_rows),
    )


def _opened(source: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """The source, by what kind of thing it is."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.exists():
            raise FileNotFoundError(f"There is no {os.fspath(source)}.")
        if path.suffix == ".npy":
            return opened_array(opened_npy(path), y, weights, wanted)
        _check_target(y, wanted)
        return opened_parquet(path, y, weights, wanted)
    if type(source).__name__ == "LazyFrame":
        raise TypeError("source is a LazyFrame: collect() it first, or sink it to Parquet.")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        _check_target(y, wanted)
        return opened_frame(source, y, weights, wanted)
    if is_arrow(source):
        _check_target(y, wanted)
        return opened_arrow(source, y, weights, wanted)
    if is_array(source):
        return opened_array(source, y, weights, wanted)
    if isinstance(source, Iterable):
        if y is not None or weights is not None:
            raise ValueError("Batches bring their own y and weights: leave y and weights out.")
        return opened_batches(source, wanted)
    raise TypeError(
        "source must be a path, an array, a table of Arrow or an iterable of batches, got "
        f"{type(source).__name__}."
    )


def _check_target(y: Any, wanted: Wanted) -> None:
    _check_one(y, wanted.target)


def _check_one(y: Any, target: Any) -> None:
    if (target is None) == (y is None):
        raise ValueError("A table needs target, the name of a column, or y, an array; one of them.")


def _checked_bytes(
    n_features: int, chunk_rows: int, *, n_folds: int, memory: float | None
) -> float:
    """Memory that moments will take, if there is as much."""
    chunk = 8 * n_features * chunk_rows
    needed = 8 * n_features * n_features * n_folds + 3 * chunk + 8 * n_features * ROWS
    allowed = half_the_memory() if memory is None else memory
    if needed > allowed:
        raise ValueError(
            f"Moments of {n_features:,} features in {n_folds} fold{'s' * (n_folds > 1)} take "
            f"{told_bytes(needed)}, of which {told_bytes(3 * chunk)} are for chunks, and memory "
            f"allows {told_bytes(allowed)}. Use fewer columns, fewer folds or a smaller "
            "chunk_rows, or raise memory."
        )
    return needed


def _begun(checkpoint: Any, opened: Opened) -> Moments:
    """Moments of nothing, or those of an earlier call."""
    expected = opened.n_expected or None
    if checkpoint is None or not Path(checkpoint).exists():
        return Moments(expected)
    moments = Moments.load(checkpoint)
    if moments.kept.n_expected != expected or opened.n_features not in (
        None,
        moments.n_features_in_,
    ):
        raise ValueError(
            f"{os.fspath(checkpoint)} has moments of other data: remove it to begin anew."
        )
    return moments
