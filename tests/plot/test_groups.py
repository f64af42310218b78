import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from coterie import Coterie, NonLinCFA
from coterie.datasets import load_tecator
from coterie.plot import GroupsDisplay, plot_groups
from coterie.plot._canvas import SINGLE_COLOUR

LABELS = np.array([0, 0, 1, 0, 2, 2])
NAMES = list("abcdef")


def boxes(bands):
    """Left, right, lowest and highest of each band, in order."""
    corners = [path.vertices for path in bands.get_paths()]
    return [(*box[:, 0][[0, 1]], *box[:, 1][[0, 2]]) for box in corners]


def test_each_run_of_a_group_is_a_box_in_its_lane():
    shown = GroupsDisplay(LABELS, NAMES).plot()
    # Groups 0 and 2 have lanes, and the last one is for the feature alone.
    expected = [(-0.5, 1.5, 0), (1.5, 2.5, 2), (2.5, 3.5, 0), (3.5, 5.5, 1)]
    for (left, right, low, high), (a, b, lane) in zip(boxes(shown.bands_), expected, strict=True):
        assert (left, right, (low + high) / 2) == (a, b, pytest.approx(lane))
    grey = [to_hex(colour) == SINGLE_COLOUR for colour in shown.bands_.get_facecolors()]
    assert grey == [False, True, False, False]
    assert [t.get_text() for t in shown.ax_.get_yticklabels()] == ["0 (3)", "2 (2)", "alone"]
    assert [t.get_text() for t in shown.ax_.get_xticklabels()] == NAMES


def test_what_is_left_out_has_a_lane_below_the_features_alone():
    shown = GroupsDisplay(np.array([0, -1, 0, 1, -1]), list("abcde")).plot()
    lanes = [(low + high) / 2 for _, _, low, high in boxes(shown.bands_)]
    assert lanes == pytest.approx([0, 2, 0, 1, 2])
    assert [t.get_text() for t in shown.ax_.get_yticklabels()] == ["0 (2)", "alone", "left out"]


def test_bands_end_half_way_between_positions_in_whatever_order():
    labels, positions = np.array([0, 1, 0, 1]), np.array([10.0, 30.0, 14.0, 20.0])
    shown = GroupsDisplay(labels, list("abcd"), positions, np.array([1.0, 4.0, 2.0, 3.0])).plot()
    assert [box[:2] for box in boxes(shown.bands_)] == [
        (pytest.approx(10 - 10 / 3), 17.0),
        (17.0, pytest.approx(30 + 10 / 3)),
    ]
    np.testing.assert_array_equal(shown.line_.get_xdata(), [10, 14, 20, 30])
    np.testing.assert_array_equal(shown.line_.get_ydata(), [1, 2, 3, 4])


def test_falling_positions_run_from_left_to_right_as_the_features_do():
    positions = np.array([4000.0, 2000.0, 400.0])
    ax = GroupsDisplay(np.array([0, 0, 1]), list("abc"), positions, np.ones(3)).plot().ax_
    left, right = ax.get_xlim()
    assert left > right


def test_bars_are_means_in_the_colours_of_groups(rng):
    X = pd.DataFrame(rng.normal(size=(60, 5)) + np.arange(5), columns=list("abcde"))
    X["b"] = X["a"] + 1
    reducer = NonLinCFA(0.01).fit(X, X["a"] + rng.normal(size=60))
    shown = GroupsDisplay.from_estimator(reducer, X).plot()
    heights = [bar.get_height() for bar in shown.bands_]
    np.testing.assert_allclose(heights, [X[name].mean() for name in X])
    assert shown.bands_[0].get_facecolor() == shown.bands_[1].get_facecolor()


def test_means_of_mixed_units_are_in_standard_deviations(rng):
    X = rng.normal(size=(60, 3)) * [1e-3, 1.0, 1e6] + [1e-3, 5.0, -2e6]
    X = np.column_stack([X, np.ones(60)])
    reducer = Coterie().fit(X, X[:, 1])
    shown = GroupsDisplay.from_estimator(reducer, X).plot()
    expected = np.append(X[:, :3].mean(axis=0) / X[:, :3].std(axis=0), 0)
    np.testing.assert_allclose(shown.means, expected)
    assert shown.ax_.get_ylabel() == "Mean (standard deviations)"


def test_the_line_of_a_spectrum_is_its_mean():
    X, y = load_tecator(return_X_y=True)
    shown = GroupsDisplay.from_estimator(NonLinCFA().fit(X, y), X, range(850, 1050, 2)).plot()
    np.testing.assert_allclose(shown.line_.get_ydata(), X.mean(axis=0))
    np.testing.assert_array_equal(shown.line_.get_xdata(), np.arange(850, 1050, 2))
    covered = sum(right - left for left, right, *_ in boxes(shown.bands_))
    assert covered == pytest.approx(200)


def test_names_of_numbers_are_positions(rng):
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["850", "852.5", "1e3"])
    shown = GroupsDisplay.from_estimator(NonLinCFA(1.0).fit(X, X["850"]), X)
    assert shown.positions.tolist() == [850, 852.5, 1000]


def test_names_of_many_features_say_where_they_lie(rng):
    names = [f"nm_{w}" for w in range(400, 500)]
    X = pd.DataFrame(rng.normal(size=(40, 100)), columns=names)
    reducer = NonLinCFA(1.0).fit(X, X["nm_400"])
    ax = plot_groups(reducer, X)
    assert ax.get_xlabel() == "nm"
    assert ax.get_xlim() == (399.5, 499.5)


def test_features_without_names_are_counted(rng):
    X = rng.normal(size=(40, 100))
    shown = GroupsDisplay.from_estimator(NonLinCFA(1.0).fit(X, X[:, 0]), X)
    np.testing.assert_array_equal(shown.positions, np.arange(100))
    assert shown.axis == "Feature"


def test_turned_features_have_a_minus(rng):
    factor = rng.normal(size=(100, 1))
    X = np.hstack([factor, -factor]) + 0.1 * rng.normal(size=(100, 2))
    reducer = NonLinCFA(0.1, signs=True).fit(
        pd.DataFrame(X, columns=["warm", "cold"]), factor.ravel()
    )
    assert [t.get_text() for t in plot_groups(reducer).get_xticklabels()] == ["warm", "-cold"]


@pytest.mark.parametrize("tolerance", [0.0, 1.0], ids=["all alone", "one group"])
def test_extremes_are_drawn(rng, tolerance):
    X = rng.normal(size=(50, 8))
    y = X @ np.arange(1.0, 9.0)
    reducer = NonLinCFA(tolerance, cv=None).fit(X, y)
    assert reducer.n_groups_ == (8 if tolerance == 0 else 1)
    for ax in (plot_groups(reducer), plot_groups(reducer, X), plot_groups(reducer, X, range(8))):
        ax.figure.canvas.draw()


@pytest.mark.parametrize("n_groups", [3, 70, 2500, 5000])
def test_five_thousand_features_are_a_few_artists(rng, n_groups):
    labels = rng.permutation(np.arange(5000) % n_groups)
    labels = np.unique(labels, return_inverse=True)[1]
    places = np.arange(5000.0)
    for means in (None, rng.normal(size=5000)):
        shown = GroupsDisplay(labels, [""] * 5000, places, means).plot()
        shown.figure_.canvas.draw()
        assert len(shown.ax_.get_children()) < 100
        assert len(shown.ax_.get_yticks()) <= 25


def test_means_are_of_what_is_grouped_and_has_a_value(rng):
    X = rng.normal(size=(60, 4))
    X[0, 1] = np.nan
    y = X[:, 0] + rng.normal(size=60)
    reducer = NonLinCFA(0.01, missing="pairwise").fit(X, y)
    np.testing.assert_allclose(
        GroupsDisplay.from_estimator(reducer, X).means, np.nanmean(X, axis=0)
    )
    squares = NonLinCFA(0.01, inputs=PolynomialFeatures(2, include_bias=False))
    shown = GroupsDisplay.from_estimator(squares.fit(X[1:], y[1:]), X[1:])
    assert len(shown.means) == 4 + 10
    assert shown.means[4] == pytest.approx(np.mean(X[1:, 0] ** 2))
    assert shown.names[4] == "x0^2"


def test_sparse_columns_have_means_too(rng):
    dense = rng.poisson(0.3, size=(80, 6)).astype(float)
    X = sparse.csr_array(dense)
    reducer = NonLinCFA(0.01).fit(X, dense[:, 0] + rng.normal(size=80))
    means = GroupsDisplay.from_estimator(reducer, X).means
    np.testing.assert_allclose(means, dense.mean(axis=0))


@pytest.mark.parametrize("positions", [[1, 2], [[1, 2, 3, 4]], [1, 2, 3, np.nan]])
def test_positions_are_one_number_for_each_feature(rng, positions):
    X = rng.normal(size=(30, 4))
    reducer = NonLinCFA(0.1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"^positions must (have shape \(4,\)|be finite), got"):
        plot_groups(reducer, positions=positions)
    assert not plt.get_fignums()
