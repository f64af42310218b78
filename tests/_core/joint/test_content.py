import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.joint import content_folds, content_order


def ordered(columns, targets):
    rows, order, hashes = content_order(columns, targets, np.ones(len(columns)))
    fold = content_folds(targets[rows], hashes[rows], 3)
    return columns[rows][:, order], fold


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_rows_and_columns_in_another_order_are_put_in_the_same(seed, binary):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, (12, 5)).astype(float) if binary else rng.normal(size=(12, 5))
    targets = rng.normal(size=(12, 1))
    rows, order = rng.permutation(12), rng.permutation(5)
    same, fold = ordered(columns, targets)
    other, other_fold = ordered(columns[rows][:, order], targets[rows])
    np.testing.assert_array_equal(same, other)
    np.testing.assert_array_equal(fold, other_fold)


def test_equal_rows_share_a_fold_and_minus_zero_is_zero(rng):
    columns = np.repeat(rng.normal(size=(10, 3)), 2, axis=0)
    columns[4] = columns[5] = [0.0, 1.0, 2.0]
    columns[4, 0] = -0.0
    targets = np.repeat(rng.normal(size=(10, 1)), 2, axis=0)
    _, _, hashes = content_order(columns, targets, np.ones(20))
    fold = content_folds(targets, hashes, 5)
    np.testing.assert_array_equal(fold[0::2], fold[1::2])


def test_folds_have_like_targets_and_sizes(rng):
    targets = rng.normal(size=(103, 1))
    _, _, hashes = content_order(rng.normal(size=(103, 4)), targets, np.ones(103))
    fold = content_folds(targets, hashes, 5)
    assert np.ptp(np.bincount(fold)) <= 1
    assert np.ptp([targets[fold == one].mean() for one in range(5)]) < 0.2
