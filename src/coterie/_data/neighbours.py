"""Graphs of neighbouring features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.values import FloatArray

# Grid steps such as 0.1 are not exact; neighbours at exactly the distance must count.
DISTANCE_SLACK = 1e-9


def coordinates_to_graph(coordinates: Any, distance: Any, period: Any = None) -> sparse.csr_array:
    """Graph of the features within a distance of each other along every axis.

    The spatial rule of the papers: a candidate may join a group if, in each coordinate, it is
    within a given distance of a member.

    Parameters
    ----------
    coordinates : array-like of shape (n_features,) or (n_features, n_axes)
        Position of each feature: wavelength, latitude and longitude, or time lag.
    distance : float or array-like of shape (n_axes,)
        Largest difference between neighbours, one value or one for each axis; 0 requires equal
        coordinates, infinity allows any.
    period : float or sequence of shape (n_axes,), optional
        Period of each axis, one value or one for each axis: 360 for degrees of longitude. None or
        infinity for an axis that is not periodic. On a periodic axis, coordinates are compared up
        to rounding.

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

    Longitudes meet at the date line:

    >>> coordinates_to_graph([-175, 0, 175], distance=10, period=360).toarray().astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]])
    """
    points = _to_float_array("coordinates", coordinates)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2:
        raise ValueError(f"coordinates must have one row per feature, got shape {points.shape}.")
    if not np.isfinite(points).all():
        raise ValueError("coordinates must be finite, got NaN or infinity.")
    n_axes = points.shape[1]
    steps, lengths = _scaled_coordinates(
        points, _checked_distance(distance, n_axes), _checked_period(period, n_axes)
    )
    # Imported here, since most users need no coordinates.
    from scipy.spatial import KDTree

    tree = KDTree(steps, boxsize=lengths if lengths.any() else None)
    pairs = tree.query_pairs(1 + DISTANCE_SLACK, p=np.inf, output_type="ndarray")
    rows, columns = np.vstack([pairs, pairs[:, ::-1]]).T
    shape = (len(points), len(points))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _to_float_array(parameter: str, values: Any) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{parameter} must be an array of numbers, got {values!r}.") from None


def _per_axis(parameter: str, given: Any, n_axes: int) -> FloatArray:
    values = _to_float_array(parameter, given)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_axes):
        raise ValueError(
            f"{parameter} must be one number or {n_axes}, one per axis, got {given!r}."
        )
    return np.broadcast_to(values, (n_axes,))


def _checked_distance(distance: Any, n_axes: int) -> FloatArray:
    distances = _per_axis("distance", distance, n_axes)
    if not (distances >= 0).all():
        raise ValueError(f"distance must be 0 or more, got {distance!r}.")
    return distances


def _checked_period(period: Any, n_axes: int) -> FloatArray:
    """The period of each axis, infinity if it is not periodic."""
    if period is None:
        return np.full(n_axes, np.inf)
    if isinstance(period, list | tuple):
        period = [np.inf if length is None else length for length in period]
    periods = _per_axis("period", period, n_axes)
    if not (periods > 0).all():
        raise ValueError(f"period must be more than 0, got {period!r}.")
    return periods


def _scaled_coordinates(
    points: FloatArray, distances: FloatArray, periods: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coordinates scaled so that neighbours differ by at most 1 along every axis.

    Returns
    -------
    steps : ndarray of shape (n_features, n_axes)
    lengths : ndarray of shape (n_axes,)
        Scaled period of each axis, 0 if it is not periodic.
    """
    steps, lengths = np.empty(points.shape), np.zeros(len(distances))
    for axis, (distance, period) in enumerate(zip(distances, periods, strict=True)):
        along = points[:, axis]
        span = np.ptp(along) if len(along) else 0.0
        if distance == 0 and np.isfinite(period):
            # Periods are rarely exact: 0.1 and 360.1 are equal up to rounding.
            distance = DISTANCE_SLACK * min(np.abs(along).max(initial=0.0), period)
        # Use the period only where it matters, since the modulo costs digits.
        if distance >= period / 2:
            steps[:, axis] = 0.0
        elif span + distance < period * (1 - 2 * DISTANCE_SLACK):
            steps[:, axis] = _scale_line(along, distance)
        else:
            steps[:, axis], lengths[axis] = _scale_circle(along, distance, period)
    return steps, lengths


def _scale_line(along: FloatArray, distance: float) -> FloatArray:
    if distance > 0:
        return along / distance
    # Equal coordinates stay equal, different ones are at least 2 apart.
    return 2.0 * np.unique(along, return_inverse=True)[1]


def _scale_circle(along: FloatArray, distance: float, period: float) -> tuple[FloatArray, float]:
    """Scaled coordinates from the smallest one, modulo the period, and the scaled period."""
    steps, length = np.mod(along - along.min(), period) / distance, period / distance
    return np.where(steps < length, steps, 0.0), length
