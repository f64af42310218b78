"""The methods that coterie is compared with, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import BaseCrossValidator

from experiments.methods._peers_common import L2_CV, selection
from experiments.methods._peers_groups import SortedL1, VarClus, Ward
from experiments.methods._peers_projection import PartialLeastSquares, SupervisedUMAP
from experiments.methods._peers_selection import (
    First,
    Lasso,
    Uncorrelated,
    by_f_test,
    by_fastcan,
    by_forest,
)
from experiments.methods._reduction import FloatArray, Method, Reduction, Setting, Task


@dataclass(frozen=True)
class AllColumns:
    """Every feature as it is."""

    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{}]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        return [selection(np.arange(X.shape[1]), X.shape[1]) for _ in settings]


@dataclass(frozen=True)
class RidgeOnAllColumns:
    """Every feature, before a model that shrinks instead of the common one."""

    settings = AllColumns.settings
    reductions = AllColumns.reductions

    def model(self, task: Task, folds: BaseCrossValidator) -> RidgeCV | LogisticRegressionCV:
        """What follows standardised columns; it tunes its own penalty, in the folds given."""
        if task == "regression":
            return RidgeCV(alphas=np.logspace(-3, 5, 25), cv=folds)
        # Its own score is what it is tuned by, and every other model's is accuracy.
        return LogisticRegressionCV(
            Cs=np.logspace(-4, 3, 8),
            cv=folds,
            scoring="accuracy",
            max_iter=2000,
            **L2_CV,
        )


PEERS: dict[str, Method] = {
    "FeatureAgglomeration": Ward(),
    "PLS": PartialLeastSquares(),
    "SelectKBest": First(by_f_test),
    "lasso": Lasso(),
    "SLOPE": SortedL1("bh"),
    "OSCAR": SortedL1("oscar"),
    "SmartCorrelatedSelection": Uncorrelated(),
    "VarClusHi": VarClus(),
    "fastcan": First(by_fastcan, beyond_rows=False),
    "random forest": First(by_forest),
    "UMAP": SupervisedUMAP(),
    "ridge on all columns": RidgeOnAllColumns(),
    "all columns": AllColumns(),
}
