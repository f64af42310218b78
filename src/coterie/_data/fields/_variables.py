"""The variables of an xarray field: types, dimensions and coordinates."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Coordinates are equal if they differ by less than this share of the largest, since files store
# the same grid in single or in double precision.
COORDINATE_TOLERANCE = 1e-6


def is_field(X: object) -> bool:
    """Whether X is an xarray DataArray or Dataset; does not import xarray."""
    return is_xarray("DataArray", X) or is_xarray("Dataset", X)


def is_xarray(kind: str, X: object) -> bool:
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(X, getattr(xarray, kind))


def is_lazy(X: Any) -> bool:
    """Whether X is a field of Dask arrays, which are not in memory."""
    if not is_field(X):
        return False
    variables: list[Any] = [X] if is_xarray("DataArray", X) else list(X.data_vars.values())
    return any(variable.chunks is not None for variable in variables)


def variables_of(field: Any) -> list[Any]:
    """The variables of a field."""
    if is_xarray("DataArray", field):
        return [field]
    if not is_xarray("Dataset", field):
        raise TypeError(
            f"The field must be an xarray DataArray or Dataset, got {type(field).__name__}."
        )
    if not field.data_vars:
        raise ValueError("The field is a Dataset without variables: it needs one or more.")
    return list(field.data_vars.values())


def check_sample_dim(field: Any, sample_dim: str) -> None:
    """Raise unless all variables have the dimension and, in a DataArray, another one."""
    for variable in variables_of(field):
        if sample_dim not in variable.dims:
            raise ValueError(
                f"{variable_text(variable)} must have dimension {sample_dim!r} for the "
                f"samples, got {list_items('dimension', variable.dims)}. Drop it, or name another "
                "sample_dim."
            )
    if is_xarray("DataArray", field) and field.ndim == 1:
        raise ValueError(
            f"{variable_text(field)} must have dimensions for cells besides {sample_dim!r} for the "
            "samples, got none."
        )


def check_real_numbers(variable: Any) -> None:
    if variable.dtype.kind not in "fiub":
        raise TypeError(
            f"{variable_text(variable)} must hold real numbers, got {variable.dtype}. "
            "Convert or drop it first."
        )


def variable_text(variable: Any) -> str:
    return "The field" if variable.name is None else f"Variable {variable.name!r}"


def list_items(noun: str, items: Iterable[object]) -> str:
    """A noun and a list of items, such as "dimensions 'lat', 'lon'"."""
    shown = [repr(item) for item in items]
    return f"{noun}{'s' * (len(shown) > 1)} {', '.join(shown)}" if shown else f"no {noun}s"


def coordinates_along(variable: Any, dim: str) -> NDArray[Any]:
    """The coordinates of a variable along a dimension, or indices if there are none."""
    if dim in variable.coords:
        return np.asarray(variable.coords[dim])
    return np.arange(variable.sizes[dim])


def coordinates_differ(these: NDArray[Any], those: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of coordinates that differ, beyond rounding for numbers."""
    if these.dtype.kind in "iuf" and those.dtype.kind in "iuf":
        largest = np.abs(these).max(initial=0, where=np.isfinite(these))
        return ~np.isclose(
            these, those, rtol=0, atol=COORDINATE_TOLERANCE * largest, equal_nan=True
        )
    if these.dtype.kind != those.dtype.kind:
        these, those = these.astype(object), those.astype(object)
    return these != those
