"""Arrow tables as sources, and anything that can be read as Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._data.moments import MAX_N_ROWS, NamedColumns
from coterie._data.sources._arrays import (
    check_arrays,
    expected_count,
    find_zero_weights,
    slice_rows,
)
from coterie._data.sources._chunks import (
    Chunk,
    ChunkedSource,
    Chunks,
    ColumnSpec,
    choose_chunk_rows,
    n_unique_folds,
    row_slices,
)

DEFAULT_OWNER = "The source"


class Stream(NamedTuple):
    """Arrow batches that are read on demand."""

    names: list[str]
    n_rows: int | None
    # Called with the names of the columns to read and the number of rows in a batch.
    batches: Callable[[list[str], int], Iterable[Any]]
    # Types of the columns, if they are known before the first batch.
    types: list[Any] | None = None


def is_arrow(source: Any) -> bool:
    """Whether a source can be read as Arrow batches."""
    is_stream = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    return is_stream or _is_dataset(source) or _is_lazy_frame(source)


def _is_dataset(source: Any) -> bool:
    """Whether a source is a pyarrow dataset or scanner."""
    return hasattr(source, "to_batches") and hasattr(source, "count_rows")


def _is_lazy_frame(source: Any) -> bool:
    return type(source).__name__ == "LazyFrame"


def _is_in_memory(source: Any) -> bool:
    """Whether a source is an Arrow table or a polars data frame."""
    is_polars = type(source).__module__.startswith("polars") and hasattr(source, "height")
    return is_polars or hasattr(source, "num_rows") or not hasattr(source, "__arrow_c_stream__")


def open_arrow(source: Any, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """An Arrow table, stream, dataset or scanner, or a DuckDB or polars query, as a source."""
    pa = import_pyarrow()
    with wrap_read_errors(DEFAULT_OWNER):
        if not _is_dataset(source) and not _is_lazy_frame(source) and _is_in_memory(source):
            return _open_arrow_table(pa.table(source), y, sample_weight, spec)
        stream = _open_stream(source)
    features = spec.select_features(stream.names)
    if stream.types is not None:
        check_types(stream.names, stream.types, features, spec, DEFAULT_OWNER)
    step, n_rows = choose_chunk_rows(spec.chunk_rows, len(features)), stream.n_rows
    arrays = check_arrays(n_rows, y=y, sample_weight=sample_weight)

    def chunks(start: int, edge: int) -> Chunks:
        with wrap_read_errors(DEFAULT_OWNER):
            batches = stream.batches([*features, *spec.other_columns], step)
        # A query that runs a second time may give another number of rows.
        for rows, some in split_batches(
            iterate_batches(batches, DEFAULT_OWNER), row_slices(start, edge, MAX_N_ROWS, step)
        ):
            yield chunk_from_batches(some, features, spec, arrays, rows)
            del some

    total = (
        expected_count(arrays.get("sample_weight"), n_rows) if spec.sample_weight is None else None
    )
    return ChunkedSource(
        chunks,
        n_rows,
        len(features),
        features,
        total,
        step,
        arrays=arrays,
        chunks_in_memory=5.0,
        zero_weight_rows=find_zero_weights(arrays.get("sample_weight")),
        is_external=True,
    )


def _open_arrow_table(table: Any, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """An Arrow table in memory as a source; only one chunk at a time is copied."""
    names, n_rows = table.schema.names, table.num_rows
    features = spec.select_features(names)
    check_types(names, table.schema.types, features, spec, DEFAULT_OWNER)
    step = choose_chunk_rows(spec.chunk_rows, len(features))
    arrays = check_arrays(n_rows, y=y, sample_weight=sample_weight)
    table = table.select([*dict.fromkeys([*features, *spec.other_columns])])
    counts = (
        arrays.get("sample_weight")
        if spec.sample_weight is None
        else _table_column(table, spec.sample_weight)
    )
    folds = None if spec.folds is None else _table_column(table, spec.folds)

    def chunks(start: int, edge: int) -> Chunks:
        for rows in row_slices(start, edge, n_rows, step):
            some = table.slice(rows.start, rows.stop - rows.start).to_batches()
            yield chunk_from_batches(some, features, spec, arrays, rows)

    return ChunkedSource(
        chunks,
        n_rows,
        len(features),
        features,
        expected_count(counts, n_rows),
        step,
        None if folds is None else n_unique_folds(folds),
        arrays,
        chunks_in_memory=3.5,
        zero_weight_rows=find_zero_weights(counts),
    )


def _table_column(table: Any, name: str) -> NDArray[Any]:
    return concat_column(table.select([name]).to_batches(), name, column_to_numbers)


def _open_stream(source: Any) -> Stream:
    """The batches of a source, by its type."""
    pa = import_pyarrow()
    if _is_lazy_frame(source):
        return _stream_polars(source)
    if hasattr(source, "scanner"):
        return _stream_dataset(source)
    if _is_dataset(source):
        # Some scanners can be read only once, so the rows are not counted first.
        schema = source.projected_schema
        return Stream(schema.names, None, lambda *_: source.to_batches(), schema.types)
    reader_of = getattr(source, "to_arrow_reader", getattr(source, "fetch_record_batch", None))
    if reader_of is not None:
        # DuckDB has one result open at a time, so rows are counted first.
        return Stream(list(source.columns), len(source), lambda _, step: reader_of(step))
    reader = pa.RecordBatchReader.from_stream(source)
    n_rows = len(source) if hasattr(source, "__len__") else None
    return Stream(reader.schema.names, n_rows, lambda *_: reader, reader.schema.types)


def _stream_dataset(source: Any) -> Stream:
    """The batches of a pyarrow dataset, with little read-ahead."""
    from pyarrow import dataset

    # The default is to read 16 batches of each of 4 files ahead.
    readahead: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}
    if isinstance(getattr(source, "format", None), dataset.ParquetFileFormat):
        readahead["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(pre_buffer=False)

    def scan(columns: list[str], step: int) -> Iterable[Any]:
        return source.scanner(columns=columns, batch_size=step, **readahead).to_batches()

    schema = source.schema
    return Stream(schema.names, source.count_rows(), scan, schema.types)


def _stream_polars(query: Any) -> Stream:
    """The batches of a polars query, if this version of polars can stream it."""
    if not hasattr(query, "collect_batches"):
        raise TypeError("source is a LazyFrame: collect() it first, or sink it to Parquet.")
    pa = import_pyarrow()
    import polars

    schema = pa.table(query.collect_schema().to_frame()).schema
    n_rows = query.select(polars.len()).collect().item()

    def batches(columns: list[str], step: int) -> Iterator[Any]:
        for frame in query.select([*dict.fromkeys(columns)]).collect_batches(chunk_size=step):
            yield from pa.table(frame).to_batches()

    return Stream(schema.names, int(n_rows), batches, schema.types)


def iterate_batches(batches: Iterable[Any], name: Any) -> Iterator[Any]:
    """The same batches; a batch that cannot be read raises a ValueError."""
    batches = iter(batches)
    while True:
        with wrap_read_errors(name):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
        del batch


@contextmanager
def wrap_read_errors(name: Any) -> Iterator[None]:
    """Turn errors of Arrow, DuckDB or polars into a ValueError with one line."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        is_theirs = type(error).__module__.startswith(("pyarrow", "duckdb", "_duckdb", "polars"))
        if not is_theirs and not isinstance(error, OSError):
            raise
        raise ValueError(f"{name} cannot be read: {first_line(error)}.") from error


def first_line(error: BaseException | None) -> str:
    """The first line of the message of an error, printable characters only."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "".join(letter for letter in lines[0] if letter.isprintable()).rstrip(" .:")


def split_batches(
    batches: Iterable[Any], slices: Iterator[slice]
) -> Iterator[tuple[slice, list[Any]]]:
    """Batches of any length, split into slices of rows; the last slice may be shorter.

    Here and below, ``del`` frees a batch before the next one is read.
    """
    waiting: list[Any] = []
    rows = next(slices)
    missing = rows.stop - rows.start
    for batch in batches:
        rest = batch
        while rest.num_rows >= missing:
            waiting.append(rest.slice(0, missing))
            rest = rest.slice(missing) if rest.num_rows > missing else rest.slice(0, 0)
            yield rows, waiting
            waiting, rows = [], next(slices)
            missing = rows.stop - rows.start
        if rest.num_rows:
            waiting.append(rest)
            missing -= rest.num_rows
        del batch, rest
    if waiting:
        yield slice(rows.start, rows.stop - missing), waiting


def chunk_from_batches(
    batches: list[Any],
    features: list[str],
    spec: ColumnSpec,
    arrays: Mapping[str, Any],
    rows: slice,
    out: FloatArray | None = None,
) -> Chunk:
    """One chunk from several batches, with the same rows of the arrays given with the source.

    Features are written to `out`, a vector that is long enough, if it is given.
    """
    n_rows = rows.stop - rows.start
    y, weights = (slice_rows(arrays, name, rows) for name in ("y", "sample_weight"))
    if spec.target is not None:
        columns = [concat_column(batches, name, _column_values) for name in spec.target]
        y = columns[0] if len(columns) == 1 else np.column_stack(columns)
    if spec.sample_weight is not None:
        weights = concat_column(batches, spec.sample_weight, column_to_numbers)
    folds = None if spec.folds is None else concat_column(batches, spec.folds, column_to_numbers)
    space = np.empty(len(features) * n_rows) if out is None else out[: len(features) * n_rows]
    X = _fill_columns(space.reshape(len(features), n_rows), batches, features)
    return Chunk(NamedColumns(X, features), y, weights, folds, n_rows)


def _fill_columns(columns: FloatArray, batches: list[Any], names: list[str]) -> FloatArray:
    """The features of all batches as a table with contiguous columns, missing values as NaN."""
    start = 0
    for batch in batches:
        stop, schema = start + batch.num_rows, batch.schema
        position_of = {name: position for position, name in enumerate(schema.names)}
        is_number = [_is_numpy_number(arrow_type) for arrow_type in schema.types]
        for column, name in zip(columns, names, strict=True):
            position = position_of[name]
            values = batch.column(position)
            column[start:stop] = (
                values.to_numpy(zero_copy_only=False)
                if is_number[position]
                else column_to_numbers(values, name)
            )
        start = stop
    return columns.T


def _is_numpy_number(arrow_type: Any) -> bool:
    """Whether a type is an integer or a floating-point type, which NumPy has too."""
    types = import_pyarrow().types
    return types.is_floating(arrow_type) or types.is_integer(arrow_type)


def concat_column(
    batches: Iterable[Any], name: str, read: Callable[[Any, str], Any]
) -> NDArray[Any]:
    """One column of all batches."""
    each = [read(batch.column(batch.schema.get_field_index(name)), name) for batch in batches]
    return np.concatenate(each) if each else np.empty(0)


def column_to_numbers(column: Any, name: str) -> NDArray[Any]:
    """An Arrow column as numbers, missing values as NaN."""
    if _is_numpy_number(column.type):
        return column.to_numpy(zero_copy_only=False)
    if hasattr(column, "dictionary_decode"):
        return column_to_numbers(column.dictionary_decode(), name)
    _check_numeric(column.type, name, DEFAULT_OWNER)
    return column.cast("float64").to_numpy(zero_copy_only=False)


def _column_values(column: Any, name: str) -> NDArray[Any]:
    """An Arrow column as numbers or as text."""
    if import_pyarrow().types.is_decimal(column.type):
        return column_to_numbers(column, name)
    if hasattr(column, "dictionary"):
        # dictionary_decode does not support all text types.
        words = np.array([*_column_values(column.dictionary, name).tolist(), None], dtype=object)
        positions = column.indices.to_numpy(zero_copy_only=False)
        return words[np.nan_to_num(positions, nan=-1).astype(np.intp)]
    return column.to_numpy(zero_copy_only=False)


def check_types(
    names: list[str], types: list[Any], features: list[str], spec: ColumnSpec, owner: str
) -> None:
    """Raise if features, sample weights or folds are not numbers."""
    type_of = dict(zip(names, types, strict=True))
    for name in features:
        _check_numeric(type_of[name], name, owner)
    for option, one in {"sample_weight": spec.sample_weight, "cv": spec.folds}.items():
        if one is not None:
            _check_numeric(type_of[one], one, owner, f"{option} must name a column of numbers")


ENCODE_ADVICE = "encode it first, or name the columns to use with columns=[...]"


def _check_numeric(arrow_type: Any, name: str, owner: str, advice: str = ENCODE_ADVICE) -> None:
    if not is_numeric(arrow_type):
        raise ValueError(f"{owner} holds {arrow_type} in column {name!r}, not numbers: {advice}.")


def is_numeric(arrow_type: Any) -> bool:
    """Whether a column of this type can be read as numbers."""
    types = import_pyarrow().types
    if types.is_dictionary(arrow_type):
        return is_numeric(arrow_type.value_type)
    # A column without any value raises a more specific error later.
    others = (types.is_boolean, types.is_decimal, types.is_null)
    return _is_numpy_number(arrow_type) or any(is_one(arrow_type) for is_one in others)


def import_pyarrow() -> Any:
    """The pyarrow module; an ImportError says how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("Arrow tables need pyarrow: pip install 'coterie[arrow]'.") from error
    return pyarrow
