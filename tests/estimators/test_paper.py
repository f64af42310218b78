"""The tables of the paper, trial by trial, through the public face.

The figures are the authors' own results for each trial (number of groups and test score).
"""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from coterie import GenLinCFA, LinCFA, NonLinCFA
from coterie.datasets import make_paper_data, paper_trial

STORED = Path(__file__).parents[1] / "data" / "paper_synthetic.json"
if not STORED.exists():
    pytest.skip("released archives go without the authors' results", allow_module_level=True)
SETTINGS = json.loads(STORED.read_text(encoding="utf-8"))

N_TRIALS = 5


@lru_cache
def data(n_features, noise, relation):
    """The rows of the trials here, and the targets of all."""
    X, y = make_paper_data(n_features, noise=noise, relation=relation)
    return X[: 3000 * N_TRIALS].copy(), y


def target(y, setting):
    """The classes of the paper are cut from the same numbers."""
    if setting["task"] == "regression":
        return y
    return (y >= (0 if setting["relation"] == "linear" else y.mean())).astype(float)


def reducer(setting, tolerance):
    shared = {
        "search": "restart",
        "inputs": np.square if setting["inputs"] == "x**2" else None,
        "aggregation": setting["aggregation"].replace(" ", "_"),
    }
    if setting["method"] == "LinCFA":
        return LinCFA(**shared)
    if setting["method"] == "NonLinCFA":
        return NonLinCFA(tolerance, cv=5, **shared)
    # The authors standardise 0/1 targets too, with curvature 1, or 1/2 for quadratic classes.
    halved = (setting["relation"], setting["task"]) == ("quadratic", "classification")
    return GenLinCFA(tolerance, curvature=0.5 if halved else 1.0, **shared)


# Here the authors' logistic regression stopped at 100 iterations, far from the optimum: their
# 0.604 is 0.57 to 0.72 if the columns change in their 14th digit, and 0.736 once converged.
NOT_CONVERGED = ("quad-1000-cls-genlin-ss", 2, 0.77)

CASES = [
    pytest.param(name, trial, marks=pytest.mark.slow if setting["D"] == 1000 else ())
    for name, setting in SETTINGS.items()
    for trial in range(N_TRIALS)
]


# The authors' logistic regressions stopped at 100 iterations too.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "trial"), CASES)
def test_groups_and_scores_equal_those_of_the_authors(name, trial):
    setting = SETTINGS[name]
    X, y = data(setting["D"], setting["noise"], setting["relation"])
    X_train, X_test, y_train, y_test = paper_trial(X, target(y, setting), trial)
    published = setting["trials"][str(trial)]
    for position, tolerance in enumerate(setting["tolerances"] or [None]):
        fitted = reducer(setting, tolerance).fit(X_train, y_train)
        assert fitted.n_groups_ == published["d"][position], tolerance
        if (name, trial, tolerance) == NOT_CONVERGED:
            continue
        is_regression = setting["task"] == "regression"
        # When the paper was written, scikit-learn summed the loss over rows; now it is their mean.
        as_then = LogisticRegression(tol=1e-4 / len(y_train))
        model = LinearRegression() if is_regression else as_then
        model.fit(fitted.transform(X_train), y_train)
        score = model.score(fitted.transform(X_test), y_test)
        within = 1e-9 if is_regression else 0.001 + 1e-12
        assert abs(score - published["score"][position]) <= within, tolerance
