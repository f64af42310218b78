import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from coterie._core.evidence import RowSets


def rows_of(rows, side, split, n_samples):
    """The rows of one set, put together again from its batches."""
    member = rows.membership[side, split] > 0
    chosen = [np.arange(n_samples)[b] for b, is_in in zip(rows.batches, member) if is_in]
    return np.sort(np.concatenate(chosen))


SPLITTERS = [
    KFold(5),
    KFold(3, shuffle=True, random_state=0),
    TimeSeriesSplit(4),
    TimeSeriesSplit(3, gap=2, max_train_size=5),
    ShuffleSplit(6, random_state=0),
]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=str)
def test_batches_add_up_to_the_sets(splitter):
    splits = list(splitter.split(np.zeros((33, 1))))
    rows = RowSets.of_splits(splits, 33)
    for number, (train, test) in enumerate(splits):
        assert rows_of(rows, 0, number, 33).tolist() == sorted(train)
        assert rows_of(rows, 1, number, 33).tolist() == sorted(test)


def test_k_folds_share_k_batches_that_are_views():
    rows = RowSets.of_splits(KFold(5).split(np.zeros((20, 1))), 20)
    assert rows.batches == tuple(slice(i, i + 4) for i in range(0, 20, 4))


def test_repeated_rows_count_as_often_as_they_stand():
    rows = RowSets.of_splits([([0, 0, 1], [2, 3])], 4)
    counts = np.array(
        [[3.0 if len(b) == 3 else 2.0] for b in map(np.arange(4).__getitem__, rows.batches)]
    )
    assert rows.total(counts).ravel().tolist() == [3.0, 2.0]


@given(st.integers(0, 2**16), st.booleans())
def test_pooled_scatter_is_that_of_the_rows_together(seed, outlier):
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(2, 24, 3)) + rng.normal(size=(2, 1, 3))
    if outlier:
        left[0, 0] = right[0, 1] = 1e9  # must not cost the other sets their digits
        left -= left.mean(axis=0)
        right -= right.mean(axis=0)
    splits = list(KFold(4).split(left))
    rows = RowSets.of_splits(splits, 24)
    parts = [(left[b], right[b]) for b in rows.batches]
    count = np.array([[float(len(a))] for a, _ in parts])
    gaps = [
        rows.deviations(count, np.stack([part[side].mean(axis=0) for part in parts]))
        for side in (0, 1)
    ]
    centred = [(a - a.mean(0), b - b.mean(0)) for a, b in parts]
    pooled = rows.pooled(*gaps, np.stack([(a * b).sum(axis=0) for a, b in centred]))
    crosswise = rows.pooled_crosswise(*gaps, np.stack([a.T @ b for a, b in centred]))
    for number, sides in enumerate(splits):
        for side, chosen in enumerate(sides):
            a, b = left[chosen], right[chosen]
            direct = (a - a.mean(0)).T @ (b - b.mean(0))
            # Subtracting the origin costs digits of 1e9 once; cancelling would cost them twice.
            digits = 1e-6 if outlier else 1e-11
            size = np.sqrt(np.outer(np.var(a, axis=0), np.var(b, axis=0))) * len(a)
            assert (np.abs(crosswise[side, number] - direct) <= digits * size).all()
            assert (np.abs(pooled[side, number] - np.diag(direct)) <= digits * np.diag(size)).all()
