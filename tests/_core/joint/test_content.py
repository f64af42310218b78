import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coterie._core.joint import content_folds, content_order


def ordered(columns, targets):
    order = content_order(columns, targets, np.ones(len(columns)), 3)
    rows = order.rows
    fold = content_folds(targets[rows], order.hashes[rows], order.is_replicate[rows], 3)
    return columns[rows][:, order.columns], fold


def folds_of(columns, targets, n_folds):
    order = content_order(columns, targets, np.ones(len(columns)), n_folds)
    return content_folds(targets, order.hashes, order.is_replicate, n_folds)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
def test_rows_and_columns_in_another_order_are_put_in_the_same(seed, binary, classes, is_sparse):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, (12, 5)).astype(float) if binary else rng.normal(size=(12, 5))
    targets = rng.integers(0, 2, (12, 1)) * 1.0 if classes else rng.normal(size=(12, 1))
    rows, order = rng.permutation(12), rng.permutation(5)
    same, fold = ordered(columns, targets)
    if is_sparse:
        found = content_order(sparse.csr_array(columns), targets, np.ones(12), 3)
        expected = content_order(columns, targets, np.ones(12), 3)
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)
    other, other_fold = ordered(columns[rows][:, order], targets[rows])
    np.testing.assert_array_equal(same, other)
    np.testing.assert_array_equal(fold, other_fold)


def test_equal_rows_share_a_fold_and_minus_zero_is_zero(rng):
    columns = np.repeat(rng.normal(size=(10, 3)), 2, axis=0)
    columns[4] = columns[5] = [0.0, 1.0, 2.0]
    columns[4, 0] = -0.0
    targets = np.repeat(rng.normal(size=(10, 1)), 2, axis=0)
    fold = folds_of(columns, targets, 5)
    np.testing.assert_array_equal(fold[0::2], fold[1::2])


def test_folds_have_like_targets_and_sizes(rng):
    targets = rng.normal(size=(103, 1))
    fold = folds_of(rng.normal(size=(103, 4)), targets, 5)
    assert np.ptp(np.bincount(fold)) <= 1
    assert np.ptp([targets[fold == one].mean() for one in range(5)]) < 0.2


@pytest.mark.parametrize("columns", [np.eye(6), np.eye(6)[:, :2], np.eye(2)])
def test_rows_of_few_kinds_are_in_all_folds(rng, columns):
    kind = rng.integers(len(columns), size=300)
    targets = (rng.random((300, 1)) < 0.2 + 0.5 * (kind[:, None] % 2)) * 1.0
    assert (folds_of(columns[kind], targets, 5) == -1).mean() > 0.9


def test_a_row_with_a_weight_is_no_replicate(rng):
    columns, targets = rng.normal(size=(60, 3)), rng.integers(0, 2, (60, 1)) * 1.0
    order = content_order(columns, targets, np.where(targets[:, 0] > 0, 20.0, 1.0), 5)
    assert not order.is_replicate.any()


def test_a_table_of_copies_has_as_many_folds_as_different_rows(rng):
    columns, targets = (
        np.repeat(rng.normal(size=(3, 4)), 4, axis=0),
        np.repeat([[1.0], [2], [3]], 4, axis=0),
    )
    assert sorted(set(folds_of(columns, targets, 5).tolist())) == [0, 1, 2]
