import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from experiments.fight.models import (
    BEHIND,
    ON_ALL,
    Levels,
    TwoClasses,
    constant,
    loss,
    plain,
    rotated,
    score,
)


@pytest.fixture
def numbers(rng):
    Z = rng.normal(size=(90, 6)) * [1, 2, 3, 4, 5, 100]
    return Z[:60], Z[:60] @ np.ones(6) + rng.normal(size=60), Z[60:], Z[60:] @ np.ones(6)


@pytest.fixture
def classes(rng):
    y = np.arange(120) % 3
    Z = rng.normal(size=(120, 4)) + 1.5 * np.eye(4)[y]
    return Z[:90], y[:90].astype(float), Z[90:], y[90:].astype(float)


def test_the_plain_model_is_least_squares(numbers):
    Z, y, Z_test, _ = numbers
    expected = LinearRegression().fit(Z, y).predict(Z_test)
    np.testing.assert_allclose(plain(Z, y, Z_test, "regression", ()), expected)


def test_the_plain_model_of_classes_is_that_of_scikit_learn(classes):
    Z, y, Z_test, _ = classes
    scaler = StandardScaler().fit(Z)
    model = LogisticRegression(max_iter=1000, tol=1e-8).fit(scaler.transform(Z), y)
    found = plain(Z, y, Z_test, "classification", ())
    np.testing.assert_allclose(found, model.predict_proba(scaler.transform(Z_test)), atol=1e-3)


@pytest.mark.parametrize("strength", [1e-3, 1.0, 100.0])
def test_two_classes_are_fitted_as_scikit_learn_does(strength, rng):
    Z = rng.normal(size=(60, 5))
    y = (Z[:, 0] + 0.3 * rng.normal(size=60) > 0.5).astype(float)
    expected = LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-10).fit(Z, y)
    found = TwoClasses.fitted(Z, y, strength)
    np.testing.assert_allclose(found.predict_proba(Z), expected.predict_proba(Z), atol=1e-5)


def test_rotation_changes_no_inner_product(rng):
    Z, Z_test = rng.normal(size=(8, 30)), rng.normal(size=(5, 30))
    fewer, fewer_test = rotated(Z, Z_test)
    assert fewer.shape == (8, 8)
    np.testing.assert_allclose(fewer @ fewer.T, Z @ Z.T, atol=1e-10)
    np.testing.assert_allclose(fewer_test @ fewer.T, Z_test @ Z.T, atol=1e-10)


@pytest.mark.parametrize("name", ON_ALL)
def test_models_learn_numbers(name, numbers):
    Z, y, Z_test, y_test = numbers
    predicted = ON_ALL[name](Z / Z.std(0), y, Z_test / Z.std(0), "regression",
                             list(KFold(3).split(Z)))  # fmt: skip
    assert predicted.shape == y_test.shape
    assert (score(y_test, predicted, "regression") > 0.4) == (name != "constant")


@pytest.mark.parametrize("name", ON_ALL)
def test_models_learn_classes(name, classes):
    Z, y, Z_test, y_test = classes
    found = ON_ALL[name](Z, y, Z_test, "classification", list(StratifiedKFold(3).split(Z, y)))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    reached = score(y_test, found, "classification")
    assert (reached > 0.75) == (name != "constant")
    if name not in ("constant", "boosting"):  # Of so few rows, boosting is too sure.
        base = constant(Z, y, Z_test, "classification", ())
        assert loss(y_test, found, "classification") < loss(y_test, base, "classification")


def test_the_score_of_several_classes_is_the_mean_of_each_against_the_rest(rng):
    y, found = np.arange(30) % 3, rng.dirichlet([1, 1, 1], 30)
    each = [roc_auc_score(y == c, found[:, c]) for c in range(3)]
    assert score(y.astype(float), found, "classification") == pytest.approx(np.mean(each))


def test_a_class_that_is_not_tested_does_not_count(rng):
    y, found = np.arange(30) % 2, rng.dirichlet([1, 1, 1], 30)
    each = [roc_auc_score(y == c, found[:, c]) for c in range(2)]
    assert score(y.astype(float), found, "classification") == pytest.approx(np.mean(each))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_and_losses_are_those_of_scikit_learn(n_classes, rng):
    y = (np.arange(40) % n_classes).astype(float)
    found = rng.dirichlet(np.ones(n_classes), 40).round(1)
    found /= found.sum(axis=1, keepdims=True)
    clipped = np.clip(found, 1e-6, None)
    assert loss(y, found, "classification") == pytest.approx(
        log_loss(y, clipped / clipped.sum(axis=1, keepdims=True))
    )
    area = roc_auc_score(y, found[:, 1]) if n_classes == 2 else roc_auc_score(
        y, found, multi_class="ovr"
    )  # fmt: skip
    assert score(y, found, "classification") == pytest.approx(area, abs=1e-12)


def test_certain_and_wrong_costs_no_more_than_a_millionth():
    y = np.array([0.0, 1.0])
    assert loss(y, np.array([[0.0, 1.0], [1.0, 0.0]]), "classification") < 14


def test_all_levels_of_hfr_are_least_squares_and_one_is_the_whole(numbers):
    Z, y, Z_test, _ = numbers
    expected = LinearRegression().fit(Z, y).predict(Z_test)
    np.testing.assert_allclose(Levels(Z, y).predict(Z_test, 1.0), expected, rtol=1e-4, atol=1e-2)


def test_hfr_shrinks_toward_the_mean(numbers):
    Z, y, Z_test, _ = numbers
    levels = Levels(Z, y)
    spreads = [levels.predict(Z_test, kappa).std() for kappa in (0.02, 0.1, 1.0)]
    assert spreads[0] < spreads[1] < spreads[2]


def test_those_behind_reducers_take_part_on_all_columns_too():
    assert set(BEHIND) < set(ON_ALL)
