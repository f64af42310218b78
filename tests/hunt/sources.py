"""The same rows from everywhere: frames, sparse columns, batches, files, engines, devices.

Each function takes a problem and fits its reducer to the rows as they come from there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold

from coterie import Moments, moments_from
from hunt.problems import ADDITIVE, Problem, only_known_warnings

# What rows must not ask for, so that their moments are enough.
OF_MOMENTS = {
    "aggregation": ADDITIVE,
    "inputs": [None],
    "missing": ["error"],
    "bound": ["general", "bivariate"],
    "reducer": ["NonLinCFA", "GenLinCFA", "LinCFA"],
}
# Folds by a rule, so that they can be made again where the rows lie.
BY_RULE = {"cv": [None, "auto", 2, 3, 5]}
NAMES_BESIDE = ("weight of the row", "fold of the row")


def fold_of_each(problem: Problem) -> Any:
    """The number of the fold of each row, as cv has it; None where all rows are scored."""
    params = problem.reducer.get_params()
    cv = params.get("cv")
    if isinstance(cv, str):
        cv = None if isinstance(params["tolerance"], str) else 5
    if cv is None:
        return None
    fold = np.zeros(len(problem.X), dtype=int)
    if isinstance(cv, PredefinedSplit):
        fold[:] = cv.test_fold
        return fold
    # Rows that do not count are in no fold of the others, so in whichever.
    weights = problem.given.get("sample_weight")
    counts = np.arange(len(fold)) if weights is None else np.flatnonzero(weights)
    X, y = problem.X[counts], np.asarray(problem.y)[counts]
    is_text = y.ndim == 1 and y.dtype.kind == "U"
    for number, (_, rows) in enumerate((StratifiedKFold(cv) if is_text else KFold(cv)).split(X, y)):
        fold[counts[rows]] = number
    return fold


def _fit(problem: Problem, X: Any, y: Any = None, **given: Any) -> Any:
    with only_known_warnings():
        y = problem.y if y is None else y
        return clone(problem.reducer).fit(X, y, **{**problem.given, **given})


def _fit_moments(problem: Problem, moments: Moments) -> Any:
    reducer = clone(problem.reducer)
    if isinstance(reducer.get_params().get("cv"), PredefinedSplit):
        reducer.set_params(cv=moments.n_folds)
    with only_known_warnings():
        return reducer.fit_moments(moments)


def pandas_frame(problem: Problem, _: Any) -> Any:
    return _fit(problem, pd.DataFrame(problem.X, columns=_names(problem)))


def polars_frame(problem: Problem, _: Any) -> Any:
    return _fit(problem, pl.DataFrame(problem.X, schema=_names(problem)))


def by_column(problem: Problem, _: Any) -> Any:
    return _fit(problem, np.asfortranarray(problem.X))


def lists(problem: Problem, _: Any) -> Any:
    return _fit(problem, problem.X.tolist())


def single_precision(problem: Problem, _: Any) -> Any:
    return _fit(problem, problem.X.astype(np.float32))


def sparse_rows(problem: Problem, _: Any) -> Any:
    return _fit(problem, sparse.csr_array(problem.X))


def sparse_columns(problem: Problem, _: Any) -> Any:
    return _fit(problem, sparse.csc_array(problem.X))


def batches(problem: Problem, rng: Any) -> Any:
    weights, fold = problem.given.get("sample_weight"), fold_of_each(problem)
    total = len(problem.X) if weights is None else weights.sum()
    moments = Moments(total)
    cuts = np.sort(rng.integers(1, len(problem.X), 3))
    for rows in np.split(np.arange(len(problem.X)), cuts):
        if len(rows):
            beside = [None if one is None else one[rows] for one in (weights, fold)]
            moments.update(problem.X[rows], problem.y[rows], *beside)
    return _fit_moments(problem, moments)


def batches_on_several_machines(problem: Problem, rng: Any) -> Any:
    weights, fold = problem.given.get("sample_weight"), fold_of_each(problem)
    counts = np.ones(len(problem.X)) if weights is None else weights
    cut, parts = int(rng.integers(10, len(problem.X) - 10)), []
    for rows in (slice(0, cut), slice(cut, None)):
        beside = [None if one is None else one[rows] for one in (weights, fold)]
        before = 0 if rows.start == 0 else counts[: rows.start].sum()
        part = Moments(counts.sum(), n_before=before)
        parts.append(part.update(problem.X[rows], problem.y[rows], *beside))
    return _fit_moments(problem, parts[1] + parts[0])


def parquet(problem: Problem, rng: Any) -> Any:
    frame, target, beside = _table(problem)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        frame.to_parquet(path, row_group_size=int(rng.integers(7, 60)))
        moments = moments_from(
            path,
            y=target,
            columns=_names(problem),
            **beside,
            chunk_rows=int(rng.integers(5, 50)),
        )
    return _fit_moments(problem, moments)


def dask_array(problem: Problem, rng: Any) -> Any:
    import dask
    import dask.array as da

    cut = int(rng.integers(1, len(problem.X)))
    X = da.from_array(problem.X, chunks=((cut, len(problem.X) - cut), (1, problem.X.shape[1] - 1)))
    with dask.config.set(scheduler="synchronous"):
        return _fit(problem, X)


def dask_frame(problem: Problem, rng: Any) -> Any:
    import dask
    import dask.dataframe as dd

    names = _names(problem)
    frame = dd.from_pandas(pd.DataFrame(problem.X, columns=names), npartitions=3, sort=False)
    with dask.config.set(scheduler="synchronous"):
        return _fit(problem, frame)


@contextmanager
def on_a_device():
    """Arrays of other libraries are taken to lie on a device, wherever they lie."""
    with mock.patch("coterie._core.devices._foreign.lies_on_host", return_value=False):
        yield


def strict_array(problem: Problem, _: Any) -> Any:
    import array_api_strict

    with on_a_device():
        return _fit(problem, array_api_strict.asarray(problem.X))


def torch_tensor(problem: Problem, _: Any) -> Any:
    import torch

    with on_a_device():
        return _fit(problem, torch.asarray(problem.X))


def torch_tensor_on_the_host(problem: Problem, _: Any) -> Any:
    import torch

    return _fit(problem, torch.asarray(problem.X))


def spark_frame(problem: Problem, _: Any) -> Any:
    frame, target, beside = _table(problem)
    moments = moments_from(
        spark().createDataFrame(frame), y=target, columns=_names(problem), **beside
    )
    return _fit_moments(problem, moments)


@cache
def spark() -> Any:
    """A session on this machine, as long as the process lives."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )


def _names(problem: Problem) -> list[str]:
    return [f"c {place}" for place in range(problem.X.shape[1])]


def _table(problem: Problem) -> tuple[Any, Any, dict[str, str]]:
    """All that stands in a row as one frame, the names of the targets, and of what is beside."""
    frame = pd.DataFrame(problem.X, columns=_names(problem))
    targets = np.asarray(problem.y).reshape(len(frame), -1)
    names = [f"target {number}" for number in range(targets.shape[1])]
    for name, column in zip(names, targets.T):
        frame[name] = column.tolist()
    beside = {}
    columns = (problem.given.get("sample_weight"), fold_of_each(problem))
    for what, name, column in zip(("sample_weight", "cv"), NAMES_BESIDE, columns):
        if column is not None:
            frame[name], beside[what] = column, name
    return frame, names[0] if len(names) == 1 else names, beside


# Each with what it can be asked for, beside anything.
SOURCES = {
    pandas_frame: {},
    polars_frame: {},
    by_column: {},
    lists: {},
    # Scaled, squared or multiplied, columns of single precision lose digits.
    single_precision: {
        "scale": [False],
        "inputs": [None],
        "aggregation": [*ADDITIVE, "max", "min"],
    },
    torch_tensor_on_the_host: {},
    sparse_rows: OF_MOMENTS,
    sparse_columns: OF_MOMENTS,
    batches: OF_MOMENTS | {"cv": [*BY_RULE["cv"], "predefined"]},
    batches_on_several_machines: OF_MOMENTS | {"cv": [*BY_RULE["cv"], "predefined"]},
    parquet: OF_MOMENTS | {"cv": [*BY_RULE["cv"], "predefined"]},
    dask_array: OF_MOMENTS | BY_RULE,
    dask_frame: OF_MOMENTS | BY_RULE,
    strict_array: OF_MOMENTS | {"covariance": ["auto", "gram"]},
    torch_tensor: OF_MOMENTS | {"covariance": ["auto", "gram"]},
}
