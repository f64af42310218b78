import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie import coordinates_to_graph


@given(
    st.integers(1, 3),
    st.integers(0, 2**16),
    st.sampled_from([0.0, 0.5, 1.0, 2.5, np.inf]),
)
def test_neighbours_are_near_along_every_axis(n_axes, seed, distance):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 5, size=(20, n_axes)) / 2
    distances = np.full(n_axes, 1.0)
    distances[0] = distance
    near = (np.abs(points[:, None] - points[None]) <= distances).all(axis=2)
    np.fill_diagonal(near, False)
    assert ((coordinates_to_graph(points, distances).toarray() > 0) == near).all()


def test_steps_of_a_decimal_grid_count_as_neighbours():
    graph = coordinates_to_graph(np.arange(0, 1, 0.1), 0.1).toarray()
    assert (graph == np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)).all()


def turned(points, periods):
    """How far apart points are along each axis, the short way round."""
    apart = np.abs(points[:, None] - points[None])
    closed = np.isfinite(periods)
    once = np.where(closed, periods, 1.0)
    return np.where(closed, np.minimum(apart % once, once - apart % once), apart)


@given(
    st.integers(0, 2**16),
    st.lists(st.sampled_from([1.5, 4.0, 6.5, None, np.inf]), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.5, 1.0, 2.5, 1e6, np.inf]),
)
def test_neighbours_on_closed_axes_are_near_the_short_way_round(seed, period, distance):
    rng = np.random.default_rng(seed)
    points = rng.integers(-20, 20, size=(20, len(period))) / 2
    distances = np.full(len(period), 1.0)
    distances[0] = distance
    lengths = np.array([np.inf if length is None else length for length in period])
    near = (turned(points, lengths) <= distances).all(axis=2)
    np.fill_diagonal(near, False)
    assert ((coordinates_to_graph(points, distances, period).toarray() > 0) == near).all()


@given(st.integers(0, 2**16), st.sampled_from([0.0, 0.3, 1.0, 100.0]), st.floats(1e-6, 1e30))
def test_a_period_beyond_span_and_distance_changes_nothing(seed, distance, more):
    points = np.random.default_rng(seed).normal(size=(30, 2)).round(1)
    period = np.ptp(points, axis=0) + distance + more
    wide = coordinates_to_graph(points, distance, period)
    assert (wide != coordinates_to_graph(points, distance)).nnz == 0


@example(seed=0, angle=7505.361180166917, distance=0.0, wrapped=True)
@given(
    st.integers(0, 2**16),
    st.floats(-1e4, 1e4),
    st.sampled_from([0.0, 2.5, 10.0, 179.9, 180.0, 1e5]),
    st.booleans(),
)
def test_rotating_all_longitudes_changes_nothing(seed, angle, distance, wrapped):
    longitudes = np.random.default_rng(seed).choice(np.arange(-360, 720, 2.5), size=40)
    rotated = longitudes + angle
    rotated = rotated % 360 if wrapped else rotated
    before = coordinates_to_graph(longitudes, distance, period=360)
    assert (coordinates_to_graph(rotated, distance, period=360) != before).nnz == 0


def test_steps_of_a_decimal_circle_count_as_neighbours():
    graph = coordinates_to_graph(np.arange(10) / 10, 0.1, period=1).toarray()
    expected = np.roll(np.eye(10), 1, axis=0)
    assert (graph == expected + expected.T).all()


@pytest.mark.parametrize("second", [360.1, 360.1 % 360, -359.9])
def test_a_turn_ends_where_it_began_but_for_rounding(second):
    assert coordinates_to_graph([0.1, second], 0, period=360).nnz == 2
    assert coordinates_to_graph([0.1, second + 1e-3], 0, period=360).nnz == 0


@pytest.mark.parametrize("period", [None, np.inf, [None, np.inf], np.array(np.inf)])
def test_no_period_and_an_infinite_one_are_the_same(rng, period):
    points = rng.normal(size=(30, 2))
    graph = coordinates_to_graph(points, [0.5, np.inf], period)
    assert (graph != coordinates_to_graph(points, [0.5, np.inf])).nnz == 0


def test_one_period_holds_for_all_axes(rng):
    points = rng.uniform(size=(30, 2))
    graph = coordinates_to_graph(points, 0.1, 1.0)
    assert (graph != coordinates_to_graph(points, 0.1, [1.0, 1.0])).nnz == 0


@pytest.mark.parametrize("period", [None, 1.0])
def test_no_features_have_no_neighbours(period):
    assert coordinates_to_graph([], 1, period).shape == (0, 0)


@pytest.mark.parametrize(
    ("coordinates", "distance", "message"),
    [
        ([0, 1, np.nan], 1, "coordinates must be finite"),
        ([[[0]]], 1, "coordinates must have one row per feature"),
        ("abc", 1, "coordinates must be an array of numbers"),
        ([0, 1], "far", "distance must be an array of numbers"),
        ([0, 1, 2], -1, "distance must be 0 or more"),
        ([0, 1, 2], [1, 1], "distance must be one number or 1"),
        ([0, 1, 2], np.nan, "distance must be 0 or more"),
    ],
)
def test_bad_input_gets_one_sentence(coordinates, distance, message):
    with pytest.raises(ValueError, match=message):
        coordinates_to_graph(coordinates, distance)


@pytest.mark.parametrize(
    ("period", "message"),
    [
        (0, "period must be more than 0, got 0"),
        (-360, "period must be more than 0, got -360"),
        (np.nan, "period must be more than 0, got nan"),
        ([360, np.nan], r"period must be more than 0, got \[360, nan\]"),
        ([360], r"period must be one number or 2, one per axis, got \[360\]"),
        ([[360, None]], "period must be one number or 2, one per axis"),
        ("round", "period must be an array of numbers, got 'round'"),
    ],
)
def test_a_bad_period_gets_one_sentence(period, message):
    with pytest.raises(ValueError, match=message):
        coordinates_to_graph([(0, 0), (1, 1)], 1, period)
