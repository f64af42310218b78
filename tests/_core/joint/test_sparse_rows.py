import numpy as np
import pytest
from scipy import sparse

from coterie._core.joint import standardised_sparse


@pytest.fixture
def table(rng):
    columns = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.3)
    columns[:, 5] = 0.0
    counts = rng.integers(1, 4, 40).astype(float)
    return columns, counts


def dense(columns, counts):
    mean = counts @ columns / counts.sum()
    spread = np.sqrt(counts @ np.square(columns - mean) / counts.sum())
    return ((columns - mean) / np.where(spread > 0, spread, np.inf)).T, mean, spread


def test_columns_are_standardised_as_dense_ones(table):
    found, *location = standardised_sparse(sparse.csr_array(table[0]), table[1])
    expected, *expected_location = dense(*table)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(location, expected_location, atol=1e-12)


def test_products_and_sums_are_those_of_dense_rows(table):
    columns, counts = table
    rows = standardised_sparse(sparse.csr_array(columns), counts)[0]
    plain = dense(columns, counts)[0]
    gram = plain * counts @ plain.T / counts.sum()
    np.testing.assert_allclose(rows.gram(), gram, atol=1e-12)
    a, b = np.array([0, 3, 5]), np.array([1, 2, 0])
    np.testing.assert_allclose(rows.mean_products(rows, a, b), gram[a, b], atol=1e-12)
    other = np.ones((40, 2)) * [[1, 2]]
    np.testing.assert_allclose(rows.times(other), plain @ other, atol=1e-12)
    rows.add(np.array([0]), np.array([3]), np.array([-1.0]))
    np.testing.assert_allclose(rows.toarray()[0], plain[0] - plain[3], atol=1e-12)
    assert not rows.toarray()[3].any()


def test_overlapping_pairs_are_the_like_ones(rng):
    base = rng.random((50, 3)) < 0.2
    columns = np.repeat(base * rng.normal(size=(50, 3)), 2, axis=1) * [1, -1, 1, 1, 1, 1]
    rows = standardised_sparse(sparse.csr_array(columns), np.ones(50))[0]
    assert set(zip(*rows.overlapping(0.9, signs=True))) == {(0, 1), (2, 3), (4, 5)}
    assert set(zip(*rows.overlapping(0.9, signs=False))) == {(2, 3), (4, 5)}
