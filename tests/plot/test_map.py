import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray

from coterie import Coterie, NonLinCFA
from coterie.plot import MapDisplay, plot_map
from coterie.plot._canvas import SINGLE_COLOUR
from coterie.plot._map import _innermost_member


def field_of(rng, n_samples=80):
    """A sea of 3 x 4 cells, one of them land, and a target that depends on its western half."""
    west, east = rng.normal(size=(2, n_samples, 1, 1))
    values = np.where(np.arange(4) < 2, west, east) + 0.2 * rng.normal(size=(n_samples, 3, 4))
    values[:, 0, 3] = np.nan
    coords = {"year": np.arange(n_samples), "lat": [10.0, 0.0, -10.0], "lon": [1.0, 2.0, 4.0, 8.0]}
    field = xarray.DataArray(values, coords=coords, name="sst")
    return field, west.ravel() + rng.normal(size=n_samples)


def cells_of(shown):
    """What stands in each cell of the picture, from the lowest latitude up."""
    return shown.cells_.get_array().reshape(3, 4)


def test_cells_of_a_field_are_its_labels(rng):
    field, y = field_of(rng)
    reducer = NonLinCFA(0.02).fit(field, y)
    shown = MapDisplay.from_estimator(reducer).plot()
    expected = reducer.as_field().sortby("lat").values
    np.testing.assert_array_equal(np.ma.filled(cells_of(shown), np.nan), expected)
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("lon", "lat")
    # One more colour is for what is left out.
    assert len(shown.cells_.cmap.colors) == reducer.n_groups_ + 1


def test_given_coordinates_tell_the_same_as_the_field(rng):
    field, y = field_of(rng)
    reducer = NonLinCFA(0.02).fit(field, y)
    cells = np.argwhere(np.isfinite(field.values).all(axis=0))
    where = np.column_stack([field.lat.values[cells[:, 0]], field.lon.values[cells[:, 1]]])
    table = NonLinCFA(0.02).fit(field.values[:, *cells.T], y)
    ours = MapDisplay.from_estimator(table, where).plot()
    theirs = MapDisplay.from_estimator(reducer).plot()
    np.testing.assert_array_equal(cells_of(ours).mask, cells_of(theirs).mask)
    assert (cells_of(ours) == cells_of(theirs)).all()


def test_scattered_features_are_dots_in_the_colours_of_groups(rng):
    labels = np.array([0, 0, 1, 0, 2, 2, 2])
    where = rng.normal(size=(7, 2))
    shown = MapDisplay(labels, where).plot()
    np.testing.assert_array_equal(shown.cells_.get_offsets(), where[:, ::-1])
    colours = shown.cells_.get_facecolors()
    for a in range(7):
        for b in range(7):
            assert (colours[a] == colours[b]).all() == (labels[a] == labels[b])
    grey = tuple(int(SINGLE_COLOUR[k : k + 2], 16) / 255 for k in (1, 3, 5))
    np.testing.assert_allclose(colours[2][:3], grey)


def test_groups_that_touch_differ_in_colour(rng):
    labels = np.unique(rng.integers(0, 15, size=100), return_inverse=True)[1].reshape(10, 10)
    labels = np.kron(labels, np.ones((2, 2), dtype=int))
    where = np.argwhere(labels >= 0)
    shown = MapDisplay(labels.ravel(), where.astype(float)).plot()
    colours = np.array(shown.cells_.cmap.colors)[labels]
    assert (colours[1:][labels[1:] == labels[:-1]] == colours[:-1][labels[1:] == labels[:-1]]).all()
    differ = np.mean(
        colours[:, 1:][labels[:, 1:] != labels[:, :-1]]
        != colours[:, :-1][labels[:, 1:] != labels[:, :-1]]
    )
    # Fifteen groups that all touch each other cannot all differ in seven colours.
    assert differ > 0.8


def test_turned_features_have_a_minus(rng):
    where = np.argwhere(np.ones((3, 3)))
    signs = np.array([1, -1, 1, 1, 1, -1, 1, 1, 1.0])
    shown = MapDisplay(np.zeros(9, dtype=int), where.astype(float), signs).plot()
    (marks,) = shown.ax_.collections[1:]
    np.testing.assert_array_equal(marks.get_offsets(), where[signs < 0][:, ::-1])


def test_numbers_stand_deep_in_their_groups():
    points = np.argwhere(np.ones((9, 9))).astype(float)
    inside = ((points >= 2) & (points <= 6)).all(axis=1)
    assert points[_innermost_member(points, inside)].tolist() == [4, 4]
    assert points[_innermost_member(points, np.ones(81, dtype=bool))].tolist() == [4, 4]


def test_columns_of_a_frame_name_the_axes(rng):
    X = rng.normal(size=(40, 6))
    where = pd.DataFrame(rng.normal(size=(6, 2)), columns=["latitude", "longitude"])
    ax = plot_map(NonLinCFA(0.1).fit(X, X[:, 0]), where)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("latitude", "longitude")


def test_one_of_several_variables_is_named(rng):
    field, y = field_of(rng)
    both = xarray.Dataset({"sst": field, "rain": 2 * field})
    reducer = NonLinCFA(0.02).fit(both, y)
    with pytest.raises(ValueError, match=r"^variable must be one of 'sst', 'rain', got None\.$"):
        plot_map(reducer)
    with pytest.raises(ValueError, match=r"^variable must be one of 'sst', 'rain', got 'snow'\.$"):
        plot_map(reducer, variable="snow")
    shown = MapDisplay.from_estimator(reducer, variable="rain").plot()
    expected = reducer.as_field()["rain"].values
    np.testing.assert_array_equal(shown.labels, expected[np.isfinite(expected)])
    plot_map(NonLinCFA(0.02).fit(both[["sst"]], y)).figure.canvas.draw()


def test_a_line_of_features_is_drawn(rng):
    X = rng.normal(size=(40, 6))
    where = np.column_stack([np.zeros(6), np.arange(6)])
    plot_map(NonLinCFA(0.1).fit(X, X[:, 0]), where).figure.canvas.draw()


@pytest.mark.parametrize("where", [[[0, 1]] * 5, [0, 1, 2, 3], [[0, 1, 2]] * 4, [[0, np.inf]] * 4])
def test_coordinates_are_two_for_each_feature(rng, where):
    X = rng.normal(size=(40, 4))
    with pytest.raises(ValueError, match=r"^coordinates must (have 2 columns|be finite)"):
        plot_map(NonLinCFA(0.1).fit(X, X[:, 0]), where)
    assert not plt.get_fignums()


def test_without_a_field_coordinates_are_asked_for(rng):
    X = rng.normal(size=(40, 4))
    with pytest.raises(
        ValueError, match=r"^coordinates must be given, since the reducer was not fitted to"
    ):
        plot_map(NonLinCFA(0.1).fit(X, X[:, 0]))


def test_a_field_of_one_dimension_is_no_map(rng):
    field = xarray.DataArray(rng.normal(size=(40, 5)), dims=("year", "station"))
    reducer = NonLinCFA(0.1).fit(field, field.values[:, 0])
    with pytest.raises(ValueError, match=r"^A map has 2 dimensions, and the field has 1"):
        plot_map(reducer)


@pytest.mark.parametrize("is_grid", [True, False])
def test_five_thousand_features_are_a_few_artists(rng, is_grid):
    grid = np.argwhere(np.ones((50, 100))).astype(float)
    where = grid if is_grid else rng.normal(size=(5000, 2))
    labels = np.unique((grid // 10) @ [10, 1], return_inverse=True)[1]
    shown = MapDisplay(labels, where).plot()
    shown.figure_.canvas.draw()
    assert len(shown.ax_.get_children()) < 20


def test_names_with_coordinates_are_enough(rng):
    names = [f"{wind}_lon{x}_lat{y}" for wind in "uv" for y in range(3) for x in range(4)]
    X = pd.DataFrame(rng.normal(size=(50, 24)), columns=names)
    reducer = NonLinCFA(0.1).fit(X, X.iloc[:, 0])
    shown = MapDisplay.from_estimator(reducer, variable="v")
    np.testing.assert_array_equal(shown.labels, reducer.labels_[12:])
    assert shown.axes == ("lat", "lon")
    np.testing.assert_array_equal(shown.coordinates[:5], [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)])
    with pytest.raises(ValueError, match="variable must be one of 'u', 'v', got None"):
        MapDisplay.from_estimator(reducer)


def test_cells_of_a_field_that_are_left_out_are_drawn(rng):
    shared = rng.standard_normal((120, 1))
    cells = np.hstack([shared + 0.3 * rng.standard_normal((120, 3)), rng.standard_normal((120, 3))])
    field = xarray.DataArray(
        cells.reshape(120, 2, 3),
        coords={"time": np.arange(120), "lat": [0.0, 1.0], "lon": [0.0, 1.0, 2.0]},
        dims=("time", "lat", "lon"),
    )
    reducer = Coterie().fit(field, shared.ravel())
    shown = MapDisplay.from_estimator(reducer)
    assert len(reducer.rest_) == 3
    np.testing.assert_array_equal(shown.labels, reducer.labels_)
