"""Graphs of features that lie near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie.values import FloatArray

# Grid steps such as 0.1 are not exact; neighbours at just the distance are meant to count.
SLACK = 1e-9


def coordinates_to_graph(coordinates: Any, distance: Any) -> sparse.csr_array:
    """Graph of the features that lie within a distance of each other along every axis.

    The papers' spatial rule: a candidate may join a group if it lies, in each coordinate,
    within a given distance of some member.

    Parameters
    ----------
    coordinates : array-like of shape (n_features,) or (n_features, n_axes)
        Where each feature is: wavelength, or latitude and longitude, or time lag.
    distance : float or array-like of shape (n_axes,)
        Largest difference between neighbours, the same or one for each axis; 0 asks for
        equal coordinates, infinity for nothing.

    Returns
    -------
    csr_array of shape (n_features, n_features)
        1 where two different features are neighbours. Pass it as ``connectivity``.

    Examples
    --------
    >>> from coterie import coordinates_to_graph
    >>> grid = [(0, 0), (0, 1), (1, 0), (1, 1), (5, 5)]
    >>> coordinates_to_graph(grid, distance=[1, 0]).toarray().astype(int)
    array([[0, 0, 1, 0, 0],
           [0, 0, 0, 1, 0],
           [1, 0, 0, 0, 0],
           [0, 1, 0, 0, 0],
           [0, 0, 0, 0, 0]])
    """
    points = _numbers("coordinates", coordinates)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2:
        raise ValueError(f"coordinates must have one row per feature, got shape {points.shape}.")
    if not np.isfinite(points).all():
        raise ValueError("coordinates must be finite, got NaN or infinity.")
    steps = _steps(points, _checked_distance(distance, points.shape[1]))
    # Imported late: most users need no coordinates.
    from scipy.spatial import KDTree

    pairs = KDTree(steps).query_pairs(1 + SLACK, p=np.inf, output_type="ndarray")
    rows, columns = np.vstack([pairs, pairs[:, ::-1]]).T
    shape = (len(points), len(points))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _numbers(parameter: str, values: Any) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{parameter} must be an array of numbers, got {values!r}.") from None


def _checked_distance(distance: Any, n_axes: int) -> FloatArray:
    distances = _numbers("distance", distance)
    if distances.ndim > 1 or (distances.ndim == 1 and len(distances) != n_axes):
        raise ValueError(
            f"distance must be one number or {n_axes}, one per axis, got {distance!r}."
        )
    if not (distances >= 0).all():
        raise ValueError(f"distance must be 0 or more, got {distance!r}.")
    return np.broadcast_to(distances, (n_axes,))


def _steps(points: FloatArray, distances: FloatArray) -> FloatArray:
    """Coordinates in which neighbours differ by at most 1 along every axis."""
    steps = np.empty(points.shape)
    for axis, distance in enumerate(distances):
        along = points[:, axis]
        # Equal coordinates stay equal, different ones come to lie 2 apart.
        ranks = 2.0 * np.unique(along, return_inverse=True)[1]
        steps[:, axis] = along / distance if distance > 0 else ranks
    return steps
