"""Columns that are known by their sums only."""

import numpy as np
import pytest
from scipy import sparse

from coterie._core.evidence import (
    Accumulated,
    RowSets,
    SummedColumns,
    effective_number,
    effective_number_of,
    gram_in_order,
    location_of,
    order_by_content,
    order_by_sums,
    standardised,
)


def summed(X, y, cuts=1):
    parts = []
    for rows in np.array_split(np.arange(len(X)), cuts):
        part = Accumulated.nothing(X.shape[1], 1)
        part.add(X[rows], y[rows, None])
        parts.append(part)
    return SummedColumns(tuple(parts), X[:2])


@pytest.fixture
def columns(rng):
    X = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5)) + 20 * rng.normal(size=5)
    return X, rng.normal(size=80)


def test_scatters_are_those_of_standardised_columns(columns):
    X, y = columns
    source, where = summed(X, y, cuts=3).gram(RowSets.of_folds(3))
    values, centre, spread = standardised(np.column_stack([X, y]))
    np.testing.assert_allclose(where.centre, centre)
    np.testing.assert_allclose(where.spread, spread)
    for number, rows in enumerate(np.array_split(np.arange(80), 3)):
        some = values[rows]
        np.testing.assert_allclose(source.mean[number], some.mean(axis=0), atol=1e-12)
        deviations = some - some.mean(axis=0)
        np.testing.assert_allclose(source.scatters[number], deviations.T @ deviations, atol=1e-10)


def test_sums_of_columns_are_columns(columns):
    X, y = columns
    membership = sparse.csr_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1.0]]))
    source, where = summed(X, y).summed(membership).gram(RowSets.all_rows())
    direct, there = summed(X @ membership.toarray().T, y).gram(RowSets.all_rows())
    np.testing.assert_allclose(source.scatters, direct.scatters, atol=1e-9)
    np.testing.assert_allclose(where.spread, there.spread)


def test_a_sum_of_opposites_is_constant(columns):
    X, y = columns
    X[:, 1] = -X[:, 0]
    membership = sparse.csr_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0.0]]))
    _, where = summed(X, y).summed(membership).gram(RowSets.all_rows())
    assert where.spread[0] == 0
    assert where.spread[1] > 0


@pytest.mark.parametrize("n_sums", [None, 4])
def test_a_scatter_is_symmetric_to_the_last_bit(rng, n_sums):
    X, targets = rng.normal(size=(83, 40)) + rng.normal(size=40), rng.normal(size=(83, 3))
    part = Accumulated.nothing(40, 3)
    part.add(X, targets)
    part = part.with_targets(rng.normal(size=(3, 3)))
    data = SummedColumns((part,), X[:2])
    if n_sums is not None:
        data = data.summed(sparse.csr_array(rng.normal(size=(n_sums, 40))))
    source, _ = data.gram(RowSets.all_rows())
    assert (source.scatters[0] == source.scatters[0].T).all()


def test_copies_are_told_as_by_content(rng):
    X = (rng.random((100, 12)) > 0.5).astype(float)
    X[:, 7], X[:, 3], X[:, 9] = X[:, 2], X[:, 2], X[:, 5]
    y = rng.normal(size=100)
    data = summed(X, y)
    source, where = data.gram(RowSets.all_rows())
    order, copies = order_by_sums(source, where, data.first)
    right, same = order_by_content(X)

    def pairs(order, copies):
        labels = np.empty(12, dtype=int)
        labels[order] = copies
        return labels[:, None] == labels

    assert sorted(order) == list(range(12))
    assert (pairs(order, copies) == pairs(right, same)).all()


def test_the_order_does_not_depend_on_where_columns_stand(rng):
    X, y = rng.normal(size=(50, 8)), rng.normal(size=50)
    X[:2] = 1.0
    shuffled = rng.permutation(8)
    orders = []
    for columns in (X, X[:, shuffled]):
        data = summed(columns, y)
        orders.append(order_by_sums(*data.gram(RowSets.all_rows()), data.first)[0])
    assert (shuffled[orders[1]] == orders[0]).all()


def test_a_source_can_be_put_in_order(columns):
    X, y = columns
    source, _ = summed(X, y).gram(RowSets.all_rows())
    order = np.array([3, 1, 4, 0, 2])
    direct, _ = summed(X[:, order], y).gram(RowSets.all_rows())
    np.testing.assert_allclose(gram_in_order(source, order).scatters, direct.scatters, atol=1e-10)


def test_where_columns_lie(columns):
    X, y = columns
    X[:, 4] = 7.0
    centre, spread = location_of(summed(X, y, cuts=4).parts)
    expected = standardised(np.column_stack([X, y]))
    np.testing.assert_allclose(centre, expected.centre)
    np.testing.assert_allclose(spread, expected.spread)
    assert spread[4] == 0


def test_the_effective_number_follows_from_scatters(rng):
    X = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 30)) + rng.normal(size=(500, 30))
    scatter = 500 * np.cov(X.T, ddof=0)
    assert effective_number_of(scatter, 30, 500) == pytest.approx(effective_number(X))


def test_in_many_rows_the_effective_number_is_as_it_looks_in_some(rng):
    X = rng.normal(size=(20_000, 60))
    assert effective_number_of(20_000 * np.cov(X.T, ddof=0), 60, 20_000.0) == pytest.approx(
        effective_number(X), rel=0.02
    )
