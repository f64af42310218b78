"""Peers that put features into groups: Ward, VarClusHi, and equal coefficients of SLOPE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.cluster.hierarchy import ward

from experiments.methods._peers_common import (
    cut,
    f_scores,
    falling_path,
    grouping,
    package,
    penalty_settings,
    size_settings,
    target_columns,
)
from experiments.methods._reduction import (
    FloatArray,
    IntArray,
    Reduction,
    Setting,
    Task,
    Unavailable,
)

# No penalised coefficient between standardised columns comes near.
RUNAWAY = 1e6


@dataclass(frozen=True)
class Ward:
    """Means of Ward's clusters, as FeatureAgglomeration makes them, from one tree for all sizes."""

    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return size_settings(n_features)

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        return [means(labels) for labels in cut(ward(X.T), (s["size"] for s in settings))]


def means(labels: IntArray) -> Reduction:
    return grouping(labels, 1.0 / np.bincount(labels)[labels])


@dataclass(frozen=True)
class VarClus:
    """VarClusHi's clusters, each as its first principal component.

    A cluster is split while its second eigenvalue exceeds a limit.
    """

    # It solves an eigenproblem for each feature in each sweep.
    most_features: int = 450
    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{"second_eigenvalue": limit} for limit in (1.0, 0.7, 0.5, 0.2, 0.1, 0.05, 0.02)]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        if X.shape[1] > self.most_features:
            raise Unavailable(
                f"VarClusHi is tried with up to {self.most_features} features, not {X.shape[1]}: "
                "three limits took 29 s with 401, and one had not ended after 100 s with 716"
            )
        limits = [s["second_eigenvalue"] for s in settings]
        found = dict(clusters(X, sorted(set(limits), reverse=True)))
        return [first_components(found[limit], X.std(axis=0)) for limit in limits]


def clusters(X: FloatArray, limits: Iterable[float]) -> Iterator[tuple[float, list[Any]]]:
    """VarClusHi's clusters for falling limits on the second eigenvalue."""
    varclushi = package("varclushi", name="varclushi")
    pandas = package("pandas", name="pandas")
    # A constant feature has no correlations.
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    frame = pandas.DataFrame(X[:, varying], columns=varying)
    members = [list(varying)]
    for limit in limits:
        # Each cluster is split for itself, so a lower limit goes on where a higher one stopped.
        searches = [varclushi.VarClusHi(frame[m], maxeigval2=limit).varclus() for m in members]
        found = [cluster for search in searches for cluster in search.clusters.values()]
        # In an order that does not depend on which was split first.
        found.sort(key=lambda cluster: min(cluster.clus))
        members = [cluster.clus for cluster in found]
        yield limit, found


def first_components(found: list[Any], deviations: FloatArray) -> Reduction:
    """Each cluster as the first principal component of its standardised members."""
    labels, weights = np.full(len(deviations), -1, dtype=np.intp), np.zeros(len(deviations))
    for number, cluster in enumerate(found):
        labels[cluster.clus] = number
        weights[cluster.clus] = cluster.eigvecs[:, 0] / deviations[cluster.clus]
    return grouping(labels, weights)


@dataclass(frozen=True)
class SortedL1:
    """Features whose coefficients have equal magnitude under a sorted L1 penalty, added up.

    With several classes there is a model for each against the rest, and a group holds what no
    model tells apart. Penalties are shares of the smallest that leaves nothing.
    """

    kind: Literal["bh", "oscar"]
    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return penalty_settings()

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        penalties = np.array([s["penalty"] for s in settings])
        loss = "quadratic" if task == "regression" else "logistic"
        targets = target_columns(y / y.std() if task == "regression" else y, task).T
        paths = np.stack([slope_path(X, z, loss, self.kind, penalties) for z in targets])
        best = int(np.argmax(f_scores(X, y, task)))
        return [equal_magnitudes(paths[:, i], best) for i in range(len(settings))]


def slope_path(
    X: FloatArray, y: FloatArray, loss: str, kind: str, penalties: FloatArray
) -> FloatArray:
    """Coefficients for each penalty, of shape (n_penalties, n_features)."""
    # The usual solver makes equal coefficients exactly equal. Between two classes it can run away
    # to 1e9 when features have outliers, where the other one, slower, did not.
    usual = solved_path(X, y, loss, kind, penalties, solver="hybrid")
    if np.abs(usual).max() < RUNAWAY:
        return usual
    return solved_path(X, y, loss, kind, penalties, solver="pgd")


def solved_path(
    X: FloatArray, y: FloatArray, loss: str, kind: str, penalties: FloatArray, *, solver: str
) -> FloatArray:
    sortedl1 = package("sortedl1", name="sortedl1")
    model = sortedl1.Slope(lambda_type=kind, q=0.1, loss=loss, solver=solver, max_iter=5000)
    largest = np.ravel(model.path(X, y, path_length=1).alphas)[0]
    steps = falling_path(penalties)
    never = {"tol_dev_change": 0.0, "tol_dev_ratio": 1.0, "max_clusters": X.shape[1] + 1}
    coefficients = np.asarray(model.path(X, y, alphas=largest * steps, **never).coefs)[:, 0].T
    # Where the deviance falls no further, the path ends all the same.
    return coefficients[np.minimum(np.searchsorted(-steps, -penalties), len(coefficients) - 1)]


def equal_magnitudes(coefficients: FloatArray, otherwise: int) -> Reduction:
    """Signed sums of features with equal coefficients in each row, or one feature otherwise.

    Parameters
    ----------
    coefficients : ndarray of shape (n_models, n_features)
    otherwise : int
        The feature to take where all coefficients are zero.
    """
    patterns = np.stack([levels(row) for row in coefficients], axis=1)
    if not patterns.any():
        patterns[otherwise] = 1
    first = np.argmax(patterns != 0, axis=1)
    signs = np.sign(patterns[np.arange(len(patterns)), first])
    labels = np.full(len(patterns), -1, dtype=np.intp)
    used = signs != 0
    _, numbers = np.unique((patterns * signs[:, None])[used], axis=0, return_inverse=True)
    labels[used] = numbers.ravel()
    return grouping(labels, signs.astype(float))


def levels(coefficients: FloatArray, *, tolerance: float = 1e-6) -> IntArray:
    """Magnitudes numbered from 0, which is zero, with the signs of the coefficients."""
    magnitudes = np.abs(coefficients)
    order = np.argsort(magnitudes)
    is_new = np.diff(magnitudes[order], prepend=0.0) > tolerance * magnitudes.max()
    numbers = np.empty(len(order), dtype=np.intp)
    numbers[order] = np.cumsum(is_new)
    return numbers * np.sign(coefficients).astype(np.intp)
