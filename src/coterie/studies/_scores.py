"""How well a plain model does on held-out rows, behind columns that were made in some way."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from coterie.studies._rivals import Steps
from coterie.studies._rows import Rows
from coterie.tuning import fitted_model, plain_model
from coterie.values import FloatArray


def score_behind(steps: Steps, reducer: Any, train: Rows, test: Rows) -> float:
    """Score of the model that would stand behind the reducer, behind other steps.

    Steps and model learn from training rows alone; gaps are filled with the means of those.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = [SimpleImputer()] if reducer.missing == "pairwise" else []
    before = make_pipeline(*fill, *steps, "passthrough")
    known = _plain(before.fit_transform(np.asarray(train.X), train.y))
    model = fitted_model(plain_model(reducer, known, train.y), known, train.y, train.weights)
    return _own_score(model, _plain(before.transform(np.asarray(test.X))), test)


def learned(reducer: Any, train: Rows) -> Any:
    """A copy of the reducer, fitted to these rows."""
    weights = {} if train.weights is None else {"sample_weight": train.weights}
    return clone(reducer).fit(train.X, train.y, **weights)


def score_of(fitted: Any, train: Rows, test: Rows) -> float:
    """Score of the plain model behind a fitted reducer."""
    known = fitted._transformed(train.X)
    model = fitted_model(plain_model(fitted, known, train.y), known, train.y, train.weights)
    return _own_score(model, fitted._transformed(test.X), test)


def _own_score(model: Any, columns: FloatArray, test: Rows) -> float:
    weights = {} if test.weights is None else {"sample_weight": test.weights}
    return float(model.score(columns, test.y, **weights))


def _plain(columns: Any) -> FloatArray:
    # PLS gives a pair where it is given a target.
    return np.asarray(columns[0] if isinstance(columns, tuple) else columns)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """What solvers and tests of columns say on the way, as remarks instead of warnings."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    if any(issubclass(one.category, ConvergenceWarning) for one in caught):
        said.append("a solver stopped before it converged")
