"""The data of the experiments: read, checked against their description, cut into trials."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from coterie.datasets import load_tecator, make_paper_data, paper_trial
from experiments.methods import FloatArray, IntArray, Task, Unavailable

HERE = Path(__file__).parent
BESIDE = HERE.parents[1] / "shared" / "data"
N_SPLITS = 5
# Of these so many rows of each class are drawn, before columns are permuted or rows resampled.
DRAWN = {"bankruptcy_polish_1year": (813, 271), "parkinson_speech_subjects": (64, 64)}
DRAWS = REPETITIONS = 5
CLASSES = "_class"


class NoData(Unavailable):
    """A data set is not there, or is not what was described."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; experiments/data.toml says where to get it")


class Problem(NamedTuple):
    """Training and test rows of one trial."""

    X_train: FloatArray
    X_test: FloatArray
    y_train: FloatArray
    y_test: FloatArray
    task: Task
    in_time: bool = False


@dataclass(frozen=True)
class Description:
    """What is known about a file of real data."""

    name: str
    title: str
    task: Task
    rows: int
    features: int
    order: str
    source: str
    licence: str = ""
    sha256: str | None = None
    step: int = 0
    test: int | None = None
    logarithm: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def descriptions() -> dict[str, Description]:
    """What ``data.toml`` says, by name."""
    entries = tomllib.loads((HERE / "data.toml").read_text(encoding="utf-8"))
    return {name: Description(name, **entry) for name, entry in entries.items()}


def data_folder(given: Path | None = None) -> Path | None:
    """The folder of the real data: the one given, that of COTERIE_DATA, or the one beside us."""
    if given is not None:
        return given
    if "COTERIE_DATA" in os.environ:
        return Path(os.environ["COTERIE_DATA"])
    return BESIDE if BESIDE.is_dir() else None


@lru_cache(maxsize=12)
def load(name: str, folder: Path | None) -> tuple[pd.DataFrame, FloatArray]:
    """Features and target of a real data set.

    Raises
    ------
    NoData
        If its file is not there, or is another one than was described.
    """
    known = descriptions()[name]
    frame = _frame(known, folder)
    if frame.shape != (known.rows, known.features + 1):
        raise NoData(
            f"{name} should have {known.rows} rows and {known.features} features, "
            f"got {frame.shape[0]} and {frame.shape[1] - 1}"
        )
    if "target" not in frame:
        raise NoData(f"{name} has no column 'target'")
    X, y = frame.drop(columns="target").astype(float), frame["target"].to_numpy(float)
    return (
        np.log1p(X) if "features" in known.logarithm else X,
        np.log1p(y) if "target" in known.logarithm else y,
    )


def _frame(known: Description, folder: Path | None) -> pd.DataFrame:
    path = None if folder is None else folder / f"{known.name}.parquet"
    if path is None or not path.is_file():
        if known.name == "nir_tecator_fat":
            X, y = load_tecator(return_X_y=True, as_frame=True)
            return X.assign(target=y)
        raise NoData(f"{known.name}.parquet is not there")
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    if known.sha256 is not None and content != known.sha256:
        raise NoData(
            f"{path.name} is another file than was described: SHA-256 {content[:12]}..., "
            f"not {known.sha256[:12]}..."
        )
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise NoData(f"{path.name} cannot be read ({type(error).__name__})") from error


@lru_cache(maxsize=1)
def _synthetic(n_features: int, relation: str) -> tuple[FloatArray, FloatArray]:
    return make_paper_data(n_features, noise=n_features / 10, relation=relation)


def synthetic_problem(name: str, trial: int) -> Problem:
    """A trial of the paper's synthetic data, such as ``lin-100-reg`` or ``quad-1000-cls``."""
    relation, n_features, task = name.split("-")
    is_linear = relation == "lin"
    X, y = _synthetic(int(n_features), "linear" if is_linear else "quadratic")
    if task == "reg":
        return Problem(*paper_trial(X, y, trial), "regression")
    y = (y >= (0 if is_linear else y.mean())).astype(float)
    return Problem(*paper_trial(X, y, trial), "classification")


def paper_problem(name: str, trial: int, folder: Path | None) -> Problem:
    """Real data as in the paper: all columns standardised, and permuted by the trial.

    Of the bankruptcies and the subjects as many rows of each class as in the paper are drawn,
    anew for each trial, and the last third of them is for testing.
    """
    rng = np.random.default_rng(trial)
    return _paper_rows(name, folder, rng.permutation, rng)


def permuted_problem(name: str, trial: int, folder: Path | None) -> Problem:
    """The same, as for the rules in the paper's tables: rows are drawn once for five trials."""
    draw, repetition = draw_and_repetition(name, trial)
    order = np.random.default_rng(repetition).permutation
    return _paper_rows(name, folder, order, np.random.default_rng(draw))


def resampled_problem(name: str, trial: int, folder: Path | None) -> Problem:
    """The same, as for the baselines: training rows with repetition instead of other columns."""
    draw, repetition = draw_and_repetition(name, trial)
    problem = _paper_rows(name, folder, np.asarray, np.random.default_rng(draw))
    X_train, y_train = resample(problem.X_train, problem.y_train, random_state=repetition)
    return problem._replace(X_train=X_train, y_train=y_train)


def draw_and_repetition(name: str, trial: int) -> tuple[int, int]:
    """Which rows a trial has, and which columns or rows of these."""
    return divmod(trial, REPETITIONS) if name in DRAWN else (0, trial)


def _paper_rows(
    name: str,
    folder: Path | None,
    order: Callable[[list[str]], Sequence[str]],
    rng: np.random.Generator,
) -> Problem:
    """Columns in some order, standardised by all rows; the last third is for testing."""
    as_classes = name.endswith(CLASSES)
    name = name.removesuffix(CLASSES)
    known = descriptions()[name]
    X, y = load(name, folder)
    if name == "parkinson_speech_subjects":
        X = X.drop(columns="gender")
    X = X.fillna(X.mean())
    X = X[order(X.columns.to_list())]
    X = ((X - X.mean()) / X.std()).fillna(0.0)
    rows = drawn(y, DRAWN[name], rng) if name in DRAWN else np.arange(len(y))
    n_test = known.test or round(0.33 * len(rows))
    values, y = X.to_numpy()[rows], y[rows]
    if as_classes:
        y = (y >= y.mean()).astype(float)
    elif known.task == "regression":
        y = (y - y.mean()) / y.std(ddof=1)
    train, test = slice(0, -n_test), slice(-n_test, None)
    task = "classification" if as_classes else known.task
    return Problem(values[train], values[test], y[train], y[test], task, known.order == "in time")


def drawn(y: FloatArray, sizes: tuple[int, ...], rng: np.random.Generator) -> IntArray:
    """Rows in a random order, so many of each class."""
    of_class = [rng.choice(np.flatnonzero(y == c), n, replace=False) for c, n in enumerate(sizes)]
    return rng.permutation(np.concatenate(of_class))


def fair_problem(name: str, trial: int, folder: Path | None) -> Problem:
    """One of five splits of real data, prepared by what the training rows say alone."""
    known = descriptions()[name]
    frame, y = load(name, folder)
    X = frame.to_numpy()
    if name == "bankruptcy_polish_1year":
        rows = np.sort(drawn(y, DRAWN[name], np.random.default_rng(0)))
        X, y = X[rows], y[rows]
    train, test = splits(y, known)[trial]
    X = prepared(X, train)
    return Problem(X[train], X[test], y[train], y[test], known.task, known.order == "in time")


def splits(y: FloatArray, known: Description) -> list[tuple[IntArray, IntArray]]:
    """A quarter of the rows held out at random; in time, each of the last five years."""
    if known.order == "in time":
        ends = len(y) - known.step * np.arange(N_SPLITS, 0, -1)
        return [(np.arange(end), np.arange(end, end + known.step)) for end in ends]
    splitter = StratifiedShuffleSplit if known.task == "classification" else ShuffleSplit
    return list(splitter(N_SPLITS, test_size=0.25, random_state=0).split(y[:, None], y))


def prepared(X: FloatArray, train: IntArray) -> FloatArray:
    """Gaps filled with the mean, columns standardised, both by the training rows."""
    return make_pipeline(SimpleImputer(), StandardScaler()).fit(X[train]).transform(X)
