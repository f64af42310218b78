"""The models: plain, ridge and boosting behind every reducer, and more of them on all columns.

A model is a function (Z, y, Z_test, task, folds) -> predictions for the test rows: numbers, or
probabilities of classes 0, 1, ... .
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps

import numpy as np
from scipy.cluster.hierarchy import ward
from scipy.optimize import nnls
from scipy.special import expit
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegression, RidgeCV
from sklearn.metrics import r2_score
from sklearn.multiclass import OneVsRestClassifier

from experiments.methods import FloatArray, IntArray, Task
from experiments.methods._ancestors import concordance
from experiments.methods._peers_common import cut, target_columns

Folds = Sequence[tuple[IntArray, IntArray]]
Model = Callable[[FloatArray, FloatArray, FloatArray, Task, Folds], FloatArray]
ALPHAS = np.logspace(-3, 5, 17)
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)


def score(y: FloatArray, predicted: FloatArray, task: Task) -> float:
    """R2, or the area under the ROC curve (of several classes the mean, each against the rest)."""
    if task == "regression":
        return float(r2_score(y, predicted))
    # scikit-learn's functions give the same, but check so much that a run would take twice as long.
    marked = [1] if predicted.shape[1] == 2 else range(predicted.shape[1])
    present = [c for c in marked if 0 < (y == c).sum() < len(y)]
    areas = [concordance(predicted[:, [c]], (y == c).astype(float))[0] for c in present]
    return float(np.mean(areas))


def loss(y: FloatArray, predicted: FloatArray, task: Task) -> float:
    """Log-loss of classes in nats, probabilities at least 1e-6; nothing for numbers."""
    if task == "regression":
        return float("nan")
    clipped = np.clip(predicted, 1e-6, None)
    of_own_class = clipped[np.arange(len(y)), y.astype(int)] / clipped.sum(axis=1)
    return float(-np.mean(np.log(of_own_class)))


def standardised(model: Model) -> Model:
    """The same behind columns standardised by the training rows."""

    @wraps(model)
    def behind(
        Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds
    ) -> FloatArray:
        center, spread = Z.mean(axis=0), Z.std(axis=0)
        spread = np.where(spread > 1e-12, spread, np.inf)
        return model((Z - center) / spread, y, (Z_test - center) / spread, task, folds)

    return behind


def rotated(Z: FloatArray, Z_test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """As many columns as rows with the same inner products: all that a ridge penalty sees."""
    if Z.shape[1] <= Z.shape[0]:
        return Z, Z_test
    u, s, vt = np.linalg.svd(Z, full_matrices=False)
    return u * s, Z_test @ vt.T


def constant(
    Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds
) -> FloatArray:
    """The mean, or the shares of the classes (whose largest is the majority)."""
    if task == "regression":
        return np.full(len(Z_test), y.mean())
    return np.tile(np.bincount(y.astype(int)) / len(y), (len(Z_test), 1))


@standardised
def plain(Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds) -> FloatArray:
    """Least squares of the least norm, or logistic regression as scikit-learn has it (C=1)."""
    if task == "regression":
        return y.mean() + Z_test @ np.linalg.lstsq(Z, y - y.mean(), rcond=1e-10)[0]
    Z, Z_test = rotated(Z, Z_test)
    return _logistic(Z, y, 1.0).predict_proba(Z_test)


def _logistic(Z: FloatArray, y: FloatArray, strength: float) -> LogisticRegression | TwoClasses:
    if set(np.unique(y)) == {0.0, 1.0}:
        return TwoClasses.fitted(Z, y, strength)
    n_coefficients = Z.shape[1] * len(np.unique(y))
    solver = "newton-cholesky" if n_coefficients <= 150 else "lbfgs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(C=strength, solver=solver, max_iter=200).fit(Z, y)


@dataclass(frozen=True)
class TwoClasses:
    """Logistic regression with scikit-learn's penalty, by Newton steps; much quicker when small."""

    coefficients: FloatArray
    classes_: FloatArray = field(default_factory=lambda: np.array([0.0, 1.0]))

    @classmethod
    def fitted(cls, Z: FloatArray, y: FloatArray, strength: float) -> TwoClasses:
        """A step is halved as long as it does not lower the penalised loss."""
        design = np.column_stack([np.ones(len(Z)), Z])
        penalty = np.r_[0.0, np.full(Z.shape[1], 1 / strength)]

        def lost(theta: FloatArray) -> float:
            linear = design @ theta
            return float(np.sum(np.logaddexp(0, linear) - y * linear) + penalty @ theta**2 / 2)

        theta = np.zeros(design.shape[1])
        now = lost(theta)
        for _ in range(50):
            p = expit(design @ theta)
            gradient = design.T @ (p - y) + penalty * theta
            curvature = (design.T * (p * (1 - p))) @ design
            curvature[np.diag_indices_from(curvature)] += penalty + 1e-10
            step = np.linalg.solve(curvature, gradient)
            size = 1.0
            while (then := lost(theta - size * step)) > now and size > 1e-6:
                size /= 2
            theta = theta - size * step
            if now - then < 1e-9 * (1 + abs(now)):
                break
            now = then
        return cls(theta)

    def predict_proba(self, Z: FloatArray) -> FloatArray:
        """Probabilities of both classes."""
        p = expit(self.coefficients[0] + Z @ self.coefficients[1:])
        return np.column_stack([1 - p, p])


@standardised
def ridge(Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds) -> FloatArray:
    """The penalty by leaving one row out, or for classes by the log-loss of the folds."""
    Z, Z_test = rotated(Z, Z_test)
    if task == "regression":
        return RidgeCV(ALPHAS).fit(Z, y).predict(Z_test)
    # Penalties per row, so that folds and all rows share them.
    losses = [
        np.mean([
            loss(y[b], _whole(_logistic(Z[a], y[a], s * 100 / len(a)), Z[b], y), task)
            for a, b in folds
        ])
        for s in STRENGTHS
    ]  # fmt: skip
    best = STRENGTHS[int(np.argmin(losses))]
    return _logistic(Z, y, best * 100 / len(Z)).predict_proba(Z_test)


def _whole(model: LogisticRegression | TwoClasses, Z: FloatArray, y: FloatArray) -> FloatArray:
    """Probabilities of all classes, also of those that a fold lacks."""
    found = np.zeros((len(Z), int(y.max()) + 1))
    found[:, model.classes_.astype(int)] = model.predict_proba(Z)
    return found


def boosting(
    Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds
) -> FloatArray:
    """Sixty small trees."""
    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    model = kind(
        max_iter=60, max_leaf_nodes=8, min_samples_leaf=max(3, min(20, len(y) // 15)), max_bins=63,
        early_stopping=False, random_state=0,
    ).fit(Z, y)  # fmt: skip
    return model.predict(Z_test) if task == "regression" else model.predict_proba(Z_test)


def forest(
    Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds
) -> FloatArray:
    """A hundred trees, a third of the columns (for classes their square root) at each node."""
    if task == "regression":
        return (
            RandomForestRegressor(100, max_features=1 / 3, random_state=0).fit(Z, y).predict(Z_test)
        )
    return RandomForestClassifier(100, random_state=0).fit(Z, y).predict_proba(Z_test)


def lasso(Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds) -> FloatArray:
    """The penalty by the folds; logistic for classes, each against the rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if task == "regression":
            model = LassoCV(alphas=30, eps=1e-4, cv=list(folds), tol=1e-3, max_iter=3000)
            return model.fit(Z, y).predict(Z_test)
        largest = max(np.abs(Z.T @ (t - t.mean())).max() for t in target_columns(y, task).T)
        losses = [
            np.mean(
                [loss(y[b], _sparse(Z[a], y[a], Z[b], share, largest, y), task) for a, b in folds]
            )
            for share in (0.6, 0.3, 0.1, 0.03)
        ]
        best = (0.6, 0.3, 0.1, 0.03)[int(np.argmin(losses))]
        return _sparse(Z, y, Z_test, best, largest, y)


def _sparse(
    Z: FloatArray,
    y: FloatArray,
    Z_test: FloatArray,
    share: float,
    largest: float,
    all_y: FloatArray,
) -> FloatArray:
    one = LogisticRegression(
        C=1 / (share * largest), l1_ratio=1.0, solver="liblinear", intercept_scaling=10.0, tol=1e-3,
        max_iter=50, random_state=0,
    )  # fmt: skip
    model = (one if len(np.unique(y)) == 2 else OneVsRestClassifier(one)).fit(Z, y)
    return _whole(model, Z_test, all_y)


def _by_indicators(fit: Callable[[FloatArray], tuple[FloatArray, FloatArray]], y: FloatArray,
                   task: Task) -> FloatArray:  # fmt: skip
    """Classes: each indicator is regressed, and a logistic regression reads the fitted values."""
    if task == "regression":
        return fit(y)[1]
    fitted = [fit(t) for t in target_columns(y, task).T]
    inside, outside = (np.column_stack(parts) for parts in zip(*fitted, strict=True))
    spread = np.maximum(inside.std(axis=0), 1e-12)
    return _logistic(inside / spread, y, 1.0).predict_proba(outside / spread)


def elastic_net(
    Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds
) -> FloatArray:
    """Penalty and mixture by the folds; classes by their indicators."""

    def fit(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Of classes there are several fits, and less depends on each.
        few = task == "classification"
        model = ElasticNetCV(
            l1_ratio=[0.1, 0.5], alphas=8 if few else 20, eps=1e-2 if few else 1e-3,
            max_iter=300 if few else 2000, cv=list(folds), tol=1e-3,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(Z, t)
        return model.predict(Z), model.predict(Z_test)

    return _by_indicators(fit, y, task)


def hfr(Z: FloatArray, y: FloatArray, Z_test: FloatArray, task: Task, folds: Folds) -> FloatArray:
    """Hierarchical feature regression after Pfitzinger (2021); classes by their indicators.

    Least squares on the sums of clusters, for several numbers of clusters of one tree. Steps from
    level to level are shrunk, the finer the more: a convex combination of all levels, whose size
    (kappa, a share of the largest) is chosen by the folds. The tree is Ward's, of features turned
    toward the target and weighed by their correlation with it.
    """

    def fit(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        kappas = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
        errors = np.zeros(len(kappas))
        for a, b in folds:
            levels = Levels(Z[a], t[a])
            errors += [np.sum((t[b] - levels.predict(Z[b], kappa)) ** 2) for kappa in kappas]
        levels, best = Levels(Z, t), kappas[int(np.argmin(errors))]
        return levels.predict(Z, best), levels.predict(Z_test, best)

    return _by_indicators(fit, y, task)


class Levels:
    """Regressions on the clusters of all levels of a tree, and their combinations."""

    def __init__(self, Z: FloatArray, y: FloatArray) -> None:
        n, p = Z.shape
        most = max(1, min(p, n // 2))
        sizes = np.unique(np.r_[1, np.geomspace(1, most, 12).round().astype(int)])
        signs = np.where(Z.T @ (y - y.mean()) < 0, -1.0, 1.0)
        weight = np.abs(Z.T @ (y - y.mean())) / (n * max(y.std(), 1e-12))
        turned = (Z * signs * weight).T
        cuts = cut(ward(turned), sizes) if p > 1 else [np.zeros(1, dtype=np.intp)]
        self.center, self.mean, self.sizes = Z.mean(axis=0), y.mean(), sizes
        self.coefficients = np.column_stack([
            signs * self._at_level((Z - self.center) * signs, y - self.mean, labels)
            for labels in cuts
        ])  # fmt: skip
        self.fitted, self.y = (Z - self.center) @ self.coefficients, y - self.mean

    @staticmethod
    def _at_level(Z: FloatArray, y: FloatArray, labels: IntArray) -> FloatArray:
        members = (labels[:, None] == np.arange(labels.max() + 1)).astype(float)
        return members @ np.linalg.lstsq(Z @ members, y, rcond=1e-8)[0]

    def predict(self, Z: FloatArray, kappa: float) -> FloatArray:
        """Predictions with this share of the largest number of clusters."""
        heavy = 1e3 * np.linalg.norm(self.y) + 1e-12
        size = self.sizes / self.sizes[-1]
        # Weights are not negative, sum to 1 (the last is the mean of y alone) and have size kappa.
        design = np.vstack([
            np.column_stack([self.fitted, np.zeros(len(self.y))]),
            heavy * np.r_[np.ones(len(size)), 1.0],
            heavy * np.r_[size, 0.0],
        ])  # fmt: skip
        shares, _ = nnls(design, np.r_[self.y, heavy, heavy * kappa])
        return self.mean + (Z - self.center) @ (self.coefficients @ shares[:-1])


BEHIND: dict[str, Model] = {"plain": plain, "ridge": ridge, "boosting": boosting}
ON_ALL: dict[str, Model] = {
    "constant": constant,
    **BEHIND,
    "lasso": lasso,
    "elastic net": elastic_net,
    "random forest": forest,
    "hfr": hfr,
}
