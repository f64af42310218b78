"""Peers whose columns mix all features: partial least squares and supervised UMAP."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.cross_decomposition import PLSRegression

from experiments.methods._peers_common import package, size_settings, target_columns
from experiments.methods._reduction import FloatArray, Reduction, Setting, Task


@dataclass(frozen=True)
class PartialLeastSquares:
    """The first components of PLS; more of them do not change the first."""

    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return size_settings(min(n_features, n_samples - 2))

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        # Sizes for all rows may be too many for those of a fold.
        most = max(1, min(X.shape[1], len(X) - 2))
        sizes = [min(s["size"], most) for s in settings]
        with warnings.catch_warnings():
            # Components beyond a perfect fit are zero, which is warned of and does no harm.
            warnings.simplefilter("ignore")
            fitted = PLSRegression(max(sizes)).fit(X, target_columns(y, task))
        return [
            Reduction(partial(components, fitted=fitted, size=size), size, X.shape[1])
            for size in sizes
        ]


def components(X: FloatArray, *, fitted: PLSRegression, size: int) -> FloatArray:
    return fitted.transform(X)[:, :size]


@dataclass(frozen=True)
class SupervisedUMAP:
    """UMAP's embedding, learned with the target."""

    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{"size": size} for size in (2, 5, 12) if size < min(n_samples - 1, n_features)]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        sizes = [min(s["size"], len(X) - 2) for s in settings]
        return [embedding(X, y, task, size) for size in sizes]


def embedding(X: FloatArray, y: FloatArray, task: Task, size: int) -> Reduction:
    umap = package("umap", name="umap-learn")
    reducer = umap.UMAP(
        n_components=size,
        n_neighbors=min(15, len(X) - 1),
        target_metric="l2" if task == "regression" else "categorical",
        random_state=0,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        # It warns where its spectral start fails and it falls back on another.
        warnings.simplefilter("ignore")
        fitted = reducer.fit(X, y)
    return Reduction(partial(embedded, fitted=fitted), size, X.shape[1])


def embedded(X: FloatArray, *, fitted: Any) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(fitted.transform(X), dtype=float)
