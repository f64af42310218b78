"""Code that runs on Spark executors: moments of Arrow batches, and sums of moments."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.engines._spark_columns import numbered_names
from coterie._data.moments import Moments, NamedColumns, RowLocation
from coterie._data.validation import counted

# Size of a chunk of rows that is counted at a time, and the largest size for many columns: a
# product of few rows takes as long as one of many.
SPARK_CHUNK_BYTES, SPARK_MAX_CHUNK_BYTES = 2**26, 2**28
SPARK_MAX_CHUNK_ROWS = 2**16
# Size of moments in one row of a frame: executors may have little memory outside Python.
MOMENTS_CHUNK_BYTES = 2**22
# Schemas of the frames with chunks of moments and with sizes of partitions.
MOMENTS_SCHEMA = "partition_id bigint, chunk bigint, content binary"
SIZE_SCHEMA = "partition_id bigint, n_rows bigint, n_counted bigint, weight double"


class UncountableError(ValueError):
    """An error for the user, which the driver finds again in Spark's error message."""


class PartitionSize(NamedTuple):
    """Number of rows of a partition, of those with a weight above 0, and the sum of weights."""

    n_rows: int = 0
    n_counted: int = 0
    weight: float = 0.0

    def combine(self, other: PartitionSize) -> PartitionSize:
        """The size of both together."""
        n_rows, n_counted = self.n_rows + other.n_rows, self.n_counted + other.n_counted
        return PartitionSize(n_rows, n_counted, self.weight + other.weight)


PartitionSizes = dict[int, PartitionSize]


def same_sizes(one: PartitionSizes, other: PartitionSizes) -> bool:
    """Whether partitions have the same sizes."""
    return one.keys() == other.keys() and all(
        size[:2] == other[partition][:2] and math.isclose(size.weight, other[partition].weight)
        for partition, size in one.items()
    )


@dataclass(frozen=True)
class Job:
    """What an executor needs to count the rows of a partition.

    Parameters
    ----------
    targets : list of str
        Names of the targets.
    names : list of str or None
        Names of the features, if known.
    vector : str or None
        The column that holds all features, if there is one.
    sizes : dict
        The size of each partition, by its number.
    fold_ends : list of int or None
        Where contiguous folds end; None if folds are a column, or there are none.
    """

    targets: list[str]
    names: list[str] | None
    vector: str | None
    sizes: PartitionSizes
    fold_ends: list[int] | None = None

    @property
    def total(self) -> PartitionSize:
        """The size of all partitions together."""
        return self.before(None)

    def before(self, partition: int | None) -> PartitionSize:
        """The size of the partitions before one; of all partitions for None."""
        size = PartitionSize()
        for number in sorted(self.sizes):
            if partition is None or number < partition:
                size = size.combine(self.sizes[number])
        return size


class PartitionMoments(NamedTuple):
    """Moments, and the sizes of the partitions that they come from."""

    sizes: PartitionSizes
    moments: Moments

    def to_bytes(self) -> bytes:
        """A line of JSON with the sizes, then the moments."""
        sizes = json.dumps([(partition, *size) for partition, size in self.sizes.items()])
        return b"\n".join([sizes.encode(), self.moments.to_bytes()])

    @classmethod
    def from_bytes(cls, content: bytes) -> PartitionMoments:
        """The sizes and moments in such bytes."""
        end = content.index(b"\n")
        sizes = {partition: PartitionSize(*size) for partition, *size in json.loads(content[:end])}
        return cls(sizes, Moments.from_bytes(memoryview(content)[end + 1 :]))


def count_partition_rows(weights: str | None, batches: Iterable[Any]) -> Iterator[Any]:
    """The size of this partition, as one row of SIZE_SCHEMA; errors name the weights."""
    import pyarrow as pa

    size = PartitionSize()
    for batch in batches:
        size = size.combine(_size_of(batch.num_rows, _chunk_weights([batch], weights)))
    if size.n_rows:
        yield pa.record_batch(
            {
                name: [value]
                for name, value in {"partition_id": _partition_id(), **size._asdict()}.items()
            }
        )


def count_moments(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """The moments of this partition, as rows of MOMENTS_SCHEMA."""
    partition, size = _partition_id(), PartitionSize()
    before = job.before(partition)
    moments = Moments(job.total.weight, n_before=before.weight)
    for chunk in _chunk_batches(batches):
        rows = _read_rows(chunk, job, before.n_counted + size.n_counted)
        try:
            # Batches were split, so rows are numbered from the first row of the partition.
            location = RowLocation(f"batch {moments.n_batches}", size.n_rows)
            moments.take(rows.features, rows.targets, rows.weights, rows.folds, location)
        except ValueError as error:
            raise UncountableError(_error_text(rows, partition, error)) from error
        size = size.combine(_size_of(len(rows.features.values), rows.weights))
    if size.n_rows:
        yield from _to_chunks(partition, PartitionMoments({partition: size}, moments))


def add_moment_chunks(batches: Iterable[Any]) -> Iterator[Any]:
    """The sum of all moments in this partition, from and to sorted rows of MOMENTS_SCHEMA."""
    rows = (row for batch in batches for row in batch.to_pylist())
    if total := add_partitions(rows):
        yield from _to_chunks(_partition_id(), total)


def add_partitions(rows: Iterable[Any]) -> PartitionMoments | None:
    """The sum of moments, from sorted rows of MOMENTS_SCHEMA; None without rows."""
    total: PartitionMoments | None = None
    for _, chunks in groupby(rows, key=lambda row: row["partition_id"]):
        one = PartitionMoments.from_bytes(b"".join(row["content"] for row in chunks))
        if total is None:
            total = one
            continue
        moments = total.moments
        total.sizes.update(one.sizes)
        try:
            moments += one.moments
        except ValueError as error:
            raise UncountableError(str(error)) from error
    return total


def _to_chunks(partition: int, moments: PartitionMoments) -> Iterator[Any]:
    import pyarrow as pa

    content = moments.to_bytes()
    for number, start in enumerate(range(0, len(content), MOMENTS_CHUNK_BYTES)):
        chunk = content[start : start + MOMENTS_CHUNK_BYTES]
        yield pa.record_batch({"partition_id": [partition], "chunk": [number], "content": [chunk]})


def _partition_id() -> int:
    """The number of the partition of this task."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


class RowChunk(NamedTuple):
    """Some rows of a partition, as arrays."""

    features: NamedColumns
    targets: NamedColumns
    weights: FloatArray | None
    folds: IntArray | None

    def missing_columns(self) -> list[str]:
        """The columns with missing values in rows with a weight above 0."""
        counts = slice(None) if self.weights is None else self.weights != 0
        return [
            name
            for table in (self.features, self.targets)
            for name, column in zip(table.names, table.values.T, strict=True)
            if _has_missing(column[counts])
        ]


def _has_missing(column: Any) -> bool:
    if column.dtype == object:
        return any(value is None or value != value for value in column.tolist())
    return bool(np.isnan(column).any())


def _read_rows(chunk: list[Any], job: Job, n_before: int) -> RowChunk:
    matrix = _concat([_matrix(batch.column("x"), job) for batch in chunk])
    names = job.names or numbered_names(str(job.vector), matrix.shape[1])
    targets = [_chunk_column(chunk, f"y{position}") for position in range(len(job.targets))]
    is_mixed = any(target.dtype == object for target in targets)
    table = np.column_stack([t.astype(object) for t in targets] if is_mixed else targets)
    weights = _chunk_weights(chunk)
    folds = _chunk_folds(chunk, job, weights, n_before, len(matrix))
    return RowChunk(NamedColumns(matrix, names), NamedColumns(table, job.targets), weights, folds)


def _matrix(column: Any, job: Job) -> FloatArray:
    """A matrix from a column of lists, which must have the same length."""
    lengths = np.diff(column.offsets.to_numpy())
    if column.null_count:
        raise UncountableError(
            f"The frame has null in column {job.vector!r}. Fill the missing values or drop those "
            "rows first, for example with dropna."
        )
    if (lengths != lengths[0]).any():
        other = lengths[lengths != lengths[0]][0]
        raise UncountableError(
            f"Column {job.vector!r} has vectors of {lengths[0]} numbers and of {other}."
        )
    values = column.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(len(lengths), -1)


def _chunk_column(chunk: list[Any], name: str) -> Any:
    return _concat([batch.column(name).to_numpy(zero_copy_only=False) for batch in chunk])


def _concat(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _chunk_weights(chunk: list[Any], name: str | None = None) -> FloatArray | None:
    """The weights in column "w"; None if there is no such column."""
    if "w" not in chunk[0].schema.names:
        return None
    weights = _chunk_column(chunk, "w")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise UncountableError(f"sample_weight must be 0 or more, got {bad:g} in column {name!r}.")
    return weights


def _chunk_folds(
    chunk: list[Any], job: Job, weights: FloatArray | None, n_before: int, n_rows: int
) -> IntArray | None:
    """The fold of each row: from a column, or from its number among rows with a weight above 0."""
    if "fold" in chunk[0].schema.names:
        folds = _chunk_column(chunk, "fold")
        if folds.dtype.kind != "i" or folds.min() < 0:
            raise UncountableError("Folds must be whole numbers of 0 or more in all rows.")
        return folds
    if job.fold_ends is None:
        return None
    counts = np.ones(n_rows, dtype=bool) if weights is None else weights != 0
    numbers = n_before + np.cumsum(counts) - counts
    return np.searchsorted(job.fold_ends, numbers, side="right")


def _size_of(n_rows: int, weights: FloatArray | None) -> PartitionSize:
    if weights is None:
        return PartitionSize(n_rows, n_rows, float(n_rows))
    return PartitionSize(n_rows, int(np.count_nonzero(weights)), float(weights.sum()))


def _error_text(rows: RowChunk, partition: int, error: ValueError) -> str:
    if missing := rows.missing_columns():
        return (
            f"The frame has NaN or null in {counted('column', missing)}. Fill the missing values "
            "or drop those rows first, for example with fillna or dropna."
        )
    return f"{str(error).rstrip('.')} (partition {partition} of the frame)."


def _chunk_batches(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Lists of batches with enough rows for a fast product; large batches are split."""
    waiting: list[Any] = []
    n_waiting, step = 0, 0
    for batch in _not_empty(batches):
        first, second = batch.column("x").offsets[:2].to_pylist()
        step = step or _rows_per_chunk(second - first)
        for rows in _split_batch(batch, step):
            if n_waiting + rows.num_rows > step and waiting:
                yield waiting
                waiting, n_waiting = [], 0
            waiting.append(rows)
            n_waiting += rows.num_rows
    if waiting:
        yield waiting


def _not_empty(batches: Iterable[Any]) -> Iterator[Any]:
    return (batch for batch in batches if batch.num_rows)


def _split_batch(batch: Any, step: int) -> Iterator[Any]:
    return (batch.slice(start, step) for start in range(0, batch.num_rows, step))


def _rows_per_chunk(n_features: int) -> int:
    """Number of rows in a chunk: more than columns, unless that makes a very large chunk."""
    bytes_of_row = 8 * max(1, n_features)
    min_rows = min(2 * n_features, SPARK_MAX_CHUNK_BYTES // bytes_of_row)
    return int(np.clip(max(SPARK_CHUNK_BYTES // bytes_of_row, min_rows), 1, SPARK_MAX_CHUNK_ROWS))
