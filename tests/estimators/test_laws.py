"""What must hold whatever the data."""

import numpy as np
import oracle
import pytest
from conftest import correlated
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from coterie import GenLinCFA, LinCFA, NonLinCFA
from coterie._core import compiled

# Some columns do not vary here, and some are of other magnitudes.
pytestmark = pytest.mark.filterwarnings("ignore::coterie.FitWarning")
SEEDS = st.integers(0, 2**20)
SEARCHES = st.sampled_from(["forward", "restart", "best"])
REDUCERS = [
    NonLinCFA(0.02),
    NonLinCFA(0.02, cv=None),
    NonLinCFA(),
    NonLinCFA(0.02, aggregation="median"),
    NonLinCFA(0.02, aggregation="sum_of_squares", cv=None),
    GenLinCFA(0.7),
    GenLinCFA(0.3, bound="bivariate"),
    LinCFA(),
]
each_reducer = pytest.mark.parametrize("reducer", REDUCERS, ids=str)


@pytest.fixture(autouse=True)
def own_copies(request):
    """No law leaves its parameters behind for the next one."""
    if "reducer" in request.fixturenames:
        params = request.getfixturevalue("reducer").get_params()
        yield
        request.getfixturevalue("reducer").set_params(**params)
    else:
        yield


def problem(seed, **options):
    return correlated(np.random.default_rng(seed), **options)


def assume_clear(reducer, margin=1e-6):
    """Go on only if no decision was a close one; hypothesis fails if that is seldom so."""
    trace = reducer.trace_
    scale = np.maximum(1, np.abs(trace.price))
    assume(bool((np.abs(trace.price - trace.allowance) > margin * scale).all()))


@each_reducer
@given(seed=SEEDS, search=SEARCHES)
def test_shuffling_rows_within_folds_changes_nothing(reducer, seed, search):
    X, y = problem(seed)
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(test) for _, test in KFold(5).split(X)])
    reducer.set_params(search=search)
    assume_clear(reducer.fit(X, y))
    labels = reducer.labels_
    assert (reducer.fit(X[order], y[order]).labels_ == labels).all()


@each_reducer
@given(seed=SEEDS, shift=st.floats(-1e4, 1e4))
def test_shifting_features_and_target_changes_nothing(reducer, seed, shift):
    if reducer.get_params()["aggregation"] == "sum_of_squares":
        return  # squares of shifted features are other functions
    X, y = problem(seed)
    assume_clear(reducer.fit(X, y))
    labels = reducer.labels_
    moved = X + (shift if reducer.aggregation == "median" else shift * np.arange(7))
    assert (reducer.fit(moved, y - shift).labels_ == labels).all()


@each_reducer
@given(seed=SEEDS, exponent=st.integers(-90, 90))
def test_the_unit_of_all_features_does_not_matter(reducer, seed, exponent):
    X, y = problem(seed)
    assume_clear(reducer.fit(X, y))
    labels = reducer.labels_
    assert (reducer.fit(X * 10.0**exponent, y).labels_ == labels).all()


@each_reducer
@given(seed=SEEDS)
def test_scaling_makes_units_irrelevant(reducer, seed):
    X, y = problem(seed)
    units = 10.0 ** np.random.default_rng(seed).integers(-9, 9, size=7)
    reducer.set_params(scale=True)
    assume_clear(reducer.fit(X, y))
    labels = reducer.labels_
    assert (reducer.fit(X * units + units, y).labels_ == labels).all()


@given(seed=SEEDS, search=SEARCHES, cv=st.sampled_from([None, 5]))
def test_twins_of_one_feature_always_merge(seed, search, cv):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 30))
    X = x[:, None] * 10.0 ** rng.integers(-1, 2, size=6) + rng.normal(size=6)
    for reducer in (NonLinCFA(0, cv=cv, search=search), LinCFA(search=search)):
        assert reducer.fit(X, y).n_groups_ == 1


@given(seed=SEEDS, search=SEARCHES)
def test_endless_tolerance_merges_all_and_none_merges_nothing_that_costs(seed, search):
    X, y = problem(seed)
    assert NonLinCFA(np.inf, search=search).fit(X, y).n_groups_ == 1
    reducer = NonLinCFA(0, cv=None, search=search).fit(X, y)
    assert reducer.n_groups_ == 7  # in-sample, only a merge of twins is free
    assert GenLinCFA(np.inf, search=search).fit(X, y).n_groups_ == 1
    assert GenLinCFA(0, search=search).fit(X, y).n_groups_ == 7


@given(seed=SEEDS, search=SEARCHES, tolerance=st.floats(0, 0.3))
def test_no_merge_is_dearer_than_allowed(seed, search, tolerance):
    X, y = problem(seed)
    trace = NonLinCFA(tolerance, search=search).fit(X, y).trace_
    assert ((trace.price <= trace.allowance) == trace.accepted).all()


@each_reducer
@given(seed=SEEDS, scale=st.booleans())
def test_best_does_not_depend_on_the_order_of_columns(reducer, seed, scale):
    X, y = problem(seed)
    X[:, 5] = X[:, 1]  # twins
    X[:, 6] = -X[:, 2]  # an opposite
    X[:, 3] = 1.0  # a constant
    order = np.random.default_rng(seed).permutation(7)
    reducer.set_params(search="best", scale=scale)
    one = reducer.fit(X, y)
    as_sets = {frozenset(map(int, group)) for group in one.groups_}
    other = reducer.fit(X[:, order], y)
    assert {frozenset(map(int, order[group])) for group in other.groups_} == as_sets


@given(seed=SEEDS, size=st.integers(1, 3))
def test_best_gives_the_same_columns_even_if_twins_cannot_all_join(seed, size):
    X, y = problem(seed)
    X = np.hstack([X[:, :3], X[:, :3], X[:, :1]])
    order = np.random.default_rng(seed).permutation(7)
    one, other = (
        NonLinCFA(0.1, search="best", max_group_size=size).fit_transform(Z, y)
        for Z in (X, X[:, order])
    )
    key = lambda Z: np.sort(np.round(Z[0], 9))  # noqa: E731
    np.testing.assert_array_equal(key(one), key(other))


@each_reducer
@given(seed=SEEDS)
def test_float32_decides_like_float64_where_it_is_clear(reducer, seed):
    X, y = problem(seed)
    X[:, 5] = 1.8 * X[:, 1] + 32  # rescaled twins
    assume_clear(reducer.fit(X, y), margin=1e-4)
    labels = reducer.labels_
    assert (reducer.fit(X.astype(np.float32), y).labels_ == labels).all()


@each_reducer
@pytest.mark.parametrize("scale", [False, True])
def test_layout_in_memory_does_not_matter(reducer, scale):
    X, y = problem(0)
    labels = reducer.set_params(scale=scale).fit(X, y).labels_
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.tolist()):
        assert (reducer.fit(same, y).labels_ == labels).all()


@each_reducer
@pytest.mark.parametrize(("n_samples", "n_features"), [(12, 40), (5, 3), (30, 2)])
def test_wide_and_tiny_data_are_no_special_case(reducer, n_samples, n_features):
    X, y = problem(3, n_samples=n_samples, n_features=n_features)
    if reducer.get_params().get("cv") == "auto" and n_samples < 10:
        reducer = NonLinCFA(0.02, cv=2)
    fitted = reducer.fit(X, y)
    assert np.isfinite(fitted.transform(X)).all()
    assert not np.isnan(fitted.trace_.price).any()


def test_three_samples_are_enough_in_sample():
    X = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 0.0], [3.0, 5.0, 1.0]])
    assert NonLinCFA(0.5, cv=None).fit(X, [1.0, 2.0, 4.0]).n_groups_ >= 1
    assert GenLinCFA(0.75).fit(X, [1.0, 2.0, 4.0]).n_groups_ >= 1


@given(seed=SEEDS)
def test_kelvins_and_pascals_decide_like_their_anomalies(seed):
    X, y = problem(seed)
    reducer = NonLinCFA(0.02, scale=True).fit(X, y)
    assume_clear(reducer, margin=1e-3)
    offset = X + np.array([273.15, 101325.0, 2024.0, 1e6, 0.0, -1e5, 1e7])
    assert (NonLinCFA(0.02, scale=True).fit(offset, y).labels_ == reducer.labels_).all()


def test_an_outlier_does_not_cost_the_other_folds_their_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] ** 2 + 0.2 * rng.normal(size=100)
    X[3, 0] = 3e4
    cv = [(np.r_[20:100], np.arange(20)), (np.r_[:20, 40:100], np.arange(20, 40))]
    judge = oracle.nonlin_held_out(0.02, cv)
    h = oracle.AGGREGATIONS["sum_of_squares"]
    price, *_ = judge(h(X[:, :1]), X[:, 1], h(X), y)
    trace = NonLinCFA(0.02, aggregation="sum_of_squares", cv=cv).fit(X, y).trace_
    np.testing.assert_allclose(trace.price, price, rtol=1e-5)


def test_columns_of_very_different_weight_are_added_in_their_own_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=50)
    scaled = X * [1e-120, 1.0, 1e30]
    trace = NonLinCFA(np.inf, cv=None, search="forward").fit(scaled, y).trace_
    # Beside a column 30 orders heavier, the first two weigh nothing: w is the last column.
    apart = LinearRegression().fit(X[:, [1, 2]], y).score(X[:, [1, 2]], y)
    merged = LinearRegression().fit(X[:, [2]], y).score(X[:, [2]], y)
    np.testing.assert_allclose(trace.price[1], apart - merged)


@pytest.mark.parametrize("aggregation", ["mean", "norm", "sum_of_squares", "principal", "max"])
@pytest.mark.parametrize("unit", [1e-160, 1e160])
def test_extreme_units_decide_like_ordinary_ones(aggregation, unit):
    X, y = problem(1)
    adds_up = aggregation in ("mean", "sum_of_squares")
    ways = (
        ((None, "gram"), (5, "gram"), (5, "columns")) if adds_up else ((None, "auto"), (5, "auto"))
    )
    for cv, covariance in ways:
        reducer = NonLinCFA(0.05, cv=cv, aggregation=aggregation, covariance=covariance)
        ordinary = reducer.fit(X, y).trace_
        extreme = reducer.fit(X * unit, y * unit).trace_
        assert (extreme.candidate == ordinary.candidate).all()
        np.testing.assert_allclose(extreme.price, ordinary.price, rtol=1e-6, atol=1e-9)


@each_reducer
@given(seed=SEEDS, search=SEARCHES, dtype=st.sampled_from([np.float64, np.float32]))
def test_both_engines_decide_the_same(reducer, seed, search, dtype):
    X, y = problem(seed, n_features=12)
    X = (X + 5).astype(dtype)
    X[:, 3], X[:, 7] = X[:, 1], 2.0
    reducer.set_params(search=search)
    if reducer.aggregation == "median":
        with pytest.raises(
            ValueError, match="covariance='gram' has no effect: aggregation='median'"
        ):
            reducer.set_params(covariance="gram").fit(X, y)
        return
    gram = reducer.set_params(covariance="gram").fit(X, y)
    assume_clear(gram)
    trace, labels = gram.trace_, gram.labels_
    columns = reducer.set_params(covariance="columns").fit(X, y)
    assert (columns.labels_ == labels).all()
    assert (columns.trace_.candidate == trace.candidate).all()
    np.testing.assert_allclose(columns.trace_.price, trace.price, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("fewest", [0, 10**6], ids=["compiled", "numpy"])
def test_the_number_of_threads_decides_nothing(monkeypatch, engine, fewest):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", fewest)
    # So large that the products are shared out between threads.
    X, y = problem(3, n_samples=700, n_features=650)
    reducer = NonLinCFA(1e-3, cv=3, covariance=engine)
    traces = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            traces.append(reducer.fit(X, y).trace_)
    for trace in traces[1:]:
        np.testing.assert_array_equal(
            trace[["group", "candidate", "accepted"]], traces[0][["group", "candidate", "accepted"]]
        )
        np.testing.assert_allclose(trace.price, traces[0].price, rtol=1e-8, atol=1e-12)


def test_the_matrix_is_taken_only_where_it_fits():
    X, y = problem(0)
    automatic = NonLinCFA(0.05, max_bytes=10).fit(X, y)
    assert (automatic.trace_ == NonLinCFA(0.05, covariance="columns").fit(X, y).trace_).all()
    for memory in (None, np.inf):
        automatic = NonLinCFA(0.05, max_bytes=memory).fit(X, y)
        assert (automatic.trace_ == NonLinCFA(0.05, covariance="gram").fit(X, y).trace_).all()
