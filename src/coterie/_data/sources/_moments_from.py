"""`moments_from`: moments of data that do not fit in memory."""

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
from coterie._data.sources._arrays import (
    check_length,
    check_y_is_given,
    is_array_like,
    open_array,
    open_npy,
)
from coterie._data.sources._arrow import is_arrow, open_arrow
from coterie._data.sources._batches import is_pandas_frame, open_batches, open_frame
from coterie._data.sources._checkpoint import Checkpoint, open_checkpoint
from coterie._data.sources._chunks import Chunk, ChunkedSource, ColumnSpec
from coterie._data.sources._folds import RowFolds, make_row_folds
from coterie._data.sources._from_engine import moments_from_engine
from coterie._data.sources._memory import MemoryBudget
from coterie._data.sources._parquet import open_parquet

# Fewer multiplications than this for a chunk run in one thread.
FEW_PRODUCTS = 1e9
# Options that engines do not support, and why.
ENGINE_REFUSALS = {
    "chunk_rows": "the rows are in chunks already",
    "checkpoint": "the engine repeats tasks that fail, and the moments can be saved",
    "progress": "the engine has its own progress bar, such as dask.diagnostics.ProgressBar",
}


def moments_from(
    source: Any,
    y: Any = None,
    *,
    columns: list[str] | None = None,
    sample_weight: Any = None,
    cv: Any = None,
    chunk_rows: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Tell = False,
    max_bytes: float | None = None,
) -> Moments:
    """Moments of a file, a stream or batches, read chunk by chunk.

    Memory holds one matrix of all pairs of features for each fold, about a thousand rows, and a
    few chunks. The progress bar shows how much that is. If it exceeds `max_bytes`, an error is
    raised before any row is read.

    Parameters
    ----------
    source : path, array, table or iterable
        One of:

        - the path of a Parquet file, of a folder of Parquet files, or of a ``.npy`` file;
        - an array of shape (n_rows, n_features) that can be sliced, such as those of NumPy, h5py
          and zarr;
        - a pandas data frame;
        - anything with Arrow batches, such as pyarrow tables and datasets, polars data frames and
          DuckDB relations;
        - a Dask array or data frame, counted by the active scheduler;
        - a Spark data frame, counted by Spark;
        - an iterable of batches: (X, y), (X, y, sample_weight), or data frames.
    y : str, list of str, path, or array-like of shape (n_rows,) or (n_rows, n_targets), optional
        The target: the name of a column of the source, a list of names, an array, or the path of
        a ``.npy`` file. Text that ends in ``.npy`` is a path, other text is a name. Leave it out
        if the source is batches of (X, y). Dask and Spark read no ``.npy`` files.
    columns : list of str, optional
        The features; by default all columns that are not named by `y`, `sample_weight` or `cv`.
    sample_weight : str, path or array-like of shape (n_rows,), optional
        The weight of each row: the name of a column, an array, or the path of a ``.npy`` file.
    cv : int, str, array-like of shape (n_rows,) or callable, optional
        The folds that prices are scored on: a number of contiguous folds, as in ``KFold``; the
        name of a column; an array with the fold number of each row; or a function from row
        numbers to fold numbers.
    chunk_rows : int, optional
        Number of rows to read at a time; by default as many as take 64 MB.
    checkpoint : str or path, optional
        A file to save the moments to about every minute, at the end, and if counting is
        interrupted. If the file exists, counting resumes where it stopped, provided that the
        source has the same rows. Remove the file to start again.
    progress : bool or callable, default=False
        Whether to show a progress bar. A function is called with the number of chunks done and
        the total number of chunks, 0 if that is unknown.
    max_bytes : float, optional
        Limit for the memory used, in bytes. By default half the memory of the machine.

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
    >>> moments = moments_from(X, y, cv=5, chunk_rows=1000)
    >>> NonLinCFA(0.01).fit_moments(moments).labels_
    array([0, 1, 2, 0, 0, 0, 0, 0, 2, 0, 2, 2])
    """
    if (engine := engine_of(source)) is not None:
        asked = {"chunk_rows": chunk_rows, "checkpoint": checkpoint, "progress": progress or None}
        refused = {
            name: ENGINE_REFUSALS[name] for name, given in asked.items() if given is not None
        }
        options = (columns, sample_weight, cv, max_bytes)
        return moments_from_engine(engine, source, y, *options, refused)
    spec = _make_spec(y, columns, sample_weight, cv, chunk_rows)
    opened = _open_source(source, y, sample_weight, spec)
    row_folds = make_row_folds(cv, opened)
    budget = MemoryBudget(opened, max_bytes, checkpoint is not None)
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
    """Use one thread if the products of a chunk are so small that more threads would be slower."""
    is_light = (
        opened.n_features is not None
        and opened.n_features**2 * opened.max_chunk_rows < FEW_PRODUCTS
    )
    return few_threads(is_light)


def _progress_text(budget: MemoryBudget, n_folds: int | None) -> str:
    """The text of the progress bar; raise if there is not enough memory."""
    opened = budget.source
    if opened.n_features is None:
        return "chunks"
    needed = budget.check(opened.n_features, opened.max_chunk_rows, n_folds or 1)
    if n_folds is None:
        return "chunks"
    more = " in addition to the source" if opened.is_external else ""
    return f"chunks, up to {format_bytes(needed)}{more}"


def _count_chunk(
    chunk: Chunk, state: Checkpoint, row_folds: RowFolds, budget: MemoryBudget
) -> None:
    """Validate and count a chunk; raise if its folds need too much memory."""
    opened, start = budget.source, state.n_seen
    location = opened.location(f"batch {state.n_batches}", start, chunk)
    folds = row_folds.of_rows(start, start + chunk.n_rows) if chunk.folds is None else chunk.folds
    batch = read_batch(chunk.X, chunk.y, chunk.sample_weight, folds, state.moments.names, location)
    numbers = {*state.moments.fold_numbers, *([] if folds is None else np.unique(folds).tolist())}
    n_rows = max(opened.max_chunk_rows, chunk.n_rows)
    budget.check(batch.features.shape[1], n_rows, max(1, len(numbers)))
    state.add(batch, chunk, folds, location)


def _check_end(state: Checkpoint, row_folds: RowFolds, opened: ChunkedSource) -> None:
    """Raise if there were no rows, or not as many as y, sample_weight or cv have."""
    n_rows = state.n_seen
    if state.n_to_verify:
        raise state.mismatch_error(f"the source ends after {n_rows:,} rows")
    if not state.moments.n_samples_:
        raise ValueError("The source has no rows with a weight above 0.")
    lengths = {name: values.shape[0] for name, values in opened.arrays.items()}
    if row_folds.n_rows is not None:
        lengths["cv"] = row_folds.n_rows
    for name, length in lengths.items():
        check_length(name, length, n_rows)


def _make_spec(y: Any, columns: Any, sample_weight: Any, cv: Any, chunk_rows: Any) -> ColumnSpec:
    """The options that name columns, with their values checked."""
    if chunk_rows is not None and (not isinstance(chunk_rows, Integral) or int(chunk_rows) < 1):
        raise ValueError(f"chunk_rows must be 1 or more, got {chunk_rows!r}.")
    return ColumnSpec(
        _target_names(y),
        _as_names(columns),
        sample_weight if _is_name(sample_weight) else None,
        cv if isinstance(cv, str) else None,
        None if chunk_rows is None else int(chunk_rows),
    )


def _target_names(y: Any) -> list[str] | None:
    """The names of the target columns; None if y is an array, a path or missing."""
    if isinstance(y, str):
        return [y] if _is_name(y) else None
    is_list = isinstance(y, list | tuple) and len(y) > 0
    return list(y) if is_list and all(isinstance(name, str) for name in y) else None


def _is_name(given: Any) -> bool:
    """Whether a value is the name of a column, and not the path of a .npy file."""
    return isinstance(given, str) and not given.endswith(".npy")


def _as_names(given: Any) -> list[str] | None:
    if given is None:
        return None
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return [str(name) for name in given] if several else [str(given)]


def _open_source(source: Any, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """Open a source, by its type."""
    # What names columns is in the spec; the rest are arrays or paths of .npy files.
    y = y if spec.target is None else None
    sample_weight = sample_weight if spec.sample_weight is None else None
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), y, sample_weight, spec)
    check_on_host(source)
    if type(source).__module__.startswith("xarray."):
        raise TypeError("source is an xarray object: pass it to fit, or its values as an array.")
    if is_pandas_frame(source):
        _check_has_target(y, spec)
        return open_frame(source, y, sample_weight, spec)
    if is_arrow(source):
        _check_has_target(y, spec)
        return open_arrow(source, y, sample_weight, spec)
    if is_array_like(source):
        return open_array(source, y, sample_weight, spec)
    if isinstance(source, Iterable) and not isinstance(source, bytes | Mapping):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "Batches contain y and sample_weight: leave these options out, or pass the names "
                "of columns if batches are data frames."
            )
        return open_batches(source, spec)
    raise TypeError(
        "source must be a path, an array, an Arrow table or an iterable of batches, got "
        f"{type(source).__name__}."
    )


def _open_path(path: Path, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """Open a file or a folder, by its suffix."""
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if path.suffix == ".npy":
        return open_npy(path, y, sample_weight, spec)
    if path.suffix.lower() in SUFFIX_ADVICE:
        raise ValueError(f"{path} is not a Parquet file: {SUFFIX_ADVICE[path.suffix.lower()]}.")
    _check_has_target(y, spec)
    return open_parquet(path, y, sample_weight, spec)


# What to pass instead of the path, for files that another library can open.
CSV_ADVICE = "pass the chunks of pandas.read_csv(path, chunksize=10_000), or a DuckDB query"
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


def _check_has_target(y: Any, spec: ColumnSpec) -> None:
    check_y_is_given(y if spec.target is None else spec.target)
