import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score

from coterie._core.aggregations import AGGREGATIONS
from coterie._core.criteria import NonLin, Parsimony
from coterie._core.criteria._nonlin import given_up
from coterie._core.evidence import ComputeOptions, RowSets, build_evidence


def pair(X, y, *, aggregation="mean", splits=None):
    """What is known of the first two columns."""
    rows = RowSets.of_splits(splits, len(y)) if splits else RowSets.all_rows()
    evidence = build_evidence(X, y[:, None], AGGREGATIONS[aggregation], rows, ComputeOptions())
    return evidence.pairs(evidence.alone(0), np.array([1]))


def price(X, y, *, aggregation="mean", splits=None, tolerance=0.0):
    """Price of merging the first two columns."""
    criterion = NonLin(tolerance, held_out=splits is not None)
    return criterion.verdict(pair(X, y, aggregation=aggregation, splits=splits)).price[0, 0]


@given(st.integers(0, 2**16), st.integers(4, 40))
def test_in_sample_prices_of_a_mean_are_never_negative(seed, n_samples):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_samples, 2)), rng.normal(size=n_samples)
    assert price(X, y) >= 0


def test_a_held_out_price_may_be_a_gain(rng):
    splits = list(KFold(5).split(np.zeros(30)))
    prices = [
        price(rng.normal(size=(30, 2)), rng.normal(size=30), splits=splits) for _ in range(20)
    ]
    assert min(prices) < 0 < max(prices)


@given(st.floats(-8, 8), st.floats(-6, 6), st.booleans())
def test_twins_cost_nothing(exponent, shift, held_out):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=50), rng.normal(size=50)
    X = np.column_stack([x, 10.0**exponent * (x + shift)])
    splits = list(KFold(5).split(X)) if held_out else None
    assert price(X, y, splits=splits) == 0


def test_opposites_cost_all_they_explain(rng):
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    expected = np.corrcoef(x, y)[0, 1] ** 2
    np.testing.assert_allclose(price(np.column_stack([x, -x]), y), expected)


def test_a_constant_costs_nothing(rng):
    x, y = rng.normal(size=(2, 50))
    constant = np.full(50, 273.15)
    assert price(np.column_stack([x, constant]), y) == 0
    assert price(np.column_stack([constant, x]), y) == 0


def test_a_fold_with_a_constant_target_scores_zero(rng):
    x, z, y = rng.normal(size=(3, 40))
    y[:10] = 1.0
    X = np.column_stack([x, z])
    folds = list(KFold(4).split(X))
    per_fold = [price(X, y, splits=[fold]) for fold in folds[1:]]
    np.testing.assert_allclose(price(X, y, splits=folds), np.sum(per_fold) / 4)


def test_nearly_equal_columns_are_told_apart_while_digits_last(rng):
    x, difference = rng.normal(size=(2, 500))
    for size in (1e-2, 1e-4):
        X = np.column_stack([x, x + size * difference])
        np.testing.assert_allclose(price(X, difference), 1.0, atol=0.02)
    assert price(np.column_stack([x, x + 1e-9 * difference]), difference) < 0.02


@pytest.mark.parametrize("score", [-1.0, -1e3, -1e6, -1e9])
def test_scores_far_below_0_have_fewer_digits_after_the_point(score):
    # Doubles have 16 digits in all: the last three of them are rounding.
    apart = np.array([score, score])
    merged = score * (1 + np.array([5e-14, 1e-11]))
    price = given_up(apart, merged)
    assert price[0] == 0
    np.testing.assert_allclose(price[1], -1e-11 * score, rtol=1e-3)


def test_scores_near_0_have_as_many_digits_as_those_near_1():
    price = given_up(np.array([0.01, 0.01]), np.array([0.01 - 5e-14, 0.01 - 1e-11]))
    assert price[0] == 0
    np.testing.assert_allclose(price[1], 1e-11, rtol=1e-3)


@pytest.mark.parametrize("exponent", [0, 2, 4, 6])
def test_twins_cost_nothing_where_every_prediction_fails(rng, exponent):
    # Held-out rows lie so far away that the slope of a few noisy rows predicts nonsense.
    x, y = rng.normal(size=(2, 50))
    x[40:] *= 10.0**exponent
    X = np.column_stack([x, 3 * x + 2])
    splits = [(np.arange(40), np.arange(40, 50))]
    assert price(X, y, splits=splits) == 0


@pytest.mark.parametrize("penalty", [2.0, 7.5])
def test_parsimony_allows_a_multiple_of_what_noise_gives_up(rng, penalty):
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 0.5] + rng.normal(size=30)
    mean = X.mean(axis=1, keepdims=True)
    apart = LinearRegression().fit(X, y).score(X, y)
    merged = LinearRegression().fit(mean, y).score(mean, y)
    verdict = Parsimony(penalty).verdict(pair(X, y))
    np.testing.assert_allclose(verdict.price, apart - merged)
    np.testing.assert_allclose(verdict.allowance, penalty * (1 - apart) / (30 - 3))


@pytest.mark.parametrize("penalty", [2.0, 7.5])
def test_parsimony_on_folds_allows_twice_the_noise_less(rng, penalty):
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 0.5] + rng.normal(size=30)
    splits = list(KFold(3).split(X))
    apart = cross_val_score(LinearRegression(), X, y, cv=splits)
    merged = cross_val_score(LinearRegression(), X.mean(axis=1, keepdims=True), y, cv=splits)
    verdict = Parsimony(penalty, held_out=True).verdict(pair(X, y, splits=splits))
    np.testing.assert_allclose(verdict.price, apart.mean() - merged.mean())
    expected = (penalty - 2) * np.mean(1 - apart) / (30 - 3)
    np.testing.assert_allclose(verdict.allowance, expected, atol=1e-15)


def test_parsimony_allows_nothing_where_nothing_is_left_to_noise(rng):
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 0.5]
    splits = list(KFold(3).split(X))
    for criterion, known in (
        (Parsimony(5.0), pair(X, y)),
        (Parsimony(5.0, held_out=True), pair(X, y, splits=splits)),
    ):
        allowance = criterion.verdict(known).allowance
        assert (allowance >= 0).all()
        np.testing.assert_allclose(allowance, 0, atol=1e-14)


def test_the_tolerance_is_what_every_merge_may_give_up(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    verdict = NonLin(0.25).verdict(pair(X, y))
    assert verdict.allowance.tolist() == [[0.25]]
    np.testing.assert_allclose(verdict.price, price(X, y))
