"""Tables of Arrow: Parquet files, and whatever hands over a stream of its batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from coterie.accumulating import NamedColumns
from coterie.sources._arrays import beside, expected
from coterie.sources._pieces import Opened, Piece, Wanted, rows_at_a_time


def is_arrow(source: Any) -> bool:
    """Whether a source hands over a stream of Arrow, or is a dataset of pyarrow."""
    return hasattr(source, "__arrow_c_stream__") or _is_dataset(source)


def _is_dataset(source: Any) -> bool:
    return hasattr(source, "to_batches") and hasattr(source, "count_rows")


def opened_parquet(path: str | os.PathLike[str], y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A Parquet file, or a folder of them in the order of their names."""
    _needs_pyarrow()
    from pyarrow import dataset

    with _told(path):
        return _opened_dataset(dataset.dataset(path), y, weights, wanted, path)


def opened_arrow(source: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A table, a stream or a dataset of Arrow."""
    pa = _needs_pyarrow()
    with _told("The source"):
        if _is_dataset(source):
            return _opened_dataset(source, y, weights, wanted, "The source")
        n_rows = _known_length(source)
        reader = pa.RecordBatchReader.from_stream(source)
        features = wanted.features_among(reader.schema.names)
        step = rows_at_a_time(wanted.chunk_rows, len(features))
        total = None if wanted.weights else _total(weights, n_rows)

    def pieces(rows: int, _: int) -> Iterator[Piece]:
        with _told("The source"):
            for table, start in _cut(reader, step, rows):
                yield _piece(table, features, wanted, y, weights, start)

    return Opened(pieces, n_rows, len(features), total, step)


def _opened_dataset(source: Any, y: Any, weights: Any, wanted: Wanted, name: Any) -> Opened:
    features = wanted.features_among(source.schema.names)
    step = rows_at_a_time(wanted.chunk_rows, len(features))
    n_rows = int(source.count_rows())
    y, weights = beside("y", y, n_rows), beside("weights", weights, n_rows)
    total = expected(weights, n_rows)
    if wanted.weights is not None:
        column = source.to_table(columns=[wanted.weights])[0]
        total = float(np.asarray(column.to_numpy(), dtype=np.float64).sum())

    def pieces(rows: int, _: int) -> Iterator[Piece]:
        with _told(name):
            batches = source.to_batches(columns=[*features, *wanted.beside], batch_size=step)
            for table, start in _cut(batches, step, rows):
                yield _piece(table, features, wanted, y, weights, start)

    return Opened(pieces, n_rows, len(features), total, step)


def _known_length(source: Any) -> int | None:
    """Number of rows of a table; a stream does not know."""
    if hasattr(source, "num_rows"):
        return int(source.num_rows)
    return len(source) if hasattr(source, "__len__") else None


def _total(weights: Any, n_rows: int | None) -> float | None:
    return None if n_rows is None else expected(beside("weights", weights, n_rows), n_rows)


def _cut(batches: Any, step: int, skipped: int) -> Iterator[tuple[Any, int]]:
    """Tables of so many rows, however the batches are cut, and the number of their first row."""
    pa = _needs_pyarrow()
    waiting: list[Any] = []
    n_waiting = start = 0
    for batch in batches:
        left_out = min(batch.num_rows, max(0, skipped - start))
        start += left_out
        if left_out < batch.num_rows:
            waiting.append(batch.slice(left_out))
            n_waiting += batch.num_rows - left_out
        while n_waiting >= step:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, step), start
            waiting = table.slice(step).to_batches()
            n_waiting, start = n_waiting - step, start + step
    if n_waiting:
        yield pa.Table.from_batches(waiting), start


def _piece(
    table: Any, features: list[str], wanted: Wanted, y: Any, weights: Any, start: int
) -> Piece:
    rows = slice(start, start + table.num_rows)
    target = y[rows] if wanted.target is None else _targets(table, wanted.target)
    counts = None if weights is None else weights[rows]
    if wanted.weights is not None:
        counts = _numbers(table, wanted.weights)
    folds = None if wanted.folds is None else _numbers(table, wanted.folds)
    X = NamedColumns(_matrix(table, features), features)
    return Piece(X, target, counts, folds, table.num_rows)


def _matrix(table: Any, names: list[str]) -> Any:
    """The columns side by side, gaps as NaN."""
    matrix = np.empty((table.num_rows, len(names)), order="F")
    for place, name in enumerate(names):
        matrix[:, place] = _numbers(table, name)
    return matrix


def _numbers(table: Any, name: str) -> Any:
    column = table[name]
    kind = str(column.type)
    if not kind.startswith(("int", "uint", "float", "double", "half", "bool", "decimal")):
        raise ValueError(
            f"Column {name!r} of the source holds {kind}, not numbers: encode it first, or name "
            "the columns to use with columns=[...]."
        )
    if kind.startswith("decimal"):
        column = column.cast("float64")
    return column.to_numpy(zero_copy_only=False) if _is_chunk(column) else column.to_numpy()


def _is_chunk(column: Any) -> bool:
    return not hasattr(column, "chunks")


def _targets(table: Any, names: list[str]) -> Any:
    """One target as a column, several side by side."""
    columns = [np.asarray(table[name].to_numpy()) for name in names]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _needs_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("Tables of Arrow need pyarrow: pip install 'coterie[arrow]'.") from error
    return pyarrow


@contextmanager
def _told(name: Any) -> Iterator[None]:
    """What Arrow cannot read is one sentence."""
    pa = _needs_pyarrow()
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"{name} cannot be read: {reason}.") from error
