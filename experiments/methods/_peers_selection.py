"""Peers that choose among the features: first of an order, not zero, or not redundant."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lasso_path

from experiments.methods._peers_common import (
    L1,
    f_scores,
    falling_path,
    package,
    penalty_settings,
    selection,
    size_settings,
    target_columns,
)
from experiments.methods._reduction import (
    SIZES,
    FloatArray,
    IntArray,
    Reduction,
    Setting,
    Task,
    Unavailable,
)

THRESHOLDS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
Order = Callable[[FloatArray, FloatArray, Task], IntArray]


@dataclass(frozen=True)
class First:
    """The first few features of an order."""

    order: Order
    beyond_rows: bool = True
    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return size_settings(n_features if self.beyond_rows else min(n_features, n_samples - 2))

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        order = self.order(X, y, task)
        return [selection(order[: s["size"]], X.shape[1]) for s in settings]


def by_f_test(X: FloatArray, y: FloatArray, task: Task) -> IntArray:
    return np.argsort(-f_scores(X, y, task), kind="stable")


def by_forest(X: FloatArray, y: FloatArray, task: Task) -> IntArray:
    forest = RandomForestRegressor if task == "regression" else RandomForestClassifier
    fitted = forest(n_estimators=200, n_jobs=1, random_state=0).fit(X, y)
    return np.argsort(-fitted.feature_importances_, kind="stable")


def by_fastcan(X: FloatArray, y: FloatArray, task: Task) -> IntArray:
    """As many features as the largest size, or fewer where rows or independent features end."""
    fastcan = package("fastcan", name="fastcan")
    targets = target_columns(y, task)
    for size in range(min(SIZES[-1], X.shape[1], len(X) - 2), 0, -1):
        try:
            return fastcan.FastCan(size, verbose=0).fit(X, targets).indices_.astype(np.intp)
        except RuntimeError:
            # It ran out of linearly independent features, and says nothing of those it found.
            continue
    raise Unavailable("fastcan found no feature related to the target")


@dataclass(frozen=True)
class Lasso:
    """Features with coefficients other than zero; with several classes, in any one against rest.

    Penalties are shares of the smallest that leaves nothing.
    """

    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return penalty_settings()

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        penalties = np.array([s["penalty"] for s in settings])
        path = linear_path if task == "regression" else logistic_path
        paths = [path(X, z, penalties) for z in target_columns(y, task).T]
        best = np.argmax(f_scores(X, y, task), keepdims=True)
        chosen = [np.flatnonzero(row) for row in np.any(paths, axis=0)]
        return [selection(features if len(features) else best, X.shape[1]) for features in chosen]


def linear_path(X: FloatArray, y: FloatArray, penalties: FloatArray) -> FloatArray:
    """The lasso's coefficients for each penalty, of shape (n_penalties, n_features)."""
    X, y = X - X.mean(axis=0), y - y.mean()
    largest = np.abs(X.T @ y).max() / len(y)
    steps = falling_path(penalties)
    with warnings.catch_warnings():
        # Spectra whose features are all but equal take more iterations than they are worth.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, coefficients, _ = lasso_path(X, y, alphas=largest * steps, max_iter=100_000)
    return coefficients.T[np.searchsorted(-steps, -penalties)]


def logistic_path(X: FloatArray, y: FloatArray, penalties: FloatArray) -> FloatArray:
    """The same for a column of 0 and 1."""
    largest = np.abs(X.T @ (y - y.mean())).max()
    # liblinear takes a small part of saga's time here. It shrinks the intercept too, little when
    # that is scaled up, and at its usual tolerance leaves many small coefficients that are not 0.
    model = LogisticRegression(
        **L1,
        solver="liblinear",
        intercept_scaling=10.0,
        tol=1e-6,
        max_iter=100,
        random_state=0,
    )
    with warnings.catch_warnings():
        # Where classes come apart there is always a little more to gain.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [model.set_params(C=1 / (p * largest)).fit(X, y).coef_[0] for p in penalties]
    return np.stack(fits)


@dataclass(frozen=True)
class Uncorrelated:
    """What SmartCorrelatedSelection keeps: of correlated features the one nearest the target."""

    # It loops over pairs of features in Python.
    most_features: int = 2000
    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{"threshold": threshold} for threshold in THRESHOLDS]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        if X.shape[1] > self.most_features:
            raise Unavailable(
                f"SmartCorrelatedSelection is tried with up to {self.most_features} features, not "
                f"{X.shape[1]}: half as many thresholds took 22 s with 3,450, 150 s with 5,943"
            )
        order = by_f_test(X, y, task)
        varying = order[np.ptp(X[:, order], axis=0) > 0]
        kept = [uncorrelated(X, varying, s["threshold"]) for s in settings]
        return [selection(features, X.shape[1]) for features in kept]


def uncorrelated(X: FloatArray, order: IntArray, threshold: float) -> IntArray:
    """What is kept when of correlated features the first in the order stays."""
    selectors = package("feature_engine.selection", name="feature-engine")
    pandas = package("pandas", name="pandas")
    frame = pandas.DataFrame(X[:, order], columns=order.astype(str))
    # By missing values, of which there are none, it goes through the columns as they come. So
    # they may come in an order for several classes too, for which it has no correlation.
    selector = selectors.SmartCorrelatedSelection(
        threshold=threshold, selection_method="missing_values"
    )
    dropped = [int(name) for name in selector.fit(frame).features_to_drop_]
    return np.setdiff1d(order, dropped)
