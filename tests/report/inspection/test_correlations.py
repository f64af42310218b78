"""Correlations within groups and between them, beside numpy on the whole table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from coterie.report.inspection._correlations import (
    MAX_CELLS,
    _feature_blocks,
    correlation_summary,
    likeness,
    with_aggregates,
)
from coterie.report.inspection._standardised import (
    StandardisedColumns,
    membership_matrix,
)


def members_by_group(labels):
    return [np.flatnonzero(labels == number) for number in range(labels.max() + 1)]


def table(seed, n_features, gaps=False, n_samples=40):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_samples, 1))
    X = common + rng.normal(size=(n_samples, n_features)) + 5
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    labels = np.unique(rng.integers(3, size=n_features), return_inverse=True)[1]
    return X, labels


def pairwise(X, i, j):
    """Correlation over the rows that both have, each standardised by all it has."""
    z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    return np.nansum(z[:, i] * z[:, j]) / np.sum(~np.isnan(z[:, i]) & ~np.isnan(z[:, j]))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@given(seed=st.integers(0, 10**6), n_features=st.integers(2, 12))
@settings(max_examples=30)
def test_likeness_is_the_mean_of_numpys_correlations(kind, seed, n_features):
    X, labels = table(seed, n_features)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=n_features)
    found = likeness(StandardisedColumns.of(kind(X)), labels, signs)
    r = np.corrcoef(X.T) * np.outer(signs, signs)
    for number, members in enumerate(members_by_group(labels)):
        inside = r[np.ix_(members, members)][~np.eye(len(members), dtype=bool)]
        if len(members) > 1:
            assert found[number] == pytest.approx(inside.mean(), abs=1e-9)
        else:
            assert np.isnan(found[number])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_weights_count_rows_as_often(seed):
    X, labels = table(seed, 6)
    counts = np.random.default_rng(seed).integers(1, 4, size=len(X))
    signs = np.ones(6)
    weighted = likeness(StandardisedColumns.of(X, counts), labels, signs)
    repeated = likeness(StandardisedColumns.of(np.repeat(X, counts, axis=0)), labels, signs)
    assert weighted == pytest.approx(repeated, nan_ok=True)


@given(seed=st.integers(0, 10**6), gaps=st.booleans())
@settings(max_examples=30)
def test_the_heat_map_shows_all_pairs_in_the_order_of_groups(seed, gaps):
    X, labels = table(seed, 9, gaps)
    shown = correlation_summary(StandardisedColumns.of(X), labels, np.ones(len(labels)))
    order = [one for (one,) in shown.features]
    assert order == np.argsort(labels, kind="stable").tolist()
    assert shown.groups == sorted(labels.tolist())
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            expected = 1 if i == j else pairwise(X, a, b)
            assert shown.thousandths[i][j] == pytest.approx(
                1000 * np.clip(expected, -1, 1), abs=0.51
            )


def test_blocks_show_mean_correlations():
    X, _ = table(0, 400)
    labels = np.repeat(np.arange(5), 80)
    shown = correlation_summary(StandardisedColumns.of(X), labels, np.ones(len(labels)))
    assert len(shown.thousandths) <= MAX_CELLS
    assert sorted(f for block in shown.features for f in block) == list(range(400))
    assert all(
        {labels[f] for f in block} == {group} for block, group in zip(shown.features, shown.groups)
    )
    r = np.corrcoef(X.T)
    one, other = shown.features[0], shown.features[-1]
    assert shown.thousandths[0][-1] == pytest.approx(1000 * r[np.ix_(one, other)].mean(), abs=0.51)
    own = r[np.ix_(one, one)][~np.eye(len(one), dtype=bool)].mean()
    assert shown.thousandths[0][0] == pytest.approx(1000 * own, abs=0.51)


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=60),
    most=st.integers(1, 50),
)
def test_blocks_are_few_and_hold_every_feature_once(sizes, most):
    groups = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    blocks = _feature_blocks(groups, most)
    assert len(blocks) <= most
    assert all(map(len, blocks))
    assert np.concatenate(blocks).tolist() == list(range(sum(sizes)))


def test_members_are_correlated_with_their_aggregate_as_numpy_says():
    X, labels = table(3, 8)
    groups, signs = members_by_group(labels), np.where(np.arange(8) % 3, 1.0, -1.0)
    Z = np.column_stack([X[:, members].mean(axis=1) for members in groups])
    found = with_aggregates(StandardisedColumns.of(X), Z, groups, signs)
    for number, members in enumerate(groups):
        each = [signs[m] * np.corrcoef(X[:, m], Z[:, number])[0, 1] for m in members]
        assert found[number] == pytest.approx(each)


def test_constant_features_are_like_nothing(rng):
    X = np.column_stack([np.full(20, 3.0), rng.normal(size=20), np.full(20, 1e9)])
    columns = StandardisedColumns.of(X)
    assert likeness(columns, np.zeros(3, dtype=int), np.ones(3))[0] == pytest.approx(0)
    means = columns.mean_correlations(membership_matrix(np.arange(3)))
    assert means == pytest.approx(np.diag([0, 1, 0]))


def test_a_mean_far_from_zero_does_not_swallow_the_spread(rng):
    X = 1e8 + rng.normal(size=(50, 4))
    r = StandardisedColumns.of(X).mean_correlations(membership_matrix(np.arange(4)))
    assert r == pytest.approx(np.corrcoef(X.T), abs=1e-6)


def in_pairs(X, members, signs):
    """Every pair of members, by a loop."""
    pairs = [(a, b) for a in members for b in members if a != b]
    z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0) * signs
    both = [np.isfinite(z[:, a]) & np.isfinite(z[:, b]) for a, b in pairs]
    total = sum(np.nansum(z[:, a] * z[:, b]) for a, b in pairs)
    return total / sum(map(np.sum, both))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_gaps_take_nothing_from_likeness(seed):
    X, labels = table(seed, 9, gaps=True)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=9)
    found = likeness(StandardisedColumns.of(X), labels, signs)
    for number, members in enumerate(members_by_group(labels)):
        if len(members) > 1:
            expected = np.clip(in_pairs(X, members, signs), -1, 1)
            assert found[number] == pytest.approx(expected, abs=1e-9)


def test_gaps_take_nothing_from_the_weakest_member_and_from_blocks():
    X, _ = table(1, 300, n_samples=400)
    labels = np.repeat([0, 1, 2], 100)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.5, np.nan, X)
    groups = members_by_group(labels)
    Z = np.column_stack([np.nanmean(holes[:, members], axis=1) for members in groups])
    whole = StandardisedColumns.of(X)
    some = StandardisedColumns.of(holes)
    ones = np.ones(300)
    found, expected = (with_aggregates(one, Z, groups, ones) for one in (some, whole))
    for number in range(3):
        assert found[number].min() == pytest.approx(expected[number].min(), abs=0.15)
    here = np.array(correlation_summary(some, labels, ones).thousandths)
    there = np.array(correlation_summary(whole, labels, ones).thousandths)
    # Half of the values tell less, and nothing else: on average it is the same.
    assert abs((here - there).mean()) < 10
    assert abs(np.diagonal(here - there).mean()) < 20
