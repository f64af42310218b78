"""Parquet files as a source: one file, or a folder of files in the order of their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from coterie._data.moments import MAX_N_ROWS, format_bytes
from coterie._data.sources._arrays import check_arrays, expected_count, find_zero_weights
from coterie._data.sources._arrow import (
    check_types,
    chunk_from_batches,
    column_to_numbers,
    concat_column,
    first_line,
    import_pyarrow,
    is_numeric,
    split_batches,
    wrap_read_errors,
)
from coterie._data.sources._chunks import (
    NO_READ_COST,
    ChunkedSource,
    Chunks,
    ColumnSpec,
    ReadCost,
    SourceFile,
    choose_chunk_rows,
    n_unique_folds,
    row_slices,
)
from coterie._data.sources._prefetch import prefetch
from coterie._data.validation import counted

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
# What Hive writes for a missing value in the name of a folder.
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
# Larger row groups are read through a buffer, and not as a whole.
LARGE_GROUP_BYTES = 2**28
BUFFER_BYTES = 2**16
# Typical size of a page. Reading through a buffer, one page of each column is in memory.
PAGE_BYTES = 2**20
SMALLER_GROUPS = "smaller row groups (rewrite the file, such as with row_group_size of pyarrow)"


class _ParquetFile(NamedTuple):
    """A Parquet file, as described by its footer."""

    path: Path
    names: list[str]
    types: list[Any]
    groups: list[int]  # number of rows in each row group
    largest_group: int  # number of the largest row group
    column_bytes: int  # mean size of its columns
    constants: dict[str, Any]  # columns whose value is in the name of a folder (Hive partitions)

    @property
    def n_rows(self) -> int:
        return sum(self.groups)

    def is_large(self, n_columns: int) -> bool:
        """Whether so many columns of a row group are too large to be read as a whole."""
        return self.column_bytes * n_columns > LARGE_GROUP_BYTES

    def read_bytes(self, n_columns: int) -> int:
        """Bytes needed to read so many columns, in addition to the chunk."""
        # Compressed, uncompressed, and what the allocator keeps.
        if not self.is_large(n_columns):
            return 3 * n_columns * self.column_bytes
        return 2 * n_columns * min(self.column_bytes, PAGE_BYTES) + n_columns * BUFFER_BYTES

    def name_in(self, path: Path) -> str:
        """The name of the file, relative to the folder that was opened."""
        return self.path.name if self.path == path else str(self.path.relative_to(path))


def open_parquet(path: Path, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """A Parquet file, or a folder of Parquet files, as a source."""
    import_pyarrow()
    files = _describe_files(path)
    features = spec.select_features(files[0].names, str(files[0].path))
    columns = [*dict.fromkeys([*features, *spec.other_columns])]
    for file in files:
        _check_same_columns(file, files[0], columns, spec)
        check_types(file.names, file.types, features, spec, str(file.path))
    _check_targets(files, spec.target or [])
    n_rows = sum(file.n_rows for file in files)
    step = choose_chunk_rows(spec.chunk_rows, len(features))
    arrays = check_arrays(n_rows, y=y, sample_weight=sample_weight)
    counts, folds = (_read_column(files, name) for name in (spec.sample_weight, spec.folds))

    def chunks(start: int, edge: int) -> Chunks:
        batches = _batches(files, columns, step, start)
        # Two tables in turn, one in use and one to fill, since allocating memory takes time.
        tables = cycle(np.empty((2, len(features) * min(step, n_rows))))
        for rows, some in split_batches(batches, row_slices(start, edge, MAX_N_ROWS, step)):
            chunk = chunk_from_batches(some, features, spec, arrays, rows, next(tables))
            del some
            yield chunk

    def read_prefetched(start: int, edge: int) -> Chunks:
        return prefetch(chunks(start, edge))

    return ChunkedSource(
        read_prefetched,
        n_rows,
        len(features),
        features,
        expected_count(arrays.get("sample_weight") if counts is None else counts, n_rows),
        step,
        None if folds is None else n_unique_folds(folds),
        arrays,
        tuple(_source_file(file, path) for file in files),
        # Two tables, a centred copy, and batches.
        chunks_in_memory=7.0,
        zero_weight_rows=find_zero_weights(
            arrays.get("sample_weight") if counts is None else counts
        ),
        read_cost=_read_cost(files, path, len(columns)),
    )


def _read_cost(files: list[_ParquetFile], path: Path, n_columns: int) -> ReadCost:
    """Memory needed to read the file that needs most."""
    file = max(files, key=lambda file: file.read_bytes(n_columns))
    if not file.groups:
        return NO_READ_COST
    n_rows = file.groups[file.largest_group]
    what = (
        f"row group {file.largest_group} of {file.name_in(path)} ({n_rows:,} rows, "
        f"{format_bytes(n_columns * file.column_bytes)})"
    )
    return ReadCost(file.read_bytes(n_columns), what, SMALLER_GROUPS)


def _describe_files(path: Path) -> list[_ParquetFile]:
    """The description of each file, in the order of their names."""
    if not path.is_dir():
        return [_describe_file(path, {})]
    inside = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
    found = sorted((each for each in inside if _is_parquet(each)), key=Path.as_posix)
    if not found:
        raise ValueError(f"{path} contains no Parquet file ({', '.join(PARQUET_SUFFIXES)}).")
    constants = _parse_integers([_hive_values(file) for file in found])
    both = zip(found, constants, strict=True)
    return [_describe_file(path / file, values) for file, values in both]


def _is_parquet(path: Path) -> bool:
    is_hidden = any(part.startswith((".", "_")) for part in path.parts)
    return not is_hidden and path.suffix.lower() in PARQUET_SUFFIXES


def _hive_values(path: Path) -> dict[str, str | None]:
    """The values in names of folders (Hive partitions), such as "year=2001"."""
    pairs = (part.partition("=") for part in path.parent.parts if "=" in part)
    return {
        unquote(name): None if value == HIVE_NULL else unquote(value) for name, _, value in pairs
    }


def _parse_integers(inside: list[dict[str, str | None]]) -> list[dict[str, Any]]:
    """The same values, as integers in columns where all files have integers."""
    names = {name for values in inside for name in values}
    whole = {
        name
        for name in names
        if all(_is_integer(values[name]) for values in inside if values.get(name) is not None)
    }
    return [
        {
            name: int(value) if name in whole and value is not None else value
            for name, value in values.items()
        }
        for values in inside
    ]


def _is_integer(text: str | None) -> bool:
    digits = (text or "").removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19


def _describe_file(path: Path, constants: dict[str, Any]) -> _ParquetFile:
    with wrap_read_errors(path), _open_file(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        sizes = [group.total_byte_size for group in groups] or [0]
        added = {name: value for name, value in constants.items() if name not in schema.names}
        pa = import_pyarrow()
        return _ParquetFile(
            path,
            [*schema.names, *added],
            [*schema.types, *(pa.scalar(value).type for value in added.values())],
            [group.num_rows for group in groups],
            sizes.index(max(sizes)),
            max(sizes) // max(1, metadata.num_columns),
            added,
        )


def _open_file(path: Path, *, is_large: bool = False) -> Any:
    from pyarrow import parquet

    # Verify the checksums of pages. No pre_buffer, since we prefetch chunks ourselves.
    return parquet.ParquetFile(
        path,
        pre_buffer=False,
        buffer_size=BUFFER_BYTES if is_large else 0,
        page_checksum_verification=True,
    )


def _check_same_columns(
    file: _ParquetFile, first: _ParquetFile, columns: list[str], spec: ColumnSpec
) -> None:
    """Raise if a file lacks columns, or has more than the first file."""
    times, known = Counter(file.names), {*first.names}
    missing = [name for name in columns if not times[name]]
    if missing:
        raise ValueError(
            f"{file.path} has no {counted('column', missing, most=3)}, and {first.path.name} has."
        )
    added = [name for name in file.names if name not in known]
    if added and spec.columns is None:
        raise ValueError(
            f"{file.path} has {counted('column', added, most=3)}, and {first.path.name} has not: "
            "name the columns to use with columns=[...]."
        )
    repeated = [name for name in columns if times[name] > 1]
    if repeated:
        raise ValueError(f"{file.path} has {counted('column', repeated, most=3)} more than once.")


def _check_targets(files: list[_ParquetFile], targets: list[str]) -> None:
    """Raise if a target is numbers in some files and text in others."""
    for name in targets:
        types = [(file, file.types[file.names.index(name)]) for file in files]
        # A column without any value raises an error when it is read.
        known = [(file, arrow_type) for file, arrow_type in types if str(arrow_type) != "null"]
        for file, arrow_type in known[1:]:
            first, before = known[0]
            if is_numeric(arrow_type) != is_numeric(before):
                raise ValueError(
                    f"{file.path} holds {arrow_type} in column {name!r}, and {first.path.name} "
                    f"holds {before}: a target must be numbers in all files, or text in all files."
                )


def _source_file(file: _ParquetFile, path: Path) -> SourceFile:
    state = file.path.stat()
    return SourceFile(file.name_in(path), file.n_rows, state.st_size, state.st_mtime_ns)


def _read_column(files: list[_ParquetFile], name: str | None) -> Any:
    """All values of one column of numbers, which is small compared with the table."""
    if name is None:
        return None
    return concat_column(_batches(files, [name], 2**16, 0), name, column_to_numbers)


def _batches(
    files: Iterable[_ParquetFile], columns: list[str], step: int, start: int
) -> Iterator[Any]:
    """The batches of all files from row `start` on, each of at most `step` rows."""
    for file in files:
        if start < file.n_rows:
            yield from _batches_of(file, columns, step, start)
        start = max(0, start - file.n_rows)


def _batches_of(file: _ParquetFile, columns: list[str], step: int, start: int) -> Iterator[Any]:
    own = [name for name in columns if name not in file.constants]
    with wrap_read_errors(file.path):
        opened = _open_file(file.path, is_large=file.is_large(len(own)))
    with opened:
        for group, n_rows in enumerate(file.groups):
            if start < n_rows:
                batches = opened.iter_batches(step, row_groups=[group], columns=own)
                for batch in _group_batches(batches, file, group, own):
                    left_out = min(start, batch.num_rows)
                    start -= left_out
                    if left_out < batch.num_rows:
                        yield _with_constants(batch.slice(left_out), file, columns)
                    del batch
            else:
                start -= n_rows


def _group_batches(
    batches: Iterator[Any], file: _ParquetFile, group: int, columns: list[str]
) -> Iterator[Any]:
    """The batches of a row group; an error names the column that cannot be read."""
    while True:
        try:
            with wrap_read_errors(file.path):
                batch = next(batches, None)
        except ValueError as error:
            where = f"row group {group}{_unreadable_column(file, group, columns)}"
            raise ValueError(
                f"{file.path} cannot be read: {where}: {first_line(error.__cause__)}."
            ) from error.__cause__
        if batch is None:
            return
        yield batch
        del batch


def _unreadable_column(file: _ParquetFile, group: int, columns: list[str]) -> str:
    """The first column of a row group that cannot be read, for an error message."""
    for name in columns:
        try:
            with wrap_read_errors(file.path), _open_file(file.path) as opened:
                opened.read_row_group(group, columns=[name])
        except ValueError:
            return f", column {name!r}"
    return ""


def _with_constants(batch: Any, file: _ParquetFile, columns: list[str]) -> Any:
    """A batch with the columns whose value is in the name of a folder."""
    added = [name for name in columns if name in file.constants]
    if not added:
        return batch
    pa = import_pyarrow()
    values = [pa.repeat(pa.scalar(file.constants[name]), batch.num_rows) for name in added]
    names = [*batch.schema.names, *added]
    return pa.RecordBatch.from_arrays([*batch.columns, *values], names=names)
