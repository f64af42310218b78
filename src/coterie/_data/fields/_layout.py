"""The layout of a field: fields to columns, and columns to fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._core.values import FloatArray, IntArray
from coterie._data.fields._coordinate_labels import coordinate_labels
from coterie._data.fields._variables import (
    check_real_numbers,
    check_sample_dim,
    coordinates_along,
    coordinates_differ,
    is_field,
    is_lazy,
    is_xarray,
    list_items,
    variable_text,
    variables_of,
)


def sample_dim_of(X: Any, y: Any = None) -> str:
    """The dimension of a field that holds the samples.

    If y is a DataArray of one or two dimensions that shares exactly one with X, that dimension.
    Otherwise the first dimension of X; for a Dataset, the first that all variables share.
    """
    variables = variables_of(X)
    shared = [d for d in variables[0].dims if all(d in variable.dims for variable in variables)]
    if is_xarray("DataArray", y) and y.ndim in (1, 2):
        common = [dim for dim in y.dims if dim in X.sizes]
        if not common:
            raise ValueError(
                f"y has {list_items('dimension', y.dims)}, of which the field has none: it has "
                f"{list_items('dimension', X.sizes)}. Rename that of y, or pass y as an array."
            )
        shared = common if len(common) == 1 else shared
    if not shared:
        raise ValueError("The field has no dimension that all variables share, for the samples.")
    check_sample_dim(X, shared[0])
    return shared[0]


def samples_first(y: Any, X: Any, sample_dim: str) -> Any:
    """A target as an array with the samples of X along its first axis.

    The samples of a DataArray are put in the order of X. A Dask target stays a Dask array, if X is
    one.
    """
    if is_xarray("Dataset", y):
        raise TypeError("y is a Dataset: pass one of its variables, or to_array() of it.")
    if not is_xarray("DataArray", y):
        return y
    if sample_dim in y.coords and sample_dim in X.coords:
        ours, theirs = coordinates_along(X, sample_dim), coordinates_along(y, sample_dim)
        if len(ours) == len(theirs) and coordinates_differ(ours, theirs).any():
            y = _reorder_target(ours, y, theirs, sample_dim)
    y = y.transpose(sample_dim, ...)
    return y.data if is_lazy(X) and is_lazy(y) else np.asarray(y)


def _reorder_target(ours: NDArray[Any], y: Any, theirs: NDArray[Any], sample_dim: str) -> Any:
    order, wanted = np.argsort(theirs, kind="stable"), np.argsort(ours, kind="stable")
    if coordinates_differ(ours[wanted], theirs[order]).any():
        raise ValueError(
            f"y and the field have different coordinates along {sample_dim!r}. Align them first, "
            "or pass y.values to pair them by position."
        )
    placed = np.empty(len(order), dtype=np.intp)
    placed[wanted] = order
    return y.isel({sample_dim: placed})


@dataclass(frozen=True)
class Grid:
    """The cells of one variable, and which of them are columns.

    Parameters
    ----------
    kept : DataArray of bool
        On the dimensions of the cells, with name, coordinates and attributes of the variable;
        False where all samples are NaN.
    dims : tuple of str
        The dimensions of the variable, including that of the samples.
    """

    kept: Any
    dims: tuple[str, ...]

    @classmethod
    def of_all(cls, variables: Sequence[Any], sample_dim: str) -> tuple[Grid, ...]:
        """The grids of several variables; cells that are NaN in every sample are not columns."""
        for variable in variables:
            check_real_numbers(variable)
        # Before xarray 2025.11, notnull drops the attributes.
        kept = [each.notnull().any(sample_dim).assign_attrs(each.attrs) for each in variables]
        if any(is_lazy(each) for each in kept):
            from dask import compute

            # One pass over the values of all variables.
            kept = compute(*kept)
        return tuple(cls(*pair) for pair in zip(kept, (v.dims for v in variables), strict=True))

    @property
    def is_column(self) -> NDArray[np.bool_]:
        """Mask of the cells that are columns."""
        return np.asarray(self.kept)

    @property
    def n_columns(self) -> int:
        """Number of cells that are columns."""
        return int(self.is_column.sum())

    def cells(self, dims: Sequence[str]) -> IntArray:
        """Indices of the columns along some dimensions, of shape (n_columns, n_dims)."""
        return np.argwhere(self.is_column)[:, [self.kept.dims.index(dim) for dim in dims]]

    def names(self) -> Iterator[str]:
        """A name for each column, such as ``sst(lat=10, lon=120)``."""
        prefix = "" if self.kept.name is None else str(self.kept.name)
        texts = [
            [f"{dim}={text}" for text in coordinate_labels(coordinates_along(self.kept, dim))]
            for dim in self.kept.dims
        ]
        for cell in self.cells(self.kept.dims).tolist():
            place = ", ".join(text[index] for text, index in zip(texts, cell, strict=True))
            yield f"{prefix}({place})" if place else prefix

    def columns(self, variable: Any, sample_dim: str) -> Any:
        """The columns of a variable like this one, of shape (n_samples, n_columns).

        For a Dask variable a Dask array, whose blocks have all columns.
        """
        check_real_numbers(variable)
        self._check(variable)
        variable = variable.transpose(sample_dim, *self.kept.dims)
        if not is_lazy(variable):
            return self._flatten(np.asarray(variable))
        values = _rechunk_cells(variable.data)
        return values.map_blocks(
            _flatten_block,
            _delayed_grid(self),
            meta=np.empty((0, 0), dtype=_float_dtype(values.dtype)),
            drop_axis=list(range(1, values.ndim)),
            new_axis=1,
            chunks=(values.chunks[0], (self.n_columns,)),
        )

    def _flatten(self, values: NDArray[Any]) -> FloatArray:
        """Samples of the cells as rows of a table."""
        values = values.astype(_float_dtype(values.dtype), copy=False)
        is_column = self.is_column
        if is_column.all():
            return values.reshape(len(values), is_column.size)
        return values[:, is_column]

    def _check(self, variable: Any) -> None:
        """Raise if the cells of a variable differ from these."""
        owner = variable_text(self.kept)
        if {*variable.dims} != {*self.dims}:
            raise ValueError(
                f"{owner} must have {list_items('dimension', self.dims)} as in fit, got "
                f"{list_items('dimension', variable.dims)}."
            )
        for dim, size in self.kept.sizes.items():
            if variable.sizes[dim] != size:
                raise ValueError(
                    f"{owner} must have size {size} along {dim!r} as in fit, got "
                    f"{variable.sizes[dim]}."
                )
            # Without coordinates, only the size is compared, as in xarray.
            if dim in self.kept.coords and dim in variable.coords:
                self._check_coordinates(dim, coordinates_along(variable, dim))

    def _check_coordinates(self, dim: str, coordinates: NDArray[Any]) -> None:
        expected = coordinates_along(self.kept, dim)
        others = np.flatnonzero(coordinates_differ(expected, coordinates))
        if len(others):
            here = others[0]
            raise ValueError(
                f"{variable_text(self.kept)} must have the coordinates of fit along {dim!r}, got "
                f"{coordinates[here]!s} in place of {expected[here]!s}: convert it to the grid "
                "of fit first, with sel or interp."
            )

    def fill_cells(self, values: Any) -> Any:
        """Values of the columns, along the last axis, as values of the cells.

        NaN for cells that are not columns.
        """
        is_column = self.is_column
        if _is_dask_array(values):
            cells = is_column.shape
            return values.map_blocks(
                _fill_block,
                _delayed_grid(self),
                meta=np.empty((0, *cells), dtype=values.dtype),
                drop_axis=1,
                new_axis=list(range(1, 1 + len(cells))),
                chunks=(values.chunks[0], *((size,) for size in cells)),
            )
        shape = (*values.shape[:-1], *is_column.shape)
        if is_column.all():
            return values.reshape(shape)
        dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        whole = np.full(shape, np.nan, dtype=dtype)
        whole[..., is_column] = values
        return whole


def _is_dask_array(values: Any) -> bool:
    return hasattr(values, "map_blocks")


def _delayed_grid(grid: Grid) -> Any:
    """The grid as a delayed value, sent to each Dask worker once."""
    from dask import delayed

    return delayed(grid, pure=True, traverse=False)


def _flatten_block(values: NDArray[Any], grid: Grid) -> FloatArray:
    return grid._flatten(values)


def _fill_block(values: NDArray[Any], grid: Grid) -> Any:
    return grid.fill_cells(values)


def _float_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 for float32, else float64."""
    is_single = dtype.kind == "f" and dtype.itemsize == 4
    return np.dtype(np.float32 if is_single else np.float64)


def _rechunk_cells(values: Any) -> Any:
    """A Dask array with all cells in each block; Dask chooses the number of samples."""
    cells = dict.fromkeys(range(1, values.ndim), -1)
    if all(number == 1 for number in values.numblocks[1:]):
        return values
    return values.rechunk({0: "auto", **cells})


@dataclass(frozen=True)
class Layout:
    """How a field is stored as a table with one column for each cell.

    Cells that are NaN in every sample, such as land in a field of the sea, are not columns. Columns
    are in the order of the dimensions of the field, variable by variable.

    Parameters
    ----------
    sample_dim : str
        The dimension of the samples.
    grids : tuple of Grid
        The cells of each variable.
    is_dataset : bool
        Whether the field was a Dataset; otherwise it was a DataArray.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray
    >>> sea = xarray.DataArray(
    ...     [[[1.0, 2.0], [3.0, np.nan]], [[4.0, 5.0], [6.0, np.nan]]],
    ...     coords={"year": [2000, 2001], "lat": [-10.0, 10.0], "lon": [120.0, 122.5]},
    ...     name="sst",
    ... )
    >>> layout = Layout.of(sea, "year")
    >>> layout.names
    ['sst(lat=-10, lon=120)', 'sst(lat=-10, lon=122.5)', 'sst(lat=10, lon=120)']
    >>> layout.table(sea)
    array([[1., 2., 3.],
           [4., 5., 6.]])
    >>> layout.field([0, 0, 1]).sel(lon=120).values
    array([0., 1.])
    """

    sample_dim: str
    grids: tuple[Grid, ...]
    is_dataset: bool

    @classmethod
    def of(cls, field: Any, sample_dim: str) -> Layout:
        """The layout of a field with this dimension of the samples."""
        check_sample_dim(field, sample_dim)
        grids = Grid.of_all(variables_of(field), sample_dim)
        if not any(grid.n_columns for grid in grids):
            raise ValueError(
                "The field has no cell with a value: all values are NaN, or it is empty."
            )
        return cls(sample_dim, grids, is_xarray("Dataset", field))

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return sum(grid.n_columns for grid in self.grids)

    @property
    def names(self) -> list[str]:
        """A name for each column, such as ``sst(lat=10, lon=120)``."""
        return [name for grid in self.grids for name in grid.names()]

    def table(self, field: Any) -> Any:
        """The columns of a field on the same grid, of shape (n_samples, n_columns).

        Its dimensions may be in any order, and a Dataset may have further variables. For a Dask
        field the table is a Dask array.
        """
        variables = self._matching_variables(field)
        pairs = zip(self.grids, variables, strict=True)
        tables = [grid.columns(variable, self.sample_dim) for grid, variable in pairs]
        return tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1)

    def _matching_variables(self, field: Any) -> list[Any]:
        kind = "Dataset" if self.is_dataset else "DataArray"
        if not is_xarray(kind, field):
            raise TypeError(f"X must be a {kind} as in fit, got {type(field).__name__}.")
        if not self.is_dataset:
            return [field]
        names = [grid.kept.name for grid in self.grids]
        if missing := [name for name in names if name not in field.data_vars]:
            raise ValueError(f"The Dataset lacks {list_items('variable', missing)}, seen in fit.")
        return [field[name] for name in names]

    def field(self, values: ArrayLike) -> Any:
        """One value per column as a map: a DataArray, or a Dataset with one for each variable.

        Parameters
        ----------
        values : array-like of shape (n_columns,)
            Labels, or other values of the columns.

        Returns
        -------
        DataArray or Dataset
            On the dimensions of the cells with their coordinates. NaN for cells that are not
            columns, so that integers become floats there.
        """
        parts = []
        for grid, part in self._split_by_variable(np.array(values), 1):
            # Units and long names belong to the variable, not to these values.
            parts.append(grid.kept.copy(data=grid.fill_cells(part)))
            parts[-1].attrs = {}
        return self._join_variables(parts)

    def samples(self, values: ArrayLike, field: Any, names: Iterable[object]) -> Any:
        """One column per group as a DataArray, with the samples of a field.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_groups)
            A Dask array stays one.
        field : DataArray or Dataset
            Its coordinates along the samples are kept.
        names : iterable of str
            The coordinates along the dimension ``group`` (``groups``, if samples have that name).
        """
        import xarray

        group = "group" if self.sample_dim != "group" else "groups"
        # A Dask array would set its own name.
        made = xarray.DataArray(values, dims=(self.sample_dim, group)).rename(None)
        return self._add_sample_coords(made, field).assign_coords(
            {group: [str(name) for name in names]}
        )

    def unstacked(self, values: ArrayLike, field: Any = None) -> Any:
        """A table as a field like the one in fit, with NaN for cells that are not columns.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_columns)
            From a Dask array, a Dask field.
        field : DataArray or Dataset, optional
            Its coordinates along the samples are kept.
        """
        import xarray

        parts = []
        values = values if _is_dask_array(values) else np.asarray(values)
        for grid, part in self._split_by_variable(values, 2):
            made = xarray.DataArray(
                grid.fill_cells(part),
                dims=(self.sample_dim, *grid.kept.dims),
                coords=grid.kept.coords,
                name=grid.kept.name,
                attrs=grid.kept.attrs,
            )
            parts.append(self._add_sample_coords(made, field).transpose(*grid.dims))
        return self._join_variables(parts)

    def _split_by_variable(self, values: Any, ndim: int) -> Iterator[tuple[Grid, Any]]:
        """Split values by variable, along their last axis."""
        if values.ndim != ndim or values.shape[-1] != self.n_columns:
            raise ValueError(
                f"values must have {ndim} dimension{'s' * (ndim > 1)}, the last of size "
                f"{self.n_columns}, one per column, got shape {values.shape}."
            )
        ends = np.cumsum([0, *(grid.n_columns for grid in self.grids)]).tolist()
        parts = (values[..., start:end] for start, end in pairwise(ends))
        return zip(self.grids, parts, strict=True)

    def _join_variables(self, parts: list[Any]) -> Any:
        """Join variables to a field."""
        if not self.is_dataset:
            return parts[0]
        import xarray

        return xarray.Dataset({part.name: part for part in parts})

    def _add_sample_coords(self, made: Any, field: Any) -> Any:
        """Add the coordinates of a field along the samples."""
        if field is None:
            return made
        coords = field.coords.items()
        others = [name for name, along in coords if along.dims != (self.sample_dim,)]
        return made.assign_coords(field.drop_vars(others).coords)


def rows_first(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y with rows along the first axis, also for fields."""
    if not is_field(X):
        return X, np.asarray(y)
    sample_dim = sample_dim_of(X, y)
    y = np.asarray(samples_first(y, X, sample_dim))
    if is_xarray("Dataset", X):
        return Layout.of(X, sample_dim).table(X), y
    return X.transpose(sample_dim, ...), y
