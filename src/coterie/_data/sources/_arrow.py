"""Tables of Arrow, and whatever hands over a stream of its batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._data.moments import MAX_N_ROWS, NamedColumns
from coterie._data.sources._arrays import beside, expected, idle_rows, rows_of
from coterie._data.sources._chunks import (
    Opened,
    Piece,
    Pieces,
    Wanted,
    n_different,
    rows_at_a_time,
    spans,
)

OWNER = "The source"


class Stream(NamedTuple):
    """Batches that come one after the other, once they are asked for."""

    names: list[str]
    n_rows: int | None
    # From the columns that are wanted and a number of rows at a time.
    batches: Callable[[list[str], int], Iterable[Any]]
    # Types of the columns, where they are known before the first batch.
    kinds: list[Any] | None = None


def is_arrow(source: Any) -> bool:
    """Whether a source can hand over batches of Arrow."""
    is_stream = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    return is_stream or _counts_rows(source) or _is_lazy(source)


def _counts_rows(source: Any) -> bool:
    """Whether a source is a dataset or a scanner of pyarrow."""
    return hasattr(source, "to_batches") and hasattr(source, "count_rows")


def _is_lazy(source: Any) -> bool:
    return type(source).__name__ == "LazyFrame"


def _is_in_memory(source: Any) -> bool:
    """Whether a source is a table of Arrow or of polars."""
    is_polars = type(source).__module__.startswith("polars") and hasattr(source, "height")
    return is_polars or hasattr(source, "num_rows") or not hasattr(source, "__arrow_c_stream__")


def opened_arrow(source: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A table, a stream, a dataset or a scanner of Arrow, or a query of DuckDB or polars."""
    pa = needs_pyarrow()
    with told(OWNER):
        if not _counts_rows(source) and not _is_lazy(source) and _is_in_memory(source):
            return _opened_table(pa.table(source), y, weights, wanted)
        stream = _stream_of(source)
    features = wanted.features_among(stream.names)
    if stream.kinds is not None:
        check_kinds(stream.names, stream.kinds, features, wanted, OWNER)
    step, n_rows = rows_at_a_time(wanted.chunk_rows, len(features)), stream.n_rows
    given = beside(n_rows, y=y, weights=weights)

    def pieces(start: int, edge: int) -> Pieces:
        with told(OWNER):
            batches = stream.batches([*features, *wanted.beside], step)
        # A query that is asked a second time may give another number of rows.
        for rows, some in cut(spoken_for(batches, OWNER), spans(start, edge, MAX_N_ROWS, step)):
            yield piece_of(some, features, wanted, given, rows)
            del some

    total = expected(given.get("weights"), n_rows) if wanted.weights is None else None
    return Opened(
        pieces,
        n_rows,
        len(features),
        features,
        total,
        step,
        beside=given,
        n_held=5.0,
        idle=idle_rows(given.get("weights")),
        is_alien=True,
    )


def _opened_table(table: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A table in memory, of which nothing is copied but one chunk."""
    names, n_rows = table.schema.names, table.num_rows
    features = wanted.features_among(names)
    check_kinds(names, table.schema.types, features, wanted, OWNER)
    step = rows_at_a_time(wanted.chunk_rows, len(features))
    given = beside(n_rows, y=y, weights=weights)
    table = table.select([*dict.fromkeys([*features, *wanted.beside])])
    counts = given.get("weights") if wanted.weights is None else _column(table, wanted.weights)
    folds = None if wanted.folds is None else _column(table, wanted.folds)

    def pieces(start: int, edge: int) -> Pieces:
        for rows in spans(start, edge, n_rows, step):
            some = table.slice(rows.start, rows.stop - rows.start).to_batches()
            yield piece_of(some, features, wanted, given, rows)

    return Opened(
        pieces,
        n_rows,
        len(features),
        features,
        expected(counts, n_rows),
        step,
        None if folds is None else n_different(folds),
        given,
        n_held=3.5,
        idle=idle_rows(counts),
    )


def _column(table: Any, name: str) -> NDArray[Any]:
    return joined(table.select([name]).to_batches(), name, numbers)


def _stream_of(source: Any) -> Stream:
    """The batches of a source, by what kind of thing it is."""
    pa = needs_pyarrow()
    if _is_lazy(source):
        return _of_polars(source)
    if hasattr(source, "scanner"):
        return _of_dataset(source)
    if _counts_rows(source):
        # Some scanners can be asked once only, so nobody asks for the number of rows.
        schema = source.projected_schema
        return Stream(schema.names, None, lambda *_: source.to_batches(), schema.types)
    reader_of = getattr(source, "to_arrow_reader", getattr(source, "fetch_record_batch", None))
    if reader_of is not None:
        # DuckDB has one result open at a time, so rows are counted before.
        return Stream(list(source.columns), len(source), lambda _, step: reader_of(step))
    reader = pa.RecordBatchReader.from_stream(source)
    n_rows = len(source) if hasattr(source, "__len__") else None
    return Stream(reader.schema.names, n_rows, lambda *_: reader, reader.schema.types)


def _of_dataset(source: Any) -> Stream:
    """A dataset of pyarrow, which is kept from reading far ahead."""
    from pyarrow import dataset

    # 16 batches of each of 4 files, unless told otherwise.
    few: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}
    if isinstance(getattr(source, "format", None), dataset.ParquetFileFormat):
        few["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(pre_buffer=False)

    def scanned(columns: list[str], step: int) -> Iterable[Any]:
        return source.scanner(columns=columns, batch_size=step, **few).to_batches()

    schema = source.schema
    return Stream(schema.names, source.count_rows(), scanned, schema.types)


def _of_polars(query: Any) -> Stream:
    """A query of polars, chunk by chunk where polars can do that."""
    if not hasattr(query, "collect_batches"):
        raise TypeError("source is a LazyFrame: collect() it first, or sink it to Parquet.")
    pa = needs_pyarrow()
    import polars

    schema = pa.table(query.collect_schema().to_frame()).schema
    n_rows = query.select(polars.len()).collect().item()

    def batches(columns: list[str], step: int) -> Iterator[Any]:
        for frame in query.select([*dict.fromkeys(columns)]).collect_batches(chunk_size=step):
            yield from pa.table(frame).to_batches()

    return Stream(schema.names, int(n_rows), batches, schema.types)


def spoken_for(batches: Iterable[Any], name: Any) -> Iterator[Any]:
    """The same batches; where one cannot be read, one sentence says so."""
    batches = iter(batches)
    while True:
        with told(name):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
        del batch


@contextmanager
def told(name: Any) -> Iterator[None]:
    """What Arrow, DuckDB or polars cannot read is one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        is_theirs = type(error).__module__.startswith(("pyarrow", "duckdb", "_duckdb", "polars"))
        if not is_theirs and not isinstance(error, OSError):
            raise
        raise ValueError(f"{name} cannot be read: {reason_of(error)}.") from error


def reason_of(error: BaseException | None) -> str:
    """The first line of what somebody else says."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "".join(letter for letter in lines[0] if letter.isprintable()).rstrip(" .:")


def cut(batches: Iterable[Any], whole: Iterator[slice]) -> Iterator[tuple[slice, list[Any]]]:
    """Batches cut into spans of rows, however they come; the last span may be shorter.

    Here and below, what is no longer needed is let go before the next batch is made.
    """
    waiting: list[Any] = []
    rows = next(whole)
    missing = rows.stop - rows.start
    for batch in batches:
        rest = batch
        while rest.num_rows >= missing:
            waiting.append(rest.slice(0, missing))
            rest = rest.slice(missing) if rest.num_rows > missing else rest.slice(0, 0)
            yield rows, waiting
            waiting, rows = [], next(whole)
            missing = rows.stop - rows.start
        if rest.num_rows:
            waiting.append(rest)
            missing -= rest.num_rows
        del batch, rest
    if waiting:
        yield slice(rows.start, rows.stop - missing), waiting


def piece_of(
    batches: list[Any],
    features: list[str],
    wanted: Wanted,
    given: Mapping[str, Any],
    rows: slice,
    out: FloatArray | None = None,
) -> Piece:
    """Some batches as one piece, with the rows of what is given beside.

    Its table is put into `out`, a vector that is long enough, if there is one.
    """
    n_rows = rows.stop - rows.start
    y, weights = (rows_of(given, name, rows) for name in ("y", "weights"))
    if wanted.target is not None:
        columns = [joined(batches, name, _values) for name in wanted.target]
        y = columns[0] if len(columns) == 1 else np.column_stack(columns)
    if wanted.weights is not None:
        weights = joined(batches, wanted.weights, numbers)
    folds = None if wanted.folds is None else joined(batches, wanted.folds, numbers)
    space = np.empty(len(features) * n_rows) if out is None else out[: len(features) * n_rows]
    X = _filled(space.reshape(len(features), n_rows), batches, features)
    return Piece(NamedColumns(X, features), y, weights, folds, n_rows)


def _filled(columns: FloatArray, batches: list[Any], names: list[str]) -> FloatArray:
    """The features of all batches side by side, each in one piece of memory, gaps as NaN."""
    start = 0
    for batch in batches:
        stop, schema = start + batch.num_rows, batch.schema
        place_of = {name: place for place, name in enumerate(schema.names)}
        is_number = [_is_number(kind) for kind in schema.types]
        for column, name in zip(columns, names, strict=True):
            place = place_of[name]
            values = batch.column(place)
            column[start:stop] = (
                values.to_numpy(zero_copy_only=False) if is_number[place] else numbers(values, name)
            )
        start = stop
    return columns.T


def _is_number(kind: Any) -> bool:
    """Whether numpy has this type, and no text."""
    types = needs_pyarrow().types
    return types.is_floating(kind) or types.is_integer(kind)


def joined(batches: Iterable[Any], name: str, read: Callable[[Any, str], Any]) -> NDArray[Any]:
    """One column of all batches."""
    each = [read(batch.column(batch.schema.get_field_index(name)), name) for batch in batches]
    return np.concatenate(each) if each else np.empty(0)


def numbers(column: Any, name: str) -> NDArray[Any]:
    """A column of Arrow as numbers, gaps as NaN."""
    if _is_number(column.type):
        return column.to_numpy(zero_copy_only=False)
    if hasattr(column, "dictionary_decode"):
        return numbers(column.dictionary_decode(), name)
    _check_kind(column.type, name, OWNER)
    return column.cast("float64").to_numpy(zero_copy_only=False)


def _values(column: Any, name: str) -> NDArray[Any]:
    """A column of Arrow as numbers or as text."""
    if needs_pyarrow().types.is_decimal(column.type):
        return numbers(column, name)
    if hasattr(column, "dictionary"):
        # Not dictionary_decode, which does not know all kinds of text.
        words = np.array([*_values(column.dictionary, name).tolist(), None], dtype=object)
        places = column.indices.to_numpy(zero_copy_only=False)
        return words[np.nan_to_num(places, nan=-1).astype(np.intp)]
    return column.to_numpy(zero_copy_only=False)


def check_kinds(
    names: list[str], kinds: list[Any], features: list[str], wanted: Wanted, owner: str
) -> None:
    """Raise where a feature, weights or folds are no numbers."""
    kind_of = dict(zip(names, kinds, strict=True))
    for name in features:
        _check_kind(kind_of[name], name, owner)
    for role, one in {"weights": wanted.weights, "folds": wanted.folds}.items():
        if one is not None:
            _check_kind(kind_of[one], one, owner, f"{role} must be numbers")


ENCODE = "encode it first, or name the columns to use with columns=[...]"


def _check_kind(kind: Any, name: str, owner: str, advice: str = ENCODE) -> None:
    if not is_numeric(kind):
        raise ValueError(f"{owner} holds {kind} in column {name!r}, not numbers: {advice}.")


def is_numeric(kind: Any) -> bool:
    """Whether a column of this type can be numbers."""
    types = needs_pyarrow().types
    if types.is_dictionary(kind):
        return is_numeric(kind.value_type)
    # Of a column without any value, it is said later that it has none.
    others = (types.is_boolean, types.is_decimal, types.is_null)
    return _is_number(kind) or any(is_one(kind) for is_one in others)


def needs_pyarrow() -> Any:
    """The library, or one sentence on how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("Tables of Arrow need pyarrow: pip install 'coterie[arrow]'.") from error
    return pyarrow
