"""Several targets, and classes of any number: a merge must be worth its price to all."""

import numpy as np
import oracle
import pandas as pd
import pytest
from complete import GenLinCFA, MutualCFA, NonLinCFA
from conftest import correlated
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelBinarizer

import coterie
from coterie import ToleranceCV, stability

TARGETS = 3


def a_problem(rng, n_samples=80, n_features=7):
    X, _ = correlated(rng, n_samples, n_features)
    Y = X @ rng.normal(size=(n_features, TARGETS)) + rng.normal(size=(n_samples, TARGETS))
    return X, Y * [1, 100, 0.01]


def for_all(judge, weights=(1.0, 1.0, 1.0)):
    """The verdict of whichever target has the most against it."""
    weights = np.array(weights) / np.max(weights)

    def of_targets(u, v, w, Y):
        answers = [judge(u, v, w, y) for y in Y.T]
        prices = [k * price for k, (price, _) in zip(weights, answers)]
        hardest = int(np.argmax([p - a for p, (_, a) in zip(prices, answers)]))
        return prices[hardest], answers[hardest][1]

    return of_targets


@pytest.mark.parametrize("aggregation", ["mean", "sum_of_squares", "max"])
@pytest.mark.parametrize("search", ["forward", "restart", "best"])
@pytest.mark.parametrize("weights", [None, (3, 1, 0)])
def test_decisions_are_those_that_all_targets_agree_to(rng, search, aggregation, weights):
    X, Y = a_problem(rng)
    reducer = NonLinCFA(
        0.1, cv=None, search=search, aggregation=aggregation, target_weights=weights
    )
    reducer.fit(X, Y)
    judge = for_all(oracle.nonlin_in_sample(0.1), weights or (1, 1, 1))
    groups, asked = oracle.SEARCHES[search](X, Y, oracle.AGGREGATIONS[aggregation], judge)
    assert [group.tolist() for group in reducer.groups_] == groups
    trace = reducer.trace_ if search != "best" else reducer.trace_[reducer.trace_.accepted]
    np.testing.assert_allclose(trace.price, [a[2] for a in asked], rtol=1e-7, atol=1e-9)


def test_folds_score_all_targets(rng):
    X, Y = a_problem(rng, n_features=2)
    price = NonLinCFA(0.0, cv=4).fit(X, Y).trace_.price[0]
    merged = X.mean(axis=1, keepdims=True)
    gaps = [
        cross_val_score(LinearRegression(), X, y, cv=4).mean()
        - cross_val_score(LinearRegression(), merged, y, cv=4).mean()
        for y in Y.T
    ]
    assert price == pytest.approx(max(gaps))


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize(
    "reducer",
    [
        NonLinCFA(),
        NonLinCFA(0.05),
        NonLinCFA(0.05, signs=True),
        NonLinCFA("bic", search="best"),
        NonLinCFA(n_groups=3),
        GenLinCFA(0.9),
        GenLinCFA(0.05, bound="fitted"),
        NonLinCFA(0.1, aggregation="median", cv=None),
    ],
    ids=str,
)
def test_one_target_given_twice_is_one_target(rng, reducer, engine):
    X, Y = a_problem(rng)
    if reducer.aggregation != "median" and getattr(reducer, "bound", None) != "fitted":
        reducer.set_params(covariance=engine)
    one = reducer.fit(X, Y[:, 0])
    labels, price = one.labels_, one.trace_.price
    column = reducer.fit(X, Y[:, :1])
    np.testing.assert_array_equal(column.labels_, labels)
    if reducer.tolerance == "auto" or reducer.tolerance == "bic":
        return  # two targets are two tests
    twice = reducer.fit(X, Y[:, [0, 0]])
    np.testing.assert_array_equal(twice.labels_, labels)
    np.testing.assert_allclose(twice.trace_.price, price, atol=1e-10)


@given(st.permutations(range(TARGETS)), st.integers(0, 20))
def test_the_order_of_targets_does_not_matter(order, seed):
    X, Y = a_problem(np.random.default_rng(seed))
    for reducer in (NonLinCFA(), NonLinCFA(0.05, cv=3), GenLinCFA(0.9)):
        labels = reducer.fit(X, Y).labels_
        np.testing.assert_array_equal(reducer.fit(X, Y[:, list(order)]).labels_, labels)


def test_no_target_gives_up_more_in_a_merge_than_the_tolerance(rng):
    X, Y = a_problem(rng)
    reducer = NonLinCFA(0.05, cv=None).fit(X, Y)
    merges = reducer.trace_[reducer.trace_.accepted]
    assert (merges.price <= 0.05).all()
    assert reducer.n_groups_ >= max(NonLinCFA(0.05, cv=None).fit(X, y).n_groups_ for y in Y.T)


def test_a_partition_serves_targets_that_would_merge_different_features(rng):
    a, b, c = rng.normal(size=(3, 400))
    X = np.column_stack([a, a, b, b, 3 * c, 3 * c]) + 0.1 * rng.normal(size=(400, 6))
    Y = np.column_stack([a + b, b + c]) + 0.1 * rng.normal(size=(400, 2))
    labels = [NonLinCFA(0.12, cv=None).fit(X, y).labels_.tolist() for y in (*Y.T, Y)]
    assert labels == [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 2, 2]]
    # A target of no weight has no say.
    first_only = NonLinCFA(0.12, cv=None, target_weights=[1, 0]).fit(X, Y)
    assert first_only.labels_.tolist() == [0, 0, 0, 0, 1, 1]


def three_classes(rng, n_samples=240):
    a, b = rng.normal(size=(2, n_samples))
    X = np.column_stack([a, a, a, b, b, b]) + 0.2 * rng.normal(size=(n_samples, 6))
    number = np.where(a > 0.5, 0, np.where(b > 0, 1, 2))
    return X, np.array(["pear", "fig", "apple"])[number]


CLASSES = [
    NonLinCFA(),
    NonLinCFA(0.05, cv=4),
    GenLinCFA(family="bernoulli"),
    GenLinCFA(0.98, family="bernoulli"),
    GenLinCFA(family="bernoulli", bound="fitted"),
]


@pytest.mark.parametrize("reducer", CLASSES, ids=str)
def test_classes_are_one_target_each(rng, reducer):
    X, y = three_classes(rng)
    reducer.fit(X, y)
    assert reducer.classes_.tolist() == ["apple", "fig", "pear"]
    assert reducer.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    # The same as their indicators, on the same folds.
    indicators = LabelBinarizer().fit_transform(y)
    if isinstance(reducer, coterie.NonLinCFA) and reducer.tolerance == 0.05:
        reducer.set_params(cv=list(StratifiedKFold(4).split(X, y)))
    labels, price = reducer.labels_, reducer.trace_.price
    again = reducer.fit(X, indicators)
    np.testing.assert_array_equal(again.labels_, labels)
    np.testing.assert_allclose(again.trace_.price, price, atol=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        [True, False],
        ["a", "b"],
        [10.5, -1.0, 3.0],
        [b"x", b"y", b"z"],
        pd.Categorical(["lo", "mid", "hi"], categories=["lo", "mid", "hi"], ordered=True),
    ],
    ids=str,
)
def test_labels_of_any_kind(rng, labels):
    X, y = three_classes(rng)
    codes = pd.factorize(y, sort=True)[0] % len(labels)
    expected = GenLinCFA(family="bernoulli").fit(X, codes).labels_
    given_labels = pd.Series(labels).take(codes)
    reducer = GenLinCFA(family="bernoulli").fit(X, given_labels.reset_index(drop=True))
    assert sorted(map(str, reducer.classes_)) == sorted({str(v) for v in given_labels})
    np.testing.assert_array_equal(reducer.labels_, expected)


def test_two_classes_are_one_target(rng):
    X, y = three_classes(rng)
    two = np.where(y == "fig", "fig", "other")
    by_name = NonLinCFA(0.02, cv=None).fit(X, two).trace_
    by_number = NonLinCFA(0.02, cv=None).fit(X, (two == "other").astype(float)).trace_
    np.testing.assert_array_equal(by_name, by_number)


def test_numbers_beside_text_stay_numbers(rng):
    X, y = three_classes(rng)
    frame = pd.DataFrame({"size": X[:, 0] + rng.normal(size=len(X)), "kind": y})
    reducer = NonLinCFA(0.05, cv=None).fit(X, frame)
    assert [None if c is None else list(c) for c in reducer.classes_] == [
        None,
        ["apple", "fig", "pear"],
    ]
    by_hand = np.column_stack([frame["size"], LabelBinarizer().fit_transform(y)])
    expected = NonLinCFA(0.05, cv=None).fit(X, by_hand).trace_
    np.testing.assert_allclose(reducer.trace_.price, expected.price)


@pytest.mark.parametrize(
    ("reducer", "make"),
    [
        (NonLinCFA(), lambda y: y.astype(str)),
        (GenLinCFA(family="bernoulli"), lambda y: y),
    ],
    ids=["text", "numbers"],
)
def test_labels_that_do_not_repeat_are_no_classes(problem, reducer, make):
    X, y = problem
    with pytest.raises(ValueError, match="60 different labels in 60 rows"):
        reducer.fit(X, make(y))


def test_missing_labels_are_named(rng):
    X, y = three_classes(rng)
    holed = pd.Series(y, dtype="string").mask(np.arange(len(y)) == 3)
    for labels in (np.where(np.arange(len(y)) == 3, None, y), holed, holed.astype(object)):
        for reducer in (NonLinCFA(), GenLinCFA(family="bernoulli"), MutualCFA()):
            with pytest.raises(ValueError, match=r"y has None or NaN in row 3\.|contains NaN"):
                reducer.fit(X, labels)


def test_a_target_of_no_weight_has_no_say_on_folds_either(rng):
    X, Y = a_problem(rng)
    for reducer in (NonLinCFA(cv=5), GenLinCFA(0.9, bound="bivariate")):
        alone = reducer.fit(X, Y[:, 0]).trace_
        together = reducer.set_params(target_weights=[1, 0, 0]).fit(X, Y).trace_
        np.testing.assert_array_equal(alone, together)


def test_an_earlier_fit_leaves_no_classes_behind(rng):
    X, y = three_classes(rng)
    reducer = NonLinCFA().fit(X, y)
    reducer.fit(X, X[:, 0])
    assert not hasattr(reducer, "classes_")


def test_several_columns_of_labels(rng):
    X, y = three_classes(rng)
    both = np.column_stack([y, np.where(X[:, 0] > 0, "warm", "cold")])
    reducer = GenLinCFA(0.8, family="bernoulli").fit(X, both)
    assert [list(c) for c in reducer.classes_] == [["apple", "fig", "pear"], ["cold", "warm"]]
    indicators = np.column_stack([LabelBinarizer().fit_transform(column) for column in both.T])
    assert (
        reducer.trace_.tolist()
        == GenLinCFA(0.8, family="bernoulli").fit(X, indicators).trace_.tolist()
    )


def test_in_a_pipeline_with_a_classifier(rng):
    X, y = three_classes(rng)
    model = make_pipeline(GenLinCFA(family="bernoulli"), LogisticRegression()).fit(X, y)
    assert model[0].n_groups_ == 2
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("kind", ["classes", "several targets"])
def test_tuning_and_stability_take_them_too(rng, kind):
    X, y = three_classes(rng)
    if kind == "classes":
        tuned = ToleranceCV(GenLinCFA(family="bernoulli"), tolerances=[0.5, 0.8], cv=3).fit(X, y)
        result = stability(X, y, n_resamples=5, random_state=0)
    else:
        Y = np.column_stack([X[:, :3].mean(axis=1), X[:, 3:].mean(axis=1)])
        Y += rng.normal(size=Y.shape)
        tuned = ToleranceCV(tolerances=[0.02, 0.5], cv=3).fit(X, Y)
        result = stability(X, Y, estimator=NonLinCFA(0.02), n_resamples=5, random_state=0)
    assert tuned.path_.cv_scores.shape == (2, 3)
    assert tuned.path_.cv_mean.max() > 0.3
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("family", "make"),
    [("poisson", lambda mu, rng: rng.poisson(mu)), ("gamma", lambda mu, rng: rng.gamma(2, mu))],
)
def test_counts_and_positive_numbers_may_be_several(rng, family, make):
    a, b = rng.normal(size=(2, 300))
    X = np.column_stack([a, a, b, b]) + 0.1 * rng.normal(size=(300, 4))
    Y = make(np.exp(np.column_stack([1 + a / 2, 1 + b / 2])), rng)
    for bound in ("general", "fitted"):
        assert GenLinCFA(family=family, bound=bound).fit(X, Y).labels_.tolist() == [0, 0, 1, 1]
    tuned = ToleranceCV(
        GenLinCFA(family=family, curvature="null"), tolerances=[0.3, 0.9], cv=3
    ).fit(X, Y)
    assert tuned.path_.cv_scores.shape == (2, 3)
