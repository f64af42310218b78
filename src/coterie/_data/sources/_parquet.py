"""Parquet files: one, or a folder of them in the order of their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from coterie._data.moments import MAX_N_ROWS, format_bytes
from coterie._data.sources._arrays import beside, expected, idle_rows
from coterie._data.sources._arrow import (
    check_kinds,
    cut,
    is_numeric,
    joined,
    needs_pyarrow,
    numbers,
    piece_of,
    reason_of,
    told,
)
from coterie._data.sources._chunks import (
    NO_READING,
    Opened,
    Part,
    Pieces,
    Reading,
    Wanted,
    n_different,
    rows_at_a_time,
    spans,
)
from coterie._data.sources._prefetch import ahead
from coterie._data.validation import counted

SUFFIXES = (".parquet", ".parq", ".pq")
# What Hive writes where there is no value.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# Row groups of more bytes than this are read bit by bit, and not as a whole.
LARGE_GROUP = 2**28
BIT = 2**16
# Writers end a page at about so many bytes; reading bit by bit, there is one of each column.
PAGE = 2**20
SMALLER = "smaller row groups (write the file anew, such as with row_group_size of pyarrow)"


class _File(NamedTuple):
    """A file as its last lines describe it."""

    path: Path
    names: list[str]
    kinds: list[Any]
    groups: list[int]  # rows of each row group
    place: int  # of the largest row group
    largest: int  # bytes of each of its columns, on average
    constants: dict[str, Any]  # columns whose value stands in the name of a folder

    @property
    def n_rows(self) -> int:
        return sum(self.groups)

    def is_large(self, n_columns: int) -> bool:
        """Whether so many columns of a row group are too much to be read as a whole."""
        return self.largest * n_columns > LARGE_GROUP

    def reading(self, n_columns: int) -> int:
        """Bytes that are taken to read so many columns, beside what is read."""
        # As they lie in the file, as they are once unpacked, and what the allocator keeps.
        if not self.is_large(n_columns):
            return 3 * n_columns * self.largest
        return 2 * n_columns * min(self.largest, PAGE) + n_columns * BIT

    def name_in(self, path: Path) -> str:
        """What the file is called in a folder, or by itself."""
        return self.path.name if self.path == path else str(self.path.relative_to(path))


def opened_parquet(path: Path, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A Parquet file, or a folder of them."""
    needs_pyarrow()
    files = _described(path)
    features = wanted.features_among(files[0].names, str(files[0].path))
    columns = [*dict.fromkeys([*features, *wanted.beside])]
    for file in files:
        _check_alike(file, files[0], columns, wanted)
        check_kinds(file.names, file.kinds, features, wanted, str(file.path))
    _check_targets(files, wanted.target or [])
    n_rows = sum(file.n_rows for file in files)
    step = rows_at_a_time(wanted.chunk_rows, len(features))
    given = beside(n_rows, y=y, weights=weights)
    counts, folds = (_one_column(files, name) for name in (wanted.weights, wanted.folds))

    def pieces(start: int, edge: int) -> Pieces:
        batches = _batches(files, columns, step, start)
        # Two tables in turn, one in use and one to be filled: new memory takes time.
        tables = cycle(np.empty((2, len(features) * min(step, n_rows))))
        for rows, some in cut(batches, spans(start, edge, MAX_N_ROWS, step)):
            piece = piece_of(some, features, wanted, given, rows, next(tables))
            del some
            yield piece

    def read_ahead(start: int, edge: int) -> Pieces:
        return ahead(pieces(start, edge))

    return Opened(
        read_ahead,
        n_rows,
        len(features),
        features,
        expected(given.get("weights") if counts is None else counts, n_rows),
        step,
        None if folds is None else n_different(folds),
        given,
        tuple(_part(file, path) for file in files),
        # Two tables, a copy that is centred, and batches.
        n_held=7.0,
        idle=idle_rows(given.get("weights") if counts is None else counts),
        reading=_reading(files, path, len(columns)),
    )


def _reading(files: list[_File], path: Path, n_columns: int) -> Reading:
    """What it takes to read the file that takes most."""
    file = max(files, key=lambda file: file.reading(n_columns))
    if not file.groups:
        return NO_READING
    what = (
        f"row group {file.place} of {file.name_in(path)} ({file.groups[file.place]:,} rows, "
        f"{format_bytes(n_columns * file.largest)})"
    )
    return Reading(file.reading(n_columns), what, SMALLER)


def _described(path: Path) -> list[_File]:
    """All files, in the order of their names, with their descriptions."""
    if not path.is_dir():
        return [_described_file(path, {})]
    inside = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
    found = sorted((each for each in inside if _is_parquet(each)), key=Path.as_posix)
    if not found:
        raise ValueError(f"There is no Parquet file ({', '.join(SUFFIXES)}) in {path}.")
    constants = _as_numbers([_values_in(file) for file in found])
    both = zip(found, constants, strict=True)
    return [_described_file(path / file, values) for file, values in both]


def _is_parquet(path: Path) -> bool:
    is_hidden = any(part.startswith((".", "_")) for part in path.parts)
    return not is_hidden and path.suffix.lower() in SUFFIXES


def _values_in(path: Path) -> dict[str, str | None]:
    """What the names of folders say, such as "year=2001"."""
    pairs = (part.partition("=") for part in path.parent.parts if "=" in part)
    return {
        unquote(name): None if value == NO_VALUE else unquote(value) for name, _, value in pairs
    }


def _as_numbers(inside: list[dict[str, str | None]]) -> list[dict[str, Any]]:
    """The same, as numbers where all files have whole ones there."""
    names = {name for values in inside for name in values}
    whole = {
        name
        for name in names
        if all(_is_whole(values[name]) for values in inside if values.get(name) is not None)
    }
    return [
        {
            name: int(value) if name in whole and value is not None else value
            for name, value in values.items()
        }
        for values in inside
    ]


def _is_whole(text: str | None) -> bool:
    digits = (text or "").removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19


def _described_file(path: Path, constants: dict[str, Any]) -> _File:
    with told(path), _opened_file(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
        sizes = [group.total_byte_size for group in groups] or [0]
        added = {name: value for name, value in constants.items() if name not in schema.names}
        pa = needs_pyarrow()
        return _File(
            path,
            [*schema.names, *added],
            [*schema.types, *(pa.scalar(value).type for value in added.values())],
            [group.num_rows for group in groups],
            sizes.index(max(sizes)),
            max(sizes) // max(1, metadata.num_columns),
            added,
        )


def _opened_file(path: Path, *, is_large: bool = False) -> Any:
    from pyarrow import parquet

    # Pages are checked where the file has checksums. Read ahead it need not, since we do.
    return parquet.ParquetFile(
        path,
        pre_buffer=False,
        buffer_size=BIT if is_large else 0,
        page_checksum_verification=True,
    )


def _check_alike(file: _File, first: _File, columns: list[str], wanted: Wanted) -> None:
    """Raise where a file lacks columns, or has more than the first one."""
    times, known = Counter(file.names), {*first.names}
    missing = [name for name in columns if not times[name]]
    if missing:
        raise ValueError(
            f"{file.path} has no {counted('column', missing, most=3)}, and {first.path.name} has."
        )
    added = [name for name in file.names if name not in known]
    if added and wanted.columns is None:
        raise ValueError(
            f"{file.path} has {counted('column', added, most=3)}, and {first.path.name} has not: "
            "name the columns to use with columns=[...]."
        )
    repeated = [name for name in columns if times[name] > 1]
    if repeated:
        raise ValueError(f"{file.path} has {counted('column', repeated, most=3)} more than once.")


def _check_targets(files: list[_File], targets: list[str]) -> None:
    """Raise where a target is numbers in some files and none in others, as a chunk has one kind."""
    for name in targets:
        kinds = [(file, file.kinds[file.names.index(name)]) for file in files]
        # A file without any value is told when it is read.
        known = [(file, kind) for file, kind in kinds if str(kind) != "null"]
        for file, kind in known[1:]:
            first, before = known[0]
            if is_numeric(kind) != is_numeric(before):
                raise ValueError(
                    f"{file.path} holds {kind} in column {name!r}, and {first.path.name} holds "
                    f"{before}: a target is numbers in all files, or text in all."
                )


def _part(file: _File, path: Path) -> Part:
    state = file.path.stat()
    return Part(file.name_in(path), file.n_rows, state.st_size, state.st_mtime_ns)


def _one_column(files: list[_File], name: str | None) -> Any:
    """All numbers of one column, which is little beside a table."""
    if name is None:
        return None
    return joined(_batches(files, [name], 2**16, 0), name, numbers)


def _batches(files: Iterable[_File], columns: list[str], step: int, start: int) -> Iterator[Any]:
    """All batches from a row on, of no more than so many rows."""
    for file in files:
        if start < file.n_rows:
            yield from _batches_of(file, columns, step, start)
        start = max(0, start - file.n_rows)


def _batches_of(file: _File, columns: list[str], step: int, start: int) -> Iterator[Any]:
    own = [name for name in columns if name not in file.constants]
    with told(file.path):
        opened = _opened_file(file.path, is_large=file.is_large(len(own)))
    with opened:
        for place, n_rows in enumerate(file.groups):
            if start < n_rows:
                batches = opened.iter_batches(step, row_groups=[place], columns=own)
                for batch in _of_group(batches, file, place, own):
                    left_out = min(start, batch.num_rows)
                    start -= left_out
                    if left_out < batch.num_rows:
                        yield _with_constants(batch.slice(left_out), file, columns)
                    del batch
            else:
                start -= n_rows


def _of_group(batches: Iterator[Any], file: _File, place: int, columns: list[str]) -> Iterator[Any]:
    """The batches of a row group; where one cannot be read, the sentence says which column."""
    while True:
        try:
            with told(file.path):
                batch = next(batches, None)
        except ValueError as error:
            where = f"row group {place}{_culprit(file, place, columns)}"
            raise ValueError(
                f"{file.path} cannot be read: {where}: {reason_of(error.__cause__)}."
            ) from error.__cause__
        if batch is None:
            return
        yield batch
        del batch


def _culprit(file: _File, place: int, columns: list[str]) -> str:
    """The first column of a row group that cannot be read by itself."""
    for name in columns:
        try:
            with told(file.path), _opened_file(file.path) as opened:
                opened.read_row_group(place, columns=[name])
        except ValueError:
            return f", column {name!r}"
    return ""


def _with_constants(batch: Any, file: _File, columns: list[str]) -> Any:
    """A batch, and the columns whose value stands in the name of a folder."""
    added = [name for name in columns if name in file.constants]
    if not added:
        return batch
    pa = needs_pyarrow()
    values = [pa.repeat(pa.scalar(file.constants[name]), batch.num_rows) for name in added]
    names = [*batch.schema.names, *added]
    return pa.RecordBatch.from_arrays([*batch.columns, *values], names=names)
