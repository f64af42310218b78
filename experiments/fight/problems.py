"""The sets of ``fight.toml``: loaded, made, split, and prepared by their training rows."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from experiments import data as development
from experiments.fight import sources
from experiments.fight.generated import GENERATED
from experiments.methods import FloatArray, IntArray, Task

LIST = Path(__file__).parents[1] / "fight.toml"
TEST_SHARE = 0.25
DEVELOPMENT_SPLITS = 5
# Of the development sets, so that they take no longer than the others.
MOST_ROWS = 450


@dataclass(frozen=True)
class FightSet:
    """One entry of the list."""

    name: str
    title: str
    package: str
    version: str
    licence: str
    object: str
    task: str
    split: str
    why: str
    rows: int | None = None
    window: int = 0
    gap: int = 0
    test: int = 0
    splits: int = 20
    columns: int = 1000
    development: bool = False

    @property
    def kind(self) -> Task:
        """Regression or classification."""
        return "regression" if self.task == "regression" else "classification"


class Table(NamedTuple):
    """Features, target, and what rows belong together, if they do."""

    X: FloatArray
    y: FloatArray
    groups: IntArray | None = None


class Split(NamedTuple):
    """Training and test rows, prepared; which of all features are left; and the groups of rows."""

    X: FloatArray
    X_test: FloatArray
    y: FloatArray
    y_test: FloatArray
    features: IntArray
    n_features: int
    task: Task
    in_time: bool = False
    groups: IntArray | None = None


@lru_cache(maxsize=1)
def fight_sets() -> dict[str, FightSet]:
    """The list that was fixed before the first run, by name."""
    said = tomllib.loads(LIST.read_text("utf-8"))
    return {
        name: FightSet(name, **said["defaults"] | entry) for name, entry in said["sets"].items()
    }


@lru_cache(maxsize=1)
def development_sets() -> dict[str, FightSet]:
    """The twelve sets on which Coterie was designed."""
    found = {}
    for name, known in development.descriptions().items():
        if name.startswith("climate") and "winds" not in name:
            continue  # Not to be had here.
        task = "regression" if known.task == "regression" else "classes"
        split = "in time" if known.order == "in time" else "shuffled"
        found[name] = FightSet(
            name, known.title, "shared/data", known.sha256 or "", known.licence, name, task, split,
            "development", splits=DEVELOPMENT_SPLITS, development=True,
        )  # fmt: skip
    return found


@lru_cache(maxsize=50)
def table_of(entry: FightSet, folder: Path | None = None) -> Table:
    """All rows of a set that is not generated.

    Raises
    ------
    Unavailable
        If its source is not there, in one sentence.
    """
    if entry.development:
        return _development_table(entry, folder)
    frame, y, groups = LOADERS[entry.name]()
    X = frame.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    known = np.isfinite(y) if entry.kind == "regression" else np.ones(len(y), bool)
    X, y = X[known], np.asarray(y)[known]
    if entry.kind == "classification":
        y = np.unique(y.astype(str), return_inverse=True)[1].astype(float)
    rows = _drawn(y, entry)
    return Table(X[rows], y[rows], None if groups is None else groups[known][rows])


def _development_table(entry: FightSet, folder: Path | None) -> Table:
    frame, y = development.load(entry.name, folder)
    rows = np.arange(len(y))
    if entry.name in development.DRAWN and entry.name.startswith("bankruptcy"):
        sizes = development.DRAWN[entry.name]
        rows = np.sort(development.drawn(y, sizes, np.random.default_rng(0)))
    return Table(frame.to_numpy()[rows], y[rows])


def _drawn(y: FloatArray, entry: FightSet) -> IntArray:
    if entry.rows is None or entry.rows >= len(y):
        return np.arange(len(y))
    kind = StratifiedShuffleSplit if entry.kind == "classification" else ShuffleSplit
    drawn, _ = next(kind(1, train_size=entry.rows, random_state=0).split(y[:, None], y))
    return np.sort(drawn)


def split_of(entry: FightSet, number: int, folder: Path | None = None) -> Split:
    """One split of a set, prepared by what its training rows say alone.

    Missing values become means, constant columns go, and of very many columns those with the
    largest variance stay; the rest is standardised.
    """
    if entry.split == "fresh":
        X, y, X_test, y_test = GENERATED[entry.object](number)
        return _prepared(Table(np.vstack([X, X_test]), np.r_[y, y_test]), np.arange(len(y)),
                         np.arange(len(y), len(y) + len(y_test)), entry)  # fmt: skip
    table = table_of(entry, folder)
    train, test = rows_of(entry, table)[number]
    return _prepared(table, train, test, entry)


def rows_of(entry: FightSet, table: Table) -> list[tuple[IntArray, IntArray]]:
    """Training and test rows of all splits."""
    y, n = table.y, entry.splits
    if entry.development:
        known = development.descriptions()[entry.name]
        return [(train[:MOST_ROWS], test) for train, test in development.splits(y, known)]
    if entry.split == "in time":
        return _windows(len(y), entry)
    if entry.split == "grouped":
        return _grouped(table, n)
    kind = StratifiedShuffleSplit if entry.kind == "classification" else ShuffleSplit
    return list(kind(n, test_size=TEST_SHARE, random_state=0).split(y[:, None], y))


def _windows(n_rows: int, entry: FightSet) -> list[tuple[IntArray, IntArray]]:
    """Windows at equal distances, the last one at the end; after a gap come the test rows."""
    length = entry.window + entry.gap + entry.test
    starts = np.linspace(0, n_rows - length, entry.splits).round().astype(int)
    return [
        (np.arange(s, s + entry.window), np.arange(s + length - entry.test, s + length))
        for s in starts
    ]


def _grouped(table: Table, n_splits: int) -> list[tuple[IntArray, IntArray]]:
    """Draws of whole groups in which all classes are on both sides."""
    drawer = GroupShuffleSplit(20 * n_splits, test_size=TEST_SHARE, random_state=0)
    n_classes = len(np.unique(table.y))
    good = (
        (train, test)
        for train, test in drawer.split(table.X, table.y, table.groups)
        if len(np.unique(table.y[train])) == len(np.unique(table.y[test])) == n_classes
    )
    return [next(good) for _ in range(n_splits)]


def _prepared(table: Table, train: IntArray, test: IntArray, entry: FightSet) -> Split:
    X = np.where(np.isfinite(table.X), table.X, np.nan)
    some = np.isfinite(X[train]).any(axis=0)
    center = np.zeros(X.shape[1])
    center[some] = np.nanmean(X[train][:, some], axis=0)
    X = np.where(np.isnan(X), center, X)
    spread = X[train].std(axis=0)
    spread[np.ptp(X[train], axis=0) <= 1e-12 * np.abs(X[train]).max(axis=0)] = 0
    features = np.sort(np.argsort(-spread, kind="stable")[: entry.columns])
    features = features[spread[features] > 0]
    X = (X[:, features] - center[features]) / spread[features]
    groups = None if table.groups is None else table.groups[train]
    return Split(X[train], X[test], table.y[train], table.y[test], features, table.X.shape[1],
                 entry.kind, entry.split == "in time", groups)  # fmt: skip


Loaded = tuple[pd.DataFrame, Any, Any]


def _r(debian: str, folder: str, file: str) -> dict[str, Any]:
    return sources.r_objects(sources.r_package(debian, folder), file)


def _numeric(columns: dict[str, Any]) -> pd.DataFrame:
    """The columns that hold numbers."""
    frame = pd.DataFrame(columns)
    return frame.select_dtypes("number").astype(float)


def _ames() -> Loaded:
    columns = _r("r-cran-modeldata", "modeldata", "ames")["ames"]
    y = np.log(np.asarray(columns.pop("Sale_Price"), float))
    return _numeric(columns), y, None


def _bfi() -> Loaded:
    frame = _numeric(_r("r-cran-psychtools", "psychTools", "bfi")["bfi"])
    y = frame.pop("age").to_numpy(float)
    return frame.drop(columns=["gender", "education"]), y, None


def _blood_brain() -> Loaded:
    found = _r("r-cran-caret", "caret", "BloodBrain")
    return _numeric(found["bbbDescr"]), np.asarray(found["logBBB"], float), None


def _chicago() -> Loaded:
    frame = _numeric(_r("r-cran-modeldata", "modeldata", "Chicago")["Chicago"])
    y = frame.pop("ridership").to_numpy(float)
    return frame.drop(columns=["date"], errors="ignore"), y, None


def _covid() -> Loaded:
    frame = sources.time_series("aeon", "Covid3Month")
    y = frame.pop("target").to_numpy(float)
    return frame, y, None


def _diabetes() -> Loaded:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y.to_numpy(float), None


def _statsmodels(name: str) -> pd.DataFrame:
    sources.python_version("statsmodels")
    from statsmodels import datasets

    return getattr(datasets, name).load_pandas().data


def _elnino() -> Loaded:
    """Each month: the 24 months up to it; the target is the month half a year later."""
    months = _statsmodels("elnino").drop(columns="YEAR").to_numpy(float).ravel()
    lags, ahead = 24, 6
    windows = np.lib.stride_tricks.sliding_window_view(months, lags)[:-ahead]
    return pd.DataFrame(windows), months[lags - 1 + ahead :], None


def _fertility() -> Loaded:
    frame = _statsmodels("fertility")
    years = [str(year) for year in range(1960, 1991)]
    known = frame[[*years, "2011"]].dropna()
    return known[years], known["2011"].to_numpy(float), None


def _hitters() -> Loaded:
    frame = pd.read_csv(sources.python_file("ISLP", "ISLP/data/Hitters.csv"))
    y = np.log(frame.pop("Salary").to_numpy(float))
    return frame.select_dtypes("number"), y, None


def _octane() -> Loaded:
    frame = _numeric(_r("r-cran-rrcov", "rrcov", "octane")["octane"])
    y = frame.pop("y").to_numpy(float)
    return frame, y, None


def _star98() -> Loaded:
    frame = _statsmodels("star98")
    above, below = frame.pop("NABOVE").to_numpy(float), frame.pop("NBELOW").to_numpy(float)
    return frame, above / (above + below), None


def _yarn() -> Loaded:
    found = _r("r-cran-pls", "pls", "yarn")["yarn"]
    return pd.DataFrame(np.asarray(found["NIR"])), np.asarray(found["density"], float), None


def _alzheimer() -> Loaded:
    columns = _r("r-cran-modeldata", "modeldata", "ad_data")["ad_data"]
    y = np.asarray(columns.pop("Class"))
    return _numeric(columns), y, None


def _caravan() -> Loaded:
    frame = pd.read_csv(sources.python_file("ISLP", "ISLP/data/Caravan.csv"))
    y = frame.pop("Purchase").to_numpy()
    return frame, y, None


def _cells() -> Loaded:
    columns = _r("r-cran-modeldata", "modeldata", "cells")["cells"]
    y = np.asarray(columns.pop("class"))
    return _numeric(columns), y, None


def _collagen() -> Loaded:
    path = sources.python_file("Orange-Spectroscopy", "datasets/collagen.csv")
    frame = pd.read_csv(path, skiprows=[1, 2])
    y = frame.pop("type").to_numpy()
    return frame, y, None


def _cox2() -> Loaded:
    found = _r("r-cran-caret", "caret", "cox2")
    return _numeric(found["cox2Descr"]), np.asarray(found["cox2Class"]), None


def _gunpoint() -> Loaded:
    frame = sources.time_series("aeon", "GunPoint")
    y = frame.pop("target").to_numpy()
    return frame, y, None


def _ionosphere() -> Loaded:
    columns = _r("r-cran-mlbench", "mlbench", "Ionosphere")["Ionosphere"]
    y = np.asarray(columns.pop("Class"))
    return _numeric(columns), y, None


def _khan() -> Loaded:
    parts = [
        (
            pd.read_csv(sources.python_file("ISLP", f"ISLP/data/Khan_x{part}.csv")),
            pd.read_csv(sources.python_file("ISLP", f"ISLP/data/Khan_y{part}.csv")),
        )
        for part in ("train", "test")
    ]
    X = pd.concat([pd.DataFrame(x.to_numpy(float)) for x, _ in parts])
    return X, np.concatenate([y.to_numpy().ravel() for _, y in parts]), None


def _mayonnaise() -> Loaded:
    """Three replicates of each sample follow each other."""
    found = _r("r-cran-pls", "pls", "mayonnaise")["mayonnaise"]
    X = np.asarray(found["NIR"], float)
    return pd.DataFrame(X), np.asarray(found["oil.type"]), np.arange(len(X)) // 3


def _mdrr() -> Loaded:
    found = _r("r-cran-caret", "caret", "mdrr")
    return _numeric(found["mdrrDescr"]), np.asarray(found["mdrrClass"]), None


def _musk() -> Loaded:
    columns = _r("r-cran-kernlab", "kernlab", "musk")["musk"]
    y = np.asarray(columns.pop("Class"))
    return _numeric(columns), y, None


def _satellite() -> Loaded:
    columns = _r("r-cran-mlbench", "mlbench", "Satellite")["Satellite"]
    y = np.asarray(columns.pop("classes"))
    return _numeric(columns), y, None


def _sonar() -> Loaded:
    columns = _r("r-cran-mlbench", "mlbench", "Sonar")["Sonar"]
    y = np.asarray(columns.pop("Class"))
    return _numeric(columns), y, None


def _spam() -> Loaded:
    columns = _r("r-cran-kernlab", "kernlab", "spam")["spam"]
    y = np.asarray(columns.pop("type"))
    return _numeric(columns), y, None


LOADERS: dict[str, Callable[[], Loaded]] = {
    "ames": _ames, "bfi_age": _bfi, "blood_brain": _blood_brain, "chicago": _chicago,
    "covid": _covid, "diabetes": _diabetes, "elnino": _elnino, "fertility": _fertility,
    "hitters": _hitters, "octane": _octane, "star98": _star98, "yarn": _yarn,
    "alzheimer": _alzheimer, "caravan": _caravan, "cells": _cells, "collagen": _collagen,
    "cox2": _cox2, "gunpoint": _gunpoint, "ionosphere": _ionosphere, "khan": _khan,
    "mayonnaise": _mayonnaise, "mdrr": _mdrr, "musk": _musk, "satellite": _satellite,
    "sonar": _sonar, "spam": _spam,
}  # fmt: skip
