import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie.datasets import make_groups
from coterie.plot import TraceDisplay, plot_trace
from coterie.plot._trace import GroupGrowth

X, Y, _ = make_groups(150, 18, 4, noise=2.0, random_state=2)

REDUCERS = [
    NonLinCFA(),
    NonLinCFA(0.01),
    NonLinCFA(0.02, search="restart"),
    NonLinCFA(search="best"),
    NonLinCFA(0.02, initial_groups=[[0, 9], [4, 5, 6]]),
    NonLinCFA(0.02, initial_groups=[[0, 9], [17, 5, 6]], search="best"),
    NonLinCFA(n_groups=3),
    NonLinCFA(n_groups=2, search="best"),
    NonLinCFA(n_groups=2, initial_groups=[[0, 9], [17, 5, 6]], cv=None),
    NonLinCFA(np.inf),
    NonLinCFA(0.02, signs=True),
    GenLinCFA(1.0, family="gaussian"),
    GenLinCFA(np.inf),
    LinCFA(),
    MutualCFA(),
]


def named(reducer):
    return repr(reducer).replace("\n", " ")


@pytest.mark.parametrize("reducer", REDUCERS, ids=named)
def test_every_merge_is_drawn_once_at_its_price(reducer):
    reducer.fit(X, Y)
    shown = TraceDisplay.from_estimator(reducer, max_groups=99).plot()
    shown.figure_.canvas.draw()
    accepted = reducer.trace_[reducer.trace_.accepted]
    drawn = shown.prices_.get_offsets()[:, 1]
    np.testing.assert_array_equal(np.sort(drawn), np.sort(accepted.price))
    finite = accepted.allowance[np.isfinite(accepted.allowance)]
    allowed = shown.allowances_.get_offsets()[:, 1]
    np.testing.assert_array_equal(np.sort(allowed), np.sort(finite))
    for growth in shown.growths:
        assert sorted(growth.members) == reducer.groups_[growth.label].tolist()
        assert len(growth.parts) == len(growth.prices) + 1
        assert (growth.prices <= growth.allowances).all()


@pytest.mark.parametrize("reducer", REDUCERS, ids=named)
def test_trees_never_go_down_and_are_as_high_as_the_highest_price(reducer):
    shown = TraceDisplay.from_estimator(reducer.fit(X, Y), max_groups=99)
    for growth in shown.growths:
        assert (np.diff(growth.heights) >= 0).all()
        assert growth.heights[-1] == growth.prices.max()


@pytest.mark.parametrize("search", ["forward", "restart"])
def test_leaves_stand_in_the_order_of_joining(search):
    reducer = NonLinCFA(0.02, search=search).fit(X, Y)
    trace = reducer.trace_
    for growth in TraceDisplay.from_estimator(reducer).growths:
        records = [r for r in trace if r.accepted and r.group == growth.label]
        assert [int(part[0]) for part in growth.parts[1:]] == [r.candidate for r in records]
        assert growth.members[0] == reducer.groups_[growth.label][0]


def test_features_together_from_the_start_are_one_part():
    reducer = NonLinCFA(1.0, initial_groups=[[0, 9], [4, 5, 6]]).fit(X, Y)
    (growth,) = TraceDisplay.from_estimator(reducer).growths
    parts = [part.tolist() for part in growth.parts]
    assert parts[0] == [0, 9]
    assert [4, 5, 6] in parts
    assert len(parts) == 18 - 1 - 2


def test_branches_go_up_from_the_group_and_down_to_the_feature():
    growth = GroupGrowth(
        0, [np.array([k]) for k in range(4)], np.array([2.0, 1.0, 3.0]), np.full(3, 4.0)
    )
    shown = TraceDisplay([growth], list("abcd"), ["#000000"]).plot()
    lines = [line.tolist() for line in shown.branches_.get_segments()]
    assert lines == [
        [[0, 0], [0, 2], [1, 2], [1, 0]],
        [[0.5, 2], [0.5, 2], [2, 2], [2, 0]],
        [[1.25, 2], [1.25, 3], [3, 3], [3, 0]],
    ]
    np.testing.assert_array_equal(shown.prices_.get_offsets(), [[1, 2], [2, 1], [3, 3]])
    np.testing.assert_array_equal(shown.allowances_.get_offsets(), [[1, 4], [2, 4], [3, 4]])


def test_gains_lie_below_zero():
    growth = GroupGrowth(0, [np.array([0]), np.array([1])], np.array([-0.5]), np.array([0.1]))
    shown = TraceDisplay([growth], ["a", "b"], ["#000000"]).plot()
    (line,) = shown.branches_.get_segments()
    assert line[:, 1].tolist() == [-0.5] * 4
    assert shown.ax_.get_ylim()[0] < -0.5


def test_only_the_largest_groups_are_shown_and_the_rest_is_said():
    reducer = NonLinCFA(0.02).fit(X, Y)
    sizes = np.array([len(group) for group in reducer.groups_])
    shown = TraceDisplay.from_estimator(reducer, max_groups=2).plot()
    assert sorted(len(g.members) for g in shown.growths) == np.sort(sizes)[-2:].tolist()
    said = shown.ax_.get_xlabel()
    assert f"The 2 largest of {(sizes > 1).sum()} groups are shown" in said
    alone = (sizes == 1).sum()
    assert ("alone not shown" in said) == (alone > 0)


def test_without_merges_it_says_so(rng):
    data = rng.normal(size=(50, 6))
    reducer = NonLinCFA(0.0, cv=None).fit(data, data @ np.arange(1.0, 7.0))
    assert reducer.n_groups_ == 6
    ax = plot_trace(reducer)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "No merges: every feature is alone."


def test_groups_that_were_given_and_never_grew_are_shown(rng):
    data = rng.normal(size=(50, 4))
    reducer = NonLinCFA(0.0, cv=None, initial_groups=[[1, 3]]).fit(data, data @ np.arange(1.0, 5.0))
    (growth,) = TraceDisplay.from_estimator(reducer).growths
    assert [part.tolist() for part in growth.parts] == [[1, 3]]
    plot_trace(reducer).figure.canvas.draw()


def test_few_leaves_are_named_with_their_signs(rng):
    factor = rng.normal(size=(100, 1))
    data = pd.DataFrame(factor * [1, -1] + 0.1 * rng.normal(size=(100, 2)), columns=["up", "down"])
    ax = plot_trace(NonLinCFA(0.1, signs=True).fit(data, factor.ravel()))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["up", "-down"]


def test_five_thousand_features_are_a_few_artists(rng):
    data = rng.normal(size=(30, 5000))
    reducer = NonLinCFA(1.0, cv=None).fit(data, data[:, 0])
    shown = TraceDisplay.from_estimator(reducer).plot()
    shown.figure_.canvas.draw()
    assert len(shown.branches_.get_segments()) == 4999
    assert len(shown.ax_.get_children()) < 30


def test_one_group_or_more_must_be_shown():
    with pytest.raises(ValueError, match=r"^max_groups must be 1 or more, got 0\.$"):
        plot_trace(NonLinCFA(0.1).fit(X, Y), max_groups=0)
    assert not plt.get_fignums()


def test_groups_that_were_merged_without_a_price_are_shown_by_their_tree(rng):
    base = rng.normal(size=(40, 60))
    X = np.repeat(base, 4, axis=1) + 0.1 * rng.normal(size=(40, 240))
    reducer = Coterie(n_groups=3).fit(X, base[:, 0] + base[:, 1] + base[:, 2])
    assert len(reducer.trace_) == 0
    assert max(map(len, reducer.groups_)) > 1
    with pytest.raises(ValueError, match="Use plot_tree"):
        plot_trace(reducer)
