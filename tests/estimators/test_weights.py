"""A row of weight k counts exactly as k rows, and one of weight 0 as none."""

import numpy as np
import pytest
import sklearn
from complete import GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from conftest import correlated
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    check_cv,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.utils.fixes import parse_version

import coterie
from coterie import ToleranceCV, tolerance_path

REDUCERS = [
    NonLinCFA(),
    NonLinCFA("bic", signs=True, scale=True),
    NonLinCFA(0.02, cv=None, search="forward"),
    NonLinCFA(0.02, cv=None, search="best"),
    NonLinCFA(0.02, cv=None, covariance="columns"),
    NonLinCFA(0.02, cv=None, covariance="columns", signs=True, search="best"),
    NonLinCFA(n_groups=3),
    NonLinCFA(cv=None, aggregation="sum_of_squares", covariance="columns"),
    NonLinCFA(0.1, cv=None, aggregation="max"),
    NonLinCFA(0.1, cv=None, aggregation="median", search="best"),
    NonLinCFA(0.05, cv=None, aggregation="principal"),
    NonLinCFA(0.05, cv=None, inputs=StandardScaler()),
    NonLinCFA(0.05, cv=None, inputs=SplineTransformer(3, knots="quantile")),
    NonLinCFA(0.05, cv=None, initial_groups=[[0, 1]], keep=[2]),
    GenLinCFA(),
    GenLinCFA(0.9),
    GenLinCFA(0.25, bound="bivariate", curvature="null"),
    GenLinCFA(0.02, bound="fitted"),
    LinCFA(),
    LinCFA(covariance="columns"),
]


def a_problem(seed, n_features=9):
    rng = np.random.default_rng(seed)
    X, y = correlated(rng, 40, n_features)
    return X, y, rng.integers(0, 4, size=40)


def assert_same(one, other, X):
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.signs_, other.signs_)
    np.testing.assert_array_equal(one.trace_.candidate, other.trace_.candidate)
    np.testing.assert_allclose(one.trace_.price, other.trace_.price, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.trace_.allowance, other.trace_.allowance, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.transform(X), other.transform(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reducer", REDUCERS, ids=str)
def test_weights_are_repeats(reducer, seed):
    X, y, weights = a_problem(seed)
    repeated = reducer.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    expected, trace = repeated.labels_, repeated.trace_
    Z = repeated.transform(X)
    weighted = reducer.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(weighted.labels_, expected)
    np.testing.assert_array_equal(weighted.trace_.candidate, trace.candidate)
    np.testing.assert_allclose(weighted.trace_.price, trace.price, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(weighted.trace_.allowance, trace.allowance, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(weighted.transform(X), Z, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_weights_are_repeats_in_compiled_searches_too(search, engine):
    X, y, weights = a_problem(7, n_features=90)
    reducer = NonLinCFA(0.02, cv=None, search=search, covariance=engine)
    repeated = reducer.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).labels_
    np.testing.assert_array_equal(reducer.fit(X, y, sample_weight=weights).labels_, repeated)
    unweighted = reducer.fit(X, y).labels_
    assert (unweighted != repeated).any()


def test_weights_are_repeats_where_rows_and_columns_are_only_sampled():
    rng = np.random.default_rng(3)
    X, y = correlated(rng, 800, 300, n_factors=20)
    weights = rng.integers(0, 4, size=800)
    weighted = NonLinCFA("auto").fit(X, y, sample_weight=weights)
    repeated = NonLinCFA("auto").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.penalty_ == pytest.approx(repeated.penalty_, rel=1e-12)
    np.testing.assert_array_equal(weighted.labels_, repeated.labels_)


@given(st.lists(st.integers(0, 3), min_size=30, max_size=30).filter(lambda w: sum(w) > 20))
def test_folds_of_weighted_rows_are_folds_of_repeated_rows(weights):
    X, y = correlated(np.random.default_rng(5), 30)
    weights, fold = np.array(weights), np.arange(30) % 3
    repeated_fold = np.repeat(fold, weights)
    for held_out in range(3):
        if len(set(np.repeat(y, weights)[repeated_fold == held_out])) < 2:
            return
    by_weight = NonLinCFA(0.02, cv=PredefinedSplit(fold)).fit(X, y, sample_weight=weights)
    repeats = NonLinCFA(0.02, cv=PredefinedSplit(repeated_fold)).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert_same(by_weight, repeats, X)


@pytest.mark.parametrize("cv", [5, GroupKFold(3)])
def test_rows_of_weight_zero_are_not_there(cv):
    X, y, weights = a_problem(1)
    kept, groups = weights > 0, np.arange(40) // 5
    some = None if cv == 5 else groups[kept]
    groups = None if cv == 5 else groups
    zeros = NonLinCFA(0.02, cv=cv).fit(X, y, sample_weight=np.minimum(weights, 1), groups=groups)
    assert_same(zeros, NonLinCFA(0.02, cv=cv).fit(X[kept], y[kept], groups=some), X)


@pytest.mark.parametrize("odd", [1e300, np.nan, np.inf])
def test_rows_of_weight_zero_may_hold_what_others_must_not(odd):
    X, y, weights = a_problem(1)
    kept = weights > 0
    holed, gone = np.where(kept[:, None], X, odd), np.where(kept, y, odd)
    for reducer in (NonLinCFA(0.02, cv=None), ToleranceCV(tolerances=[0.01, 0.1], cv=3)):
        expected = reducer.fit(X[kept], y[kept]).trace_
        if isinstance(reducer, ToleranceCV):
            numbers = np.flatnonzero(kept)
            folds = [(numbers[a], numbers[b]) for a, b in KFold(3).split(numbers)]
            reducer.set_params(cv=folds)
        got = reducer.fit(holed, gone, sample_weight=1.0 * kept).trace_
        np.testing.assert_array_equal(got, expected)


def test_exposures_of_rows_that_do_not_count_are_not_looked_at():
    X, y, weights = a_problem(1)
    kept, counts = weights > 0, np.round(np.exp(y - y.max() + 3))
    exposure = np.where(kept, 2.0 + np.arange(40), 0.0)
    reducer = GenLinCFA("bic", family="poisson")
    expected = reducer.fit(X[kept], counts[kept], exposure=exposure[kept]).trace_
    got = reducer.fit(X, counts, sample_weight=1.0 * kept, exposure=exposure).trace_
    np.testing.assert_array_equal(got, expected)


def test_splits_by_number_are_those_of_all_rows():
    X, y, weights = a_problem(1)
    splits = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    one, other = (
        NonLinCFA(0.02, cv=cv).fit(X, y, sample_weight=weights).trace_
        for cv in (splits, check_cv(splits))
    )
    np.testing.assert_array_equal(one, other)


def test_groups_without_folds_are_said_to_have_no_use():
    X, y, _ = a_problem(0)
    with pytest.warns(UserWarning, match="groups of rows have no use without folds"):
        NonLinCFA().fit(X, y, groups=np.arange(40))


@pytest.mark.parametrize("reducer", REDUCERS[:4], ids=str)
def test_weights_of_one_change_no_bit(reducer):
    X, y, _ = a_problem(0)
    plain = reducer.fit(X, y).trace_.copy()
    np.testing.assert_array_equal(reducer.fit(X, y, sample_weight=np.ones(40)).trace_, plain)


def test_weights_that_are_no_counts_are_weighted_regressions(rng):
    X, y = correlated(rng, 50, 2)
    weights = rng.uniform(0.1, 2, size=50)
    price = NonLinCFA(0.0, cv=None).fit(X, y, sample_weight=weights).trace_.price[0]
    mean = X.mean(axis=1, keepdims=True)
    scores = [LinearRegression().fit(Z, y, weights).score(Z, y, weights) for Z in (X, mean)]
    assert price == pytest.approx(scores[0] - scores[1], abs=1e-12)


@pytest.mark.parametrize("bound", ["general", "fitted"])
def test_trials_of_proportions_are_repeated_classes(rng, bound):
    X = np.repeat(correlated(rng, 30, 6)[0], 2, axis=0)
    hits, misses = rng.integers(1, 9, size=(2, 30))
    classes = np.tile([1.0, 0.0], 30)
    counts = np.column_stack([hits, misses]).ravel()
    # A share of the null deviance is another one for classes, which no model fits perfectly.
    tolerance = "bic" if bound == "fitted" else 0.8
    by_class = GenLinCFA(tolerance, family="bernoulli", bound=bound)
    by_class.fit(X, classes, sample_weight=counts)
    shares = GenLinCFA(tolerance, family="binomial", bound=bound)
    shares.fit(X[::2], hits / (hits + misses), sample_weight=hits + misses)
    np.testing.assert_array_equal(by_class.labels_, shares.labels_)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="GridSearchCV did not ask the steps of a pipeline before 1.7",
)
def test_routing_through_a_pipeline_and_a_grid_search(rng):
    X, y = correlated(rng, 60)
    weights, groups = rng.integers(1, 4, size=60), np.arange(60) // 6
    with sklearn.config_context(enable_metadata_routing=True):
        reducer = NonLinCFA(cv=GroupKFold(3)).set_fit_request(sample_weight=True, groups=True)
        model = LinearRegression().set_fit_request(sample_weight=True)
        model = model.set_score_request(sample_weight=True)
        search = GridSearchCV(
            make_pipeline(reducer, model), {"nonlincfa__tolerance": [0.01, 0.1]}, cv=GroupKFold(3)
        )
        search.fit(X, y, sample_weight=weights, groups=groups)
        inner = search.best_estimator_[0]
    tolerance = search.best_params_["nonlincfa__tolerance"]
    alone = NonLinCFA(tolerance, cv=GroupKFold(3)).fit(X, y, weights, groups)
    assert_same(inner, alone, X)
    assert (NonLinCFA(tolerance, cv=3).fit(X, y).trace_.price != alone.trace_.price).any()


@pytest.mark.parametrize(
    "reducer",
    [
        ToleranceCV(tolerances=[0.01, 0.1]),
        ToleranceCV(GenLinCFA(family="bernoulli"), tolerances=[0.5, 0.9]),
    ],
    ids=str,
)
def test_reducers_that_choose_their_tolerance_take_weights_and_groups(reducer):
    X, y, _ = a_problem(0)
    weights = np.random.default_rng(0).integers(1, 4, size=40)
    y = y > 0 if isinstance(reducer.estimator, coterie.GenLinCFA) else y
    groups = np.arange(40) % 4
    reducer.set_params(cv=LeaveOneGroupOut()).fit(X, y, sample_weight=weights, groups=groups)
    scores, labels = reducer.path_.cv_scores, reducer.labels_
    again = [np.repeat(a, weights, axis=0) for a in (X, y, groups)]
    repeated = reducer.fit(*again[:2], groups=again[2])
    np.testing.assert_allclose(repeated.path_.cv_scores, scores, atol=1e-6)
    np.testing.assert_array_equal(repeated.labels_, labels)


def test_the_path_scores_with_weights():
    X, y, _ = a_problem(0)
    weights = np.random.default_rng(0).integers(1, 4, size=40)
    estimator = NonLinCFA(cv=None)
    path = tolerance_path(X, y, estimator=estimator, tolerances=[0.05], sample_weight=weights)
    Z = NonLinCFA(0.05, cv=None).fit(X, y, weights).transform(X)
    expected = LinearRegression().fit(Z, y, weights).score(Z, y, weights)
    assert path.train_scores[0] == pytest.approx(expected)


BAD = [
    (np.ones(39), "sample_weight must have shape (40,), got (39,)."),
    (np.ones((40, 1)), "sample_weight must have shape (40,), got (40, 1)."),
    (np.where(np.arange(40) == 3, -1, 1), "sample_weight must be 0 or more, got -1 in row 3."),
    (np.where(np.arange(40) == 3, np.nan, 1), "sample_weight has NaN or infinity in row 3."),
    (np.zeros(40), "sample_weight is zero in all rows but 0"),
    (np.eye(40)[0], "sample_weight is zero in all rows but 1"),
    (["a"] * 40, "sample_weight must hold numbers, got an array of <U1."),
    (np.full(40, 0.01), "got weights that sum to 0.4. Weights count rows: scale"),
]


@pytest.mark.parametrize("reducer", [GenLinCFA(0.8), MutualCFA(0.05)], ids=str)
def test_weights_that_sum_to_one_are_refused_where_rows_are_counted(reducer):
    X, y, _ = a_problem(0)
    with pytest.raises(ValueError, match=r"sample_weight sums to 1\. Weights count rows"):
        reducer.fit(X, y, sample_weight=np.full(40, 1 / 40))


@pytest.mark.parametrize(("weights", "sentence"), BAD, ids=[b[1] for b in BAD])
def test_bad_weights(weights, sentence):
    X, y, _ = a_problem(0)
    with pytest.raises(ValueError) as error:
        NonLinCFA().fit(X, y, sample_weight=weights)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
