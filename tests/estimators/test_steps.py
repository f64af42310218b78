"""Progress of a fit in logs, callbacks and bars, and fits that fail or are interrupted."""

import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA, moments_from, show_progress

REDUCERS = [Coterie(), NonLinCFA(), NonLinCFA(0.01, search="best"), LinCFA(), GenLinCFA()]
REDUCERS += [MutualCFA(), NonLinCFA(n_groups=3), NonLinCFA(aggregation="median")]
STEPS_OF_COTERIE = ["rows", "inputs", "products", "tree", "path"]


@pytest.fixture
def table(rng):
    features = rng.normal(size=(120, 3))
    X = np.repeat(features, 3, axis=1) + 0.3 * rng.normal(size=(120, 9))
    return X, features[:, 0] - features[:, 1] + rng.normal(size=120)


def heard(reducer, X, y):
    """All that is told about a fit."""
    calls = []
    with show_progress(lambda *call: calls.append(call)):
        reducer.fit(X, y)
    return calls


@pytest.mark.parametrize("reducer", REDUCERS, ids=repr)
def test_each_step_begins_at_nothing_rises_and_ends_at_all(reducer, table):
    X, y = table
    calls = heard(clone(reducer), X, y)
    while calls:
        step, done, total = calls.pop(0)
        assert done == 0
        while done < total:
            (same, now, same_total) = calls.pop(0)
            assert (same, same_total) == (step, total)
            assert now >= done
            done = now
        assert done == total


@pytest.mark.parametrize("reducer", REDUCERS, ids=repr)
def test_who_listens_changes_no_groups(reducer, table):
    X, y = table
    alone, told = clone(reducer).fit(X, y), clone(reducer)
    heard(told, X, y)
    np.testing.assert_array_equal(told.labels_, alone.labels_)


def test_a_coterie_has_five_steps(table):
    steps = dict.fromkeys(step for step, _, _ in heard(Coterie(), *table))
    assert list(steps) == STEPS_OF_COTERIE


def test_a_search_in_python_tells_of_each_feature(table):
    # A refusal of all merges opens a group for each feature.
    calls = heard(NonLinCFA(0.0, cv=None, aggregation="median"), *table)
    assert {done for step, done, _ in calls if step == "search"} == set(range(10))


def test_bars_are_closed_and_only_the_block_is_told(table, capsys):
    with show_progress():
        Coterie().fit(*table)
    assert "path" in capsys.readouterr().err
    Coterie().fit(*table)
    assert capsys.readouterr().err == ""


def test_an_error_of_the_listener_ends_the_fit(table):
    def tell(step, done, total):
        raise RuntimeError(step)

    with pytest.raises(RuntimeError, match="rows"), show_progress(tell):
        Coterie().fit(*table)


def test_the_log_is_silent_until_it_is_asked(table, capsys):
    Coterie().fit(*table)
    assert capsys.readouterr() == ("", "")
    assert any(isinstance(h, logging.NullHandler) for h in logging.getLogger("coterie").handlers)


def test_the_log_has_a_line_for_each_step_and_for_the_result(table, caplog):
    with caplog.at_level(logging.INFO, logger="coterie"):
        reducer = Coterie().fit(*table)
    lines = [record.getMessage() for record in caplog.records]
    assert "Coterie: 120 rows, 9 columns, task regression" in lines
    assert f"Coterie: inputs {reducer.inputs_}" in lines
    assert f"Coterie: {reducer.n_groups_} groups" in lines
    done = [line.split()[1] for line in lines if " done in " in line]
    assert done == STEPS_OF_COTERIE
    assert lines[-1].startswith("Coterie: fitted in ")


def test_moments_are_logged_too(table, caplog):
    with caplog.at_level(logging.INFO, logger="coterie"):
        reducer = NonLinCFA(0.01).fit_moments(moments_from(*table, cv=5))
    lines = [record.getMessage() for record in caplog.records]
    assert f"NonLinCFA: {reducer.n_groups_} groups" in lines


def test_debug_lines_count_the_parts(table, caplog):
    with caplog.at_level(logging.DEBUG, logger="coterie"):
        Coterie().fit(*table)
    assert "Coterie: path, 1 of 1" in caplog.text


class Recorder:
    """A callback of scikit-learn that remembers the tasks."""

    max_propagation_depth = None

    def __init__(self):
        self.begun, self.ended, self.n_setups, self.n_teardowns = [], [], 0, 0

    def setup(self, estimator, context):
        self.n_setups += 1

    def teardown(self, estimator, context):
        self.n_teardowns += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.estimator_name, context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.estimator_name, context.task_name))


needs_callbacks = pytest.mark.skipif(
    not hasattr(Coterie, "set_callbacks"), reason="scikit-learn before 1.9 has no callbacks"
)


@needs_callbacks
@pytest.mark.parametrize("reducer", REDUCERS, ids=repr)
def test_callbacks_hear_of_all_tasks(reducer, table):
    X, y = table
    recorder = Recorder()
    clone(reducer).set_callbacks(recorder).fit(X, y)
    name = type(reducer).__name__
    assert recorder.begun[0] == recorder.ended[-1] == (name, "fit")
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert (name, "rows") in recorder.ended
    assert (recorder.n_setups, recorder.n_teardowns) == (1, 1)


@needs_callbacks
def test_callbacks_of_a_pipeline_hear_of_the_reducer(table):
    X, y = table
    recorder = Recorder()
    pipe = make_pipeline(Coterie(), LogisticRegression()).set_callbacks(recorder)
    pipe.fit(X, y > 0)
    steps = [task for name, task in recorder.begun if name == "Coterie" and task != "part"]
    assert steps == ["fit", *STEPS_OF_COTERIE]


@needs_callbacks
def test_callbacks_are_torn_down_after_an_error(table):
    recorder = Recorder()
    reducer = Coterie(min_correlation=2).set_callbacks(recorder)
    with pytest.raises(ValueError, match="min_correlation"):
        reducer.fit(*table)
    assert recorder.n_teardowns == 1
    assert set(vars(reducer)) == {*reducer.get_params(), "_skl_callbacks"}


@needs_callbacks
def test_moments_and_batches_leave_no_trace_of_callbacks(table):
    reducer = NonLinCFA(0.01).set_callbacks(recorder := Recorder())
    reducer.fit_moments(moments_from(*table, cv=5))
    reducer.partial_fit(*table)
    assert recorder.n_teardowns == 2
    assert "_callback_fit_ctx" not in vars(reducer)


@pytest.mark.parametrize("reducer", [Coterie(), NonLinCFA()], ids=repr)
@pytest.mark.parametrize("first", [False, True])
def test_an_interrupted_fit_leaves_the_reducer_as_it_was(reducer, first, table):
    X, y = table
    reducer = clone(reducer)
    if not first:
        reducer.fit(X, y)
    before = dict(vars(reducer))
    step = "path" if isinstance(reducer, Coterie) else "search"

    def interrupt(told, done, total):
        if told == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), show_progress(interrupt):
        reducer.fit(X[:, :5], y)
    assert vars(reducer) == before


INTERRUPTED = """
import sys, time
import numpy as np
from coterie import {reducer}
rng = np.random.default_rng(0)
factors = rng.normal(size=(400, 500))
X = np.repeat(factors, 10, axis=1) + 0.5 * rng.normal(size=(400, 5000))
reducer = {call}
reducer.fit(X[:, :20], factors[:, 0])
before = dict(vars(reducer))
print("ready", flush=True)
try:
    while True:
        reducer.fit(X, factors[:, 0])
        before = dict(vars(reducer))
except KeyboardInterrupt:
    changed = [name for name in vars(reducer) if vars(reducer)[name] is not before.get(name)]
    print(changed, set(before) - set(vars(reducer)), flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("wait", [0.2, 0.9])
@pytest.mark.parametrize(
    ("reducer", "call"),
    [("Coterie", "Coterie()"), ("NonLinCFA", "NonLinCFA(0.0, aggregation='median')")],
)
def test_ctrl_c_ends_a_fit_of_5000_columns_at_once(reducer, call, wait):
    code = INTERRUPTED.format(reducer=reducer, call=call)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        told = process.stdout.readline()
        seconds = time.perf_counter() - sent
        process.wait()
    assert told == "[] set()\n"
    # At most 0.7 seconds were measured; the machine may be busy.
    assert seconds < 3


def test_older_versions_of_scikit_learn_have_no_callbacks_and_all_else():
    code = """
import sys
import numpy as np
import sklearn.model_selection
sys.modules["sklearn.callback"] = None
from coterie import Coterie, show_progress
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
with show_progress(lambda step, done, total: done == total and print(step)):
    Coterie().fit(X, X[:, 0])
print(hasattr(Coterie, "set_callbacks"))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [*STEPS_OF_COTERIE, "False"]
