"""Rivals get the inputs that the reducer has chosen, and their names say so."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import PoissonRegressor, RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import Coterie
from coterie.report.studies._scores import WithinRange


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
    fill = SimpleImputer().fit(X[train])
    ranks = [inputs.fit_.features.inputs(fill.transform(X[rows])) for rows in (train, test)]
    penalties = np.logspace(-10, 3, 27) * len(train)
    model = make_pipeline(StandardScaler(), RidgeCV(penalties))
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


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_exploding_exponentials_do_not_decide():
    """One row far outside of the training range costs a count model next to nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = rng.poisson(np.exp(1 + 0.7 * X[:, 0]))
    X[17, 1:] = 400.0
    result = coterie.report.study(X, y, path=False, estimator=Coterie("counts", inputs=None))
    scores = {one.name: one.score for one in result.summary.scores}
    assert scores["ridge on all columns"] > 0.2
    assert scores["coterie"] > 0.2
    assert result.verdict.code in ("use_groups", "unsure")


def test_no_count_model_predicts_beyond_the_training_rows(rng):
    X = rng.normal(size=(80, 2))
    y = rng.poisson(np.exp(X[:, 0]))
    model = PoissonRegressor(alpha=1e-3).fit(X, y)
    found = WithinRange.of(model, X, y)
    far = found.predict(np.array([[500.0, 0.0], [-500.0, 0.0]]))
    assert far[0] == min(model.predict(X).max(), y.max())
    assert far[1] == max(model.predict(X).min(), 0.01 * y.mean())
    np.testing.assert_array_equal(found.predict(X), model.predict(X).clip(far[1], far[0]))
