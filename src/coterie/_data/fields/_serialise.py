"""The layout of a field to JSON and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie._data.fields._layout import Grid, Layout
from coterie._data.fields._variables import variable_text
from coterie._persist.files import (
    Entry,
    NotPlainError,
    UnreadableError,
    array_in,
    plain_array,
    plain_value,
    value_in,
)


def plain_layout(layout: Layout) -> dict[str, Any]:
    """A layout as JSON: the cells, coordinates and attributes of each variable."""
    return {
        "sample_dim": _checked_text("The dimension of the samples", layout.sample_dim),
        "is_dataset": layout.is_dataset,
        "grids": [_grid_to_json(grid) for grid in layout.grids],
    }


def _grid_to_json(grid: Grid) -> dict[str, Any]:
    kept, owner = grid.kept, variable_text(grid.kept)
    for name, index in kept.indexes.items():
        if index.nlevels > 1:
            raise _not_serialisable_error(f"coordinate {name!r}", "MultiIndex")
    return {
        "name": None if kept.name is None else _checked_text("The name of a variable", kept.name),
        "dims": [_checked_text(f"A dimension of {owner}", dim) for dim in grid.dims],
        "cell_dims": [_checked_text(f"A dimension of {owner}", dim) for dim in kept.dims],
        "shape": list(kept.shape),
        "kept": grid.is_column.ravel().tolist(),
        "attributes": _attributes_to_json(owner, kept.attrs),
        "coordinates": {
            _checked_text(f"A coordinate of {owner}", name): _coordinate_to_json(name, along)
            for name, along in kept.coords.items()
        },
    }


def _coordinate_to_json(name: str, along: Any) -> dict[str, Any]:
    owner, values = f"coordinate {name!r}", np.asarray(along)
    is_text = values.dtype.kind == "O" and all(isinstance(one, str) for one in values.ravel())
    plain = plain_array(values.astype(str).ravel() if is_text else values.ravel())
    if plain is None:
        raise _not_serialisable_error(owner, str(values.dtype))
    return {
        "dims": list(along.dims),
        "values": plain,
        "is_object": is_text,
        "attributes": _attributes_to_json(owner, along.attrs),
    }


def _attributes_to_json(owner: str, attributes: Mapping[Any, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in attributes.items():
        try:
            plain[_checked_text(f"An attribute of {owner}", name)] = plain_value(value)
        except NotPlainError as error:
            raise _not_serialisable_error(f"attribute {name!r} of {owner}", str(error)) from None
    return plain


def _not_serialisable_error(owner: str, kind: str) -> TypeError:
    return TypeError(
        f"{owner[0].upper()}{owner[1:]} has type {kind}, which JSON cannot hold. "
        "Drop or convert it before fit."
    )


def _checked_text(owner: str, name: Any) -> str:
    if type(name) is not str:
        raise TypeError(f"{owner} must be text to be saved, got {name!r}.")
    return name


def layout_in(entry: Entry) -> Layout:
    """Load a layout from JSON."""
    grids = tuple(_grid_from_json(grid) for grid in entry["grids"].items())
    layout = Layout(entry["sample_dim"].text(), grids, entry["is_dataset"].truth())
    if not grids or (len(grids) > 1 and not layout.is_dataset):
        raise entry["grids"].wrong("one grid, or those of a dataset")
    return layout


def _grid_from_json(entry: Entry) -> Grid:
    try:
        import xarray
    except ImportError:
        raise ImportError("This model was fitted to a field: pip install xarray.") from None
    kept = entry["kept"].truths()
    cell_dims = entry["cell_dims"].texts()
    shape = [size.whole(0, len(kept)) for size in entry["shape"].items(len(cell_dims))]
    dims = entry["dims"].texts()
    if math.prod(shape) != len(kept) or not {*cell_dims} < {*dims}:
        raise entry["shape"].wrong(f"the shape of {len(kept)} cells, on dimensions of the variable")
    coordinates = entry["coordinates"]
    size_of = dict(zip(cell_dims, shape, strict=True))
    try:
        grid = xarray.DataArray(
            np.array(kept, dtype=bool).reshape(shape),
            {
                name: _coordinate_from_json(coordinates[name], size_of)
                for name in coordinates.names()
            },
            cell_dims,
            None if entry["name"].is_null else entry["name"].text(),
            _attributes_from_json(entry["attributes"]),
        )
    except UnreadableError:
        raise
    except ValueError:
        raise entry.wrong("a grid that xarray can make") from None
    return Grid(grid, tuple(dims))


def _coordinate_from_json(entry: Entry, size_of: dict[str, int]) -> Any:
    import xarray

    values, dims = array_in(entry["values"]), entry["dims"].texts()
    if not {*dims} <= {*size_of} or values.size != math.prod(size_of[dim] for dim in dims):
        raise entry["dims"].wrong("dimensions of the cells, of the size of the values")
    if entry["is_object"].truth():
        values = values.astype(object)
    values = values.reshape([size_of[dim] for dim in dims])
    return xarray.Variable(dims, values, _attributes_from_json(entry["attributes"]))


def _attributes_from_json(entry: Entry) -> dict[str, Any]:
    return {name: value_in(entry[name]) for name in entry.names()}
