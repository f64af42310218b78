"""A group is as important as the score without it is lower, and has a best member."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import NonLinCFA
from coterie.datasets import make_groups


@pytest.fixture(scope="module")
def fit():
    X, y, _ = make_groups(120, 9, 3, noise=2.0, random_state=0)
    return NonLinCFA().fit(X, y), X, y


def test_contributions_are_those_of_models_without_the_group(fit):
    reducer, X, y = fit
    Z = reducer.transform(X)
    found = coterie.group_importance(reducer, X, y, cv=3, n_repeats=1)
    lost = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(Z):
        penalties = np.logspace(-10, 3, 27) * len(train)

        def score(columns, train=train, test=test, penalties=penalties):
            model = make_pipeline(StandardScaler(), RidgeCV(penalties))
            return model.fit(columns[train], y[train]).score(columns[test], y[test])

        lost.append([score(Z) - score(np.delete(Z, k, axis=1)) for k in range(Z.shape[1])])
    assert found.contributions == pytest.approx(np.mean(lost, axis=0), abs=1e-9)
    assert (found.errors > 0).all()


def test_a_group_that_predicts_nothing_contributes_nothing(rng):
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    reducer = NonLinCFA(keep=[0, 1]).fit(X, y)
    found = coterie.group_importance(reducer, X, y)
    useful, useless = found.contributions
    assert useful > 0.9
    assert abs(useless) < 0.01
    frame = found.to_frame()
    assert frame["contribution"].is_monotonic_decreasing
    assert list(frame.columns) == ["group", "contribution", "error"]


def test_representatives_are_most_correlated_with_their_aggregate(fit):
    reducer, X, _ = fit
    Z = reducer.transform(X)
    chosen = coterie.representatives(reducer, X)
    for group, members in enumerate(reducer.groups_):
        like = [abs(np.corrcoef(X[:, one], Z[:, group])[0, 1]) for one in members]
        assert chosen[group] == members[int(np.argmax(like))]


def test_results_become_frames_and_are_readable(fit):
    _, X, y = fit
    result = coterie.report.study(X, y, test_last=True, path=False)
    frame = result.to_frame()
    assert frame["method"].tolist() == [one.name for one in result.summary.scores]
    assert frame["R2"].tolist() == [one.score for one in result.summary.scores]
    assert result.verdict.sentence in repr(result)
    assert len(repr(result)) < 2000
    assert "<table" in result._repr_html_()
    compared = coterie.report.compare(X, y, cv=2)
    assert compared.to_frame()["method"].iloc[0] == "coterie"
    assert "ridge on all columns" in repr(compared)
