"""Scores of a linear model on held-out rows, fitted to the columns of some method."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from coterie._core.values import FloatArray
from coterie._model_selection.tuning import fitted_model, plain_model, stopped_early
from coterie.estimators import inputs_of
from coterie.report.studies._baselines import Transformers
from coterie.report.studies._splits import Samples


class HeldOutScore(NamedTuple):
    """The score of a model on held-out rows, and a remark on its solver if any."""

    score: float
    note: str = ""


def score_transformers(
    steps: Transformers, reducer: Any, train: Samples, test: Samples
) -> HeldOutScore:
    """Score of the linear model on the columns of other transformers.

    The model is the one used with the reducer. Transformers and model are fitted to the training
    rows only; missing values are filled with the training means.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = [SimpleImputer()] if reducer.missing != "error" else []
    pipeline = make_pipeline(*fill, *steps, "passthrough")
    with ignore_sklearn_warnings():
        train_columns = _as_array(pipeline.fit_transform(np.asarray(train.X), train.y))
        test_columns = _as_array(pipeline.transform(np.asarray(test.X)))
    return _fit_and_score(reducer, train_columns, test_columns, train, test)


def fit_copy(reducer: Any, train: Samples) -> Any:
    """A clone of the reducer, fitted to these samples."""
    weights = {} if train.weights is None else {"sample_weight": train.weights}
    return clone(reducer).fit(train.X, train.y, **weights)


def score_reducer(fitted: Any, train: Samples, test: Samples) -> HeldOutScore:
    """Score of the linear model on the columns of a fitted reducer."""
    train_columns, test_columns = (
        fitted.fit_.transform(inputs_of(fitted, X)) for X in (train.X, test.X)
    )
    return _fit_and_score(fitted, train_columns, test_columns, train, test)


def _fit_and_score(
    reducer: Any, train_columns: FloatArray, test_columns: FloatArray, train: Samples, test: Samples
) -> HeldOutScore:
    weights = {} if test.weights is None else {"sample_weight": test.weights}
    with ignore_sklearn_warnings():
        model = fitted_model(
            plain_model(reducer, train_columns, train.y), train_columns, train.y, train.weights
        )
        score = float(model.score(test_columns, test.y, **weights))
    return HeldOutScore(
        score, "a solver stopped before it converged" if stopped_early(model) else ""
    )


def _as_array(columns: Any) -> FloatArray:
    # With a target, PLS returns a pair.
    return np.asarray(columns[0] if isinstance(columns, tuple) else columns)


@contextmanager
def ignore_sklearn_warnings() -> Iterator[None]:
    """Suppress warnings of scikit-learn; what matters is in the notes of the scores."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"sklearn\..*")
        yield
