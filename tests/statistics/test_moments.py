from functools import reduce
from operator import add

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.statistics import BatchMoments


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
