from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.statistics import BatchMoments
from coterie.statistics._pairs import without_rounding


def assert_equal(a, b):
    assert a.count == b.count
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(a.scatter, b.scatter, rtol=1e-9, atol=1e-9)


def test_scatter_is_n_times_the_population_covariance(rng):
    table = rng.normal(size=(30, 4))
    moments = BatchMoments.of(table)
    np.testing.assert_allclose(moments.scatter, 30 * np.cov(table.T, ddof=0))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 2**16))
def test_chunking_does_not_change_the_moments(sizes, seed):
    table = np.random.default_rng(seed).normal(size=(sum(sizes), 3))
    chunks = np.split(table, np.cumsum(sizes)[:-1])
    assert_equal(reduce(add, map(BatchMoments.of, chunks)), BatchMoments.of(table))


def test_addition_does_not_depend_on_the_order(rng):
    a, b, c = (BatchMoments.of(rng.normal(size=(n, 2))) for n in (3, 10, 1))
    assert_equal((a + b) + c, c + (b + a))


def test_far_means_do_not_cancel(rng):
    table = rng.normal(size=(40, 2))
    far = BatchMoments.of(table[:20] + 1e9) + BatchMoments.of(table[20:] + 1e9)
    np.testing.assert_allclose(far.scatter, BatchMoments.of(table).scatter, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-40, 1e-9, 1.0, 1e9, 1e40])
def test_scatter_is_counted_in_the_square_of_the_unit(rng, unit):
    table = rng.normal(size=(30, 3)) + 2
    scatter = BatchMoments.of(unit * table).scatter
    np.testing.assert_allclose(scatter / unit / unit, 30 * np.cov(table.T, ddof=0), rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
def test_what_is_rounding_in_one_unit_is_rounding_in_every_unit(unit):
    # Doubles have 16 digits; of a sum of squares, the last three are rounding.
    scatter, magnitude = unit * np.array([5e-14, 2e-13, 1.0]), np.full(3, unit)
    assert (without_rounding(scatter, magnitude) > 0).tolist() == [False, True, True]
