"""Rivals get the inputs that the reducer has chosen, and their names say so."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import Coterie


@pytest.fixture(scope="module")
def heavy():
    """Columns with tails so heavy that only their ranks predict."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 4))
    X = np.exp(4 * (np.repeat(hidden, 3, axis=1) + 0.2 * rng.normal(size=(300, 12))))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, hidden.sum(axis=1) + 0.5 * rng.normal(size=300)


def ridge_on_ranks(X, y, train, test):
    inputs = Coterie(inputs="rank").fit(X[train], y[train])
    ranks = [inputs.fit_.features.inputs(X[rows]) for rows in (train, test)]
    penalties = np.logspace(-10, 3, 27) * len(train)
    model = make_pipeline(SimpleImputer(), StandardScaler(), RidgeCV(penalties))
    return model.fit(ranks[0], y[train]).score(ranks[1], y[test])


def test_rivals_of_a_reducer_on_ranks_get_ranks(heavy):
    X, y = heavy
    result = coterie.report.study(X, y, path=False)
    assert result.reducer.inputs_ == "rank"
    scores = {one.name: one.score for one in result.summary.scores}
    assert [*scores] == [
        "coterie",
        "ridge on all columns, as ranks",
        "lasso on all columns, as ranks",
        "PCA, as ranks",
        "the mean",
    ]
    splits = [
        split for seed in range(3) for split in KFold(5, shuffle=True, random_state=seed).split(X)
    ]
    expected = [ridge_on_ranks(X, y, *split) for split in splits]
    assert scores["ridge on all columns, as ranks"] == pytest.approx(np.mean(expected))
    assert ", as ranks" in result.verdict.sentence
    assert {one.rival for one in result.verdict.differences} == {*scores} - {"coterie"}


def test_compared_methods_get_ranks_too(heavy):
    X, y = heavy
    found = coterie.report.compare(X, y, cv=2)
    expected = [
        ridge_on_ranks(X, y, *split) for split in KFold(2, shuffle=True, random_state=0).split(X)
    ]
    assert found.fold_scores["ridge on all columns, as ranks"] == pytest.approx(expected)
    assert {"PLS, as ranks", "SelectKBest, as ranks", "the mean"} <= {*found.fold_scores}
    assert found.beside("PCA, as ranks").error > 0
