import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from coterie.aggregations import AGGREGATIONS
from coterie.criteria import NonLin
from coterie.gathering import Means, gathered
from coterie.statistics import RowSets


def price(X, y, *, aggregation="mean", splits=None, tolerance=0.0):
    """Price of merging the first two columns."""
    rows = RowSets.of_splits(splits, len(y)) if splits else RowSets.all_rows()
    evidence = gathered(X, y[:, None], AGGREGATIONS[aggregation], rows, Means())
    pairs = evidence.pairs(evidence.alone(0), np.array([1]))
    return NonLin(tolerance, held_out=splits is not None).verdict(pairs).price[0, 0]


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
