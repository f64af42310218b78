"""Two supervised relatives of PCA, written from their definitions."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.extmath import svd_flip

from experiments.methods._reduction import FloatArray, Task

Kernel = Literal["linear", "rbf", "delta"]


class BairPCA(TransformerMixin, BaseEstimator):
    """Leading principal components of the features that tell most about the target alone.

    Supervised principal components of Bair, Hastie, Paul and Tibshirani (2006).

    Parameters
    ----------
    n_components : int
        Columns wanted; there are fewer where the kept features have a smaller rank.
    keep : float
        Share of the features that stay, more than 0 and at most 1. It stands for the
        threshold of the paper, which would have the unit of the target.
    task : {"regression", "classification"}
    """

    def __init__(self, n_components: int = 2, *, keep: float = 0.5, task: Task = "regression"):
        self.n_components = n_components
        self.keep = keep
        self.task = task

    def fit(self, X: FloatArray, y: ArrayLike) -> Self:
        scores = coefficients(X, targets(y, self.task))
        n_kept = max(1, round(self.keep * X.shape[1]))
        self.kept_ = np.sort(np.argsort(-scores, kind="stable")[:n_kept])
        self.mean_ = X[:, self.kept_].mean(axis=0)
        centred = X[:, self.kept_] - self.mean_
        found = directions(centred.T, float(np.linalg.norm(centred)))
        self.components_ = found[:, : self.n_components].T
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        return (X[:, self.kept_] - self.mean_) @ self.components_.T


class BarshanPCA(TransformerMixin, BaseEstimator):
    """Orthonormal directions along which the features depend most on the target.

    Supervised PCA of Barshan, Ghodsi, Azimifar and Jahromi (2011): the leading
    eigenvectors of X' H L H X, with H the centring of rows and L a kernel of the target.

    Parameters
    ----------
    n_components : int
        Columns wanted; there are fewer where the rank is smaller. It is at most one with
        the linear kernel, and one less than the classes with the delta kernel.
    kernel : {"linear", "rbf", "delta"}
        Of the target: the product of two values, a bell whose width is the median
        distance, or whether two classes are the same.
    """

    def __init__(self, n_components: int = 2, *, kernel: Kernel = "rbf"):
        self.n_components = n_components
        self.kernel = kernel

    def fit(self, X: FloatArray, y: ArrayLike) -> Self:
        self.mean_ = X.mean(axis=0)
        centred = X - self.mean_
        factor = FACTORS[self.kernel](np.asarray(y, dtype=float))
        # With L = A A', the left directions of X' H A are the eigenvectors of X' H L H X,
        # a matrix that thousands of features would make large. Rounding is as large as the
        # factors are, even where their product is nothing.
        size = float(np.linalg.norm(centred) * np.linalg.norm(factor))
        found = directions(centred.T @ (factor - factor.mean(axis=0)), size)
        self.components_ = found[:, : self.n_components].T
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        return (X - self.mean_) @ self.components_.T


def coefficients(X: FloatArray, Y: FloatArray) -> FloatArray:
    """Largest standardised coefficient of each feature alone, over the columns of Y."""
    centred = X - X.mean(axis=0)
    spread = np.sqrt(np.mean(centred**2, axis=0))
    with_target = np.abs(centred.T @ (Y - Y.mean(axis=0))).max(axis=1) / len(X)
    return np.divide(with_target, spread, out=np.zeros_like(spread), where=spread > 0)


def targets(y: ArrayLike, task: Task) -> FloatArray:
    """The target as columns: itself, or one indicator per class."""
    numbers = np.asarray(y, dtype=float)
    return indicators(numbers) if task == "classification" else numbers[:, None]


def indicators(y: FloatArray) -> FloatArray:
    return (y[:, None] == np.unique(y)).astype(float)


def bell_factor(y: FloatArray) -> FloatArray:
    """A with A A' the Gaussian kernel of y; the width is the median of distances above 0."""
    distances = pdist(y[:, None])
    apart = distances[distances > 0]
    width = np.median(apart) if apart.size else 1.0
    values, vectors = eigh(np.exp(-0.5 * squareform(distances / width) ** 2))
    present = values > len(y) * np.finfo(float).eps * values[-1]
    return vectors[:, present] * np.sqrt(values[present])


FACTORS = {"linear": lambda y: y[:, None], "rbf": bell_factor, "delta": indicators}


def directions(matrix: FloatArray, size: float) -> FloatArray:
    """Left singular vectors, leading first, of values that stand out from rounding at this size."""
    vectors, values, _ = np.linalg.svd(matrix, full_matrices=False)
    present = values > max(matrix.shape) * np.finfo(float).eps * size
    return svd_flip(vectors[:, present], None)[0]
