"""Decision by decision like the slow and obvious implementation."""

import numpy as np
import oracle
import pytest
from complete import GenLinCFA, LinCFA, NonLinCFA
from conftest import correlated
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit

SEARCHES = ["forward", "restart", "best"]
AGGREGATIONS = [*oracle.AGGREGATIONS, "custom"]


def geometric(Z):
    """A user's own aggregation."""
    return np.cbrt(np.prod(Z, axis=1))


def h_of(aggregation):
    return geometric if aggregation == "custom" else oracle.AGGREGATIONS[aggregation]


def assert_same_decisions(reducer, X, y, judge, aggregation="mean"):
    groups, asked = oracle.SEARCHES[reducer.search](X, y, h_of(aggregation), judge)
    assert [group.tolist() for group in reducer.groups_] == groups
    trace = reducer.trace_
    if reducer.search == "best":
        # The refusals that end a group are recorded too; the oracle notes only merges. And
        # either member of the first pair may have been the one that asked.
        trace = trace[trace.accepted]
        later = [len(members) > 1 for members, *_ in asked]
        assert trace.candidate[later].tolist() == [a[1] for a, it in zip(asked, later) if it]
    else:
        assert trace.candidate.tolist() == [candidate for _, candidate, *_ in asked]
    assert trace.accepted.tolist() == [accepted for *_, accepted in asked]
    np.testing.assert_allclose(trace.price, [a[2] for a in asked], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(trace.allowance, [a[3] for a in asked], rtol=1e-7, atol=1e-12)
    labels = reducer.labels_
    assert trace.group.tolist() == [labels[members[0]] for members, *_ in asked]


def is_mixed(reducer):
    """Whether the problem asked something: some merges accepted, some refused."""
    return 0 < reducer.trace_.accepted.sum() < len(reducer.trace_)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_nonlin_in_sample_equals_running_the_regressions(rng, search, aggregation):
    X, y = correlated(rng)
    word = geometric if aggregation == "custom" else aggregation
    tolerance = 0.05 if aggregation in {"mean", "sum", "median", "principal"} else 0.15
    reducer = NonLinCFA(tolerance, cv=None, search=search, aggregation=word).fit(X, y)
    assert is_mixed(reducer)
    assert_same_decisions(reducer, X, y, oracle.nonlin_in_sample(tolerance), aggregation)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_nonlin_held_out_equals_cross_val_score(rng, search, aggregation):
    X, y = correlated(rng, n_features=5)
    word = geometric if aggregation == "custom" else aggregation
    reducer = NonLinCFA(0.05, cv=3, search=search, aggregation=word).fit(X, y)
    judge = oracle.nonlin_held_out(0.05, list(KFold(3).split(X)))
    assert_same_decisions(reducer, X, y, judge, aggregation)


SPLITTERS = {
    "contiguous": KFold(5),
    "shuffled": KFold(4, shuffle=True, random_state=1),
    "time series": TimeSeriesSplit(5),
    "time series with gap": TimeSeriesSplit(3, gap=2, max_train_size=20),
    "overlapping": ShuffleSplit(4, random_state=0),
    "grouped": GroupKFold(3),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("splitter", SPLITTERS)
def test_every_splitter_equals_cross_val_score(rng, search, splitter):
    X, y = correlated(rng)
    rows = rng.integers(6, size=len(y)) if splitter == "grouped" else None
    splits = list(SPLITTERS[splitter].split(X, y, rows))
    reducer = NonLinCFA(0.05, cv=SPLITTERS[splitter], search=search).fit(X, y, groups=rows)
    assert is_mixed(reducer)
    assert_same_decisions(reducer, X, y, oracle.nonlin_held_out(0.05, splits))


def test_a_list_of_splits_may_repeat_rows(rng):
    X, y = correlated(rng)
    splits = [(rng.integers(40, size=50), np.arange(40, 60)), (np.arange(20), np.arange(20, 60))]
    reducer = NonLinCFA(0.02, cv=splits).fit(X, y)
    assert_same_decisions(reducer, X, y, oracle.nonlin_held_out(0.02, splits))


FAMILIES = {
    "gaussian": (lambda y: y, 1.0),
    "bernoulli": (lambda y: (y > np.quantile(y, 0.7)).astype(float), 0.25),
    "poisson": (lambda y: np.floor(np.exp((y - y.mean()) / y.std())), 1.0),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("bound", ["general", "bivariate"])
@pytest.mark.parametrize("family", FAMILIES)
def test_genlin_equals_the_formula_on_standardised_columns(rng, search, bound, family):
    X, y = correlated(rng, noise=4.0)
    target_of, curvature = FAMILIES[family]
    y = target_of(y)
    tolerance = 0.7 if bound == "general" else 0.4
    gaussian = family == "gaussian"
    reducer = GenLinCFA(tolerance, family=family, bound=bound, search=search).fit(X, y)
    assert len(reducer.trace_)
    judge = oracle.genlin(tolerance, curvature, bound, standardise_target=gaussian)
    assert_same_decisions(reducer, X, y, judge)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_genlin_takes_every_aggregation(rng, aggregation):
    X, y = correlated(rng, noise=4.0)
    word = geometric if aggregation == "custom" else aggregation
    reducer = GenLinCFA(0.72, aggregation=word).fit(X, y)
    judge = oracle.genlin(0.72, 1.0, "general", standardise_target=True)
    assert_same_decisions(reducer, X, y, judge, aggregation)


@pytest.mark.parametrize(
    ("family", "curvature", "number"),
    [("bernoulli", "null", lambda y: y.mean() * (1 - y.mean())), ("poisson", "null", np.mean)]
    + [(family, 0.6, lambda y: 0.6) for family in FAMILIES],
)
def test_curvature_can_be_taken_elsewhere(rng, family, curvature, number):
    X, y = correlated(rng, noise=4.0)
    y = FAMILIES[family][0](y)
    reducer = GenLinCFA(0.7, family=family, curvature=curvature).fit(X, y)
    judge = oracle.genlin(0.7, number(y), "general", standardise_target=family == "gaussian")
    assert_same_decisions(reducer, X, y, judge)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_lincfa_equals_running_the_regression(rng, search, aggregation):
    X, y = correlated(rng, noise=4.0)
    word = geometric if aggregation == "custom" else aggregation
    reducer = LinCFA(search=search, aggregation=word).fit(X, y)
    assert_same_decisions(reducer, X, y, oracle.lincfa(), aggregation)


@pytest.mark.parametrize("search", SEARCHES)
def test_scaling_is_the_same_as_standardising_first(rng, search):
    X, y = correlated(rng)
    X *= 10.0 ** rng.integers(-3, 4, size=X.shape[1])
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    reducer = NonLinCFA(0.05, cv=None, search=search, scale=True).fit(X, y)
    assert_same_decisions(reducer, standard, y, oracle.nonlin_in_sample(0.05))


@pytest.mark.parametrize("search", SEARCHES)
def test_inputs_are_what_is_grouped(rng, search):
    X, y = correlated(rng)
    reducer = NonLinCFA(0.05, cv=None, search=search, inputs=np.square).fit(X, y)
    assert_same_decisions(reducer, X**2, y, oracle.nonlin_in_sample(0.05))
