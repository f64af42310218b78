"""Turning columns round changes signs, and nothing else."""

import numpy as np
import pytest
from conftest import correlated
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from coterie import GenLinCFA, LinCFA, Moments, NonLinCFA
from coterie._core import compiled
from coterie._core.devices import _foreign

SEARCHES = ["forward", "restart", "best"]
REDUCERS = [
    NonLinCFA(0.02, cv=None),
    NonLinCFA(0.02),
    NonLinCFA(),
    NonLinCFA("bic", cv=KFold(3)),
    NonLinCFA(n_groups=4),
    NonLinCFA(0.02, cv=None, initial_groups=[[0, 5], [2, 3, 7]]),
    GenLinCFA(0.8),
    GenLinCFA(0.3, bound="bivariate"),
    GenLinCFA(),
    LinCFA(),
    LinCFA(initial_groups=[[1, 4, 6]]),
]
each_reducer = pytest.mark.parametrize("reducer", REDUCERS, ids=str)
each_search = pytest.mark.parametrize("search", SEARCHES)


def problem(seed):
    X, y = correlated(np.random.default_rng(seed), n_samples=60, n_features=12)
    turned = np.random.default_rng(seed + 1).choice([-1.0, 1.0], size=12)
    return X, y, turned


def assert_only_signs_differ(before, after, turned):
    np.testing.assert_array_equal(after.labels_, before.labels_)
    for name in ("group", "candidate", "price", "allowance", "accepted"):
        np.testing.assert_array_equal(after.trace_[name], before.trace_[name])
    firsts = np.array([group[0] for group in before.groups_])[before.labels_]
    np.testing.assert_array_equal(after.signs_, before.signs_ * turned * turned[firsts])
    assert getattr(after, "penalty_", None) == getattr(before, "penalty_", None)


def fitted(reducer, X, y, **given):
    return clone(reducer).fit(X, y, **given)


@each_reducer
@each_search
@pytest.mark.parametrize("aggregation", ["mean", "sum"])
@pytest.mark.parametrize("fewest", [1, 10**6], ids=["compiled", "numpy"])
def test_turning_columns_round_changes_nothing_else(
    monkeypatch, reducer, search, aggregation, fewest
):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", fewest)
    reducer = clone(reducer).set_params(search=search, aggregation=aggregation, signs=True)
    for seed in range(3):
        X, y, turned = problem(seed)
        assert_only_signs_differ(fitted(reducer, X, y), fitted(reducer, X * turned, y), turned)


@each_reducer
@pytest.mark.parametrize("engine", ["gram", "columns"])
def test_nor_does_it_with_weights_and_scaling(reducer, engine):
    reducer = clone(reducer).set_params(signs=True, scale=True, covariance=engine)
    X, y, turned = problem(4)
    weights = np.random.default_rng(4).integers(1, 4, size=len(y)).astype(float)
    before = fitted(reducer, X, y, sample_weight=weights)
    assert_only_signs_differ(before, fitted(reducer, X * turned, y, sample_weight=weights), turned)


@each_reducer
@each_search
def test_nor_in_moments(reducer, search):
    if isinstance(reducer, NonLinCFA) and isinstance(reducer.cv, KFold):
        reducer = clone(reducer).set_params(cv=3)
    reducer = clone(reducer).set_params(search=search, signs=True)
    n_folds = 3 if getattr(reducer, "cv", None) == 3 else 5
    X, y, turned = problem(5)
    folds = np.arange(len(y)) % n_folds
    before, after = (
        clone(reducer).fit_moments(Moments().update(columns, y, fold=folds))
        for columns in (X, X * turned)
    )
    assert_only_signs_differ(before, after, turned)


@each_reducer
@each_search
def test_nor_on_devices(monkeypatch, reducer, search):
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setattr(_foreign, "lies_on_host", lambda X: False)
    reducer = clone(reducer).set_params(search=search, signs=True)
    X, y, turned = problem(6)
    before = fitted(reducer, strict.asarray(X), y)
    assert_only_signs_differ(before, fitted(reducer, strict.asarray(X * turned), y), turned)


@each_reducer
@each_search
def test_nor_in_sparse_columns(reducer, search):
    reducer = clone(reducer).set_params(search=search, signs=True)
    X, y, turned = problem(7)
    X[np.abs(X) < 0.5] = 0.0
    before = fitted(reducer, sparse.csr_array(X), y)
    assert_only_signs_differ(before, fitted(reducer, sparse.csr_array(X * turned), y), turned)


@each_search
def test_nor_where_columns_are_at_right_angles(search):
    # A full factorial design: every correlation is 0, so no sign follows from one.
    X = np.array(np.meshgrid(*[[-1.0, 1.0]] * 5)).reshape(5, -1).T
    y = X @ np.array([3.0, 1.0, 1.0, 0.5, 2.0])
    reducer = NonLinCFA(0.2, cv=None, signs=True, search=search)
    turned = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
    assert_only_signs_differ(fitted(reducer, X, y), fitted(reducer, X * turned, y), turned)


@each_search
def test_opposites_are_copies_of_each_other(rng, search):
    a, b = rng.normal(size=(2, 80))
    X = np.column_stack([a, b, -a, a, -b])
    reducer = NonLinCFA(1e-6, cv=None, signs=True, search=search).fit(X, a + 3 * b)
    assert reducer.labels_.tolist() == [0, 1, 0, 0, 1]
    turned = np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    np.testing.assert_array_equal(reducer.signs_, turned)


@pytest.mark.parametrize(
    "reducer", [LinCFA(), GenLinCFA(0.7), GenLinCFA(0.3, bound="bivariate")], ids=str
)
def test_a_merge_with_a_minus_costs_what_the_opposite_costs_with_a_plus(rng, reducer):
    u = rng.normal(size=200)
    v = 0.6 * u + 0.8 * rng.normal(size=200)
    y = u + v + rng.normal(size=200)
    plain = clone(reducer).fit(np.column_stack([u, v]), y).trace_
    minus = clone(reducer).set_params(signs=True).fit(np.column_stack([u, -v]), y).trace_
    np.testing.assert_allclose(minus.price, plain.price)
    np.testing.assert_allclose(minus.allowance, plain.allowance)


def test_a_merge_that_destroys_the_signal_is_refused(rng):
    # Opposites whose difference is the signal: with a minus they add up to what does not matter.
    common, own = rng.normal(size=(2, 400))
    X = np.column_stack([common + own, -common + own])
    y = own + 0.5 * rng.normal(size=400)
    X[:, 1] -= 0.3 * common  # so that they are anti-correlated
    for reducer in (LinCFA(signs=True), GenLinCFA(0.7, signs=True)):
        Z = reducer.fit(X, y).transform(X)
        apart = LinearRegression().fit(X, y).score(X, y)
        assert LinearRegression().fit(Z, y).score(Z, y) == pytest.approx(apart)


@pytest.mark.parametrize("fewest", [1, 10**6], ids=["compiled", "numpy"])
def test_signs_on_folds_are_those_of_all_rows(monkeypatch, rng, fewest):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", fewest)
    # A common trend, and within each fifth of the rows the opposite of each other.
    trend = np.repeat(np.arange(5.0), 40)
    wobble = 0.4 * rng.normal(size=200)
    X = np.column_stack([trend + wobble, trend - wobble, rng.normal(size=200)])
    assert np.corrcoef(X.T)[0, 1] > 0.8
    assert np.corrcoef(wobble, -wobble)[0, 1] < 0
    y = trend + 0.1 * rng.normal(size=200)
    for reducer in (NonLinCFA(0.05, signs=True), NonLinCFA("bic", cv=5, signs=True)):
        reducer.fit(X, y)
        assert reducer.labels_[0] == reducer.labels_[1]
        assert reducer.signs_[:2].tolist() == [1, 1]
    in_sample = NonLinCFA(0.05, cv=None, signs=True).fit(X, y)
    assert in_sample.signs_[:2].tolist() == [1, 1]


def test_members_of_a_group_to_begin_with_have_signs_too(rng):
    a, b = rng.normal(size=(2, 100))
    X = np.column_stack([a, -a + 0.1 * b, b])
    reducer = NonLinCFA(0.0, cv=None, initial_groups=[[0, 1]], signs=True).fit(X, a)
    assert reducer.labels_[:2].tolist() == [0, 0]
    assert reducer.signs_[:2].tolist() == [1, -1]
