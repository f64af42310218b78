"""What all pictures share: colours of groups, axes in and out, and the extra that they need."""

import subprocess
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie.plot
from coterie import Coterie, LinCFA, NonLinCFA, ToleranceCV, load, stability, tolerance_path
from coterie.datasets import make_groups
from coterie.plot import TraceDisplay, plot_stability, plot_trace
from coterie.plot._canvas import (
    PALETTE,
    SINGLE_COLOUR,
    group_colours,
    short_label,
    title_from_labels,
)
from coterie.report import summarise


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_groups(120, 12, 3, noise=2.0, random_state=0)
    return X, y, NonLinCFA(0.01).fit(X, y)


def pictures(data):
    """Each function with arguments that it takes."""
    X, y, reducer = data
    where = np.column_stack([np.arange(12) // 4, np.arange(12) % 4])
    path = tolerance_path(X, y, tolerances=[0.001, 0.1], cv=3)
    result = stability(X, y, n_resamples=3, random_state=0)
    return {
        "plot_path": (path,),
        "plot_groups": (reducer, X),
        "plot_correlation": (reducer, X),
        "plot_trace": (reducer,),
        "plot_map": (reducer, where),
        "plot_stability": (result,),
        "plot_tree": (Coterie().fit(X, y),),
        "plot_effects": (summarise(reducer, X, y),),
    }


NAMES = [name for name in coterie.plot.__all__ if name.startswith("plot_")]
OF_REDUCER = ["plot_groups", "plot_correlation", "plot_trace", "plot_map"]


@pytest.mark.parametrize("name", NAMES)
def test_axes_come_back_and_no_figure_is_made(data, name):
    figure, ax = plt.subplots()
    before = plt.get_fignums()
    drawn = getattr(coterie.plot, name)(*pictures(data)[name], ax=ax)
    assert drawn is ax
    assert plt.get_fignums() == before
    figure.canvas.draw()


@pytest.mark.parametrize("name", NAMES)
def test_without_axes_one_figure_is_made_and_nothing_is_shown(data, name, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    ax = getattr(coterie.plot, name)(*pictures(data)[name])
    assert plt.get_fignums() == [ax.figure.number]
    ax.figure.canvas.draw()
    assert ax.get_title()


@pytest.mark.parametrize("name", NAMES)
def test_without_matplotlib_one_sentence_says_what_to_install(data, name, monkeypatch):
    given = pictures(data)[name]
    for module in [m for m in sys.modules if m.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r'^Plots need an extra: pip install "coterie\[plot\]"\.$'
    ):
        getattr(coterie.plot, name)(*given)


def test_importing_and_fitting_import_no_matplotlib():
    code = (
        "import sys, coterie; X, y, _ = coterie.datasets.make_groups(50, 6, 2, random_state=0);"
        "coterie.NonLinCFA().fit(X, y); coterie.plot.PathDisplay;"
        "print('matplotlib' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("name", NAMES)
def test_several_axes_are_refused_before_anything_is_drawn(data, name):
    _, axes = plt.subplots(1, 2)
    with pytest.raises(TypeError, match=r"^ax must be a matplotlib Axes, got ndarray\.$"):
        getattr(coterie.plot, name)(*pictures(data)[name], ax=axes)


@pytest.mark.parametrize("name", OF_REDUCER)
def test_what_is_no_fitted_reducer_is_refused(data, name):
    X, y, _ = data
    _, *others = pictures(data)[name]
    plot = getattr(coterie.plot, name)
    with pytest.raises(NotFittedError):
        plot(NonLinCFA(), *others)
    with pytest.raises(TypeError, match=r"the class NonLinCFA: pass NonLinCFA\(\)"):
        plot(NonLinCFA, *others)
    with pytest.raises(TypeError, match="Pass the step of the pipeline that is the reducer"):
        plot(make_pipeline(NonLinCFA()).fit(X, y), *others)
    with pytest.raises(TypeError, match=r"^reducer must be a reducer .* got StandardScaler"):
        plot(StandardScaler().fit(X), *others)
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", ["plot_groups", "plot_correlation"])
def test_data_with_other_columns_are_refused(data, name):
    X, _, reducer = data
    with pytest.raises(ValueError, match="X has 11 features, but NonLinCFA is expecting 12"):
        getattr(coterie.plot, name)(reducer, X[:, 1:])
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    "reducer", [LinCFA(), NonLinCFA(search="best"), ToleranceCV(cv=3), Coterie()]
)
@pytest.mark.parametrize("name", OF_REDUCER)
def test_every_reducer_can_be_drawn(data, name, reducer):
    X, y, _ = data
    _, *others = pictures(data)[name]
    getattr(coterie.plot, name)(reducer.fit(X, y), *others).figure.canvas.draw()


def test_a_loaded_reducer_is_drawn_like_the_saved_one(data, tmp_path):
    X, y, _ = data
    saved = NonLinCFA(0.02, initial_groups=[[0, 7]], signs=True).fit(X, y)
    saved.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    displays = [TraceDisplay.from_estimator(one).plot() for one in (saved, loaded)]
    first, second = [np.array(shown.branches_.get_segments()[1:]) for shown in displays]
    np.testing.assert_array_equal(first, second)
    for name in OF_REDUCER:
        _, *others = pictures(data)[name]
        getattr(coterie.plot, name)(loaded, *others).figure.canvas.draw()


@pytest.mark.parametrize("name", ["plot_groups", "plot_correlation", "plot_trace"])
def test_names_are_text_and_not_mathematics(data, name):
    X, y, _ = data
    odd = ["$\\frac{", "_under", "a\nb", "", "$x$", "x" * 90, *"ghijkl"]
    frame = pd.DataFrame(X, columns=odd)
    reducer = NonLinCFA(0.01).fit(frame, y)
    ax = getattr(coterie.plot, name)(*(reducer, frame)[: 1 if name == "plot_trace" else 2])
    ax.figure.canvas.draw()


def test_long_names_lose_their_middle():
    assert short_label("short") == "short"
    assert len(short_label("x" * 50 + "end")) < 25
    assert short_label("x" * 50 + "end").endswith("end")
    assert short_label("cost in $") == r"cost in \$"


def test_groups_of_one_are_grey_and_larger_ones_are_not():
    *colours, left_out = group_colours(np.array([0, 1, 0, 2, 3, 3, -1]))
    assert [colour == SINGLE_COLOUR for colour in colours] == [False, True, True, False]
    assert left_out not in (SINGLE_COLOUR, *colours)


def test_what_is_left_out_is_counted_apart_from_groups_of_one():
    labels = np.array([0, -1, 0, 1, -1, -1])
    title = "6 features in 2 groups, 1 of them alone (grey), 3 left out (light)"
    assert title_from_labels(labels) == title


@pytest.fixture(scope="module")
def with_rest():
    """A fit that leaves features out: a quarter of the columns is noise."""
    rng = np.random.default_rng(0)
    X, y, _ = make_groups(200, 12, 3, noise=1.0, random_state=0)
    X = np.hstack([X, rng.normal(size=(200, 4))])
    reducer = Coterie().fit(X, y)
    assert len(reducer.rest_) >= 3
    return X, y, reducer


@pytest.mark.parametrize("name", ["plot_groups", "plot_map", "plot_correlation"])
def test_what_is_left_out_is_named(with_rest, name):
    X, _, reducer = with_rest
    where = np.column_stack([np.arange(16) // 4, np.arange(16) % 4])
    given = {"plot_groups": (), "plot_map": (where,), "plot_correlation": (X,)}[name]
    ax = getattr(coterie.plot, name)(reducer, *given)
    ax.figure.canvas.draw()
    said = " ".join([ax.get_title(), *(text.get_text() for text in ax.get_yticklabels())])
    assert "left out" in said


def test_what_is_left_out_is_no_group_in_the_trace_and_the_stability(with_rest):
    X, y, reducer = with_rest
    assert f"{len(reducer.rest_)} left out" in plot_trace(reducer).get_xlabel()
    result = stability(X, y, estimator=reducer, n_resamples=2, random_state=0)
    bars = [text.get_text() for text in plot_stability(result).get_yticklabels()]
    assert bars == [f"{k} ({len(group)})" for k, group in enumerate(reducer.groups_)]


def test_groups_side_by_side_differ_in_colour(rng):
    labels = np.unique(rng.integers(0, 40, size=90), return_inverse=True)[1]
    colours, sizes = group_colours(labels), np.bincount(labels)
    along = labels[sizes[labels] > 1]
    touching = [(a, b) for a, b in pairwise(along) if a != b]
    degrees = np.bincount(np.unique(touching, axis=0).ravel(), minlength=len(sizes))
    assert max(degrees) < 2 * len(PALETTE)
    assert all(colours[a] != colours[b] for a, b in touching)


def test_a_group_beside_all_others_has_a_colour_of_its_own():
    others = np.repeat(np.arange(1, 31), 2)
    labels = np.concatenate([np.column_stack([np.zeros_like(others), others]).ravel()])
    colours = group_colours(labels)
    assert colours[0] not in colours[1:]


def test_neighbours_may_be_told():
    labels = np.array([0, 0, 1, 1, 2, 2])
    far = group_colours(labels, np.array([[0, 4], [1, 5]]))
    assert far[0] != far[2]
