"""Positions of features: along an axis, or on a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.values import is_sparse
from coterie._data.name_coordinates import axis_from_names, plane_from_names
from coterie.report.inspection._standardised import StandardisedColumns, share_with_both
from coterie.report.inspection._summary import Map, Spectrum

# Median correlation of neighbours from which on features are drawn as a curve.
MIN_NEIGHBOUR_CORRELATION = 0.8
QUANTILES = (0.05, 0.95)


def build_spectrum(
    columns: StandardisedColumns, names: list[str], positions: Any = None
) -> Spectrum | None:
    """Mean and quantiles of the features along an axis, or None.

    The positions are the given ones. Otherwise they are the numbers in the names, if neighbouring
    features are correlated.
    """
    if is_sparse(columns.columns):
        return None
    if positions is None:
        axis = axis_from_names(names)
        if axis is None or not _is_smooth(columns):
            return None
        name, positions = axis
    else:
        name = ""
    values = columns.columns
    if columns.observed is not None:
        values = np.where(columns.observed, values, np.nan)
    low, high = np.nanquantile(values, QUANTILES, axis=0)
    points = np.asarray(positions, dtype=np.float64).tolist()
    return Spectrum(name, points, columns.mean.tolist(), low.tolist(), high.tolist())


def _is_smooth(columns: StandardisedColumns) -> bool:
    """Whether neighbouring features are highly correlated, as points on a curve are."""
    n_features = len(columns.mean)
    z = columns.sums(sparse.eye_array(n_features, format="csr"))
    left = np.arange(n_features - 1)
    both = share_with_both(columns, left, columns, left + 1)
    return bool(
        np.median(np.einsum("ij,ij->j", z[:, :-1], z[:, 1:]) / both) >= MIN_NEIGHBOUR_CORRELATION
    )


def build_map(names: list[str], coordinates: Any = None) -> Map | None:
    """Features on a map, by (vertical, horizontal) coordinates or by the names, or None."""
    if coordinates is not None:
        up, across = np.asarray(coordinates, dtype=np.float64).T
        return Map(across.tolist(), up.tolist(), "x", "y", [""] * len(names))
    plane = plane_from_names(names)
    if plane is None:
        return None
    names_of_axes = plane.across_name, plane.up_name
    return Map(plane.across.tolist(), plane.up.tolist(), *names_of_axes, plane.layers)
