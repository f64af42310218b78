"""Fits without rows: decision by decision as on all of them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import correlated
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, PredefinedSplit, TimeSeriesSplit

import coterie
from coterie import GenLinCFA, LinCFA, Moments, MutualCFA, NonLinCFA
from coterie._core.evidence import residual_ss, residual_ss_from_scatter
from coterie.datasets import make_groups

# Columns are of all magnitudes here, and some do not vary.
pytestmark = pytest.mark.filterwarnings("ignore::coterie.FitWarning")


def moments_of(X, y, weights=None, n_folds=0, cuts=4, n_expected=None):
    fold = np.empty(len(X), dtype=int)
    if n_folds:
        for number, (_, held_out) in enumerate(KFold(n_folds).split(X)):
            fold[held_out] = number
    moments = Moments(n_expected)
    for rows in np.array_split(np.arange(len(X)), cuts):
        weight = None if weights is None else weights[rows]
        moments.update(X[rows], y[rows], weight, fold[rows] if n_folds else None)
    return moments


def assert_same_decisions(one, other):
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.signs_.tolist() == other.signs_.tolist()
    for name in ("group", "candidate", "accepted"):
        assert one.trace_[name].tolist() == other.trace_[name].tolist()
    for name in ("price", "allowance"):
        np.testing.assert_allclose(one.trace_[name], other.trace_[name], rtol=1e-6, atol=1e-9)


@pytest.fixture
def columns(rng):
    X, y = correlated(rng, n_samples=150, n_features=14, noise=6.0)
    X = X * rng.uniform(0.2, 5, 14) + 20 * rng.normal(size=14)
    X[:, 5] = 3.0
    X[:, 7] = X[:, 2]
    return X, y


def kinds(y):
    third = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    return {
        "numbers": y,
        "labels": np.array(["low", "some", "much"])[third],
        "classes": third,
        "two": y > np.median(y),
        "counts": np.round(np.exp((y - y.mean()) / y.std())),
        "several": np.column_stack([y, np.sin(y)]),
    }


REDUCERS = [
    (NonLinCFA(), "numbers", 0),
    (NonLinCFA("aic"), "several", 0),
    (NonLinCFA("bic", cv=5), "numbers", 5),
    (NonLinCFA(0.01), "numbers", 5),
    (NonLinCFA(0.01, cv=3, target_weights=[1.0, 0.2]), "several", 3),
    (NonLinCFA(0.01, cv=None), "numbers", 4),
    (NonLinCFA("ric", target_weights=[1.0, 0.0]), "several", 0),
    (NonLinCFA(n_groups=4), "numbers", 0),
    (NonLinCFA("auto"), "labels", 0),
    (GenLinCFA(), "numbers", 0),
    (GenLinCFA(0.9), "several", 0),
    (GenLinCFA("bic", family="bernoulli"), "labels", 3),
    (GenLinCFA(0.9, family="bernoulli", curvature="null"), "classes", 0),
    (GenLinCFA(family="bernoulli"), "two", 0),
    (GenLinCFA(0.2, family="poisson", bound="bivariate"), "counts", 0),
    (LinCFA(), "numbers", 0),
]
OPTIONS = [
    {},
    {"signs": True},
    {"scale": True},
    {"aggregation": "sum"},
    {"keep": [0], "separate": [[1, 2], [3, 4]]},
    {"initial_groups": [[0, 3], [1, 8, 9]], "scale": True},
    {"max_group_size": 3},
    {"connectivity": coterie.coordinates_to_graph([(i,) for i in range(14)], distance=[2])},
]
# What may leave more groups than were asked for.
LIMITS = {"keep", "max_group_size", "connectivity"}


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
@pytest.mark.parametrize("is_weighted", [False, True])
def test_every_decision_is_that_of_all_rows(columns, rng, search, options, is_weighted):
    X, y = columns
    weights = rng.integers(1, 4, len(y)).astype(float) if is_weighted else None
    for reducer, kind, n_folds in REDUCERS:
        is_sized = reducer.get_params().get("n_groups") is not None
        if is_sized and {*options} & LIMITS:
            continue
        reducer = clone(reducer).set_params(search=search, **options)
        target = kinds(y)[kind]
        in_memory = clone(reducer).fit(X, target, weights)
        without_rows = reducer.fit_moments(moments_of(X, target, weights, n_folds))
        if is_sized:
            # Of two groups either may be said to join the other, at the same price.
            assert without_rows.labels_.tolist() == in_memory.labels_.tolist()
        else:
            assert_same_decisions(without_rows, in_memory)
        if hasattr(in_memory, "penalty_"):
            assert without_rows.penalty_ == pytest.approx(in_memory.penalty_)
        if hasattr(in_memory, "classes_"):
            assert without_rows.classes_.dtype == in_memory.classes_.dtype
            assert without_rows.classes_.tolist() == in_memory.classes_.tolist()
        np.testing.assert_allclose(without_rows.transform(X), in_memory.transform(X), rtol=1e-9)


@given(st.integers(0, 2**31))
def test_the_groups_do_not_depend_on_how_rows_are_cut(seed):
    rng = np.random.default_rng(seed)
    X, y = correlated(rng, n_samples=40, n_features=6)
    n_cuts = int(rng.integers(1, 20))
    labels = NonLinCFA().fit(X, y).labels_
    assert (NonLinCFA().fit_moments(moments_of(X, y, cuts=n_cuts)).labels_ == labels).all()


def test_any_assignment_of_folds_is_a_predefined_split(columns, rng):
    X, y = columns
    fold = rng.integers(0, 4, len(y))
    moments = Moments().update(X, y, fold=fold)
    expected = NonLinCFA(0.01, cv=PredefinedSplit(fold)).fit(X, y)
    assert_same_decisions(NonLinCFA(0.01).fit_moments(moments), expected)


def test_where_rows_are_many_an_automatic_tolerance_looks_at_the_same(rng):
    X, y, _ = make_groups(5000, 40, 5, correlation=0.5, noise=3.0, random_state=1)
    expected = NonLinCFA().fit(X, y)
    exact = NonLinCFA().fit_moments(moments_of(X, y, n_expected=5000))
    assert exact.penalty_ == expected.penalty_
    assert_same_decisions(exact, expected)
    weights = rng.integers(0, 3, 5000).astype(float)
    weighted = NonLinCFA(scale=True).fit(X, y, weights)
    known = NonLinCFA(scale=True).fit_moments(moments_of(X, y, weights, n_expected=weights.sum()))
    assert known.penalty_ == pytest.approx(weighted.penalty_, rel=1e-12)
    unknown = NonLinCFA().fit_moments(moments_of(X, y))
    ratio = np.log2(expected.penalty_ / unknown.penalty_)
    assert ratio == pytest.approx(round(ratio), abs=0.01)


def test_machines_that_share_the_rows_keep_the_same(rng):
    X, y, _ = make_groups(4000, 20, 4, noise=3.0, random_state=2)
    parts = [
        Moments(4000, n_before=start).update(X[start : start + 1000], y[start : start + 1000])
        for start in (2000, 0, 3000, 1000)
    ]
    moments = parts[0] + parts[1] + (parts[2] + parts[3])
    assert NonLinCFA().fit_moments(moments).penalty_ == NonLinCFA().fit(X, y).penalty_


@pytest.mark.parametrize("n_copies", [0, 2])
def test_residuals_follow_from_scatters(rng, n_copies):
    X, y = rng.normal(size=(60, 5)) * [1, 1e3, 1, 1e-4, 1], rng.normal(size=(60, 2))
    X = np.column_stack([X, *(X[:, [0]] + k * X[:, [1]] for k in range(n_copies)), np.ones(60)])
    table = np.column_stack([X, y])
    scatter = 60 * np.cov(table.T, ddof=0)
    np.testing.assert_allclose(residual_ss_from_scatter(scatter, 2), residual_ss(X, y), rtol=1e-8)


def test_a_perfect_fit_leaves_next_to_nothing(rng):
    X = rng.normal(size=(60, 3))
    y = X @ np.ones((3, 1))
    scatter = 60 * np.cov(np.column_stack([X, y]).T, ddof=0)
    np.testing.assert_allclose(residual_ss_from_scatter(scatter, 1), residual_ss(X, y))


def test_the_story_of_known_groups():
    X, y, labels = make_groups(2000, 30, 3, correlation=0.9, noise=1.0, random_state=0)
    X = pd.DataFrame(X, columns=[f"station {i}" for i in range(30)])
    moments = Moments(2000)
    for start in range(0, 2000, 300):
        rows = slice(start, start + 300)
        moments.update(
            X.iloc[rows, ::-1] if start else X.iloc[rows], y[rows], fold=start // 300 % 5
        )
    reducer = NonLinCFA(0.01).fit_moments(moments)
    assert reducer.labels_.tolist() == labels.tolist()
    assert reducer.feature_names_in_.tolist() == X.columns.tolist()
    assert reducer.get_feature_names_out()[0].startswith("mean(station 0")
    assert reducer.set_params(tolerance=10.0).fit_moments(moments).n_groups_ == 1
    assert reducer.set_params(tolerance="auto").fit_moments(moments).n_groups_ == 3


def test_a_fit_without_rows_can_be_saved_and_loaded(columns, tmp_path):
    X, y = columns
    reducer = NonLinCFA(scale=True, signs=True).fit_moments(moments_of(X, y))
    reducer.save(tmp_path / "model.json")
    again = coterie.load(tmp_path / "model.json")
    assert (again.transform(X) == reducer.transform(X)).all()
    assert pickle.loads(pickle.dumps(reducer)).labels_.tolist() == reducer.labels_.tolist()
    np.testing.assert_allclose(reducer.inverse_transform(reducer.transform(X)).shape, X.shape)


@pytest.mark.parametrize(
    ("reducer", "says"),
    [
        (NonLinCFA(aggregation="median"), "aggregation='median' looks at the rows"),
        (NonLinCFA(aggregation=np.hypot), "looks at the rows of each group"),
        (NonLinCFA(inputs=np.square), "inputs is a function of rows"),
        (NonLinCFA(missing="pairwise"), "missing='pairwise' looks at the rows"),
        (GenLinCFA(bound="fitted"), "bound='fitted' fits models to rows"),
        (MutualCFA(), "MutualCFA counts rows"),
        (NonLinCFA(0.01), "the moments have 0: give update the fold of each row, or set cv=None"),
        (NonLinCFA(0.01, cv=3), "Prices are scored on 3 folds, and the moments have 0"),
        (NonLinCFA(0.01, cv=TimeSeriesSplit(3)), "rows cannot be split once they are counted"),
        (GenLinCFA(family="gamma"), "needs y to be .*, got -"),
        (GenLinCFA(family="poisson"), "needs y to be"),
        (GenLinCFA(family="bernoulli"), "pass them as text"),
        (NonLinCFA(-1.0, cv=None), "tolerance must be 0 or more"),
        (NonLinCFA(search="worst"), "search must be one of"),
        (NonLinCFA(covariance="fast"), "covariance must be one of"),
        (NonLinCFA(missing="no"), "missing must be one of"),
        (NonLinCFA(keep=["z"]), "keep names 'z'"),
    ],
)
def test_what_needs_rows_says_so(columns, reducer, says):
    with pytest.raises(ValueError, match=says):
        reducer.fit_moments(moments_of(*columns))


def test_moments_that_do_not_suffice_say_so(rng):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(TypeError, match=r"must be coterie\.Moments, got ndarray"):
        NonLinCFA().fit_moments(X)
    with pytest.raises(ValueError, match="2 rows or more, got 0"):
        NonLinCFA().fit_moments(Moments())
    with pytest.raises(ValueError, match="2 features or more"):
        NonLinCFA().fit_moments(moments_of(X[:, :1], y))
    with pytest.raises(ValueError, match="y is constant, 1 in every row"):
        NonLinCFA().fit_moments(moments_of(X, np.ones(30)))
    with pytest.raises(ValueError, match="needs y with 2 classes or more"):
        GenLinCFA(family="bernoulli").fit_moments(moments_of(X, np.full(30, "a")))
    with pytest.raises(ValueError, match="needs a target of numbers, got text"):
        LinCFA().fit_moments(moments_of(X, np.array(list("abc" * 10))))
    with pytest.raises(ValueError, match="LinCFA takes one target"):
        LinCFA().fit_moments(moments_of(X, np.column_stack([y, y])))
    with pytest.raises(ValueError, match="3 samples"):
        NonLinCFA().fit_moments(moments_of(X[:3], y[:3], cuts=1))
    fold = np.repeat([0, 1, 2], 10)
    with pytest.raises(ValueError, match="y is constant within each of the 3 folds"):
        NonLinCFA(0.01).fit_moments(Moments().update(X, fold * 1.0, fold=fold))


def test_counting_batch_by_batch_is_a_fit(columns):
    X, y = columns
    reducer = NonLinCFA()
    for rows in np.array_split(np.arange(len(y)), 3):
        reducer.partial_fit(X[rows], y[rows])
    assert_same_decisions(reducer, NonLinCFA().fit(X, y))
    frames = NonLinCFA()
    X = pd.DataFrame(X, columns=list("abcdefghijklmn"))
    for rows in np.array_split(np.arange(len(y)), 3):
        frames.partial_fit(X.iloc[rows], y[rows])
    assert frames.feature_names_in_.tolist() == list(X)
    with pytest.raises(ValueError, match="in the same order"):
        frames.partial_fit(X.iloc[:, ::-1], y)


def test_counting_goes_on_after_pickling_and_begins_anew_after_a_fit(columns):
    X, y = columns
    begun = NonLinCFA(0.01).partial_fit(X[:70], y[:70])
    again = pickle.loads(pickle.dumps(begun)).partial_fit(X[70:], y[70:])
    assert_same_decisions(again, begun.partial_fit(X[70:], y[70:]))
    anew = again.fit(X[:70], y[:70]).partial_fit(X, y)
    assert_same_decisions(anew, NonLinCFA(0.01).partial_fit(X, y))


def test_batches_are_cut_into_folds_where_prices_need_them(columns):
    X, y = columns
    fold = np.concatenate([np.repeat(np.arange(5), 15)] * 2)
    counted = NonLinCFA(0.01).partial_fit(X[:75], y[:75]).partial_fit(X[75:], y[75:])
    assert_same_decisions(counted, NonLinCFA(0.01, cv=PredefinedSplit(fold)).fit(X, y))
    with pytest.raises(ValueError, match="this batch has n_samples = 3"):
        NonLinCFA(0.01).partial_fit(X[:3], y[:3])


def test_rows_that_do_not_suffice_yet_are_counted_all_the_same(columns):
    X, y = columns
    reducer = NonLinCFA()
    with pytest.raises(ValueError, match="y is constant"):
        reducer.partial_fit(X[:20], np.zeros(20))
    with pytest.raises(NotFittedError):
        reducer.transform(X)
    expected = NonLinCFA().fit(X, np.append(np.zeros(20), y[20:]))
    assert_same_decisions(reducer.partial_fit(X[20:], y[20:]), expected)


def test_a_batch_that_is_wrong_changes_nothing(columns):
    X, y = columns
    reducer = NonLinCFA().partial_fit(X[:70], y[:70])
    gap = X[70:].copy()
    gap[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN in column 4 of batch 1"):
        reducer.partial_fit(gap, y[70:])
    assert_same_decisions(reducer, NonLinCFA().fit(X[:70], y[:70]))
    assert_same_decisions(reducer.partial_fit(X[70:], y[70:]), NonLinCFA().fit(X, y))


def test_what_needs_rows_cannot_count_batches():
    assert hasattr(NonLinCFA(), "partial_fit")
    assert not hasattr(NonLinCFA(aggregation="max"), "partial_fit")
    assert not hasattr(GenLinCFA(bound="fitted"), "partial_fit")


def test_constant_columns_are_copies_once_they_are_scaled(rng):
    X, y = correlated(rng, n_samples=150, n_features=8)
    X[:, 2], X[:, 5] = 0.1, 300.3
    reducer = NonLinCFA(0.05, cv=None, scale=True, search="best", max_group_size=2)
    in_memory = clone(reducer).fit(X, y)
    assert_same_decisions(reducer.fit_moments(moments_of(X, y)), in_memory)


def test_single_precision_decides_as_double_does(rng):
    X, y, _ = make_groups(900, 30, 4, correlation=0.6, noise=2.0, random_state=3)
    X = (X * 10.0 ** rng.integers(-2, 3, 30) + 5).astype(np.float32)
    for reducer in (NonLinCFA(scale=True), NonLinCFA(0.01, cv=None, search="best")):
        expected = clone(reducer).fit(X, y)
        assert reducer.fit_moments(moments_of(X, y)).labels_.tolist() == expected.labels_.tolist()
