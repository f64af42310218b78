"""Compiled searches decide like those in numpy, question by question, and go where they can go."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, ShuffleSplit

from coterie import NonLinCFA, coordinates_to_graph
from coterie._core import compiled
from coterie._core.aggregations import AGGREGATIONS
from coterie._core.compiled import _worth
from coterie._core.compiled._tables import rule_of, sums_of, views_of
from coterie._core.criteria import ForAll, GenLin, Lin, NonLin, Parsimony
from coterie._core.evidence import ComputeOptions, EvidenceSpec, RowSets, build_evidence
from coterie._core.fit import MergeQuestion
from coterie._core.search import NO_LIMITS, SEARCHES, Limits, Search, best, forward, outcome
from coterie._core.values import Verdict

pytest.importorskip("numba")

CRITERIA = {
    "in-sample": NonLin(1e-2),
    "held-out": NonLin(1e-2, held_out=True),
    "general": GenLin(0.8, 1.0),
    "bivariate": GenLin(0.7, 0.25, "bivariate"),
    "linear": Lin(),
    "parsimony": Parsimony(3.0),
    "endless": NonLin(np.inf),
}


@pytest.fixture(autouse=True)
def from_the_first_feature_on(monkeypatch):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", 0)
    monkeypatch.setattr(_worth, "LOADING_SECONDS", 0.0)
    monkeypatch.setattr(_worth, "COMPILING_SECONDS", 0.0)


def problem(seed, n_samples=40, n_features=12, shift=0.0):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_samples, 3))
    X = factors @ rng.normal(size=(3, n_features)) + 0.4 * rng.normal(size=(n_samples, n_features))
    return X + shift, X @ rng.normal(size=n_features) + rng.normal(size=n_samples)


def rows_for(criterion, n_samples, seed=0):
    if not getattr(criterion, "held_out", False):
        return RowSets.all_rows()
    splitter = [
        KFold(4),
        KFold(3, shuffle=True, random_state=seed),
        ShuffleSplit(3, random_state=1),
    ]
    return RowSets.of_splits(splitter[seed % 3].split(np.empty(n_samples)), n_samples)


def both(search, evidence, criterion, limits=NO_LIMITS):
    ours = compiled.compiled_search(SEARCHES[search].run, evidence, criterion, limits)
    assert ours is not None
    return ours, SEARCHES[search].run(MergeQuestion(evidence, criterion), limits)


def assert_same(ours, theirs):
    (partition, trace, n_refused), (expected, told, n_expected) = ours, theirs
    np.testing.assert_array_equal(n_refused, n_expected)
    assert [g.tolist() for g in partition.groups] == [g.tolist() for g in expected.groups]
    for field in ("group", "candidate", "accepted"):
        np.testing.assert_array_equal(trace[field], told[field])
    for field in ("price", "allowance"):
        np.testing.assert_allclose(trace[field], told[field], rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("search", SEARCHES)
@given(seed=st.integers(0, 10**6))
def test_every_question_is_asked_and_answered_alike(search, criterion, engine, seed):
    X, y = problem(seed)
    rows = rows_for(criterion, len(X), seed)
    evidence = build_evidence(X, y[:, None], AGGREGATIONS["mean"], rows, ComputeOptions(engine))
    assert_same(*both(search, evidence, criterion))


@pytest.mark.parametrize("search", SEARCHES)
def test_squares_are_looked_up_too(search):
    X, y = problem(1)
    rows = RowSets.all_rows()
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["sum_of_squares"], rows, ComputeOptions("gram")
    )
    assert_same(*both(search, evidence, NonLin(0.05)))


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("search", SEARCHES)
def test_constants_far_columns_and_wild_units(search, engine):
    X, y = problem(2, shift=1e5)
    X[:, 3] = 7.0
    X[:, 5] *= 1e-120
    X[:, 8] *= 1e120
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions(engine)
    )
    assert_same(*both(search, evidence, NonLin(0.05)))


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("size", [None, 1, 2, 3])
def test_limits_are_kept(search, engine, size):
    X, y = problem(3)
    graph = coordinates_to_graph(np.arange(12)[:, None], distance=1)
    for limits in (Limits(None, size), Limits(graph, size)):
        evidence = build_evidence(
            X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions(engine)
        )
        assert_same(*both(search, evidence, NonLin(0.3), limits))


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("search", SEARCHES)
def test_signs_are_the_same(search, criterion, engine):
    for seed in range(5):
        X, y = problem(seed)
        rows = rows_for(criterion, len(X), seed)
        evidence = build_evidence(
            X,
            y[:, None],
            AGGREGATIONS["mean"],
            rows,
            ComputeOptions(engine),
            EvidenceSpec(signs=True),
        )
        assert_same(*both(search, evidence, criterion))


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("search", SEARCHES)
def test_several_targets_are_asked_alike(search, criterion, engine):
    for seed in range(5):
        X, _ = problem(seed)
        rng = np.random.default_rng(seed)
        Y = X @ rng.normal(size=(12, 3)) + 2 * rng.normal(size=(40, 3))
        weights = rng.integers(1, 4, size=40).astype(float)
        rows = replace(rows_for(criterion, len(X), seed), weights=weights)
        evidence = build_evidence(X, Y, AGGREGATIONS["mean"], rows, ComputeOptions(engine))
        curvatures = (0.5, 1.0, 2.0) if isinstance(criterion, GenLin) else ()
        criteria = [replace(criterion, curvature=k) for k in curvatures] or [criterion] * 3
        assert_same(*both(search, evidence, ForAll(criteria, np.array([1.0, 0.3, 0.8]))))


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("search", SEARCHES)
def test_kinds_and_sizes_are_kept(search, size):
    for seed in range(10):
        X, y = problem(seed)
        rng = np.random.default_rng(seed)
        kinds, sizes = rng.integers(-1, 3, size=12), rng.integers(1, 3, size=12)
        for limits in (Limits(None, size, kinds), Limits(None, size, kinds, sizes)):
            evidence = build_evidence(
                X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions()
            )
            assert_same(*both(search, evidence, NonLin(0.3), limits))


@pytest.mark.parametrize("search", SEARCHES)
def test_single_precision_columns_are_read_as_they_are(search):
    X, y = problem(4)
    X = X.astype(np.float32)
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions("columns")
    )
    assert_same(*both(search, evidence, NonLin(0.02)))


def test_what_it_cannot_do_it_leaves_to_numpy():
    X, y = problem(5)
    rows = RowSets.all_rows()

    def answer(aggregation, engine="auto", criterion=CRITERIA["linear"], copies=None):
        evidence = build_evidence(
            X, y[:, None], AGGREGATIONS[aggregation], rows, ComputeOptions(engine)
        )
        return compiled.compiled_search(best, evidence, criterion, Limits(copies=copies))

    assert answer("max") is None
    assert answer("sum_of_squares", engine="columns") is None
    assert answer("mean", criterion=object()) is None
    assert answer("mean", criterion=Parsimony(3.0, held_out=True)) is None
    assert answer("mean", criterion=ForAll([Lin(), object()], np.ones(2))) is None
    assert answer("mean", criterion=ForAll([NonLin(0.1), NonLin(0.2)], np.ones(2))) is None
    assert answer("mean", copies=np.array([1, 2, 2, *range(3, 12)])) is None
    assert answer("mean", copies=np.arange(1, 13)) is not None

    class Stricter(NonLin):
        def verdict(self, pairs):
            price, allowance = super().verdict(pairs)
            return Verdict(price, allowance / 2)

    assert answer("mean", criterion=Stricter(0.1)) is None
    assert answer("mean", criterion=ForAll([Stricter(0.1), Lin()], np.ones(2))) is None


def test_a_search_of_ones_own_is_not_taken_for_another(monkeypatch):
    """Whatever its name, and whether or not it stands where one of ours stood."""
    X, y = problem(9)

    def all_alone(question, limits):
        return outcome([[feature] for feature in range(question.n_features)], [])

    for name in ("mine", "forward"):
        monkeypatch.setitem(SEARCHES, name, Search(name, all_alone))
        assert NonLinCFA(np.inf, search=name).fit(X, y).n_groups_ == X.shape[1]


def test_few_features_are_left_to_numpy(monkeypatch):
    monkeypatch.setattr(compiled, "FEWEST_FEATURES", 13)
    X, y = problem(6)
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions()
    )
    assert compiled.compiled_search(forward, evidence, NonLin(0.1), NO_LIMITS) is None


def answer_for(X, y, covariance="gram"):
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions(covariance)
    )
    return compiled.compiled_search(forward, evidence, NonLin(0.1), NO_LIMITS)


@pytest.mark.parametrize("covariance", ["gram", "columns"])
def test_a_search_that_numpy_ends_sooner_loads_no_compiler(monkeypatch, covariance):
    monkeypatch.setattr(_worth, "LOADING_SECONDS", 1e-3)
    monkeypatch.delitem(sys.modules, compiled.SEARCHES, raising=False)
    monkeypatch.setattr(compiled, "_loaded", lambda: pytest.fail("a compiler was loaded"))
    assert answer_for(*problem(6), covariance) is None
    # 12 x 12 pairs are some microseconds, 500 x 500 some milliseconds.
    monkeypatch.setattr(compiled, "_loaded", lambda: None)
    assert answer_for(*problem(6, n_features=500), covariance) is None


def test_what_is_not_compiled_yet_is_left_to_numpy_unless_that_takes_longer(monkeypatch, caplog):
    searches = compiled._loaded()
    monkeypatch.setattr(_worth, "COMPILING_SECONDS", 20.0)
    monkeypatch.setattr(searches, "is_ready", lambda *_: False)
    with caplog.at_level("INFO", logger="coterie"):
        assert answer_for(*problem(6)) is None
    assert "run coterie warm-up" in caplog.text
    monkeypatch.setattr(searches, "is_ready", lambda *_: True)
    assert answer_for(*problem(6)) is not None
    monkeypatch.setattr(searches, "is_ready", lambda *_: False)
    monkeypatch.setattr(_worth, "SECONDS_PER_PAIR", 1.0)
    assert answer_for(*problem(6)) is not None


def test_what_was_compiled_is_ready():
    assert compiled.warm_up()
    X, y = problem(6)
    for precision, covariance in ((float, "gram"), (float, "columns"), (np.float32, "columns")):
        evidence = build_evidence(
            X.astype(precision),
            y[:, None],
            AGGREGATIONS["mean"],
            RowSets.all_rows(),
            ComputeOptions(covariance),
        )
        rule, sums = rule_of(NonLin(0.1)), sums_of(views_of(evidence))
        assert [compiled._loaded().is_ready(is_best, sums, rule) for is_best in (0, 1)] == [1, 1]


@pytest.fixture
def looked_for_anew():
    compiled._loaded.cache_clear()
    yield
    compiled._loaded.cache_clear()


def test_without_numba_nothing_is_compiled(monkeypatch, looked_for_anew):
    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    X, y = problem(7)
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions()
    )
    assert compiled.compiled_search(forward, evidence, NonLin(0.1), NO_LIMITS) is None


def test_a_compiler_that_does_not_work_is_said_and_left_aside(monkeypatch, looked_for_anew):
    for name in [name for name in sys.modules if name.startswith("coterie._core.compiled._")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiled, "find_spec", lambda name: "found")
    X, y = problem(8)
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions()
    )
    with pytest.warns(RuntimeWarning, match="numba is installed but cannot be imported"):
        answer = compiled.compiled_search(forward, evidence, NonLin(0.1), NO_LIMITS)
    assert answer is None


def nobody_watched(n_features, **limits):
    return Limits(**limits, watched=np.zeros(n_features, dtype=bool))


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("criterion", ["in-sample", "parsimony", "endless"])
@given(seed=st.integers(0, 10**6))
def test_those_who_need_not_be_asked_again_would_be_refused(criterion, engine, seed):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(12, 150))
    X, y = problem(seed, int(rng.integers(20, 200)), n_features)
    X *= np.exp(rng.normal(size=n_features))
    graph = coordinates_to_graph(rng.normal(size=(n_features, 1)), distance=0.2)
    for limits in (
        nobody_watched(n_features),
        nobody_watched(n_features, max_group_size=7),
        nobody_watched(n_features, neighbours=graph),
    ):
        evidence = build_evidence(
            X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions(engine)
        )
        assert_same(*both("restart", evidence, CRITERIA[criterion], limits))


@pytest.mark.parametrize("criterion", ["in-sample", "held-out", "parsimony"])
@pytest.mark.parametrize("search", SEARCHES)
def test_sparse_columns_are_read_as_they_are(search, criterion):
    X, y = problem(11, n_features=30)
    X = sparse.csr_array(X * (np.random.default_rng(0).random(X.shape) < 0.2))
    rows = rows_for(CRITERIA[criterion], X.shape[0])
    evidence = build_evidence(X, y[:, None], AGGREGATIONS["mean"], rows, ComputeOptions("columns"))
    for limits in (NO_LIMITS, nobody_watched(30)):
        assert_same(*both(search, evidence, CRITERIA[criterion], limits))
