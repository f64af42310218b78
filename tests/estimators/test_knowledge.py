"""What the user knows beforehand: signs, groups, features to keep or to separate, and a size."""

import numpy as np
import pandas as pd
import pytest
from conftest import correlated
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Coterie, GenLinCFA, LinCFA, NonLinCFA
from coterie._core import compiled

SEEDS = st.integers(0, 2**20)
SEARCHES = ["forward", "restart", "best"]
each_search = pytest.mark.parametrize("search", SEARCHES)


def problem(seed, **options):
    return correlated(np.random.default_rng(seed), **options)


def test_opposites_join_with_a_minus(rng):
    a = rng.normal(size=300)
    X = pd.DataFrame({"a": a, "b": -a, "c": rng.normal(size=300)})
    X += 0.1 * rng.normal(size=X.shape)
    y = 3 * a + X["c"] + 0.5 * rng.normal(size=300)
    reducer = NonLinCFA(signs=True).fit(X, y)
    assert reducer.get_feature_names_out().tolist() == ["mean(a, -b)", "c"]
    assert reducer.signs_.tolist() == [1, -1, 1]
    np.testing.assert_allclose(reducer.transform(X)[:, 0], (X["a"] - X["b"]) / 2)
    back = reducer.inverse_transform(reducer.transform(X))
    np.testing.assert_allclose(back[:, 1], -back[:, 0])
    plain = NonLinCFA().fit(X, y).labels_
    assert plain[0] != plain[1]


@each_search
@pytest.mark.parametrize("engine", ["gram", "columns"])
@given(seed=SEEDS)
def test_turning_features_round_changes_no_group(search, engine, seed):
    X, y = problem(seed)
    turned = X * np.random.default_rng(seed).choice([-1.0, 1.0], size=X.shape[1])
    reducer = NonLinCFA(0.02, cv=None, signs=True, search=search, covariance=engine)
    Z, labels = reducer.fit(X, y).transform(X), reducer.labels_
    there = reducer.fit(turned, y).transform(turned)
    assert (reducer.labels_ == labels).all()
    np.testing.assert_allclose(np.abs(there), np.abs(Z), atol=1e-12)


@each_search
@pytest.mark.parametrize("reducer", [NonLinCFA(), NonLinCFA(0.01), GenLinCFA(0.7), LinCFA()])
def test_signs_are_those_of_correlations_in_groups_of_two(reducer, search, rng):
    X, y = correlated(rng, n_samples=100, n_features=12)
    reducer.set_params(search=search, signs=True, max_group_size=2).fit(X, y)
    for members in reducer.groups_:
        if len(members) == 2:
            a, b = X[:, members].T
            assert reducer.signs_[members].tolist() == [1, np.sign(np.corrcoef(a, b)[0, 1])]


@each_search
@given(seed=SEEDS)
def test_what_is_kept_stays_alone_and_what_is_separate_never_mixes(search, seed):
    X, y = problem(seed, n_features=10)
    reducer = NonLinCFA(0.5, search=search, keep=[2], separate=[[0, 1], [4, 5], [9]])
    labels = reducer.fit(X, y).labels_.tolist()
    assert labels.count(labels[2]) == 1
    for group in reducer.groups_:
        kinds = {{0: 1, 1: 1, 4: 2, 5: 2, 9: 3}.get(member) for member in group.tolist()}
        assert len(kinds - {None}) <= 1


@each_search
@given(seed=SEEDS)
def test_groups_to_begin_with_are_never_split(search, seed):
    X, y = problem(seed, n_features=9)
    given_groups = [[0, 7], [3, 4, 5]]
    labels = NonLinCFA(0.02, search=search, initial_groups=given_groups).fit(X, y).labels_
    for members in given_groups:
        assert len(set(labels[members])) == 1


@each_search
def test_a_group_to_begin_with_counts_as_the_sum_of_its_members(rng, search):
    X, y = correlated(rng, n_features=8)
    together = np.column_stack([X[:, 0], X[:, 1] + X[:, 6], X[:, [2, 3, 4, 5, 7]]])
    expected = NonLinCFA(0.01, aggregation="sum", search=search).fit(together, y)
    reducer = NonLinCFA(0.01, initial_groups=[[1, 6]], search=search).fit(X, y)
    in_sum = expected.labels_[[0, 1, 2, 3, 4, 5, 1, 6]]
    assert ((in_sum[:, None] == in_sum) == (reducer.labels_[:, None] == reducer.labels_)).all()


@each_search
@pytest.mark.parametrize("fewest", [0, 10**6], ids=["compiled", "numpy"])
def test_groups_of_a_limited_size_count_their_members(monkeypatch, rng, search, fewest):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", fewest)
    X, y = correlated(rng, n_features=9)
    reducer = NonLinCFA(10.0, initial_groups=[[0, 1, 2]], max_group_size=4, search=search).fit(X, y)
    assert max(map(len, reducer.groups_)) == 4
    assert len(set(reducer.labels_[:3])) == 1


@each_search
def test_names_and_numbers_mean_the_same(problem, search):
    X, y = problem
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    by_name = NonLinCFA(
        0.1, search=search, keep=["b"], initial_groups=[["a", "d"]], separate=[["e"], ["f"]]
    )
    by_number = NonLinCFA(
        0.1, search=search, keep=[1], initial_groups=[[0, 3]], separate=[[4], [5]]
    )
    assert (by_name.fit(frame, y).labels_ == by_number.fit(X, y).labels_).all()


@each_search
@pytest.mark.parametrize("signs", [False, True])
@settings(max_examples=10)  # each fits eight times
@given(seed=SEEDS)
def test_any_number_of_groups_can_be_had(search, signs, seed):
    X, y = problem(seed, n_features=8)
    for n_groups in range(1, 9):
        reducer = NonLinCFA(n_groups=n_groups, search=search, signs=signs).fit(X, y)
        assert reducer.n_groups_ == n_groups == len(set(reducer.trace_.group) | {*range(n_groups)})
        assert reducer.transform(X).shape == (len(X), n_groups)


def test_a_tolerance_that_gives_the_number_is_taken(problem):
    X, y = problem
    found = 0
    for n_groups in range(1, 8):
        reducer = NonLinCFA(n_groups=n_groups).fit(X, y)
        again = NonLinCFA(max(reducer.tolerance_, 0.0), cv=None).fit(X, y)
        if np.isfinite(reducer.trace_.allowance).all():
            assert (again.labels_ == reducer.labels_).all()
            found += 1
    assert found > 2


@pytest.mark.parametrize(
    ("reducer", "sentence"),
    [
        (NonLinCFA(signs="yes"), "signs must be True or False, got 'yes'."),
        (NonLinCFA(signs=True, aggregation="max"), "needs aggregation='mean' or 'sum', got 'max'."),
        (
            NonLinCFA(initial_groups=[[0, 1]], aggregation="norm"),
            "groups needs aggregation='mean' or",
        ),
        (NonLinCFA(keep="a"), "keep must list columns, got 'a'."),
        (NonLinCFA(keep=["speeed"]), "keep names 'speeed', which is no column. Did you mean"),
        (NonLinCFA(keep=[9]), "keep must name columns, or number them from 0 to 3, got 9."),
        (NonLinCFA(keep=[-1]), "or number them from 0 to 3, got -1."),
        (NonLinCFA(initial_groups=3), "groups must be a list of lists of columns, got 3."),
        (NonLinCFA(initial_groups=[[0, 1], [1, 2]]), "groups has column 'heat' more than once."),
        (NonLinCFA(separate=[[0], [0, 1]]), "separate has column 'speed' more than once."),
        (
            NonLinCFA(keep=[0], initial_groups=[[0, 1]]),
            "keep and initial_groups both have column 'speed'.",
        ),
        (
            NonLinCFA(initial_groups=[[0, 1]], separate=[[0], [1]]),
            "together, which separate keeps apart.",
        ),
        *(
            (
                reducer(max_group_size=2, initial_groups=[["heat", "speed", "load"]]),
                "'speed', 'heat', 'load' together, and max_group_size=2 allows no group of 3.",
            )
            for reducer in (Coterie, NonLinCFA, LinCFA, GenLinCFA)
        ),
        (NonLinCFA(n_groups=0), "n_groups must be 1 or more, got 0."),
        (NonLinCFA(n_groups=2.5), "n_groups must be None or an int, got 2.5."),
        (NonLinCFA(n_groups=5), "n_groups must be 4 or less"),
        (NonLinCFA(0.1, n_groups=2), "leave tolerance='auto', got 0.1."),
        (NonLinCFA(n_groups=1, keep=[0]), "n_groups=1 cannot be reached: with the other limits, 2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_knowledge(reducer, sentence, rng):
    frame = pd.DataFrame(rng.normal(size=(30, 4)), columns=["speed", "heat", "mass", "load"])
    with pytest.raises((ValueError, TypeError)) as error:
        reducer.fit(frame, frame.sum(axis=1) + rng.normal(size=30))
    assert sentence in str(error.value)
