"""Questions are asked of the rows that have both; aggregates are those of who is there."""

import pickle

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from complete import GenLinCFA, LinCFA, NonLinCFA
from conftest import correlated
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from coterie import ToleranceCV, load
from coterie._core.aggregations import AGGREGATIONS, filled, means_of_available, running_form
from coterie._core.evidence import ComputeOptions, EvidenceSpec, RowSets, build_evidence
from coterie.datasets import make_groups

WITH_GAPS = ["mean", "sum", "sum_of_squares", "norm", "max", "min", "median"]


def of_available(aggregation, Z, means=None):
    """Row by row: who is missing deviates as the others do; NaN where there is nobody."""
    means = np.nanmean(Z, axis=0) if means is None else means
    values = np.full(len(Z), np.nan)
    for number, row in enumerate(Z):
        there = ~np.isnan(row)
        if there.any():
            full = np.where(there, row, means + np.mean((row - means)[there]))
            values[number] = oracle.AGGREGATIONS[aggregation](full[None])[0]
    return values


def with_gaps(rng, n_samples=80, n_features=6, share=0.15):
    X, y = correlated(rng, n_samples, n_features)
    X[rng.uniform(size=X.shape) < share] = np.nan
    return X, y


def complete_cases(judge):
    """The same question of the rows that have all it is about, and none of too few."""

    def of_rows(u, v, w, y):
        rows = ~np.isnan(u) & ~np.isnan(v)
        price, allowance = judge(u[rows], v[rows], w[rows], y[rows])
        enough = rows.sum() >= max(4, min(30, len(y) / 2))
        return (price, allowance) if enough else (np.inf, 0.0)

    return of_rows


CASES = [
    (NonLinCFA(0.05, cv=None, search="forward"), oracle.nonlin_in_sample(0.05)),
    (NonLinCFA(0.05, cv=None), oracle.nonlin_in_sample(0.05)),
    (NonLinCFA(0.05, cv=None, search="best"), oracle.nonlin_in_sample(0.05)),
    (LinCFA(), oracle.lincfa()),
    (GenLinCFA(0.9), oracle.genlin(0.9, 1.0, "general", standardise_target=True)),
    (GenLinCFA(0.05, bound="fitted"), oracle.nonlin_in_sample(0.05)),
]


@pytest.mark.parametrize("aggregation", WITH_GAPS)
@pytest.mark.parametrize(("reducer", "judge"), CASES, ids=[str(case[0]) for case in CASES])
def test_decisions_are_those_of_complete_cases(rng, reducer, judge, aggregation):
    X, y = with_gaps(rng)
    reducer = type(reducer)(**{**reducer.get_params(), "missing": "pairwise"})
    reducer.set_params(aggregation=aggregation).fit(X, y)
    groups, asked = oracle.SEARCHES[reducer.search](
        X, y, lambda Z: of_available(aggregation, Z), complete_cases(judge)
    )
    assert [group.tolist() for group in reducer.groups_] == groups
    trace = reducer.trace_ if reducer.search != "best" else reducer.trace_[reducer.trace_.accepted]
    np.testing.assert_allclose(trace.price, [a[2] for a in asked], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(trace.allowance, [a[3] for a in asked], rtol=1e-7, atol=1e-9)


def test_folds_score_the_rows_that_have_both(rng):
    X, y = with_gaps(rng, 90, 2)
    splits = list(KFold(3).split(X))
    price = NonLinCFA(0.0, cv=splits, missing="pairwise").fit(X, y).trace_.price[0]
    there = ~np.isnan(X).any(axis=1)
    merged = X.mean(axis=1, keepdims=True)
    gaps = []
    for train, test in splits:
        train, test = train[there[train]], test[there[test]]
        scores = [
            LinearRegression().fit(Z[train], y[train]).score(Z[test], y[test]) for Z in (X, merged)
        ]
        gaps.append(scores[0] - scores[1])
    assert price == pytest.approx(np.mean(gaps), abs=1e-10)


@pytest.mark.parametrize("splits", [None, KFold(3)], ids=["all rows", "folds"])
@pytest.mark.parametrize("name", WITH_GAPS)
def test_evidence_of_complete_columns_does_not_depend_on_how_it_is_gathered(rng, name, splits):
    X, y = rng.normal(size=(30, 6)) + 3, rng.normal(size=(30, 1))
    weights = rng.integers(1, 4, size=30).astype(float)
    rows = RowSets.of_splits(splits.split(X), 30, weights) if splits else RowSets.all_rows(weights)
    answers = []
    for asked in (EvidenceSpec(), EvidenceSpec(missing=True)):
        evidence = build_evidence(X, y, AGGREGATIONS[name], rows, ComputeOptions(), asked)
        group = evidence.joined(evidence.alone(1), np.array([4, 0]))
        answers.append(evidence.pairs(group, np.array([2, 3, 5])))
    plain, by_row = answers
    for a, b in ("uv", "uy", "vy", "wy"):
        got = [
            getattr(pairs, a + b) / np.sqrt(getattr(pairs, a + a) * getattr(pairs, b + b))
            for pairs in answers
        ]
        np.testing.assert_allclose(*np.broadcast_arrays(*got), atol=1e-12)
    np.testing.assert_allclose(plain.n * np.ones(3), by_row.n)


@pytest.mark.parametrize("reducer", [NonLinCFA(), NonLinCFA(0.02), GenLinCFA(), LinCFA()], ids=str)
def test_without_gaps_nothing_changes(problem, reducer):
    X, y = problem
    plain = reducer.fit(X, y).trace_
    pairwise = type(reducer)(**{**reducer.get_params(), "missing": "pairwise"}).fit(X, y).trace_
    np.testing.assert_array_equal(plain, pairwise)


@pytest.mark.parametrize("name", WITH_GAPS)
@given(seed=st.integers(0, 100))
def test_running_forms_agree_with_values(name, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(12, 4))
    Z[rng.uniform(size=Z.shape) < 0.4] = np.nan
    form = running_form(AGGREGATIONS[name], missing=True)
    state = form.first(Z[:, 0])
    for column in Z.T[1:3]:
        state = form.joined(state, column)
    expected = of_available(name, Z)
    np.testing.assert_allclose(form.with_each(state, Z[:, [3]])[:, 0], expected)
    np.testing.assert_allclose(form.value(form.joined(state, Z[:, 3])), expected)
    full = filled(Z, means_of_available(Z))
    some = ~np.isnan(expected)
    np.testing.assert_allclose(AGGREGATIONS[name].values(full[some]), expected[some])
    assert np.isnan(full[~some]).all()


@pytest.mark.parametrize("aggregation", WITH_GAPS)
def test_transform_aggregates_who_is_there(rng, aggregation):
    X, y = with_gaps(rng)
    reducer = NonLinCFA(0.3, cv=None, missing="pairwise", aggregation=aggregation).fit(X, y)
    means = np.nanmean(X, axis=0)
    X[0] = np.nan
    Z = reducer.transform(X)
    assert np.isnan(Z[0]).all()
    for j, group in enumerate(reducer.groups_):
        np.testing.assert_allclose(Z[:, j], of_available(aggregation, X[:, group], means[group]))
    if aggregation in {"mean", "sum"}:
        back = reducer.inverse_transform(Z)
        np.testing.assert_allclose(reducer.transform(back), Z)
    assert len(reducer.get_feature_names_out()) == Z.shape[1]


def stations(rng, n_samples=2000):
    """Two that measure the same weather, one 20 degrees warmer, and 10 % of it missing."""
    weather = rng.normal(size=(n_samples, 1))
    X = weather + [25.0, 5.0] + 0.3 * rng.normal(size=(n_samples, 2))
    y = weather.ravel() + 0.5 * rng.normal(size=n_samples)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X[~np.isnan(X).all(axis=1)], y[~np.isnan(X).all(axis=1)]


@pytest.mark.parametrize("aggregation", WITH_GAPS)
def test_who_is_missing_does_not_change_the_level(rng, aggregation):
    X, y = stations(rng)
    reducer = NonLinCFA(1.0, cv=None, missing="pairwise", aggregation=aggregation)
    reducer.fit(X[:1000], y[:1000])
    Z = reducer.transform(X)
    model = LinearRegression().fit(Z[:1000], y[:1000])
    # Of the variance of y, 1 / 1.25 is weather, which each station shows but for 0.09 of noise.
    assert model.score(Z[1000:], y[1000:]) > 0.7
    some = np.isnan(X).any(axis=1)
    assert model.score(Z[some], y[some]) > 0.65


@pytest.mark.parametrize("aggregation", WITH_GAPS)
def test_what_was_priced_is_what_is_transformed(rng, aggregation):
    X, y = stations(rng, 400)
    weights = rng.integers(1, 4, size=len(y)).astype(float)
    reducer = NonLinCFA(1.0, cv=None, missing="pairwise", aggregation=aggregation)
    record = reducer.fit(X, y, sample_weight=weights).trace_[0]
    there = ~np.isnan(X).any(axis=1)
    merged = reducer.transform(X)[there]
    apart = X[there] ** 2 if aggregation == "sum_of_squares" else X[there]
    # A group of one is already a square, the candidate is not.
    apart = np.column_stack([apart[:, 0], X[there, 1]])
    scores = [
        LinearRegression().fit(Z, y[there], weights[there]).score(Z, y[there], weights[there])
        for Z in (apart, merged)
    ]
    assert record.price == pytest.approx(scores[0] - scores[1], abs=1e-9)


@pytest.mark.parametrize("aggregation", WITH_GAPS)
def test_new_rows_are_filled_with_the_means_of_the_training_rows(rng, aggregation, tmp_path):
    X, y = stations(rng, 300)
    reducer = NonLinCFA(1.0, cv=None, missing="pairwise", aggregation=aggregation).fit(X, y)
    new = np.array([[np.nan, 7.0], [26.0, np.nan], [30.0, 1.0]])
    expected = of_available(aggregation, new, np.nanmean(X, axis=0))
    np.testing.assert_allclose(reducer.transform(new)[:, 0], expected)
    for row, value in zip(new, expected, strict=True):
        np.testing.assert_allclose(reducer.transform(row[None])[0, 0], value)
    reducer.save(tmp_path / "model.json")
    again = (load(tmp_path / "model.json"), pickle.loads(pickle.dumps(reducer)))
    for other in again:
        np.testing.assert_array_equal(other.transform(new), reducer.transform(new))


def test_known_groups_are_found_through_gaps():
    X, y, labels = make_groups(600, 12, 3, noise=3.0, random_state=4)
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.2] = np.nan
    assert not (~np.isnan(X)).all(axis=1).sum() > 100  # complete rows alone would be few
    for reducer in (NonLinCFA(missing="pairwise"), NonLinCFA(missing="pairwise", scale=True)):
        assert reducer.fit(X, y).labels_.tolist() == labels.tolist()


def test_features_that_are_never_there_together_do_not_merge(rng):
    x, y = rng.normal(size=200), rng.normal(size=200)
    X = np.column_stack([x, x, rng.normal(size=200)])
    X[:90, 0] = X[110:, 1] = np.nan  # together in 20 rows
    reducer = NonLinCFA(np.inf, cv=None, search="forward", missing="pairwise").fit(X, y)
    assert reducer.trace_[0].tolist() == (0, 1, np.inf, 0.0, False)
    assert reducer.labels_.tolist() == [0, 1, 0]


def test_folds_need_as_large_a_part_of_the_rows(rng):
    z = rng.normal(size=(200, 1))
    X = z + 0.1 * rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.3] = np.nan  # two share some hundred rows, twenty in a fold
    y = z.ravel() + rng.normal(size=200)
    assert NonLinCFA(0.5, missing="pairwise").fit(X, y).n_groups_ == 1


@pytest.mark.parametrize("reducer", [NonLinCFA("aic"), LinCFA(), GenLinCFA("bic", bound="fitted")])
def test_three_rows_are_never_enough(reducer):
    reducer.set_params(missing="pairwise")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(6, 5)), rng.normal(size=6)
        X[rng.random(X.shape) < 0.35] = np.nan
        X[:2] = rng.normal(size=(2, 5))
        trace = reducer.fit(X, y).trace_
        assert np.isfinite(trace.allowance).all()


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_reducers_that_choose_their_tolerance_take_gaps(rng, kind):
    X, y = with_gaps(rng, share=0.4)
    if kind == "numbers":
        tuned = ToleranceCV(
            NonLinCFA(cv=None, missing="pairwise"), tolerances=[0.02, 0.2], cv=3
        ).fit(X, y)
    else:
        tuned = ToleranceCV(
            GenLinCFA(family="bernoulli", missing="pairwise"), tolerances=[0.5, 0.9], cv=3
        ).fit(X, y > 0)
    assert np.isfinite(tuned.path_.cv_scores).all()


def test_gaps_that_depend_on_the_target_mislead(rng):
    """When it is unsafe, as documented: here the gaps hide that two features differ."""
    u, v = rng.normal(size=(2, 4000))
    y = u - v + 0.1 * rng.normal(size=4000)
    X = np.column_stack([u, v])
    hidden = X.copy()
    hidden[np.abs(y) > 0.1, 1] = np.nan
    whole = NonLinCFA(0.1, cv=None, missing="pairwise").fit(X, y).trace_.price[0]
    part = NonLinCFA(0.1, cv=None, missing="pairwise").fit(hidden, y).trace_.price[0]
    assert whole > 0.9
    assert part < 0.5


@pytest.mark.parametrize("kind", ["pandas nullable", "polars"])
def test_gaps_of_frames_are_gaps(rng, kind):
    X, y = with_gaps(rng)
    expected = NonLinCFA(0.05, missing="pairwise").fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame = frame.convert_dtypes() if kind == "pandas nullable" else pl.from_pandas(frame)
    reducer = NonLinCFA(0.05, missing="pairwise").fit(frame, y)
    assert reducer.labels_.tolist() == expected.labels_.tolist()
    np.testing.assert_allclose(reducer.transform(frame), expected.transform(X))
    with pytest.raises(
        ValueError, match=r"X has NaN in columns 'a', 'b', 'c', 'd', 'e' and 1 more"
    ):
        NonLinCFA().fit(frame, y)


def test_bad_gaps(rng):
    X, y = with_gaps(rng)
    pairwise = NonLinCFA(missing="pairwise")
    for bad, sentence in [
        (np.where(np.arange(6) == 2, np.nan, X), "X has no value at all in column 'x2'."),
        (np.where(np.arange(6) == 2, np.inf, X), r"X has infinity \(inf\) in column 2."),
    ]:
        with pytest.raises(ValueError, match=sentence):
            pairwise.fit(bad, y)
    with pytest.raises(ValueError, match="No tolerance gives n_groups=5 with missing values"):
        NonLinCFA(n_groups=5, missing="pairwise").fit(np.where(np.arange(6) < 3, X[:, [0]], X), y)


def test_the_tag_follows_the_parameter():
    assert NonLinCFA(missing="pairwise").__sklearn_tags__().input_tags.allow_nan
    assert not NonLinCFA().__sklearn_tags__().input_tags.allow_nan
