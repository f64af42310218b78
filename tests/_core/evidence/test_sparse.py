"""Sparse columns give the evidence that the same columns give when they are made dense."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, TimeSeriesSplit

from coterie._core.criteria import NonLin, Parsimony
from coterie._core.evidence import (
    ColumnSource,
    GramSource,
    RowSets,
    SparseSource,
    SumEvidence,
    _sparse_features,
    _sparse_gram,
    _sparse_source,
    gram_of_sparse,
    standardised,
)
from coterie._core.fit import Groupable
from coterie._core.search import NO_LIMITS, SEARCHES

N = 48
REPEATED = [(np.r_[0:30, 3:9, 3:9], np.r_[30:N]), (np.r_[20:N, 20:24], np.r_[0:20])]
SPLITS = {
    "all rows": None,
    "folds": list(KFold(3).split(np.zeros(N))),
    "shuffled": list(KFold(4, shuffle=True, random_state=0).split(np.zeros(N))),
    "some rows left out": list(TimeSeriesSplit(3, gap=2, max_train_size=12).split(np.zeros(N))),
    "repeated rows": REPEATED,
}
FORMS = {
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
}
WEIGHTS = {
    "once": None,
    "counts": np.arange(N) % 4,
    "any": np.linspace(0.0, 3.0, N) ** 2,
}


def rows_of(splits, weights):
    chosen, weights = SPLITS[splits], WEIGHTS[weights]
    weights = None if weights is None else weights.astype(float)
    return RowSets.of_splits(chosen, N, weights) if chosen else RowSets.all_rows(weights)


def mostly_zero(rng, n_samples=N, n_features=12, density=0.2):
    values = rng.lognormal(size=(n_samples, n_features)) * rng.choice([-1, 1], n_features)
    return np.where(rng.random(values.shape) < density, values, 0.0)


def awkward(rng):
    """Columns that each want some care."""
    X = mostly_zero(rng, n_features=18)
    X[:, 0] = 0.0
    X[:, 1] = 5.0
    X[:, 2] = 1e8 + rng.normal(size=N)
    X[:, 3] = 3e5 + rng.normal(size=N)
    X[:, 4] *= 1e-150
    X[:, 5] *= 1e180
    X[:, 6] = rng.normal(size=N)
    X[:, 7] = 0.0
    X[7, 7] = 2.0
    X[:, 8] = np.where(np.arange(N) < 20, 7.0, X[:, 8])  # constant within the first batches
    X[:, 9] = np.where(np.arange(N) == 40, 0.0, -4.0)
    X[:, 10] = 0.1
    X[:, 11] = X[:, 12]
    X[:, 13] = -2 * X[:, 12]
    X[[5, 31], :] = 0.0
    return X


def target_of(rng, rows, n_targets=1, n_samples=N):
    return standardised(rng.normal(size=(n_samples, n_targets)) + 2, weights=rows.weights)


def table_of(X, target, rows):
    return np.hstack([standardised(X, weights=rows.weights).values, target.values])


def assert_close(got, expected, digits=1e-10):
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=digits * size)


def assert_same_gram(X, target, rows, form=sparse.csr_array, digits=1e-10):
    gram, spread = gram_of_sparse(form(X), target.values, rows)
    n_targets = target.values.shape[1]
    dense = GramSource.of_table(table_of(X, target, rows), rows, n_targets)
    expected = standardised(X, weights=rows.weights).spread
    np.testing.assert_allclose(spread, expected, rtol=1e-9)
    assert (spread > 0).tolist() == (expected > 0).tolist()
    assert_equal_sources(gram, dense, digits)
    assert_close(gram.scatters, dense.scatters, digits)
    np.testing.assert_array_equal(gram.scatters, np.swapaxes(gram.scatters, 1, 2))


def assert_equal_sources(one, other, digits=1e-10):
    assert one.n_targets == other.n_targets
    assert one.target_column == other.target_column
    for name in ("count", "mean", "own", "with_target"):
        assert_close(getattr(one, name), getattr(other, name), digits)


def answers(source, n_features):
    """What a source says when asked in every way, whatever its sums look like."""
    rng = np.random.default_rng(1)
    features, target = rng.permutation(n_features), n_features
    begun = source.chain(source.nothing(), features[:3], np.array([1.0, 0.5, 2.0]))
    own = source.growth(begun, np.zeros(source.count.shape))
    total = source.end(begun)
    links, weights = np.sort(features[3:9]), rng.normal(size=6)
    chain = source.chain(total, links, weights)
    everyone = np.arange(n_features + 1)
    yield source.against(source.nothing(), everyone)
    yield own
    yield source.growth(chain, own[:, -1:])
    yield source.growth(source.chain(total, links[:1], weights[:1]), own[:, -1:])
    yield source.against(source.end(chain), everyone)
    for columns in (everyone, everyone[2:5], features, np.array([target]), np.r_[4, target, 2, 9]):
        yield source.against(total, columns)
        yield source.against_each(chain, columns)
        yield source.against_in_turn(chain, rng.integers(6, size=len(columns)), columns)
        yield source.between(links, columns)
        yield source.between(links[:1], columns)


def assert_same_answers(X, target, rows, form=sparse.csr_array, digits=1e-10):
    source = SparseSource(form(X), target, rows)
    dense = ColumnSource(X, None, target, rows)
    assert_equal_sources(source, dense, digits)
    for name in ("centre", "spread", "scale"):
        np.testing.assert_allclose(getattr(source, name), getattr(dense, name), rtol=1e-9)
    pairs = zip(answers(source, X.shape[1]), answers(dense, X.shape[1]), strict=True)
    for got, expected in pairs:
        assert got.shape == expected.shape
        assert_close(got, expected, digits)


CHECKS = pytest.mark.parametrize("check", [assert_same_gram, assert_same_answers])


@CHECKS
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("splits", SPLITS)
def test_evidence_equals_that_of_dense_columns(rng, check, splits, weights):
    rows = rows_of(splits, weights)
    check(mostly_zero(rng), target_of(rng, rows), rows)


@CHECKS
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("splits", SPLITS)
def test_awkward_columns_keep_their_digits(rng, check, splits, weights):
    rows = rows_of(splits, weights)
    # A column that is 1e8 + noise is off by 1e-8 of its spread wherever it is centred.
    check(awkward(rng), target_of(rng, rows), rows, digits=1e-7)
    check(np.delete(awkward(rng), 2, axis=1), target_of(rng, rows), rows, digits=1e-9)


@CHECKS
@pytest.mark.parametrize("dense", [0.0, 0.2, 2.0])
@pytest.mark.parametrize("block", [1, 100, 2**21])
@pytest.mark.parametrize("splits", ["all rows", "shuffled"])
def test_what_is_made_dense_and_when_changes_nothing(rng, monkeypatch, check, dense, block, splits):
    for room in (_sparse_gram, _sparse_source):
        monkeypatch.setattr(room, "DENSE", dense)
    monkeypatch.setattr(_sparse_features, "ENTRIES_PER_DENSE_BLOCK", block)
    rows = rows_of(splits, "any")
    check(mostly_zero(rng), target_of(rng, rows), rows)
    check(np.delete(awkward(rng), 2, axis=1), target_of(rng, rows), rows, digits=1e-9)


@pytest.mark.parametrize("n_samples", [37, 100])
@pytest.mark.parametrize("block", [2000, 2**21])
def test_a_matrix_is_symmetric_to_the_last_bit(rng, monkeypatch, block, n_samples):
    monkeypatch.setattr(_sparse_features, "ENTRIES_PER_DENSE_BLOCK", block)
    rows = RowSets.all_rows()
    for density in (0.01, 0.1, 0.9):
        X = mostly_zero(rng, n_samples, 130, density)
        X[:, ::3] = mostly_zero(rng, n_samples, 44, 0.02)
        target = target_of(rng, rows, 2, n_samples)
        (scatter,) = gram_of_sparse(sparse.csr_array(X), target.values, rows)[0].scatters
        np.testing.assert_array_equal(scatter, scatter.T)


@CHECKS
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_format_will_do(rng, check, form, dtype):
    rows = rows_of("folds", "any")
    check(mostly_zero(rng).astype(dtype), target_of(rng, rows), rows, FORMS[form])


def in_disorder(X, form):
    """The same columns with values in two parts, in any order, and with stored zeros."""
    rng = np.random.default_rng(2)
    places = np.argwhere(rng.random(X.shape) < 0.5)
    i, j = np.concatenate([np.argwhere(X), np.argwhere(X), places, places]).T
    half = X[X != 0] / 2
    extra = rng.normal(size=len(places))
    values = np.concatenate([half, half, extra, -extra])
    order = rng.permutation(len(values))
    if form.__name__.startswith("csc"):
        order = order[np.argsort(j[order], kind="stable")]
        major, minor = j[order], i[order]
    else:
        order = order[np.argsort(i[order], kind="stable")]
        major, minor = i[order], j[order]
    n_major = X.shape[1] if form.__name__.startswith("csc") else len(X)
    indptr = np.searchsorted(major, np.arange(n_major + 1))
    return form((values[order], minor, indptr), shape=X.shape)


@CHECKS
@pytest.mark.parametrize("form", FORMS)
def test_the_order_in_which_values_are_stored_changes_nothing(rng, check, form):
    rows, X = rows_of("folds", "any"), np.round(mostly_zero(rng), 1)
    assert not in_disorder(X, FORMS[form]).has_canonical_format
    check(X, target_of(rng, rows), rows, lambda values: in_disorder(values, FORMS[form]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [sparse.csr_array, None])
def test_the_columns_are_left_as_they_are(rng, form, make):
    rows, X = rows_of("all rows", "once"), awkward(rng)
    columns = in_disorder(X, FORMS[form]) if make is None else FORMS[form](X)
    parts = ("data", "indices", "indptr")
    before = [getattr(columns, part).copy() for part in parts]
    target = target_of(rng, rows)
    gram_of_sparse(columns, target.values, rows)
    SparseSource(columns, target, rows)
    for part, values in zip(parts, before):
        np.testing.assert_array_equal(getattr(columns, part), values)


def test_several_targets_are_the_last_columns(rng):
    rows = rows_of("folds", "any")
    assert_same_gram(mostly_zero(rng), target_of(rng, rows, n_targets=3), rows)


def test_a_source_aimed_at_another_target_is_one_made_for_it(rng):
    rows, X = rows_of("folds", "any"), sparse.csr_array(mostly_zero(rng))
    one, other = target_of(rng, rows), target_of(rng, rows)
    source = SparseSource(X, one, rows)
    aimed, made = source.aimed_at(other), SparseSource(X, other, rows)
    assert_equal_sources(aimed, made)
    for got, expected in zip(answers(aimed, 12), answers(made, 12), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert_equal_sources(source, SparseSource(X, one, rows))
    assert all(a is b for a, b in zip(source.features, aimed.features))


def test_units_do_not_change_the_scatters(rng):
    rows, X = rows_of("folds", "any"), mostly_zero(rng)
    units = 2.0 ** rng.integers(-900, 900, size=12)
    target = target_of(rng, rows)
    plain, spread = gram_of_sparse(sparse.csr_array(X), target.values, rows)
    scaled, scaled_spread = gram_of_sparse(sparse.csr_array(X * units), target.values, rows)
    assert_close(scaled.scatters, plain.scatters, 1e-13)
    np.testing.assert_allclose(scaled_spread, units * spread)
    source = SparseSource(sparse.csr_array(X * units), target, rows)
    for got, expected in zip(
        answers(source, 12), answers(SparseSource(sparse.csr_array(X), target, rows), 12)
    ):
        assert_close(got, expected, 1e-13)


def test_noise_on_a_large_number_is_seen_as_the_noise_it_is(rng):
    rows, X = rows_of("folds", "any"), mostly_zero(rng)
    noise = rng.integers(-8, 9, size=(N, 2)) / 8.0  # which 2^30 takes in without rounding
    target = target_of(rng, rows)
    near, far = (sparse.csr_array(np.hstack([X, noise + shift])) for shift in (0.0, 2.0**30))
    plain, _ = gram_of_sparse(near, target.values, rows)
    shifted, _ = gram_of_sparse(far, target.values, rows)
    assert_close(shifted.scatters, plain.scatters, 1e-13)
    sources = (SparseSource(columns, target, rows) for columns in (far, near))
    for got, expected in zip(*(answers(source, 14) for source in sources)):
        assert_close(got, expected, 1e-13)


def test_a_column_that_is_constant_within_a_fold_has_no_scatter_there(rng):
    X, rows = mostly_zero(rng), RowSets.of_splits(KFold(2).split(np.zeros(N)), N)
    X[: N // 2, 1] = 0.7
    target = target_of(rng, rows)
    gram, spread = gram_of_sparse(sparse.csr_array(X), target.values, rows)
    source = SparseSource(sparse.csr_array(X), target, rows)
    for each in (gram, source):
        evidence = SumEvidence(each, spread)
        pairs = evidence.pairs(evidence.alone(0), np.array([1, 2]))
        assert pairs.vv[1, 0, 0, 0] == 0.0  # held-out rows of the first split
        assert pairs.vv[0, 0, 0, 0] > 0.0


def both(X, target, rows):
    """All that either function says, as one list of arrays."""
    gram, spread = gram_of_sparse(X, target.values, rows)
    source = SparseSource(X, target, rows)
    said = [spread, gram.count, gram.mean, gram.scatters, source.spread, source.count]
    return [*said, source.mean, source.own, source.with_target, *answers(source, X.shape[1])]


def assert_both_say_the_same(one, other):
    for got, expected in zip(both(*one), both(*other), strict=True):
        assert_close(got, expected)


seeds = given(st.integers(0, 2**16), st.floats(0.02, 0.9))


@seeds
def test_the_order_of_rows_within_a_batch_changes_nothing(seed, density):
    rng = np.random.default_rng(seed)
    X, weights = mostly_zero(rng, density=density), rng.integers(1, 4, size=N).astype(float)
    splits = list(KFold(3).split(X))
    order = np.concatenate([rng.permutation(test) for _, test in splits])
    rows = RowSets.of_splits(splits, N, weights)
    target = target_of(rng, rows)
    moved = RowSets.of_splits(splits, N, weights[order])
    permuted = target._replace(values=target.values[order])
    assert_both_say_the_same(
        (sparse.csr_array(X), target, rows), (sparse.csr_array(X[order]), permuted, moved)
    )


@seeds
def test_a_row_of_weight_k_counts_as_k_rows_and_one_of_none_as_no_row(seed, density):
    rng = np.random.default_rng(seed)
    X, weights = mostly_zero(rng, density=density), rng.integers(0, 4, size=N)
    weights[:3] = 1  # so that the batches come in the same order
    # What does not count may be anything.
    X[weights == 0] *= 1e200
    fold = np.arange(N) % 3
    again = np.repeat(np.arange(N), weights)
    splits, repeated = (
        [(np.flatnonzero(of != f), np.flatnonzero(of == f)) for f in range(3)]
        for of in (fold, fold[again])
    )
    rows = RowSets.of_splits(splits, N, weights.astype(float))
    target = target_of(rng, rows)
    assert_both_say_the_same(
        (sparse.csr_array(X), target, rows),
        (
            sparse.csr_array(X[again]),
            target._replace(values=target.values[again]),
            RowSets.of_splits(repeated, len(again)),
        ),
    )


@pytest.mark.parametrize("criterion", [Parsimony(3.0), NonLin(0.01, held_out=True)], ids=str)
@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_searches_find_the_same_groups(rng, search, criterion):
    n_samples, n_features = 300, 90
    X = mostly_zero(rng, n_samples, n_features, density=0.02)
    X[:, ::3] += X[:, 1::3]
    target = standardised((X @ rng.normal(size=n_features) + rng.normal(size=n_samples))[:, None])
    held_out = isinstance(criterion, NonLin)
    rows = RowSets.of_splits(KFold(3).split(X), n_samples) if held_out else RowSets.all_rows()
    source = SparseSource(sparse.csr_array(X), target, rows)
    dense = ColumnSource(X, None, target, rows)
    (partition, trace, _), (expected, dense_trace, _) = (
        Groupable(SumEvidence(each, each.spread[:-1]), SEARCHES[search], NO_LIMITS).by(criterion)
        for each in (source, dense)
    )
    assert 1 < len(partition.groups) < n_features
    assert partition.labels.tolist() == expected.labels.tolist()
    assert trace.candidate.tolist() == dense_trace.candidate.tolist()
    np.testing.assert_allclose(trace.price, dense_trace.price, atol=1e-9)


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_source_takes_far_less_memory_than_dense_columns(rng):
    n_samples, n_features = 5000, 10_000
    X = sparse.random_array((n_samples, n_features), density=0.001, random_state=rng, format="csr")
    rows = RowSets.of_splits(KFold(2).split(np.zeros(n_samples)), n_samples)
    target = target_of(rng, rows, n_samples=n_samples)

    def search_a_little():
        source = SparseSource(X, target, rows)
        evidence = SumEvidence(source, source.spread[:-1])
        group = evidence.joined(evidence.alone(0), np.arange(1, 200))
        evidence.pairs(group, np.arange(200, 200 + source.max_columns))
        evidence.pairs_in_turn(group, np.arange(200, 1000, 8), np.arange(201, 1000))

    assert peak_of(search_a_little) < 20e6 < 8 * n_samples * n_features / 10


@pytest.mark.parametrize("far", [False, True])
def test_a_matrix_is_formed_in_far_less_memory_than_dense_columns(rng, far):
    n_samples, n_features = 200_000, 250
    X = sparse.random_array((n_samples, n_features), density=0.004, random_state=rng, format="csc")
    if far:
        X = sparse.hstack([X, 1e6 + rng.normal(size=(n_samples, 2))], format="csc")
    target = target_of(rng, RowSets.all_rows(), n_samples=n_samples)
    peak = peak_of(lambda: gram_of_sparse(X, target.values, RowSets.all_rows()))
    assert peak < 100e6 <= 8 * n_samples * n_features / 4
