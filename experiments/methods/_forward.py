"""Forward selection: at each step the feature that helps most in cross-validation.

The baseline of the paper. It chooses what scikit-learn's SequentialFeatureSelector would, with
LinearRegression or LogisticRegression inside, but fits all candidates of a step together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold

from experiments.methods._reduction import FloatArray, IntArray, Task

NOTHING = 1e-12  # A column of which this share is left has been explained.
CONVERGED = 1e-8  # Length of a Newton step, as the Hessian measures it.
MAX_STEPS = 30  # Candidates that change the fit so much that they need more are fitted alone.
BLOCK = 64  # Candidates fitted together, few enough for the processor's cache.


class Fold(Protocol):
    """A model of the features selected so far, fitted without the held-out rows."""

    def scores(self) -> FloatArray:
        """Score on held-out rows after adding each feature, shape (n_features,)."""

    def add(self, feature: int) -> Fold:
        """The same with one more feature selected."""


def forward_selection(
    X: FloatArray, y: FloatArray, task: Task, *, n_selected: int = 50, folds: int = 5
) -> IntArray:
    """Features in the order in which they are selected.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, or codes of two classes.
    task : {"regression", "classification"}
        Scored by R2 or by accuracy, averaged over folds of rows in their order; among
        equals the first feature is taken.
    n_selected : int, default=50
        Fewer where there are fewer features.
    folds : int, default=5

    Returns
    -------
    order : ndarray of shape (min(n_selected, n_features),)
    """
    fitted = list(_folds(X, y, task, folds))
    free = np.ones(X.shape[1], dtype=bool)
    order = []
    for _ in range(min(n_selected, X.shape[1])):
        # Equal counts of right classes may differ in the last digit of their mean over folds,
        # which then decides, in scikit-learn, in the results of the paper and so here.
        scores = np.mean([fold.scores() for fold in fitted], axis=0)
        best = int(np.argmax(np.where(free, scores, -np.inf)))
        fitted = [fold.add(best) for fold in fitted]
        free[best] = False
        order.append(best)
    return np.array(order, dtype=np.intp)


def _folds(X: FloatArray, y: FloatArray, task: Task, n_folds: int) -> Iterator[Fold]:
    if task == "regression":
        for train, held_out in KFold(n_folds).split(X):
            yield linear_fold(X, y, train, held_out)
    else:
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"Forward selection takes two classes, got {len(classes)}.")
        for train, held_out in StratifiedKFold(n_folds).split(X, codes):
            yield logistic_fold(X, 2.0 * codes - 1.0, train, held_out)


@dataclass(frozen=True)
class LinearFold:
    """What least squares on the selected features leaves of every column.

    Parameters
    ----------
    rest : ndarray of shape (n_train + n_held_out, n_features + 1)
        Residuals of the features and, last, of the target. Held-out rows follow the training
        rows, and get the combinations found on those.
    basis : ndarray of shape (n_train + n_held_out, n_selected + 1)
        Constant and selected features, orthonormal on training rows.
    n_train : int
    smallest : ndarray of shape (n_features,)
        Lengths on training rows up to which a residual is rounding.
    variation : float
        Sum of squares of the held-out target about its mean.
    """

    rest: FloatArray
    basis: FloatArray
    n_train: int
    smallest: FloatArray
    variation: float

    def scores(self) -> FloatArray:
        train, held_out = self.rest[: self.n_train], self.rest[self.n_train :]
        length = np.linalg.norm(train[:, :-1], axis=0)
        varies = length > self.smallest
        covariance = train[:, -1] @ train[:, :-1]
        slope = np.where(varies, covariance, 0.0) / np.where(varies, length, 1.0) ** 2
        errors = held_out[:, -1:] - held_out[:, :-1] * slope
        return 1.0 - np.sum(errors**2, axis=0) / self.variation

    def add(self, feature: int) -> LinearFold:
        if np.linalg.norm(self.rest[: self.n_train, feature]) <= self.smallest[feature]:
            return self
        return self.without(self.rest[:, feature])

    def without(self, column: FloatArray) -> LinearFold:
        """The same with one more column explained."""
        fitted = slice(self.n_train)
        # The columns lose the parts they share with the basis one by one, up to rounding that
        # would add up; this one enters the basis, so it is cleaned once more.
        column = column - self.basis @ (self.basis[fitted].T @ column[fitted])
        column = column / np.linalg.norm(column[fitted])
        rest = self.rest - np.outer(column, column[fitted] @ self.rest[fitted])
        return replace(self, rest=rest, basis=np.column_stack([self.basis, column]))


def linear_fold(X: FloatArray, y: FloatArray, train: IntArray, held_out: IntArray) -> LinearFold:
    """The mean as a model, before any feature is selected."""
    rows = np.column_stack([X, y])[np.concatenate([train, held_out])]
    smallest = NOTHING * np.linalg.norm(X[train], axis=0)
    variation = np.sum((y[held_out] - y[held_out].mean()) ** 2)
    empty = LinearFold(rows, np.empty((len(rows), 0)), len(train), smallest, variation)
    return empty.without(np.ones(len(rows)))


@dataclass(frozen=True)
class LogisticFold:
    """Logistic regression on the selected features, penalised as scikit-learn does by default.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_train)
        Features in rows, so that those of one candidate lie together in memory.
    signs : ndarray of shape (n_train,)
        -1 and 1 for the classes.
    held_out : ndarray of shape (n_features, n_held_out)
    held_out_signs : ndarray of shape (n_held_out,)
    selected : tuple of int
    coefficients : ndarray of shape (n_selected + 1,)
        Of the constant and the selected features, at the optimum.
    """

    columns: FloatArray
    signs: FloatArray
    held_out: FloatArray
    held_out_signs: FloatArray
    selected: tuple[int, ...]
    coefficients: FloatArray

    def scores(self) -> FloatArray:
        fits = self.fits(np.arange(len(self.columns)))
        base = fits[:, :-1] @ _design(self.held_out, self.selected)
        signals = base + fits[:, -1:] * self.held_out
        return np.mean((signals > 0) == (self.held_out_signs > 0), axis=1)

    def add(self, feature: int) -> LogisticFold:
        (coefficients,) = self.fits(np.array([feature]))
        selected = (*self.selected, feature)
        return replace(self, selected=selected, coefficients=coefficients)

    def fits(self, candidates: IntArray) -> FloatArray:
        """Coefficients of constant, selected features and each candidate in turn.

        Returns
        -------
        fits : ndarray of shape (n_candidates, n_selected + 2)
        """
        newton = _newton(self, candidates)
        fits = np.tile(np.append(self.coefficients, 0.0), (len(candidates), 1))
        for position in _converge(newton, fits):
            features = self.columns[[*self.selected, candidates[position]]].T
            fits[position] = _fit_alone(features, self.signs)
        return fits


def logistic_fold(
    X: FloatArray, signs: FloatArray, train: IntArray, held_out: IntArray
) -> LogisticFold:
    """The share of each class as a model, before any feature is selected."""
    columns, held = (np.ascontiguousarray(X[rows].T) for rows in (train, held_out))
    share = np.mean(signs[train] > 0)
    log_odds = np.log(share / (1.0 - share))
    return LogisticFold(columns, signs[train], held, signs[held_out], (), log_odds[None])


@dataclass(frozen=True)
class BorderedNewton:
    """Newton steps for many candidates at once.

    The Hessian of a candidate's model is that of the selected features with one more row and
    column. It is taken once, at the fit without the candidate, and gradients are exact: so a
    step costs a product of matrices, and the optimum is that of plain Newton.

    Parameters
    ----------
    design : ndarray of shape (n_selected + 1, n_train)
        Constant and selected features.
    columns : ndarray of shape (n_candidates, n_train)
    signs : ndarray of shape (n_train,)
    penalty : ndarray of shape (n_selected + 1,)
        The constant goes free.
    inverse : ndarray of shape (n_selected + 1, n_selected + 1)
        Of the Hessian of the selected features.
    toward : ndarray of shape (n_candidates, n_selected + 1)
        Regression of the candidates on the selected features, in the metric of the Hessian.
    curvature : ndarray of shape (n_candidates,)
        What that regression leaves of a candidate's own second derivative.
    """

    design: FloatArray
    columns: FloatArray
    signs: FloatArray
    penalty: FloatArray
    inverse: FloatArray
    toward: FloatArray
    curvature: FloatArray

    def steps(self, which: IntArray, fits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Steps of some candidates, and their squared lengths as the Hessian measures them."""
        columns, toward = self.columns[which], self.toward[which]
        # Halved and doubled, since tanh(t / 2) is twice the logistic function of t, less one.
        halves = fits / 2
        doubled = np.tanh(halves[:, :-1] @ self.design + halves[:, -1:] * columns) - self.signs
        gradient = doubled @ self.design.T / 2 + fits[:, :-1] * self.penalty
        own = _dots(doubled, columns) / 2 + fits[:, -1]
        last = (own - _dots(toward, gradient)) / self.curvature[which]
        first = gradient @ self.inverse - toward * last[:, None]
        squared = _dots(gradient, first) + own * last
        return np.column_stack([first, last]), squared


def _newton(fold: LogisticFold, candidates: IntArray) -> BorderedNewton:
    design, columns = _design(fold.columns, fold.selected), fold.columns[candidates]
    penalty = np.append(0.0, np.ones(len(design) - 1))
    weights = (1.0 - np.tanh(fold.coefficients @ design / 2) ** 2) / 4
    inverse = np.linalg.inv((design * weights) @ design.T + np.diag(penalty))
    cross = (columns * weights) @ design.T
    toward = cross @ inverse
    curvature = columns**2 @ weights + 1.0 - _dots(cross, toward)
    return BorderedNewton(design, columns, fold.signs, penalty, inverse, toward, curvature)


def _dots(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", left, right)


def _design(columns: FloatArray, selected: tuple[int, ...]) -> FloatArray:
    return np.vstack([np.ones(columns.shape[1]), columns[list(selected)]])


def _converge(newton: BorderedNewton, fits: FloatArray) -> IntArray:
    """Move the fits to their optimum in place; the positions of those that do not arrive."""
    unfinished = np.arange(len(fits))
    for _ in range(MAX_STEPS):
        left = []
        for block in np.split(unfinished, range(BLOCK, len(unfinished), BLOCK)):
            steps, squared = newton.steps(block, fits[block])
            fits[block] -= steps
            left.append(block[squared > CONVERGED**2])
        unfinished = np.concatenate(left)
    return unfinished


def _fit_alone(features: FloatArray, signs: FloatArray) -> FloatArray:
    """Coefficients of the constant and the features, with the Hessian taken anew every step."""
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model.fit(features, signs)
    return np.append(model.intercept_, model.coef_)
