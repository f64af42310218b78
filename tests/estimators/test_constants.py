"""Columns that do not vary share no group with those that do."""

import numpy as np
import pandas as pd
import pytest
from conftest import correlated
from scipy import sparse
from sklearn.base import clone

from coterie import FitWarning, GenLinCFA, LinCFA, Moments, MutualCFA, NonLinCFA
from coterie._core import compiled
from coterie._core.devices import _foreign

SEARCHES = ["forward", "restart", "best"]
REDUCERS = [
    NonLinCFA(),
    NonLinCFA("ric"),
    NonLinCFA(0.02),
    NonLinCFA(np.inf, cv=None),
    NonLinCFA(0.02, cv=None, signs=True),
    NonLinCFA(0.02, cv=None, aggregation="median"),
    NonLinCFA(0.02, cv=None, aggregation="principal"),
    NonLinCFA(0.02, cv=None, missing="pairwise"),
    GenLinCFA(0.8),
    GenLinCFA(),
    GenLinCFA(0.02, bound="fitted"),
    LinCFA(),
    MutualCFA(),
]
each_reducer = pytest.mark.parametrize("reducer", REDUCERS, ids=str)
each_search = pytest.mark.parametrize("search", SEARCHES)
# Two that are constant, one of them by far the largest, and one that is but for rounding.
CONSTANTS = {3: 20230101.0, 7: 0.0, 9: 0.1}


def problem(seed=0, n_features=8):
    X, y = correlated(np.random.default_rng(seed), n_samples=60, n_features=n_features)
    with_constants = X
    for place, value in CONSTANTS.items():
        with_constants = np.insert(with_constants, place, value, axis=1)
    nearly = 0.1 * (1 + 1e-16 * np.arange(len(y)))
    with_constants[:, 9] = nearly
    varying = np.setdiff1d(np.arange(with_constants.shape[1]), [*CONSTANTS])
    return X, with_constants, varying, y


def told(reducer, *given, **more):
    with pytest.warns(FitWarning, match="constant") as caught:
        reducer.fit(*given, **more)
    assert len([one for one in caught if "constant" in str(one.message)]) == 1
    return reducer


def assert_others_are_as_without(reducer, alone, varying):
    """The groups of the columns that vary, and how they came about, as without constants."""
    found, labels = reducer.labels_[varying], alone.labels_
    assert ((found[:, None] == found) == (labels[:, None] == labels)).all()
    constant = np.setdiff1d(np.arange(len(reducer.labels_)), varying)
    assert not np.isin(reducer.labels_[constant], found).any()
    trace = reducer.trace_[np.isin(reducer.trace_.candidate, varying)]
    np.testing.assert_allclose(trace.price, alone.trace_.price, atol=1e-12)
    np.testing.assert_array_equal(trace.candidate, varying[alone.trace_.candidate])
    assert getattr(reducer, "penalty_", None) == pytest.approx(getattr(alone, "penalty_", None))


@each_reducer
@each_search
@pytest.mark.parametrize("fewest", [1, 10**6], ids=["compiled", "numpy"])
def test_adding_constants_changes_nothing_for_the_others(monkeypatch, reducer, search, fewest):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", fewest)
    reducer = clone(reducer).set_params(search=search)
    X, with_constants, varying, y = problem()
    alone = clone(reducer).fit(X, y)
    assert_others_are_as_without(told(reducer, with_constants, y), alone, varying)


@pytest.mark.parametrize("reducer", [NonLinCFA(), NonLinCFA(0.02), GenLinCFA(0.8), LinCFA()])
@each_search
def test_nor_in_moments_sparse_columns_and_on_devices(monkeypatch, reducer, search):
    strict = pytest.importorskip("array_api_strict")
    reducer = clone(reducer).set_params(search=search)
    X, with_constants, varying, y = problem(1)
    folds = np.repeat(np.arange(5), 12)
    alone = clone(reducer).fit_moments(Moments().update(X, y, fold=folds))
    with pytest.warns(FitWarning, match="constant"):
        of_moments = clone(reducer).fit_moments(Moments().update(with_constants, y, fold=folds))
    assert_others_are_as_without(of_moments, alone, varying)
    monkeypatch.setattr(_foreign, "lies_on_host", lambda X: False)
    for kind in (sparse.csr_array, strict.asarray):
        alone = clone(reducer).fit(kind(X), y)
        assert_others_are_as_without(told(clone(reducer), kind(with_constants), y), alone, varying)


def test_they_are_named_once():
    X, with_constants, _, y = problem()
    frame = pd.DataFrame(with_constants, columns=[f"f{j}" for j in range(11)])
    with pytest.warns(FitWarning, match=r"columns 'f3', 'f7', 'f9'.*stay apart") as caught:
        NonLinCFA().fit(frame, y)
    assert caught[0].filename == __file__
    with pytest.warns(FitWarning, match="constant") as caught:
        NonLinCFA().fit_transform(with_constants, y)
    assert caught[0].filename == __file__
    with pytest.warns(FitWarning, match=r"column 'x1'.* is of no use"):
        NonLinCFA().fit(np.insert(X, 1, 5.0, axis=1), y)


def test_digits_of_the_others_are_not_lost_in_single_precision():
    X, with_constants, _, y = problem()
    Z = NonLinCFA(np.inf, cv=None).fit(X, y).transform(X)
    single = with_constants.astype(np.float32)
    reducer = told(NonLinCFA(np.inf, cv=None), single, y)
    assert reducer.n_groups_ == 2
    np.testing.assert_allclose(reducer.transform(single)[:, 0], Z[:, 0], rtol=1e-3, atol=1e-4)


def test_limits_hold_among_constants_too(rng):
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    X = np.column_stack([X, np.ones((50, 4))])
    assert told(NonLinCFA(1.0), X, y).n_groups_ == 2
    assert told(NonLinCFA(1.0, max_group_size=2), X, y).n_groups_ == 3
    assert told(NonLinCFA(1.0, keep=[3]), X, y).n_groups_ == 3
    assert told(NonLinCFA(1.0, separate=[[2, 3], [4, 5]]), X, y).n_groups_ == 3


def test_a_group_to_begin_with_may_hold_one(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    X[:, 1] = 4.0
    reducer = NonLinCFA(0.0, cv=None, initial_groups=[[0, 1]]).fit(X, y)
    assert reducer.labels_[0] == reducer.labels_[1]


def test_all_constant_is_one_group(rng):
    X, y = np.arange(3.0) * np.ones((20, 1)), rng.normal(size=20)
    assert told(NonLinCFA(), X, y).labels_.tolist() == [0, 0, 0]


def test_a_column_that_varies_in_new_rows_does_not_leak_into_the_others():
    X, with_constants, _, y = problem()
    reducer = told(NonLinCFA(), with_constants, y)
    later = with_constants.copy()
    later[:, 3] += 1e6
    before, after = (reducer.transform(each) for each in (with_constants, later))
    others = np.arange(reducer.n_groups_) != reducer.labels_[3]
    np.testing.assert_array_equal(after[:, others], before[:, others])
