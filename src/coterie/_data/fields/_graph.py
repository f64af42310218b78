"""The graph of neighbouring cells of a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie._data.fields._layout import Layout, sample_dim_of
from coterie._data.fields._variables import coordinates_along, list_items
from coterie._data.neighbours import coordinates_to_graph

FULL_CIRCLE = 360.0


def field_to_graph(
    field: Any, sample_dim: str | None = None, *, distance: Any = None, periodic: Any = ()
) -> sparse.csr_array:
    """Graph of the neighbouring cells of a field, for ``connectivity``.

    Two cells are neighbours if they are close along every dimension; diagonal neighbours count.
    Cells that are NaN in every sample are left out of the columns and of the graph.

    Variables of a Dataset on the same dimensions share their grid: the same cell and its neighbours
    in the other variables are neighbours, too. To keep variables apart, pass them as ``separate``
    to a reducer. Cells of variables on different dimensions are never neighbours.

    Parameters
    ----------
    field : xarray DataArray or Dataset
        As passed to ``fit``.
    sample_dim : str, optional
        The dimension of the samples; by default the first, for a Dataset the first that all
        variables share.
    distance : dict of float, optional
        Largest difference between neighbours along a dimension, in units of its coordinates;
        0 requires equal coordinates, infinity allows any. Along other dimensions, neighbours are
        one grid step apart, whatever the coordinates.
    periodic : str, sequence of str, or dict of float, optional
        Periodic dimensions. In grid steps, the last cell is next to the first; with a distance,
        the period is 360, or the value in the dict.

    Returns
    -------
    csr_array of shape (n_columns, n_columns)
        1 where two different cells are neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray
    >>> from coterie import field_to_graph
    >>> equator = xarray.DataArray(
    ...     np.ones((3, 4)), coords={"year": [2000, 2001, 2002], "lon": [0, 90, 180, 270]}
    ... )
    >>> field_to_graph(equator, periodic="lon").toarray().astype(int)
    array([[0, 1, 0, 1],
           [1, 0, 1, 0],
           [0, 1, 0, 1],
           [1, 0, 1, 0]])
    >>> field_to_graph(equator, distance={"lon": 180}).toarray().astype(int)
    array([[0, 1, 1, 0],
           [1, 0, 1, 1],
           [1, 1, 0, 1],
           [0, 1, 1, 0]])
    """
    layout = Layout.of(field, sample_dim_of(field) if sample_dim is None else sample_dim)
    axes = [*_grid_axes(layout, distance, periodic), _variable_axis(layout)]
    positions = [axis.positions for axis in axes]
    distances, periods = [axis.distance for axis in axes], [axis.period for axis in axes]
    return coordinates_to_graph(np.column_stack(positions), distances, periods)


class GridAxis(NamedTuple):
    """The position of each column along a dimension, and the distance of neighbours."""

    positions: NDArray[Any]
    distance: float
    period: float | None


def _grid_axes(layout: Layout, distance: Any, periodic: Any) -> Iterator[GridAxis]:
    """One axis for each dimension of the cells."""
    along = {
        dim: coordinates_along(grid.kept, dim) for grid in layout.grids for dim in grid.kept.dims
    }
    distances, periods = _checked_distances(distance, along), _checked_periods(periodic, along)
    for dim, coordinates in along.items():
        if dim in distances:
            positions = _column_positions(layout, dim, _to_double(coordinates))
            yield GridAxis(positions, distances[dim], periods.get(dim))
        else:
            steps = np.arange(len(coordinates))
            yield GridAxis(
                _column_positions(layout, dim, steps), 1, len(steps) if dim in periods else None
            )


def _column_positions(layout: Layout, dim: str, positions: NDArray[Any]) -> NDArray[Any]:
    """The position of each column along a dimension; 0 if its variable does not have it."""
    by_grid = [
        positions[grid.cells([dim])[:, 0]] if dim in grid.kept.dims else np.zeros(grid.n_columns)
        for grid in layout.grids
    ]
    return np.concatenate(by_grid)


def _to_double(coordinates: NDArray[Any]) -> NDArray[Any]:
    """Coordinates in double precision, through text, so that 0.1 in single precision is 0.1."""
    if coordinates.dtype.kind == "f" and coordinates.dtype.itemsize < 8:
        return coordinates.astype(str).astype(np.float64)
    return coordinates


def _variable_axis(layout: Layout) -> GridAxis:
    """An axis along which only variables with the same dimensions are neighbours."""
    dims = [{*grid.kept.dims} for grid in layout.grids]
    numbers = np.repeat([dims.index(d) for d in dims], [grid.n_columns for grid in layout.grids])
    return GridAxis(numbers, 0, None)


def _checked_distances(distance: Any, along: Mapping[str, NDArray[Any]]) -> Mapping[str, float]:
    if distance is None:
        return {}
    if not isinstance(distance, Mapping):
        raise TypeError(
            f"distance must be None or a dict from dimensions to numbers, got {distance!r}."
        )
    _check_dims_exist("distance", distance, along)
    for dim, value in distance.items():
        if not isinstance(value, Real) or not float(value) >= 0:
            raise ValueError(
                f"distance along {dim!r} must be a number of 0 or more, got {value!r}."
            )
        if along[dim].dtype.kind not in "iuf":
            raise ValueError(
                f"distance along {dim!r} needs coordinates that are numbers, got "
                f"{along[dim].dtype}. Leave it out to use grid steps."
            )
    return distance


def _checked_periods(periodic: Any, along: Mapping[str, Any]) -> Mapping[str, float]:
    if not isinstance(periodic, Iterable):
        raise TypeError(
            f"periodic must name dimensions, or be a dict of their periods, got {periodic!r}."
        )
    if not isinstance(periodic, Mapping):
        periodic = dict.fromkeys([periodic] if isinstance(periodic, str) else periodic, FULL_CIRCLE)
    _check_dims_exist("periodic", periodic, along)
    for dim, value in periodic.items():
        if not isinstance(value, Real) or not float(value) > 0:
            raise ValueError(
                f"periodic along {dim!r} must be a number of more than 0, got {value!r}."
            )
    return periodic


def _check_dims_exist(parameter: str, given: Iterable[str], dims: Iterable[str]) -> None:
    if unknown := [dim for dim in given if dim not in dims]:
        raise ValueError(
            f"{parameter} names {unknown[0]!r}, which is not a dimension of the cells: these have "
            f"{list_items('dimension', dims)}."
        )
