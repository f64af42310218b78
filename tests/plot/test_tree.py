import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.cluster.hierarchy import dendrogram

from coterie import Coterie, NonLinCFA
from coterie.datasets import make_groups
from coterie.plot import TreeDisplay, plot_tree
from coterie.plot._canvas import LEFT_OUT_COLOUR


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X, y, _ = make_groups(200, 12, 3, noise=1.0, random_state=0)
    return Coterie().fit(np.hstack([X, rng.normal(size=(200, 4))]), y)


def test_branches_are_those_of_scipys_dendrogram(fitted):
    shown = TreeDisplay.from_estimator(fitted).plot()
    theirs = dendrogram(fitted.tree_, no_plot=True)
    # SciPy's leaves are at 5, 15, 25, ...
    expected = sorted(
        zip(
            [sorted((np.array(one) - 5) / 10) for one in theirs["icoord"]],
            [sorted(1 - np.array(one)) for one in theirs["dcoord"]],
        ),
        key=str,
    )
    ours = sorted(
        ((sorted(s[:, 1]), sorted(s[:, 0])) for s in shown.branches_.get_segments()), key=str
    )
    assert len(ours) == 15
    np.testing.assert_allclose(np.sort(np.ravel(ours)), np.sort(np.ravel(expected)))
    names = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert [name.lstrip("-") for name in names] == [f"x{leaf}" for leaf in theirs["leaves"]]


def test_branches_have_the_colour_of_their_group_only_within_it(fitted):
    shown = TreeDisplay.from_estimator(fitted).plot()
    members = {k: {k} for k in range(16)}
    for row, (first, second) in enumerate(fitted.children_.tolist()):
        members[16 + row] = members[first] | members[second]
    colour_of = {}
    for row, colour in enumerate(shown.branches_.get_edgecolors()):
        labels = {int(fitted.labels_[k]) for k in members[16 + row]}
        key = labels.pop() if len(labels) == 1 else None
        assert colour_of.setdefault(key, to_hex(colour)) == to_hex(colour)
    assert len({colour_of[None], *(c for k, c in colour_of.items() if k is not None)}) > 1
    assert colour_of.get(-1, LEFT_OUT_COLOUR) == LEFT_OUT_COLOUR


def test_the_floor_is_the_square_of_the_smallest_correlation(fitted):
    assert TreeDisplay.from_estimator(fitted).floor == pytest.approx(0.49)
    free = Coterie(min_correlation=0).fit(*make_groups(100, 6, 2, random_state=0)[:2])
    assert TreeDisplay.from_estimator(free).floor is None


def chain(n):
    """A linkage in which each feature joins all before it, deeper than Python may recurse."""
    rows = np.arange(n - 1)
    first = np.where(rows == 0, 0, n + rows - 1)
    return np.column_stack([first, rows + 1, rows / n, rows + 2]).astype(float)


def test_three_thousand_features_have_a_legend_and_no_names(rng):
    labels = rng.integers(-1, 40, size=3000)
    shown = TreeDisplay(chain(3000), labels, [""] * 3000, np.arange(3000)).plot()
    shown.figure_.canvas.draw()
    assert len(shown.branches_.get_segments()) == 2999
    assert len(shown.ax_.get_yticks()) == 0
    said = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert len(said) == 13
    assert said[-1] == f"left out ({(labels < 0).sum()})"


def test_a_reducer_without_a_tree_is_refused():
    X, y, _ = make_groups(60, 6, 2, random_state=0)
    with pytest.raises(TypeError, match=r"such as Coterie, got NonLinCFA\. Use plot_trace"):
        plot_tree(NonLinCFA().fit(X, y))
    assert not plt.get_fignums()
