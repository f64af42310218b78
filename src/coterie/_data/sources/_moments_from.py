"""Moments of what does not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, closing
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from coterie._core.devices import check_on_host
from coterie._core.threads import few_threads
from coterie._data.engines import engine_of
from coterie._data.moments import Moments, format_bytes, read_batch
from coterie._data.progress import Tell, followed
from coterie._data.sources._arrays import check_length, is_array_like, open_array, open_npy
from coterie._data.sources._arrow import is_arrow, open_arrow
from coterie._data.sources._batches import is_pandas_frame, open_batches, open_frame
from coterie._data.sources._checkpoint import Checkpoint, open_checkpoint
from coterie._data.sources._chunks import Chunk, ChunkedSource, ColumnSpec
from coterie._data.sources._folds import RowFolds, make_row_folds
from coterie._data.sources._from_engine import moments_from_engine
from coterie._data.sources._memory import MemoryBudget
from coterie._data.sources._parquet import open_parquet

# Products of a chunk: so many take less time than to read it.
FEW_PRODUCTS = 1e9
# What engines see to themselves.
ENGINE_REFUSALS = {
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

    There are in memory one matrix of all pairs of features for each fold, about a thousand rows,
    and a few chunks. The bar says how much that is, and more than `memory` is refused beforehand.

    Parameters
    ----------
    source : path, array, table or iterable
        The path of a Parquet file or of a folder of them; that of a ``.npy`` file; an array of
        shape (n_rows, n_features) that can be sliced, such as those of h5py and zarr; anything that
        hands over a stream of Arrow, such as tables and datasets of pyarrow, frames of polars and
        relations of DuckDB; an array or a data frame of Dask, counted by whatever scheduler is
        active; a frame of Spark, which counts its rows itself; or an iterable of batches: (X, y),
        (X, y, weights), or frames.
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
        work. If it is there already, the work goes on where it stopped, provided that these are
        the same rows. Remove it to begin anew.
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
        refused = {
            name: ENGINE_REFUSALS[name] for name, given in asked.items() if given is not None
        }
        options = (target, columns, weights, folds, memory)
        return moments_from_engine(engine, source, y, *options, refused)
    spec = _make_spec(target, columns, weights, folds, chunk_rows)
    opened = _open_source(source, y, None if spec.weights else weights, spec)
    row_folds = make_row_folds(folds, opened)
    budget = MemoryBudget(opened, memory, checkpoint is not None)
    text = _progress_text(budget, row_folds.n_folds)
    state = open_checkpoint(checkpoint, opened, spec, row_folds)
    span = state.start, state.moments.n_read
    chunks = opened.read_chunks(*span)
    with state.periodic_saves() as save, closing(chunks), _limit_threads(opened):
        for chunk in followed(progress, opened.n_chunks(*span), text)(chunks):
            _count_chunk(chunk, state, row_folds, budget)
            save()
    _check_end(state, row_folds, opened)
    return state.moments


def _limit_threads(opened: ChunkedSource) -> AbstractContextManager[Any]:
    """One thread for products so small that waking others takes longer than they do."""
    is_light = (
        opened.n_features is not None
        and opened.n_features**2 * opened.max_chunk_rows < FEW_PRODUCTS
    )
    return few_threads(is_light)


def _progress_text(budget: MemoryBudget, n_folds: int | None) -> str:
    """What the bar says, once there is enough memory."""
    opened = budget.source
    if opened.n_features is None:
        return "chunks"
    needed = budget.check(opened.n_features, opened.max_chunk_rows, n_folds or 1)
    if n_folds is None:
        return "chunks"
    more = " beside what the source takes" if opened.is_external else ""
    return f"chunks, up to {format_bytes(needed)}{more}"


def _count_chunk(
    chunk: Chunk, state: Checkpoint, row_folds: RowFolds, budget: MemoryBudget
) -> None:
    """Count a piece, if it is what it should be and memory allows for its folds."""
    opened, start = budget.source, state.n_seen
    location = opened.location(f"batch {state.n_batches}", start, chunk)
    folds = row_folds.of_rows(start, start + chunk.n_rows) if chunk.folds is None else chunk.folds
    batch = read_batch(chunk.X, chunk.y, chunk.weights, folds, state.moments.names, location)
    numbers = {*state.moments.fold_numbers, *([] if folds is None else np.unique(folds).tolist())}
    n_rows = max(opened.max_chunk_rows, chunk.n_rows)
    budget.check(batch.features.shape[1], n_rows, max(1, len(numbers)))
    state.add(batch, chunk, folds, location)


def _check_end(state: Checkpoint, row_folds: RowFolds, opened: ChunkedSource) -> None:
    """Raise where there were no rows, or not as many as there should have been."""
    n_rows = state.n_seen
    if state.n_to_verify:
        raise state.mismatch_error(f"the source ends after {n_rows:,} rows")
    if not state.moments.n_samples_:
        raise ValueError("The source has no rows that count.")
    lengths = {name: values.shape[0] for name, values in opened.arrays.items()}
    if row_folds.n_rows is not None:
        lengths["folds"] = row_folds.n_rows
    for name, length in lengths.items():
        check_length(name, length, n_rows)


def _make_spec(target: Any, columns: Any, weights: Any, folds: Any, chunk_rows: Any) -> ColumnSpec:
    """What is wanted by name."""
    if chunk_rows is not None and (not isinstance(chunk_rows, Integral) or int(chunk_rows) < 1):
        raise ValueError(f"chunk_rows must be 1 or more, got {chunk_rows!r}.")
    return ColumnSpec(
        _as_names(target),
        _as_names(columns),
        weights if isinstance(weights, str) and not weights.endswith(".npy") else None,
        folds if isinstance(folds, str) else None,
        None if chunk_rows is None else int(chunk_rows),
    )


def _as_names(given: Any) -> list[str] | None:
    if given is None:
        return None
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return [str(name) for name in given] if several else [str(given)]


def _open_source(source: Any, y: Any, weights: Any, spec: ColumnSpec) -> ChunkedSource:
    """The source, by what kind of thing it is."""
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), y, weights, spec)
    check_on_host(source)
    if type(source).__module__.startswith("xarray."):
        raise TypeError("source is a field of xarray: pass it to fit, or its values as an array.")
    if is_pandas_frame(source):
        _check_one_target(y, spec)
        return open_frame(source, y, weights, spec)
    if is_arrow(source):
        _check_one_target(y, spec)
        return open_arrow(source, y, weights, spec)
    if is_array_like(source):
        return open_array(source, y, weights, spec)
    if isinstance(source, Iterable) and not isinstance(source, bytes | Mapping):
        if y is not None or weights is not None:
            raise ValueError("Batches bring their own y and weights: leave y and weights out.")
        return open_batches(source, spec)
    raise TypeError(
        "source must be a path, an array, a table of Arrow or an iterable of batches, got "
        f"{type(source).__name__}."
    )


def _open_path(path: Path, y: Any, weights: Any, spec: ColumnSpec) -> ChunkedSource:
    """The file, or the files in a folder, by the end of its name."""
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}.")
    if path.suffix == ".npy":
        return open_npy(path, y, weights, spec)
    if path.suffix.lower() in SUFFIX_ADVICE:
        raise ValueError(f"{path} is no Parquet: {SUFFIX_ADVICE[path.suffix.lower()]}.")
    _check_one_target(y, spec)
    return open_parquet(path, y, weights, spec)


# What to pass instead of the path of a file that others can open.
CSV_ADVICE = "pass the chunks of pandas.read_csv(path, chunksize=10_000), or a query of DuckDB"
HDF5_ADVICE = 'pass an array in it, such as h5py.File(path)["X"]'
SUFFIX_ADVICE = {
    ".csv": CSV_ADVICE,
    ".tsv": CSV_ADVICE,
    ".txt": CSV_ADVICE,
    ".gz": CSV_ADVICE,
    ".h5": HDF5_ADVICE,
    ".hdf5": HDF5_ADVICE,
    ".nc": HDF5_ADVICE,
    ".zarr": 'pass an array in it, such as zarr.open(path)["X"]',
    ".npz": "pass an array in it, or save it as .npy",
    ".arrow": "pass pyarrow.ipc.open_file(path).read_all(), or pyarrow.dataset.dataset(path)",
    ".feather": "pass pyarrow.dataset.dataset(path, format='feather')",
}


def _check_one_target(y: Any, spec: ColumnSpec) -> None:
    if (spec.target is None) == (y is None):
        raise ValueError("A table needs target, the name of a column, or y, an array; one of them.")
