"""How well a plain model does on held-out rows, behind columns that were made in some way."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from coterie._core.values import FloatArray
from coterie._model_selection.tuning import fitted_model, plain_model, stopped_early
from coterie.report.studies._baselines import Transformers
from coterie.report.studies._splits import Samples


class HeldOutScore(NamedTuple):
    """The score of a model on held-out rows, and a remark on its solver if there is one."""

    score: float
    note: str = ""


def score_transformers(
    steps: Transformers, reducer: Any, train: Samples, test: Samples
) -> HeldOutScore:
    """Score of the model that would stand behind the reducer, behind other steps.

    Steps and model learn from training rows alone; gaps are filled with the means of those.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = [SimpleImputer()] if reducer.missing == "pairwise" else []
    before = make_pipeline(*fill, *steps, "passthrough")
    with ignore_sklearn_warnings():
        train_columns = _as_array(before.fit_transform(np.asarray(train.X), train.y))
        test_columns = _as_array(before.transform(np.asarray(test.X)))
    return _fit_and_score(reducer, train_columns, test_columns, train, test)


def fit_copy(reducer: Any, train: Samples) -> Any:
    """A copy of the reducer, fitted to these rows."""
    weights = {} if train.weights is None else {"sample_weight": train.weights}
    return clone(reducer).fit(train.X, train.y, **weights)


def score_reducer(fitted: Any, train: Samples, test: Samples) -> HeldOutScore:
    """Score of the plain model behind a fitted reducer."""
    train_columns, test_columns = fitted._transformed(train.X), fitted._transformed(test.X)
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
    # PLS gives a pair where it is given a target.
    return np.asarray(columns[0] if isinstance(columns, tuple) else columns)


@contextmanager
def ignore_sklearn_warnings() -> Iterator[None]:
    """Without what scikit-learn's models and tests of columns warn of; notes tell what matters."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"sklearn\..*")
        yield
