"""Sums that grow in place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.evidence import Accumulated, BatchMoments, scatter_within, together


def counted(X, y, weights=None, cuts=5):
    part = Accumulated.nothing(X.shape[1], y.shape[1])
    for rows in np.array_split(np.arange(len(X)), cuts):
        part.add(X[rows], y[rows], None if weights is None else weights[rows])
    return part


def assert_equal(part, X, y, weights=None, digits=1e-12):
    table = np.hstack([X, y]).astype(np.float64)
    n, d = len(X) if weights is None else weights.sum(), X.shape[1]
    mean = np.average(table, axis=0, weights=weights)
    deviations = table - mean
    counts = np.ones(len(X)) if weights is None else weights
    scatter = deviations.T @ (counts[:, None] * deviations)
    unit = np.sqrt(np.outer(np.diag(scatter), np.diag(scatter))) + 1e-300
    assert part.count == pytest.approx(n)
    np.testing.assert_allclose(part.mean, mean, rtol=1e-12, atol=1e-12)
    part = part.copy()
    part.centre()
    np.testing.assert_array_less(
        np.abs(scatter_within(part) - scatter[:d, :d]) / unit[:d, :d], digits
    )
    np.testing.assert_array_less(np.abs(part.cross - scatter[:d, d:]) / unit[:d, d:], digits)
    np.testing.assert_array_less(np.abs(part.targets - scatter[d:, d:]) / unit[d:, d:], digits)


@pytest.fixture
def table(rng):
    return rng.normal(size=(300, 6)) * rng.uniform(0.1, 10, 6), rng.normal(size=(300, 2))


@pytest.mark.parametrize("cuts", [1, 2, 7, 300])
@pytest.mark.parametrize("order", ["C", "F"])
def test_chunking_does_not_change_the_moments(table, cuts, order):
    X, y = table
    assert_equal(counted(np.asarray(X, order=order), y, cuts=cuts), X, y)


def test_a_weight_counts_rows(table, rng):
    X, y = table
    weights = rng.integers(1, 4, 300)
    repeated = np.repeat(np.arange(300), weights)
    assert_equal(counted(X, y, weights.astype(float)), X[repeated], y[repeated])
    fractions = rng.random(300)
    assert_equal(counted(X, y, fractions), X, y, fractions)


@pytest.mark.parametrize("far", [10.0, 1e4, 1e8])
def test_means_far_from_zero_keep_their_digits(table, far):
    X, y = table
    # What is asked for is the scatter of the numbers as they are rounded.
    assert_equal(counted(X + far, y - far), X + far, y - far, digits=1e-9 if far > 1e6 else 1e-12)


def test_a_first_batch_like_no_other_costs_no_digits(table):
    X, y = table
    X = X + 1e6
    X[:10] = 0.0
    assert_equal(counted(X, y, cuts=30), X, y, digits=1e-10)


def test_columns_that_drift_keep_their_digits(table):
    X, y = table
    X = X + 100.0 * np.arange(300)[:, None]
    assert_equal(counted(X, y, cuts=60), X, y)


def test_a_constant_column_has_no_scatter(table):
    X, y = table
    X[:, 2] = 300.1
    part = counted(X, y, cuts=7)
    assert np.sqrt(part.own[2] / 300) <= 1e-13 * 300


@given(st.permutations(range(5)), st.integers(0, 2**31))
def test_any_order_of_joining_gives_the_same(order, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)) + 1e3 * rng.normal(size=3), rng.normal(size=(60, 1))
    pieces = np.split(np.arange(60), [1, 5, 30, 31])
    parts = [counted(X[rows], y[rows], cuts=1) for rows in pieces]
    assert_equal(together([parts[place] for place in order]), X, y, digits=1e-10)


def test_joining_leaves_the_other_as_it_was(table):
    X, y = table
    one, other = counted(X[:100] + 50, y[:100]), counted(X[100:] + 50, y[100:])
    before = other.copy()
    one.join(other)
    assert (other.features == before.features).all()
    assert (other.sums == before.sums).all()
    assert_equal(one, X + 50, y)


def test_sums_agree_with_the_moments_of_one_table(table):
    X, y = table
    moments = BatchMoments.of(np.hstack([X, y]))
    part = counted(X, y)
    np.testing.assert_allclose(scatter_within(part), moments.scatter[:6, :6], rtol=1e-10)


def test_targets_can_be_combined(table):
    X, y = table
    weights = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    assert_equal(counted(X, y).with_targets(weights), X, y @ weights.T)


def test_growing_takes_no_further_matrix(table):
    X, y = table
    part = Accumulated.nothing(6, 2)
    matrix = part.features
    for _ in range(3):
        part.add(X, y)
    assert part.features is matrix
    assert part.nbytes < 8 * (6 * 6 + 6 * 2 + 2 * 2 + 8) + 1
