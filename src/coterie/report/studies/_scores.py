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
from coterie.report.studies._baselines import Steps
from coterie.report.studies._splits import Rows


class Scored(NamedTuple):
    """The score of a model on held-out rows, and a remark on its solver if there is one."""

    score: float
    note: str = ""


def score_behind(steps: Steps, reducer: Any, train: Rows, test: Rows) -> Scored:
    """Score of the model that would stand behind the reducer, behind other steps.

    Steps and model learn from training rows alone; gaps are filled with the means of those.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = [SimpleImputer()] if reducer.missing == "pairwise" else []
    before = make_pipeline(*fill, *steps, "passthrough")
    with quiet():
        known = _plain(before.fit_transform(np.asarray(train.X), train.y))
        unknown = _plain(before.transform(np.asarray(test.X)))
    return _scored(reducer, known, unknown, train, test)


def learned(reducer: Any, train: Rows) -> Any:
    """A copy of the reducer, fitted to these rows."""
    weights = {} if train.weights is None else {"sample_weight": train.weights}
    return clone(reducer).fit(train.X, train.y, **weights)


def score_of(fitted: Any, train: Rows, test: Rows) -> Scored:
    """Score of the plain model behind a fitted reducer."""
    known, unknown = fitted._transformed(train.X), fitted._transformed(test.X)
    return _scored(fitted, known, unknown, train, test)


def _scored(
    reducer: Any, known: FloatArray, unknown: FloatArray, train: Rows, test: Rows
) -> Scored:
    weights = {} if test.weights is None else {"sample_weight": test.weights}
    with quiet():
        model = fitted_model(plain_model(reducer, known, train.y), known, train.y, train.weights)
        score = float(model.score(unknown, test.y, **weights))
    return Scored(score, "a solver stopped before it converged" if stopped_early(model) else "")


def _plain(columns: Any) -> FloatArray:
    # PLS gives a pair where it is given a target.
    return np.asarray(columns[0] if isinstance(columns, tuple) else columns)


@contextmanager
def quiet() -> Iterator[None]:
    """Without what scikit-learn's models and tests of columns warn of; notes tell what matters."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"sklearn\..*")
        yield
