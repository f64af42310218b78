"""The Spark engine: executors compute moments, and SQL expressions transform rows.

It uses data frames and no RDDs, so that it works with Spark Connect too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from coterie._core.evidence import ROWS
from coterie._data.engines._engine import Carried, Counting
from coterie._data.engines._sizes import check_memory
from coterie._data.engines._spark_columns import (
    SparkColumns,
    as_double,
    as_list,
    find_columns,
    quote,
)
from coterie._data.engines._spark_executor import (
    MOMENTS_SCHEMA,
    SIZE_SCHEMA,
    Job,
    PartitionMoments,
    PartitionSize,
    PartitionSizes,
    UncountableError,
    add_moment_chunks,
    add_partitions,
    count_moments,
    count_partition_rows,
    same_sizes,
)
from coterie._data.engines._spark_transform import transform_spark
from coterie._data.moments import Moments

# Each step of the tree adds the moments of this many partitions, until the driver has at most
# this many to add.
FAN_IN = 8
# Size of moments that the driver collects at once. If they are larger, or the size is unknown,
# executors add them all and send chunks of this size: Java on the driver may have little memory.
MAX_DRIVER_BYTES = 2**24
# Number of folds that is assumed if they are in a column.
ASSUMED_FOLDS = 10
# How our own error appears in Spark's error message.
ERROR_PATTERN = re.compile(rf"{re.escape(UncountableError.__module__)}\.UncountableError: (.+)")
NOT_INSTALLED = "No module named 'coterie'"


class SparkEngine:
    """The engine of ``pyspark.sql.DataFrame``."""

    def moments(self, X: Any, counting: Counting) -> Moments:
        """The moments of all rows, summed by the executors."""
        _check_bounded_frame(X)
        _check_pyarrow()
        columns = find_columns(X, counting)
        if columns.names is not None:
            check_memory(len(columns.names), _n_folds(counting.cv), counting.max_bytes)
        rows = _select_counted(X, columns)
        with _translate_errors():
            sizes = _partition_sizes(X, columns)
            # The sizes come from fewer columns, for which Spark may make other partitions.
            for _ in range(2):
                job = _make_job(columns, sizes, counting.cv)
                chunks = rows.mapInArrow(partial(count_moments, job), MOMENTS_SCHEMA)
                found = _sum_partitions(chunks, len(sizes), _moments_bytes(columns, counting.cv))
                if same_sizes(found.sizes, sizes):
                    return found.moments
                sizes = found.sizes
        raise ValueError(
            "Spark splits the frame into other partitions each time it is read, so that its rows "
            "cannot be numbered: cache() it, or write it to Parquet and read it again."
        )

    def transformed(self, X: Any, carried: Carried) -> Any:
        """The frame, its features replaced by their aggregates."""
        _check_frame_type(X)
        return transform_spark(X, carried)


ENGINE = SparkEngine()


def _check_bounded_frame(X: Any) -> None:
    _check_frame_type(X)
    if X.isStreaming:
        raise ValueError("X is a stream without an end: fit a static frame, then transform X.")


def _check_frame_type(X: Any) -> None:
    # Ask the class, since a Spark column accepts any attribute name.
    if hasattr(type(X), "to_spark"):
        raise TypeError("X is a pandas-on-Spark frame: pass X.to_spark().")
    if not hasattr(type(X), "mapInArrow"):
        raise TypeError(f"X must be a Spark DataFrame, got {type(X).__name__}.")


def _check_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("Spark frames need pyarrow: pip install 'coterie[spark]'.") from error


def _select_counted(X: Any, columns: SparkColumns) -> Any:
    """The columns to count: features as the list "x", targets "y0", "y1", ..., "w" and "fold".

    Spark transfers one list faster than many columns.
    """
    from pyspark.sql import functions

    types = columns.types
    if columns.vector is None:
        selected = [functions.expr(_array_expression(columns.features, types)).alias("x")]
    else:
        selected = [as_list(columns.vector, types[columns.vector]).alias("x")]
    for position, name in enumerate(columns.targets):
        is_decimal = types[name].startswith("decimal")
        target = as_double(name, types) if is_decimal else quote(name)
        selected.append(functions.expr(target).alias(f"y{position}"))
    if columns.weights is not None:
        selected.append(functions.expr(as_double(columns.weights, types)).alias("w"))
    if columns.folds is not None:
        selected.append(functions.expr(quote(columns.folds)).alias("fold"))
    return X.select(*selected)


def _array_expression(names: list[str], types: dict[str, str]) -> str:
    """The SQL expression of columns as one array, in single precision if all of them are."""
    is_single = all(types[name] == "float" for name in names)
    exprs = [quote(name) if is_single else as_double(name, types) for name in names]
    return f"array({', '.join(exprs)})"


def _partition_sizes(X: Any, columns: SparkColumns) -> PartitionSizes:
    """The size of each partition, from its weights if there are any."""
    from pyspark.sql import functions

    if columns.weights is None:
        column = functions.lit(True).alias("any")
    else:
        column = functions.expr(as_double(columns.weights, columns.types)).alias("w")
    counting = partial(count_partition_rows, columns.weights)
    found = X.select(column).mapInArrow(counting, SIZE_SCHEMA).collect()
    sizes = {row["partition_id"]: PartitionSize(*row[1:]) for row in found}
    if not sum(size.n_counted for size in sizes.values()):
        raise ValueError("The frame has no rows with a weight above 0.")
    return sizes


def _make_job(columns: SparkColumns, sizes: PartitionSizes, cv: Any) -> Job:
    job = Job(columns.targets, columns.names, columns.vector, sizes)
    if cv is None or isinstance(cv, str):
        return job
    n_rows, n_folds = job.total.n_counted, int(cv)
    if n_folds > n_rows:
        raise ValueError(f"cv must not exceed the number of rows, {n_rows}, got {n_folds}.")
    # As in KFold: contiguous, the first folds with one row more.
    fold_sizes = np.full(n_folds, n_rows // n_folds) + (np.arange(n_folds) < n_rows % n_folds)
    return replace(job, fold_ends=np.cumsum(fold_sizes).tolist())


def _moments_bytes(columns: SparkColumns, cv: Any) -> float | None:
    """Size of the moments in bytes; None if the number of features is unknown."""
    if columns.names is None:
        return None
    n_features = len(columns.names)
    return 4.0 * n_features * (n_features * _n_folds(cv) + 2 * ROWS)


def _n_folds(cv: Any) -> int:
    """Number of folds, or a guess if they are in a column."""
    return ASSUMED_FOLDS if isinstance(cv, str) else int(cv or 1)


def _sum_partitions(chunks: Any, n_partitions: int, n_bytes: float | None) -> PartitionMoments:
    """The moments of all partitions, summed in a tree."""
    is_small = n_bytes is not None and n_bytes <= MAX_DRIVER_BYTES
    while n_partitions > (FAN_IN if is_small else 1):
        n_partitions = -(-n_partitions // FAN_IN)
        together = chunks.repartition(n_partitions, "partition_id").sortWithinPartitions(
            "partition_id", "chunk"
        )
        chunks = together.mapInArrow(add_moment_chunks, MOMENTS_SCHEMA)
    rows = chunks.collect() if is_small else _collect_by_chunk(chunks, n_bytes)
    total = add_partitions(sorted(rows, key=lambda row: (row["partition_id"], row["chunk"])))
    return PartitionMoments({}, Moments()) if total is None else total


def _collect_by_chunk(chunks: Any, n_bytes: float | None) -> Iterator[Any]:
    """The chunks of moments, collected one small partition at a time."""
    n_partitions = FAN_IN if n_bytes is None else -(-n_bytes // MAX_DRIVER_BYTES)
    return chunks.repartition(int(n_partitions), "chunk").toLocalIterator()


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turn Spark's error for a failed task into a ValueError with our own message."""
    try:
        yield
    except UncountableError as error:
        raise ValueError(str(error)) from error
    except Exception as error:
        text = str(error)
        if found := ERROR_PATTERN.findall(text):
            raise ValueError(found[-1].strip()) from error
        if NOT_INSTALLED in text:
            raise ImportError(
                "coterie must be installed on all Spark executors, and one of them lacks it."
            ) from error
        raise
