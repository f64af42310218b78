"""Forward selection against scikit-learn's, candidate by candidate and path by path."""

import numpy as np
import pytest
from conftest import correlated
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from experiments.methods import _forward
from experiments.methods._forward import (
    forward_selection,
    linear_fold,
    logistic_fold,
)

EXACT = LogisticRegression(tol=1e-10, max_iter=10_000)
MODELS = {"regression": LinearRegression(), "classification": EXACT}
TASKS = list(MODELS)


def classes(y):
    return (y >= np.median(y)).astype(float)


def drawn(rng, task, **sizes):
    X, y = correlated(rng, **sizes)
    return X, y if task == "regression" else classes(y)


def chosen_by_scikit_learn(X, y, task, size):
    selector = SequentialFeatureSelector(MODELS[task], n_features_to_select=size, cv=5)
    return selector.fit(X, y).get_support(indices=True).tolist()


@pytest.mark.parametrize("task", TASKS)
def test_the_path_is_that_of_scikit_learn(rng, task):
    X, y = drawn(rng, task, n_samples=83, n_features=7, noise=3.0)
    path = forward_selection(X, y, task, n_selected=3).tolist()
    for size in [1, 2, 3]:
        assert sorted(path[:size]) == chosen_by_scikit_learn(X, y, task, size)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("noise", [1.0, 10.0])
def test_many_selected_features_are_those_of_scikit_learn(rng, task, noise):
    X, y = drawn(rng, task, n_samples=200, n_features=14, n_factors=6, noise=noise)
    path = forward_selection(X, y, task, n_selected=8).tolist()
    assert sorted(path) == chosen_by_scikit_learn(X, y, task, 8)


@pytest.mark.parametrize("task", TASKS)
def test_scores_of_folds_equal_cross_validation(rng, task):
    X, y = drawn(rng, task, n_samples=103, n_features=6)
    chosen = [4, 1]
    mean = np.mean([with_features(fold, chosen).scores() for fold in folds(X, y, task)], axis=0)
    for feature in [0, 2, 3, 5]:
        expected = cross_val_score(MODELS[task], X[:, [*chosen, feature]], y, cv=5).mean()
        np.testing.assert_allclose(mean[feature], expected, atol=1e-12)


def folds(X, y, task):
    if task == "regression":
        return [linear_fold(X, y, *rows) for rows in KFold(5).split(X)]
    return [logistic_fold(X, 2 * y - 1, *rows) for rows in StratifiedKFold(5).split(X, y)]


def with_features(fold, features):
    for feature in features:
        fold = fold.add(feature)
    return fold


@pytest.mark.parametrize("max_steps", [30, 0])
@pytest.mark.parametrize("chosen", [[], [3], [5, 0, 2]])
def test_every_candidate_gets_the_coefficients_of_scikit_learn(rng, chosen, max_steps, monkeypatch):
    monkeypatch.setattr(_forward, "MAX_STEPS", max_steps)
    monkeypatch.setattr(_forward, "BLOCK", 3)
    X, y = correlated(rng, n_samples=90, n_features=8)
    X, y = X + 2.0, (y >= np.quantile(y, 0.3)).astype(float)
    train, held_out = np.arange(15, 90), np.arange(15)
    fold = with_features(logistic_fold(X, 2 * y - 1, train, held_out), chosen)
    fits = fold.fits(np.arange(8))
    for feature in range(8):
        oracle = EXACT.fit(X[train][:, [*chosen, feature]], y[train])
        expected = np.append(oracle.intercept_, oracle.coef_)
        np.testing.assert_allclose(fits[feature], expected, atol=1e-6)


def test_separated_classes_have_a_fit(rng):
    X = rng.normal(size=(60, 3))
    y = (X[:, 1] > 0).astype(float)
    X[:, 1] *= 50
    fold = logistic_fold(X, 2 * y - 1, np.arange(40), np.arange(40, 60))
    for feature, fit in enumerate(fold.fits(np.arange(3))):
        oracle = EXACT.fit(X[:40, [feature]], y[:40])
        np.testing.assert_allclose(fit, np.append(oracle.intercept_, oracle.coef_), atol=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_twins_and_constants_come_after_what_helps(rng, task):
    X = rng.normal(size=(120, 4))
    y = X @ [3.0, 0.0, 2.0, 1.0] + rng.normal(size=120)
    X[:, 1] = X[:, 0]
    X = np.column_stack([np.full(120, 7.0), X])
    y = y if task == "regression" else classes(y)
    assert forward_selection(X, y, task, n_selected=3).tolist() == [1, 3, 4]


def test_what_has_no_variance_left_adds_nothing(rng):
    X, y = correlated(rng, n_samples=50, n_features=3)
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1] + 5, np.full(50, 1e3)])
    fold = with_features(linear_fold(X, y, np.arange(40), np.arange(40, 50)), [0, 1])
    model = LinearRegression().fit(X[:40, :2], y[:40])
    expected = r2_score(y[40:], model.predict(X[40:, :2]))
    np.testing.assert_allclose(fold.scores()[[0, 1, 3, 4]], expected, atol=1e-12)
    np.testing.assert_allclose(fold.add(3).add(4).scores(), fold.scores(), atol=1e-12)


def test_nearly_collinear_columns_keep_their_precision(rng):
    X = rng.normal(size=(200, 1)) + 1e-5 * rng.normal(size=(200, 6))
    y = X @ rng.normal(size=6) * 1e5 + rng.normal(size=200)
    fold = with_features(linear_fold(X, y, np.arange(160), np.arange(160, 200)), range(5))
    model = LinearRegression().fit(X[:160], y[:160])
    np.testing.assert_allclose(fold.scores()[5], model.score(X[160:], y[160:]), atol=1e-8)
    inner = fold.basis[:160].T @ fold.basis[:160]
    np.testing.assert_allclose(inner, np.eye(6), atol=1e-13)


@pytest.mark.parametrize("task", TASKS)
def test_all_features_are_selected_once_when_more_are_asked_for(rng, task):
    X, y = drawn(rng, task)
    assert sorted(forward_selection(X, y, task, n_selected=50)) == list(range(7))


def test_scaling_and_shifting_features_does_not_change_the_path_of_regression(rng):
    X, y = correlated(rng, n_samples=80)
    moved = X * rng.uniform(0.1, 10, size=7) - rng.normal(size=7)
    first, second = (forward_selection(columns, y, "regression") for columns in (X, moved))
    assert first.tolist() == second.tolist()


def test_names_of_classes_do_not_matter(rng):
    X, y = drawn(rng, "classification")
    first = forward_selection(X, y, "classification", n_selected=3)
    second = forward_selection(X, y * 3 + 4, "classification", n_selected=3)
    assert first.tolist() == second.tolist()


def test_three_classes_are_refused(rng):
    X, y = correlated(rng)
    with pytest.raises(ValueError, match="two classes, got 3"):
        forward_selection(X, np.arange(60) % 3.0, "classification")
