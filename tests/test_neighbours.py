import numpy as np
import pytest
from hypothesis import given
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
