"""What must not change, whatever the problem. Each law tries one problem, by its seed."""

from __future__ import annotations

import itertools
import pickle
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from threadpoolctl import threadpool_info

import coterie
from coterie.families import Family
from hunt import sources
from hunt.decisions import every_decision_is_that_of_the_oracle
from hunt.problems import ADDITIVE, Problem, drawn, geometric, only_known_warnings, with_squares
from hunt.trials import (
    Law,
    Trial,
    assert_near,
    assert_same,
    assert_same_aggregates,
    assert_same_merges,
    clear,
    groups_as_sets,
    searches,
)

ALL = ["NonLinCFA", "GenLinCFA", "LinCFA", "MutualCFA"]
NO_CONSTANTS = {"special columns": ["nothing", "copies", "opposites"]}
# Inputs that are made of one column each.
ONE_BY_ONE = {"inputs": [None, np.square, np.abs]}


def either_code(trial: Trial) -> Any:
    """Compiled searches, or those of numpy."""
    return searches(trial.note("searches", str(trial.rng.choice(["compiled", "numpy"]))))


# -- rows


def rows_in_another_order_change_nothing(trial: Trial) -> None:
    """Within folds, where there are folds; all rows otherwise."""
    problem = trial.drawn(reducer=ALL, cv=[None, "auto", 2, 3, 5, "predefined"])
    fold, rng = sources.fold_of_each(problem), trial.rng
    fold = np.zeros(len(problem.X), dtype=int) if fold is None else fold
    if problem.given.get("sample_weight") is not None or problem.drawn["target"] != "numbers":
        # Where a row lies may tell its fold, so folds go with the rows.
        problem = _with_folds_by_number(problem)
        order = rng.permutation(len(fold))
    else:
        order = np.empty(len(fold), dtype=int)
        for number in np.unique(fold):
            order[fold == number] = rng.permutation(np.flatnonzero(fold == number))
    with either_code(trial):
        one = clear(problem.fitted())
        other = _taken(problem, order).fitted()
    assert_same(one, other)
    assert_same_aggregates(one, other, problem.X)


def _with_folds_by_number(problem: Problem) -> Problem:
    fold = sources.fold_of_each(problem)
    return problem if fold is None else problem.with_params(cv=PredefinedSplit(fold))


def _taken(problem: Problem, rows: Any) -> Problem:
    """The problem with some of its rows, or some of them several times."""
    cv = problem.reducer.get_params().get("cv")
    if isinstance(cv, PredefinedSplit):
        problem = problem.with_params(cv=PredefinedSplit(cv.test_fold[rows]))
    given = {name: np.asarray(values)[rows] for name, values in problem.given.items()}
    return problem.but(X=problem.X[rows], y=problem.y[rows], given=given)


def weights_are_repeats(trial: Trial) -> None:
    """A row of weight k counts as k rows, and one of weight 0 as none."""
    kinds = ["counts", "counts and zeros"]
    problem = trial.drawn(reducer=ALL, weights=kinds, cv=[None, "predefined"])
    weights = problem.given["sample_weight"].astype(int)
    repeated = _taken(problem, np.repeat(np.arange(len(weights)), weights)).but(given={})
    with either_code(trial):
        one = clear(problem.fitted())
        other = repeated.fitted()
    assert_same(one, other)
    assert_same_aggregates(one, other, problem.X)


def rows_that_do_not_count_are_not_there(trial: Trial) -> None:
    """Whatever stands in a row of weight 0, and wherever it stands."""
    problem = trial.drawn(weights=["none"], cv=[None, "auto", 2, 3, 5], missing=["error"])
    n, extra = len(problem.X), 5
    place = np.sort(trial.rng.integers(0, n + 1, extra))
    X = np.insert(problem.X, place, 1e30, axis=0)
    y = np.insert(problem.y, place, problem.y[:1], axis=0)
    weights = np.insert(np.ones(n), place, 0.0)
    with either_code(trial):
        one = problem.fitted()
        other = problem.but(X=X, y=y, given={"sample_weight": weights}).fitted()
        assert_same(one, other, exact=True)


# -- columns


def columns_in_another_order_change_no_group_of_best(trial: Trial) -> None:
    """Not a bit of a price, where whole groups are not added up."""
    only = {"reducer": ALL, "search": ["best"], **ONE_BY_ONE}
    if trial.seed % 2:
        # Where not all copies have room, either may be in, so others must not tell them apart.
        only |= {name: ["no"] for name in ("keep", "separate", "connectivity")}
        only |= {"groups": ["none"], "missing": ["error"], "tolerance is": ["a number", "a word"]}
    problem = trial.drawn(**only)
    D, order = problem.X.shape[1], trial.rng.permutation(problem.X.shape[1])
    if trial.seed % 2:
        problem = problem.but(X=problem.X[:, trial.rng.integers(0, D // 2, D)])
    with either_code(trial):
        one = problem.fitted()
        other = _reordered(problem, order).fitted()
    _assert_limits_are_kept(one)
    sums = problem.reducer.initial_groups is not None or hasattr(one, "tolerance_")
    exact = not sums and not hasattr(one, "penalty_")
    if not exact:
        clear(one)
    original = _first_copies(problem.X)
    assert _groups_of(other, original[order]) == _groups_of(one, original)
    assert_same_merges(one, other, exact=exact)


def _first_copies(X: Any) -> Any:
    """Of each column the first that is a copy of it, or that it is itself."""
    content = [column.tobytes() for column in X.T]
    return np.array([content.index(one) for one in content])


def _groups_of(fitted: Any, names: Any) -> list[list[int]]:
    return sorted(sorted(names[group].tolist()) for group in fitted.groups_)


def _reordered(problem: Problem, order: Any) -> Problem:
    """The problem with its columns in another order, by which all parameters call them."""
    place = np.argsort(order)
    params = _renamed(problem.reducer, place)
    graph = problem.reducer.connectivity
    if graph is not None:
        params["connectivity"] = sparse.csr_array(graph.toarray()[np.ix_(order, order)])
    return problem.but(X=problem.X[:, order]).with_params(**params)


def _renamed(reducer: Any, place: Any) -> dict[str, Any]:
    """Parameters that name columns, for columns that lie elsewhere now."""
    params = {}
    if reducer.keep is not None:
        params["keep"] = [int(place[column]) for column in reducer.keep]
    for name in ("initial_groups", "separate"):
        if (lists := getattr(reducer, name)) is not None:
            params[name] = [[int(place[column]) for column in one] for one in lists]
    return params


def turning_columns_round_changes_signs_and_nothing_else(trial: Trial) -> None:
    """With signs, wherever the rows come from."""
    source, only = _drawn_source(trial)
    problem = trial.drawn(**{"signs": [True], "inputs": [None]} | only)
    turn = trial.rng.choice([-1.0, 1.0], problem.X.shape[1])
    with either_code(trial):
        one = clear(source(problem, trial.rng))
        other = source(problem.but(X=problem.X * turn), trial.rng)
    assert_same(one, other, signs=False)
    # A constant has no direction: signs are those of columns that vary, seen from the first.
    for group in one.groups_:
        members = group[np.ptp(problem.X[:, group], axis=0) > 0]
        signs, turned = one.signs_[members] * turn[members], other.signs_[members]
        np.testing.assert_array_equal(turned * turned[:1], signs * signs[:1], "signs_")


def _drawn_source(trial: Trial) -> tuple[Any, dict[str, Any]]:
    """Where rows come from, and what can be asked there; from memory as often as not."""
    every = [source for source in sources.SOURCES if source is not sources.single_precision]
    source = every[int(trial.rng.integers(len(every)))]
    if trial.rng.random() < 0.5:
        source = _memory
    trial.note("source", source.__name__.strip("_"))
    return source, sources.SOURCES.get(source, {})


def _memory(problem: Problem, _: Any) -> Any:
    return problem.fitted()


def a_constant_column_changes_nothing_for_the_others(trial: Trial) -> None:
    """It shares no group with any of them, and one warning says so."""
    problem = trial.drawn(reducer=ALL, **NO_CONSTANTS, **ONE_BY_ONE)
    value = float(trial.rng.choice([0.0, 1.0, 0.1, 273.15, 20230101.0]))
    at = int(trial.rng.integers(problem.X.shape[1] + 1))
    more = _with_column(problem, at, value)
    with either_code(trial):
        one = clear(problem.fitted())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            other = clone(more.reducer).fit(more.X, more.y, **more.given)
    others = np.delete(np.arange(more.X.shape[1]), at)
    assert groups_as_sets(other) == groups_as_sets(one, others) | {frozenset([at])}
    np.testing.assert_array_equal(other.signs_[others], one.signs_, "signs_")
    if hasattr(one, "penalty_"):
        assert_near(other.penalty_, one.penalty_, "penalty_")
    assert_same_merges(one, other)
    said = [str(one.message) for one in caught if "is constant" in str(one.message)]
    assert len(said) == 1, said
    assert f"x{at}" in said[0], said


def _with_column(problem: Problem, at: int, value: float) -> Problem:
    """The problem with one column more, which touches all others."""
    n = problem.X.shape[1]
    place = np.delete(np.arange(n + 1), at)
    params = _renamed(problem.reducer, place)
    graph = problem.reducer.connectivity
    if graph is not None:
        params["connectivity"] = np.insert(np.insert(graph.toarray(), at, 1.0, 0), at, 1.0, 1)
    if (size := problem.reducer.get_params().get("n_groups")) is not None:
        params["n_groups"] = size + 1
    return problem.but(X=np.insert(problem.X, at, value, axis=1)).with_params(**params)


# -- units


def the_unit_of_all_features_changes_nothing(trial: Trial) -> None:
    """Metres or miles, as long as all are the same."""
    problem = trial.drawn(reducer=ALL, **ONE_BY_ONE)
    unit = 10 ** trial.rng.uniform(-6, 6)
    with either_code(trial):
        one = clear(problem.fitted())
        assert_same(one, problem.but(X=problem.X * unit).fitted())


def scaled_features_have_no_unit_and_no_zero(trial: Trial) -> None:
    """Kelvins or degrees Celsius, metres or miles, for each feature by itself."""
    # Copies in other units are copies no more, to the last digit; nor are opposites.
    alike = {"special columns": ["nothing", "constants"]}
    problem = trial.drawn(reducer=ALL, scale=[True], inputs=[None], **alike)
    D = problem.X.shape[1]
    unit, zero = 10 ** trial.rng.uniform(-3, 3, D), 100 * trial.rng.normal(size=D)
    with either_code(trial):
        one = clear(problem.fitted())
        assert_same(one, problem.but(X=(problem.X + zero) * unit).fitted())


def features_of_a_sum_have_no_zero(trial: Trial) -> None:
    """What is added to a feature is added to its group; to all of them, for max and the like."""
    of = [*ADDITIVE, "principal", "max", "min", "median"]
    problem = trial.drawn(reducer=ALL, aggregation=of, inputs=[None])
    D = problem.X.shape[1]
    zero = 100 * trial.rng.normal(size=D)
    if problem.reducer.aggregation in ("max", "min", "median"):
        zero = np.full(D, zero[0])
    with either_code(trial):
        one = clear(problem.fitted())
        assert_same(one, problem.but(X=problem.X + zero).fitted())


def the_unit_and_zero_of_targets_change_nothing(trial: Trial) -> None:
    """For targets of numbers, each by itself."""
    problem = trial.drawn(
        reducer=ALL,
        target=["numbers", "several"],
        family=["gaussian"],
        curvature=["zero", "null"],
    )
    y = problem.y.reshape(len(problem.y), -1)
    unit = 10 ** trial.rng.uniform(-3, 3, y.shape[1])
    if type(problem.reducer).__name__ != "MutualCFA":
        unit *= trial.rng.choice([-1.0, 1.0], y.shape[1])
    y = (y + 10 * trial.rng.normal(size=y.shape[1])) * unit
    with either_code(trial):
        one = clear(problem.fitted())
        assert_same(one, problem.but(y=y.reshape(problem.y.shape)).fitted())


def targets_in_another_order_change_nothing(trial: Trial) -> None:
    """With their weights, all targets have the same say."""
    problem = trial.drawn(reducer=["NonLinCFA", "GenLinCFA", "MutualCFA"], target=["several"])
    order = trial.rng.permutation(problem.y.shape[1])
    weights = problem.reducer.target_weights
    weights = None if weights is None else [weights[target] for target in order]
    other = problem.but(y=problem.y[:, order]).with_params(target_weights=weights)
    with either_code(trial):
        one = clear(problem.fitted())
        assert_same(one, other.fitted())


def limits_that_limit_nothing_change_nothing(trial: Trial) -> None:
    """A graph of all with all, room for all, one list of separate ones, groups of one."""
    limits = {"keep": ["no"], "separate": ["no"], "connectivity": ["no"], "max_group_size": ["no"]}
    problem = trial.drawn(reducer=ALL, groups=["none"], inputs=[None], **limits)
    D = problem.X.shape[1]
    params = {
        "max_group_size": D,
        "connectivity": np.ones((D, D)),
        "separate": [list(range(D))],
        "keep": [],
    }
    if problem.reducer.aggregation in ADDITIVE and problem.reducer.missing == "error":
        params["initial_groups"] = [[column] for column in range(D)]
    name = trial.note("limit", [*params][int(trial.rng.integers(len(params)))])
    with either_code(trial):
        one = clear(problem.fitted())
        assert_same(one, problem.with_params(**{name: params[name]}).fitted())


# -- the same by any means


def every_source_gives_the_same_fit(trial: Trial) -> None:
    """Frames, sparse columns, batches, files, engines, devices."""
    every = [*sources.SOURCES]
    source = every[trial.seed % len(every)]
    trial.note("source", source.__name__)
    problem = trial.drawn(**sources.SOURCES[source])
    if source is sources.single_precision:
        # Few digits, so that none is lost.
        problem = problem.but(X=np.round(problem.X * 64) / 64)
    with either_code(trial):
        one = clear(problem.fitted())
        other = source(problem, trial.rng)
    assert_same(one, other)
    if source is not sources.polars_frame:
        assert_same_aggregates(one, other, problem.X)
    if hasattr(one, "classes_"):
        assert _plain(other.classes_) == _plain(one.classes_)


def _plain(classes: Any) -> Any:
    return [_plain(one) if isinstance(one, np.ndarray) else one for one in classes]


def frames_of_spark_give_the_same_fit(trial: Trial) -> None:
    """As every other source; a session takes long to start, so only in the long hunt."""
    problem = trial.drawn(**sources.SOURCES[sources.parquet])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Spark and pandas say about each other
        one = clear(problem.fitted())
        other = sources.spark_frame(problem, trial.rng)
    assert_same(one, other)
    assert_same_aggregates(one, other, problem.X)


def both_engines_give_the_same_fit(trial: Trial) -> None:
    """One matrix of all pairs, or columns when they are asked for."""
    problem = trial.drawn(aggregation=[*ADDITIVE, "sum_of_squares"], bound=["general", "bivariate"])
    with either_code(trial):
        one = clear(problem.with_params(covariance="gram").fitted())
        assert_same(one, problem.with_params(covariance="columns").fitted())


def compiled_searches_give_the_same_fit(trial: Trial) -> None:
    """Numba or numpy."""
    problem = trial.drawn(aggregation=[*ADDITIVE, "sum_of_squares"], bound=["general", "bivariate"])
    with searches("numpy"):
        one = clear(problem.fitted())
    with searches("compiled"):
        assert_same(one, problem.fitted())


def threads_give_the_fits_that_come_one_by_one(trial: Trial) -> None:
    """To the bit."""
    seeds = trial.rng.integers(2**31, size=5).tolist()
    trial.problem = drawn(seeds[0])
    problems = [drawn(seed) for seed in seeds]
    one_by_one = [problem.fitted() for problem in problems]
    with only_known_warnings(), _switching_often(), ThreadPoolExecutor(4) as pool:
        fits = pool.map(lambda p: clone(p.reducer).fit(p.X, p.y, **p.given), problems * 2)
        together = [*fits]
    for one, other in zip(one_by_one * 2, together):
        assert_same(one, other, exact=True)


@contextmanager
def _switching_often():
    """Threads take turns so often that fits of a few milliseconds overlap."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def fits_that_overlap_leave_blas_its_threads(trial: Trial) -> None:
    """One begins during the other and ends after it."""
    problem = trial.drawn(aggregation=[geometric], bound=["general", "bivariate"])
    first, second = _Halt(), _Halt()
    # As it is: had this thread set it, threadpoolctl would hear no other as long as it lives.
    before = _blas_threads()
    trial.note("threads of BLAS", str(max(before)))
    with only_known_warnings(), ThreadPoolExecutor(2) as pool:
        fits = []
        for halt in (first, second):
            reducer = clone(problem.reducer).set_params(aggregation=halt.geometric)
            fits.append(pool.submit(reducer.fit, problem.X, problem.y, **problem.given))
            halt.reached.wait(60)
        for halt, fit in zip((first, second), fits):
            halt.over.set()
            fit.result(60)
    after = _blas_threads()
    assert after == before, f"{before} threads before, {after} after"


class _Halt:
    """An aggregation that waits, the first time it is needed, until it is told to go on."""

    def __init__(self) -> None:
        self.reached, self.over = Event(), Event()

        def geometric_mean(Z: Any) -> Any:
            self.reached.set()
            self.over.wait(60)
            return geometric(Z)

        # A function, since parameters are copied and events cannot be.
        self.geometric = geometric_mean


def _blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


# -- what is kept


def a_second_fit_leaves_nothing_of_the_first(trial: Trial) -> None:
    """All that the reducer holds is what a new one would hold."""
    problem = trial.drawn(reducer=ALL)
    earlier = drawn(int(trial.rng.integers(2**31)), reducer=[type(problem.reducer).__name__])
    if trial.rng.random() < 0.3:
        # Features with names, of which none must be left behind.
        earlier = earlier.but(X=pd.DataFrame(earlier.X).add_prefix("c"))
    fresh, again = problem.fitted(), earlier.fitted()
    again.set_params(**problem.reducer.get_params())
    with only_known_warnings():
        again.fit(problem.X, problem.y, **problem.given)
    assert_same_state(vars(again), vars(fresh), "")


def assert_same_state(one: Any, other: Any, where: str) -> None:
    """Equal to the bit, whatever it is made of."""
    assert type(one) is type(other), f"{where}: {type(one)}, {type(other)}"
    if isinstance(one, dict):
        assert {*one} == {*other}, f"{where}: {set(one) ^ set(other)}"
        for name in one:
            assert_same_state(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, where)
        assert one.dtype == other.dtype, where
    elif sparse.issparse(one):
        np.testing.assert_array_equal(one.toarray(), other.toarray(), where)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other)):
            assert_same_state(*pair, f"{where}[{place}]")
    elif is_dataclass(one) and not isinstance(one, Family):
        for part in fields(one):
            pair = (getattr(one, part.name), getattr(other, part.name))
            assert_same_state(*pair, f"{where}.{part.name}")
    elif isinstance(one, Family):
        assert one.name == other.name, where
    elif isinstance(one, PredefinedSplit):
        assert_same_state(vars(one), vars(other), where)
    elif hasattr(one, "split"):
        assert repr(one) == repr(other), where
    else:
        assert one is other or one == other or (one != one and other != other), where


def what_is_saved_transforms_to_the_bit_when_it_is_loaded(trial: Trial) -> None:
    """As JSON, and pickled."""
    problem = trial.drawn(reducer=ALL, cv=[None, "auto", 2, 3, 5])
    fitted = problem.fitted()
    functions = {"geometric": geometric, "with_squares": with_squares}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        fitted.save(path, functions)
        loaded = coterie.load(path, functions)
    new = problem.X[::-2] * 1.3 - 0.2
    for again in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert_same(fitted, again, exact=True)
        for rows in (problem.X, new):
            np.testing.assert_array_equal(again.transform(rows), fitted.transform(rows))
        names = fitted.get_feature_names_out().tolist()
        assert again.get_feature_names_out().tolist() == names


def merges_are_the_same_where_refusals_are_only_counted(trial: Trial) -> None:
    """In NumPy and compiled."""
    problem = trial.drawn(reducer=ALL)
    for code in ("numpy", "compiled"):
        with searches(code):
            whole, fitted = problem.fitted(), problem.with_params(trace="merges").fitted()
        np.testing.assert_array_equal(fitted.labels_, whole.labels_)
        np.testing.assert_array_equal(fitted.trace_, whole.trace_[whole.trace_.accepted])
        np.testing.assert_array_equal(fitted.n_refused_, whole.n_refused_)
        refused = whole.trace_.group[~whole.trace_.accepted]
        counted = np.bincount(refused, minlength=whole.n_groups_)
        np.testing.assert_array_equal(fitted.n_refused_, counted)


def what_is_learned_hangs_together(trial: Trial) -> None:
    """Labels, groups, signs, names, decisions and the way back tell one story."""
    problem = trial.drawn(reducer=ALL)
    fitted = problem.fitted()
    labels = fitted.labels_.tolist()
    for number, group in enumerate(fitted.groups_):
        assert group.tolist() == [j for j, label in enumerate(labels) if label == number]
        assert fitted.signs_[group[0]] == 1
    assert fitted.n_groups_ == len(fitted.groups_) == max(labels) + 1
    firsts = [group[0] for group in fitted.groups_]
    assert firsts == sorted(firsts)
    names = fitted.get_feature_names_out().tolist()
    Z = fitted.transform(problem.X)
    assert len({*names}) == len(names) == Z.shape[1] == fitted.n_groups_
    _assert_limits_are_kept(fitted)
    trace = fitted.trace_
    np.testing.assert_array_equal(trace.accepted, trace.price <= trace.allowance)
    merges = len(labels) - fitted.n_groups_ - _merged_beforehand(problem)
    assert trace.accepted.sum() == merges
    if problem.reducer.aggregation in ADDITIVE and problem.reducer.inputs is None:
        there = fitted.transform(fitted.inverse_transform(Z))
        np.testing.assert_allclose(there, Z, rtol=1e-8, atol=1e-8 * np.nanmax(np.abs(Z)))


def _assert_limits_are_kept(fitted: Any) -> None:
    """Who must be together is, who must be apart is too, and groups are one piece of the graph."""
    labels, graph = fitted.labels_, fitted.connectivity
    together = [set(group) for group in fitted.initial_groups or []]
    for unit in together:
        assert len({*labels[[*unit]]}) == 1, "groups"
    for column in fitted.keep or []:
        assert np.count_nonzero(labels == labels[column]) == 1, "keep"
    for one, other in itertools.combinations(fitted.separate or [], 2):
        assert not {*labels[one]} & {*labels[other]}, "separate"
    most = fitted.max_group_size
    for group in fitted.groups_:
        assert most is None or len(group) <= most, "max_group_size"
        if graph is not None:
            touches = sparse.lil_array(graph + graph.T)
            for unit in together:
                touches[np.ix_([*unit], [*unit])] = 1.0
            inside = touches[np.ix_(group, group)]
            assert connected_components(inside)[0] == 1, "connectivity"


def _merged_beforehand(problem: Problem) -> int:
    return sum(len(group) - 1 for group in problem.reducer.initial_groups or [])


LAWS: dict[str, Law] = {
    law.__name__.replace("_", " "): law
    for law in (
        # First, since once this thread has set how many there are, threadpoolctl hears no other.
        fits_that_overlap_leave_blas_its_threads,
        every_decision_is_that_of_the_oracle,
        rows_in_another_order_change_nothing,
        weights_are_repeats,
        rows_that_do_not_count_are_not_there,
        columns_in_another_order_change_no_group_of_best,
        turning_columns_round_changes_signs_and_nothing_else,
        a_constant_column_changes_nothing_for_the_others,
        the_unit_of_all_features_changes_nothing,
        scaled_features_have_no_unit_and_no_zero,
        features_of_a_sum_have_no_zero,
        the_unit_and_zero_of_targets_change_nothing,
        targets_in_another_order_change_nothing,
        limits_that_limit_nothing_change_nothing,
        every_source_gives_the_same_fit,
        both_engines_give_the_same_fit,
        compiled_searches_give_the_same_fit,
        threads_give_the_fits_that_come_one_by_one,
        a_second_fit_leaves_nothing_of_the_first,
        what_is_saved_transforms_to_the_bit_when_it_is_loaded,
        merges_are_the_same_where_refusals_are_only_counted,
        what_is_learned_hangs_together,
    )
}
