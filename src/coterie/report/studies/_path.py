"""The tolerance path of a study, for reducers that have a tolerance."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie._data.progress import Tell
from coterie._model_selection.tuning import TolerancePath, tolerance_path
from coterie.estimators import GenLinCFA, NonLinCFA, pricing_of
from coterie.report.studies._metrics import AUC
from coterie.report.studies._scores import ignore_sklearn_warnings
from coterie.report.studies._splits import MIN_FOLD_ROWS, Rows, Samples, make_folds

# For larger tables, the path has fewer tolerances and folds.
MANY_FEATURES, MANY_NUMBERS = 1_000, 300_000


def path_of_study(
    reducer: Any, train: Samples, splitting: dict[str, Any], metric: str, tell: Tell
) -> TolerancePath | None:
    """The tolerance path, or None for reducers without a tolerance."""
    if not isinstance(reducer, NonLinCFA | GenLinCFA) or reducer.n_groups is not None:
        return None
    if train.offset is not None:
        return None
    n_rows, n_features = train.table.shape
    is_large = n_features > MANY_FEATURES or n_rows * n_features > MANY_NUMBERS
    splits = _path_folds(reducer, train, 3 if is_large else 5, splitting)
    if splits is None:
        return None
    with ignore_sklearn_warnings():
        return tolerance_path(
            train.table,
            train.y,
            estimator=reducer,
            n_tolerances=12 if is_large else 30,
            cv=splits,
            scoring=_path_scoring(train.y) if metric == AUC else None,
            sample_weight=train.weights,
            progress=tell,
        )


def _path_scoring(y: Any) -> str | None:
    """scikit-learn's name of the ROC AUC; None for several targets."""
    if y.ndim > 1:
        return None
    return "roc_auc" if len(np.unique(y)) == 2 else "roc_auc_ovr"


def _path_folds(
    reducer: Any, train: Samples, most: int, splitting: dict[str, Any]
) -> list[Rows] | None:
    """Folds with enough training rows, at most `most`; None if 2 folds are too many."""
    min_rows = _min_training_rows(reducer)
    for n_folds in range(min(most, len(train) // MIN_FOLD_ROWS), 1, -1):
        splits = make_folds(train, n_folds, **splitting)
        if min(len(rows) for rows, _ in splits) >= min_rows:
            return splits
    return None


def _min_training_rows(reducer: Any) -> int:
    """Number of rows that a reducer with a numeric tolerance needs."""
    cv = pricing_of(clone(reducer).set_params(tolerance=0.0)).cv
    # R2 needs two rows in one of the inner folds.
    return int(cv) + 1 if isinstance(cv, Integral) else 1
