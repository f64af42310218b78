"""Frames of Spark: rows are counted by the executors, and transformed by plain expressions.

Only what frames offer is used and no RDD, so that Spark Connect serves as well.
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
from coterie._data.engines._sizes import check_bytes
from coterie._data.engines._spark_columns import Columns, as_double, as_list, columns_of, quoted
from coterie._data.engines._spark_executor import (
    PIECES,
    SHARES,
    Counted,
    Job,
    Share,
    Shares,
    UncountableError,
    add_counted,
    added,
    count_rows,
    count_shares,
    same_shares,
)
from coterie._data.engines._spark_transform import transformed
from coterie._data.moments import Moments

# Moments of so many partitions are added by one, until the driver has no more than these to add.
FEW = 8
# Bytes of moments that the driver takes at once. If there are more, or nobody knows, executors add
# them all, and hand them over in parts of this size: Java may have little memory there.
AT_ONCE = 2**24
# So many folds are expected where a column tells them.
MANY_FOLDS = 10
# How Spark tells of our own sentence, in the middle of what Java has to say.
OURS = re.compile(rf"{re.escape(UncountableError.__module__)}\.UncountableError: (.+)")
NO_COTERIE = "No module named 'coterie'"


class SparkEngine:
    """Serves ``pyspark.sql.DataFrame``."""

    def moments(self, X: Any, counting: Counting) -> Moments:
        """The moments of all rows, added up by the executors."""
        _check_frame(X)
        _needs_pyarrow()
        columns = columns_of(X, counting)
        if columns.names is not None:
            check_bytes(len(columns.names), _n_folds(counting.folds), counting.memory)
        rows = _selected(X, columns)
        with _one_sentence():
            shares = _shares_of(X, columns)
            # The first look sees fewer columns, and Spark may then cut a frame otherwise.
            for _ in range(2):
                job = _job(columns, shares, counting.folds)
                pieces = rows.mapInArrow(partial(count_rows, job), PIECES)
                found = _summed(pieces, len(shares), _bytes_of(columns, counting.folds))
                if same_shares(found.shares, shares):
                    return found.moments
                shares = found.shares
        raise ValueError(
            "Spark cuts the frame into other partitions each time it is read, so that its rows "
            "have no numbers: cache() it, or write it to Parquet and read it again."
        )

    def transformed(self, X: Any, carried: Carried) -> Any:
        """The frame, its features replaced by their aggregates."""
        _check_kind(X)
        return transformed(X, carried)


ENGINE = SparkEngine()


def _check_frame(X: Any) -> None:
    _check_kind(X)
    if X.isStreaming:
        raise ValueError("X is a stream, which never ends: fit a frame that does, and transform X.")


def _check_kind(X: Any) -> None:
    # Of the class, since a column of Spark has whatever attribute it is asked for.
    if hasattr(type(X), "to_spark"):
        raise TypeError("X is a frame of pandas on Spark: pass X.to_spark().")
    if not hasattr(type(X), "mapInArrow"):
        raise TypeError(f"X must be a DataFrame of Spark, got {type(X).__name__}.")


def _needs_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("Spark frames need pyarrow: pip install 'coterie[spark]'.") from error


def _selected(X: Any, columns: Columns) -> Any:
    """All that is counted: features as the list "x", targets "y0", "y1", ..., "w" and "fold".

    One list takes Spark less time to hand over than many columns.
    """
    from pyspark.sql import functions

    kinds = columns.kinds
    if columns.vector is None:
        chosen = [functions.expr(_listed(columns.features, kinds)).alias("x")]
    else:
        chosen = [as_list(columns.vector, kinds[columns.vector]).alias("x")]
    for place, name in enumerate(columns.targets):
        is_decimal = kinds[name].startswith("decimal")
        target = as_double(name, kinds) if is_decimal else quoted(name)
        chosen.append(functions.expr(target).alias(f"y{place}"))
    if columns.weights is not None:
        chosen.append(functions.expr(as_double(columns.weights, kinds)).alias("w"))
    if columns.folds is not None:
        chosen.append(functions.expr(quoted(columns.folds)).alias("fold"))
    return X.select(*chosen)


def _listed(names: list[str], kinds: dict[str, str]) -> str:
    """Columns as one list, in single precision if all of them are."""
    is_single = all(kinds[name] == "float" for name in names)
    exprs = [quoted(name) if is_single else as_double(name, kinds) for name in names]
    return f"array({', '.join(exprs)})"


def _shares_of(X: Any, columns: Columns) -> Shares:
    """The rows of each partition, by a look at the weights or at nothing."""
    from pyspark.sql import functions

    if columns.weights is None:
        look = functions.lit(True).alias("any")
    else:
        look = functions.expr(as_double(columns.weights, columns.kinds)).alias("w")
    counting = partial(count_shares, columns.weights)
    found = X.select(look).mapInArrow(counting, SHARES).collect()
    shares = {row["part"]: Share(*row[1:]) for row in found}
    if not sum(share.n_counted for share in shares.values()):
        raise ValueError("The frame has no rows that count.")
    return shares


def _job(columns: Columns, shares: Shares, folds: Any) -> Job:
    job = Job(columns.targets, columns.names, columns.vector, shares)
    if folds is None or isinstance(folds, str):
        return job
    n_rows, n_folds = job.total.n_counted, int(folds)
    if n_folds > n_rows:
        raise ValueError(f"folds must not exceed the number of rows, {n_rows}, got {n_folds}.")
    # As KFold does: contiguous, the first ones with a row more.
    sizes = np.full(n_folds, n_rows // n_folds) + (np.arange(n_folds) < n_rows % n_folds)
    return replace(job, edges=np.cumsum(sizes).tolist())


def _bytes_of(columns: Columns, folds: Any) -> float | None:
    """Size of moments, as far as it is known beforehand."""
    if columns.names is None:
        return None
    n_features = len(columns.names)
    return 4.0 * n_features * (n_features * _n_folds(folds) + 2 * ROWS)


def _n_folds(folds: Any) -> int:
    """How many matrices moments have, as far as that is known."""
    return MANY_FOLDS if isinstance(folds, str) else int(folds or 1)


def _summed(pieces: Any, n_parts: int, n_bytes: float | None) -> Counted:
    """The moments of all partitions, added up in a tree."""
    is_small = n_bytes is not None and n_bytes <= AT_ONCE
    while n_parts > (FEW if is_small else 1):
        n_parts = -(-n_parts // FEW)
        together = pieces.repartition(n_parts, "part").sortWithinPartitions("part", "piece")
        pieces = together.mapInArrow(add_counted, PIECES)
    rows = pieces.collect() if is_small else _part_by_part(pieces, n_bytes)
    total = added(sorted(rows, key=lambda row: (row["part"], row["piece"])))
    return Counted({}, Moments()) if total is None else total


def _part_by_part(pieces: Any, n_bytes: float | None) -> Iterator[Any]:
    """The rows of one partition after the other; as many partitions as it takes to be small."""
    n_parts = FEW if n_bytes is None else -(-n_bytes // AT_ONCE)
    return pieces.repartition(int(n_parts), "piece").toLocalIterator()


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Our own sentence, out of all that Spark has to say when a task fails."""
    try:
        yield
    except UncountableError as error:
        raise ValueError(str(error)) from error
    except Exception as error:
        told = str(error)
        if found := OURS.findall(told):
            raise ValueError(found[-1].strip()) from error
        if NO_COTERIE in told:
            raise ImportError(
                "coterie must be installed wherever Spark runs Python, and an executor has none."
            ) from error
        raise
