import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit

from coterie._core.joint import Scored, Splits, _sums, products_of, sums_of_rows
from coterie._core.joint._choice import least_squares
from coterie._core.joint._penalty import penalty_by_folds, ridge_slopes


@pytest.fixture
def rows(rng):
    columns = rng.normal(size=(40, 5)) + [1, 2, 3, 4, 5]
    return columns, columns[:, :2] @ rng.normal(size=(2, 2)) + 0.3 * rng.normal(size=(40, 2))


@pytest.mark.parametrize("at_a_time", [1, 3, 7, 100])
def test_products_in_blocks_are_those_of_all_rows(rng, monkeypatch, at_a_time):
    monkeypatch.setattr(_sums, "ROWS_AT_A_TIME", at_a_time)
    rows = rng.normal(size=(7, 40))
    products = products_of(rows)
    np.testing.assert_allclose(products, np.einsum("ir,jr->ij", rows, rows), atol=1e-12)
    assert (products == products.T).all()


@pytest.mark.parametrize("splitter", [KFold(4), TimeSeriesSplit(3)])
def test_errors_from_sums_are_those_of_models_that_are_run(rows, splitter):
    columns, targets = rows
    pairs = list(splitter.split(columns))
    sums = sums_of_rows(columns, targets, None, Splits.of_pairs(pairs, 40))
    for split, (train, test) in enumerate(pairs):
        scatter = sums.over(sums.train[split])
        slopes = least_squares(scatter, np.eye(5))
        found = sums.squared_error(sums.test[split], scatter.mean, slopes[None])[0]
        model = LinearRegression().fit(columns[train], targets[train])
        expected = np.square(targets[test] - model.predict(columns[test])).sum(axis=1).mean()
        assert found == pytest.approx(expected, rel=1e-6)


def test_ridge_slopes_are_those_of_scikit_learn(rows):
    columns, targets = rows
    sums = sums_of_rows(columns, targets, None, Splits.of_folds(np.arange(40) % 2))
    slopes = ridge_slopes(sums.everything(), np.ones(5), np.array([0.1, 2.0]))
    for penalty, found in zip([0.1, 2.0], slopes):
        model = Ridge(alpha=40 * penalty).fit(columns, targets)
        np.testing.assert_allclose(found, model.coef_.T, rtol=1e-8)


def test_weights_count_rows(rows, rng):
    columns, targets = rows
    counts = rng.integers(1, 4, 40)
    fold = np.arange(40) % 4
    weighted = sums_of_rows(columns, targets, counts.astype(float), Splits.of_folds(fold))
    repeated = sums_of_rows(
        np.repeat(columns, counts, axis=0),
        np.repeat(targets, counts, axis=0),
        None,
        Splits.of_folds(np.repeat(fold, counts)),
    )
    np.testing.assert_allclose(weighted.products, repeated.products)
    np.testing.assert_allclose(weighted.total, repeated.total)


def test_noise_asks_for_a_larger_penalty(rng):
    columns = rng.normal(size=(60, 20))
    splits = Splits.of_folds(np.arange(60) % 5)
    signal = columns @ np.ones((20, 1))
    noise = rng.normal(size=(60, 1))
    found = [
        penalty_by_folds(sums_of_rows(columns, y, None, splits), np.ones(20)).per_row
        for y in (signal, noise)
    ]
    assert found[0] < 1e-3 < found[1]


def test_the_fewest_groups_that_are_as_good_are_chosen():
    scored = Scored(
        np.array([1, 2, 3, 5]),
        np.array([0.2, 0.899, 0.9, 0.905]),
        np.array([0.01, 0.01, 0.01, 0.0]),
        np.full(4, 0.01),
    )
    # 0.05 x 0.905 x 0.095 = 0.0043, and a quarter of a standard error is 0.0025.
    assert (scored.chosen(), scored.best, scored.predicts) == (5, 5, True)
    scored = scored._replace(score=np.array([0.2, 0.902, 0.9, 0.905]))
    assert scored.chosen() == 2
    assert not scored._replace(own_error=np.full(4, 0.5)).predicts
