"""On the executors of Spark: batches of Arrow become moments, and many moments become one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.engines._spark_columns import names_by_place
from coterie._data.moments import Moments, NamedColumns, RowLocation
from coterie._data.validation import counted

# Bytes of rows that are counted at a time, and at most where there are many columns: a product
# of few rows costs as much as one of many.
BLOCK, LARGEST_BLOCK = 2**26, 2**28
MOST_ROWS = 2**16
# Bytes of moments that travel in one row: executors may have little memory beside that of Python.
PIECE = 2**22
# Moments travel in pieces, by the number of the partition that they come from.
PIECES = "part bigint, piece bigint, content binary"
SHARES = "part bigint, n_rows bigint, n_counted bigint, weight double"


class UncountableError(ValueError):
    """One sentence for the user, which is found again in what Spark makes of it."""


class Share(NamedTuple):
    """The rows of one partition: all, those that count, and how often these count together."""

    n_rows: int = 0
    n_counted: int = 0
    weight: float = 0.0

    def combine(self, other: Share) -> Share:
        """Both together."""
        n_rows, n_counted = self.n_rows + other.n_rows, self.n_counted + other.n_counted
        return Share(n_rows, n_counted, self.weight + other.weight)


Shares = dict[int, Share]


def same_shares(one: Shares, other: Shares) -> bool:
    """Whether partitions have the same rows twice, as far as their numbers tell."""
    return one.keys() == other.keys() and all(
        share[:2] == other[part][:2] and math.isclose(share.weight, other[part].weight)
        for part, share in one.items()
    )


@dataclass(frozen=True)
class Job:
    """What each partition must know to count its rows.

    Parameters
    ----------
    targets : list of str
    names : list of str or None
        Of the features, where these are known.
    vector : str or None
        The column that they come from, where it is one.
    shares : dict
        The rows of each partition, by its number.
    edges : list of int or None
        Where contiguous folds end; None where a column tells, or there are none.
    """

    targets: list[str]
    names: list[str] | None
    vector: str | None
    shares: Shares
    edges: list[int] | None = None

    @property
    def total(self) -> Share:
        """All rows."""
        return self.before(None)

    def before(self, part: int | None) -> Share:
        """The rows of the partitions before one; all where it is None."""
        share = Share()
        for number in sorted(self.shares):
            if part is None or number < part:
                share = share.combine(self.shares[number])
        return share


class Counted(NamedTuple):
    """Moments, and the rows of the partitions that they come from."""

    shares: Shares
    moments: Moments

    def to_bytes(self) -> bytes:
        """Both as bytes: a line of JSON, then the moments."""
        shares = json.dumps([(part, *share) for part, share in self.shares.items()])
        return b"\n".join([shares.encode(), self.moments.to_bytes()])

    @classmethod
    def from_bytes(cls, content: bytes) -> Counted:
        """Both again."""
        end = content.index(b"\n")
        shares = {part: Share(*share) for part, *share in json.loads(content[:end])}
        return cls(shares, Moments.from_bytes(memoryview(content)[end + 1 :]))


def count_shares(weights: str | None, batches: Iterable[Any]) -> Iterator[Any]:
    """The number of rows of this partition, one row of SHARES, by weights of some name."""
    import pyarrow as pa

    share = Share()
    for batch in batches:
        share = share.combine(_share_of(batch.num_rows, _weights_in([batch], weights)))
    if share.n_rows:
        yield pa.record_batch(
            {name: [value] for name, value in {"part": _part(), **share._asdict()}.items()}
        )


def count_rows(job: Job, batches: Iterable[Any]) -> Iterator[Any]:
    """The moments of this partition, in PIECES."""
    part, share = _part(), Share()
    before = job.before(part)
    moments = Moments(job.total.weight, n_before=before.weight)
    for block in _blocks(batches):
        rows = _rows_in(block, job, before.n_counted + share.n_counted)
        try:
            # We cut the batches, so rows are numbered from the first one of the partition.
            location = RowLocation(f"batch {moments.n_batches}", share.n_rows)
            moments.take(rows.features, rows.targets, rows.weights, rows.folds, location)
        except ValueError as error:
            raise UncountableError(_told(rows, part, error)) from error
        share = share.combine(_share_of(len(rows.features.values), rows.weights))
    if share.n_rows:
        yield from _in_pieces(part, Counted({part: share}, moments))


def add_counted(batches: Iterable[Any]) -> Iterator[Any]:
    """The sum of all moments that come here, in PIECES, from such pieces in their order."""
    rows = (row for batch in batches for row in batch.to_pylist())
    if total := added(rows):
        yield from _in_pieces(_part(), total)


def added(rows: Iterable[Any]) -> Counted | None:
    """The sum of moments, from rows of PIECES in their order."""
    total: Counted | None = None
    for _, pieces in groupby(rows, key=lambda row: row["part"]):
        one = Counted.from_bytes(b"".join(row["content"] for row in pieces))
        if total is None:
            total = one
            continue
        moments = total.moments
        total.shares.update(one.shares)
        try:
            moments += one.moments
        except ValueError as error:
            raise UncountableError(str(error)) from error
    return total


def _in_pieces(part: int, counted: Counted) -> Iterator[Any]:
    import pyarrow as pa

    content = counted.to_bytes()
    for number, start in enumerate(range(0, len(content), PIECE)):
        piece = content[start : start + PIECE]
        yield pa.record_batch({"part": [part], "piece": [number], "content": [piece]})


def _part() -> int:
    """The number of the partition that is at work."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


class SomeRows(NamedTuple):
    """Some rows of a partition, as numbers."""

    features: NamedColumns
    targets: NamedColumns
    weights: FloatArray | None
    folds: IntArray | None

    def gaps(self) -> list[str]:
        """The columns that miss a value in a row that counts."""
        counts = slice(None) if self.weights is None else self.weights != 0
        return [
            name
            for table in (self.features, self.targets)
            for name, column in zip(table.names, table.values.T, strict=True)
            if _has_gap(column[counts])
        ]


def _has_gap(column: Any) -> bool:
    if column.dtype == object:
        return any(value is None or value != value for value in column.tolist())
    return bool(np.isnan(column).any())


def _rows_in(block: list[Any], job: Job, n_before: int) -> SomeRows:
    matrix = _joined([_matrix(batch.column("x"), job) for batch in block])
    names = job.names or names_by_place(str(job.vector), matrix.shape[1])
    targets = [_column(block, f"y{place}") for place in range(len(job.targets))]
    is_mixed = any(target.dtype == object for target in targets)
    table = np.column_stack([t.astype(object) for t in targets] if is_mixed else targets)
    weights = _weights_in(block)
    folds = _folds_in(block, job, weights, n_before, len(matrix))
    return SomeRows(NamedColumns(matrix, names), NamedColumns(table, job.targets), weights, folds)


def _matrix(column: Any, job: Job) -> FloatArray:
    """Lists of the same length, one below the other."""
    lengths = np.diff(column.offsets.to_numpy())
    if column.null_count:
        raise UncountableError(
            f"The frame has null in column {job.vector!r}. Fill the gaps or drop those rows first, "
            "for example with dropna."
        )
    if (lengths != lengths[0]).any():
        other = lengths[lengths != lengths[0]][0]
        raise UncountableError(
            f"Column {job.vector!r} has vectors of {lengths[0]} numbers and of {other}."
        )
    values = column.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(len(lengths), -1)


def _column(block: list[Any], name: str) -> Any:
    return _joined([batch.column(name).to_numpy(zero_copy_only=False) for batch in block])


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _weights_in(block: list[Any], name: str | None = None) -> FloatArray | None:
    """How often each row counts, by the column "w"; None for once."""
    if "w" not in block[0].schema.names:
        return None
    weights = _column(block, "w")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise UncountableError(f"Weights {name!r} must be 0 or more, got {bad:g}.")
    return weights


def _folds_in(
    block: list[Any], job: Job, weights: FloatArray | None, n_before: int, n_rows: int
) -> IntArray | None:
    """The fold of each row: as a column tells, or by its number among the rows that count."""
    if "fold" in block[0].schema.names:
        folds = _column(block, "fold")
        if folds.dtype.kind != "i" or folds.min() < 0:
            raise UncountableError("Folds must be whole numbers of 0 or more in all rows.")
        return folds
    if job.edges is None:
        return None
    counts = np.ones(n_rows, dtype=bool) if weights is None else weights != 0
    numbers = n_before + np.cumsum(counts) - counts
    return np.searchsorted(job.edges, numbers, side="right")


def _share_of(n_rows: int, weights: FloatArray | None) -> Share:
    if weights is None:
        return Share(n_rows, n_rows, float(n_rows))
    return Share(n_rows, int(np.count_nonzero(weights)), float(weights.sum()))


def _told(rows: SomeRows, part: int, error: ValueError) -> str:
    if gaps := rows.gaps():
        return (
            f"The frame has NaN or null in {counted('column', gaps)}. Fill the gaps or drop those "
            "rows first, for example with fillna or dropna."
        )
    return f"{str(error).rstrip('.')} (partition {part} of the frame)."


def _blocks(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Batches that make enough rows for a product together, and large ones cut."""
    waiting: list[Any] = []
    n_waiting, step = 0, 0
    for batch in _not_empty(batches):
        first, second = batch.column("x").offsets[:2].to_pylist()
        step = step or _rows_at_a_time(second - first)
        for part in _cut(batch, step):
            if n_waiting + part.num_rows > step and waiting:
                yield waiting
                waiting, n_waiting = [], 0
            waiting.append(part)
            n_waiting += part.num_rows
    if waiting:
        yield waiting


def _not_empty(batches: Iterable[Any]) -> Iterator[Any]:
    return (batch for batch in batches if batch.num_rows)


def _cut(batch: Any, step: int) -> Iterator[Any]:
    return (batch.slice(start, step) for start in range(0, batch.num_rows, step))


def _rows_at_a_time(n_features: int) -> int:
    """Rows of a block: clearly more than columns, where that is no very large block."""
    bytes_of_row = 8 * max(1, n_features)
    least = min(2 * n_features, LARGEST_BLOCK // bytes_of_row)
    return int(np.clip(max(BLOCK // bytes_of_row, least), 1, MOST_ROWS))
