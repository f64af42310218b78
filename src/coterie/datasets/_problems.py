"""Synthetic datasets with known groups, and one real dataset."""

from __future__ import annotations

import gzip
import random
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import Bunch, check_random_state

from coterie._core.values import FloatArray, IntArray


def make_paper_data(
    n_features: int = 100,
    *,
    noise: float = 10.0,
    relation: Literal["linear", "quadratic"] = "linear",
    task: Literal["regression", "classification"] = "regression",
    n_samples: int = 30_000,
) -> tuple[FloatArray, FloatArray]:
    """The synthetic data of the paper, reproduced exactly.

    Each feature is 0.7 times an earlier one plus 0.3 times uniform noise, all are standardised,
    and the target is a combination of them (or of their squares) with uniform coefficients
    and normal noise. The seeds are those of the paper's experiments.

    Parameters
    ----------
    n_features : int, default=100
        100 with noise 10, or 1000 with noise 100, in the paper.
    noise : float, default=10.0
        Standard deviation of the noise.
    relation : {"linear", "quadratic"}, default="linear"
        Whether the target follows the features or their squares.
    task : {"regression", "classification"}, default="regression"
        Classification asks whether the target is at least 0 (linear), or at least its mean
        (quadratic).
    n_samples : int, default=30_000
        Other values give other data, not a subset of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    See Also
    --------
    paper_trial : The rows of one repetition.

    Examples
    --------
    >>> from coterie.datasets import make_paper_data
    >>> X, y = make_paper_data(n_features=20, n_samples=500)
    >>> X.shape, y.shape
    ((500, 20), (500,))
    """
    if relation not in ("linear", "quadratic"):
        raise ValueError(f"relation must be 'linear' or 'quadratic', got {relation!r}.")
    if task not in ("regression", "classification"):
        raise ValueError(f"task must be 'regression' or 'classification', got {task!r}.")
    rng, parents = np.random.default_rng(0), random.Random(30)
    columns = np.empty((n_features, n_samples))
    columns[0] = rng.uniform(size=n_samples)
    coefficients = rng.uniform(size=n_features)
    for child in range(1, n_features):
        parent = parents.randrange(child)
        columns[child] = 0.3 * rng.uniform(size=n_samples) + 0.7 * columns[parent]
    X = np.ascontiguousarray(columns.T)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = (X if relation == "linear" else X**2) @ coefficients
    y = signal + rng.normal(0, noise, (n_samples, 1))[:, 0]
    if task == "classification":
        y = (y >= (0 if relation == "linear" else y.mean())).astype(np.float64)
    return X, y


class Trial(NamedTuple):
    """Training and test rows of one repetition of the paper, as a named tuple.

    Parameters
    ----------
    X_train, X_test : ndarray of shape (n_samples, n_features)
        Features.
    y_train, y_test : ndarray of shape (n_samples,)
        Targets.

    Examples
    --------
    >>> from coterie.datasets import make_paper_data, paper_trial
    >>> trial = paper_trial(*make_paper_data(), trial=0)
    >>> trial.X_train.shape, trial.y_test.shape
    ((2000, 100), (1000,))
    """

    X_train: FloatArray
    X_test: FloatArray
    y_train: FloatArray
    y_test: FloatArray


def paper_trial(X: FloatArray, y: FloatArray, trial: int) -> Trial:
    """The rows of one repetition of the paper: 2000 training rows and the next 1000 test rows.

    Parameters
    ----------
    X, y : ndarray
        As from :func:`make_paper_data`.
    trial : int
        0 to 9.

    Examples
    --------
    >>> from coterie.datasets import make_paper_data, paper_trial
    >>> X, y = make_paper_data(n_features=10)
    >>> X_train, X_test, y_train, y_test = paper_trial(X, y, trial=3)
    >>> len(X_train), len(X_test)
    (2000, 1000)
    """
    start = 3000 * trial
    if len(X) < 3000:
        raise ValueError(f"X must have 3000 rows or more, got {len(X)}.")
    if not 0 <= start <= len(X) - 3000:
        raise ValueError(f"trial must be 0 to {len(X) // 3000 - 1}, got {trial}.")
    train, test = slice(start, start + 2000), slice(start + 2000, start + 3000)
    return Trial(X[train], X[test], y[train], y[test])


class GroupedProblem(NamedTuple):
    """A dataset with known groups."""

    X: FloatArray
    y: FloatArray
    labels: IntArray


def make_groups(
    n_samples: int = 300,
    n_features: int = 60,
    n_groups: int = 6,
    *,
    correlation: float = 0.9,
    noise: float = 1.0,
    random_state: Any = None,
) -> GroupedProblem:
    """Features that measure a few latent factors, on which the target depends.

    Every feature is one factor with noise, so the right partition puts features of the same
    factor together. The effects of the factors are whole numbers in alternating directions,
    1, -2, 3, ..., so that no two groups can be merged for free.

    Parameters
    ----------
    n_samples, n_features, n_groups : int
        Size of the problem.
    correlation : float, default=0.9
        Between features of the same group, above 0 and at most 1.
    noise : float, default=1.0
        Standard deviation of the noise of the target.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    labels : ndarray of shape (n_features,)
        The true groups, numbered in order of the first member.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> X, y, labels = make_groups(500, 12, 3, random_state=0)
    >>> reducer = NonLinCFA(tolerance=0.005).fit(X, y)
    >>> bool((reducer.labels_ == labels).all())
    True
    """
    if not 1 <= n_groups <= n_features:
        raise ValueError(f"n_groups must be 1 to n_features ({n_features}), got {n_groups}.")
    if not 0 < correlation <= 1:
        raise ValueError(f"correlation must be above 0 and at most 1, got {correlation}.")
    rng = check_random_state(random_state)
    factors = rng.normal(size=(n_samples, n_groups))
    others = rng.randint(n_groups, size=n_features - n_groups)
    labels = np.concatenate([np.arange(n_groups), others])
    own = rng.normal(size=(n_samples, n_features))
    X = np.sqrt(correlation) * factors[:, labels] + np.sqrt(1 - correlation) * own
    effects = np.arange(1, n_groups + 1) * (-1.0) ** np.arange(n_groups)
    y = factors @ effects + noise * rng.normal(size=n_samples)
    return GroupedProblem(X, y, labels)


def load_tecator(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Near-infrared spectra of meat and their fat content.

    215 samples, 100 channels of absorbance from 850 to 1050 nm, and fat in percent. The
    conventional split trains on the first 172 rows and tests on the last 43. If you publish
    results, mention the instrument and company, Tecator; ``DESCR`` has the full note.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch with data, target, feature_names and DESCR, or (data, target)

    Examples
    --------
    >>> from coterie.datasets import load_tecator
    >>> X, y = load_tecator(return_X_y=True)
    >>> X.shape
    (215, 100)
    """
    folder = files("coterie.datasets")
    lines = gzip.decompress((folder / "tecator.csv.gz").read_bytes()).decode().splitlines()
    *feature_names, target_name = lines[0].split(",")
    table = np.loadtxt(lines[1:], delimiter=",")
    data, target = table[:, :-1], table[:, -1]
    if as_frame:
        data, target = _as_frame(data, target, feature_names, target_name)
    if return_X_y:
        return data, target
    note = (folder / "tecator.txt").read_text(encoding="utf-8")
    return Bunch(data=data, target=target, feature_names=feature_names, DESCR=note)


def _as_frame(data: FloatArray, target: FloatArray, names: list[str], target_name: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas.") from error
    return pd.DataFrame(data, columns=names), pd.Series(target, name=target_name)
