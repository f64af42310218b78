"""The layout of a field as plain values, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie._data.fields._layout import Grid, Layout
from coterie._data.fields._variables import spoken_of
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
    """A layout as plain values: of each variable its cells, coordinates and attributes."""
    return {
        "sample_dim": _text("The dimension of the samples", layout.sample_dim),
        "is_dataset": layout.is_dataset,
        "grids": [_plain_grid(grid) for grid in layout.grids],
    }


def _plain_grid(grid: Grid) -> dict[str, Any]:
    kept, who = grid.kept, spoken_of(grid.kept)
    for name, index in kept.indexes.items():
        if index.nlevels > 1:
            raise _no_json(f"coordinate {name!r}", "MultiIndex")
    return {
        "name": None if kept.name is None else _text("The name of a variable", kept.name),
        "dims": [_text(f"A dimension of {who}", dim) for dim in grid.dims],
        "cell_dims": [_text(f"A dimension of {who}", dim) for dim in kept.dims],
        "shape": list(kept.shape),
        "kept": grid.is_column.ravel().tolist(),
        "attributes": _plain_attributes(who, kept.attrs),
        "coordinates": {
            _text(f"A coordinate of {who}", name): _plain_coordinate(name, along)
            for name, along in kept.coords.items()
        },
    }


def _plain_coordinate(name: str, along: Any) -> dict[str, Any]:
    who, values = f"coordinate {name!r}", np.asarray(along)
    is_text = values.dtype.kind == "O" and all(isinstance(one, str) for one in values.ravel())
    plain = plain_array(values.astype(str).ravel() if is_text else values.ravel())
    if plain is None:
        raise _no_json(who, str(values.dtype))
    return {
        "dims": list(along.dims),
        "values": plain,
        "is_object": is_text,
        "attributes": _plain_attributes(who, along.attrs),
    }


def _plain_attributes(who: str, attributes: Mapping[Any, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in attributes.items():
        try:
            plain[_text(f"An attribute of {who}", name)] = plain_value(value)
        except NotPlainError as error:
            raise _no_json(f"attribute {name!r} of {who}", str(error)) from None
    return plain


def _no_json(who: str, kind: str) -> TypeError:
    return TypeError(
        f"{who[0].upper()}{who[1:]} is of kind {kind}, which JSON cannot hold. Drop or convert it "
        "before fit."
    )


def _text(who: str, name: Any) -> str:
    if type(name) is not str:
        raise TypeError(f"{who} must be text to be saved, got {name!r}.")
    return name


def layout_in(entry: Entry) -> Layout:
    """The layout that plain values stand for."""
    grids = tuple(_grid_in(grid) for grid in entry["grids"].items())
    layout = Layout(entry["sample_dim"].text(), grids, entry["is_dataset"].truth())
    if not grids or (len(grids) > 1 and not layout.is_dataset):
        raise entry["grids"].wrong("one grid, or those of a dataset")
    return layout


def _grid_in(entry: Entry) -> Grid:
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
    named = entry["coordinates"]
    size_of = dict(zip(cell_dims, shape, strict=True))
    try:
        made = xarray.DataArray(
            np.array(kept, dtype=bool).reshape(shape),
            {name: _coordinate_in(named[name], size_of) for name in named.names()},
            cell_dims,
            None if entry["name"].is_null else entry["name"].text(),
            _attributes_in(entry["attributes"]),
        )
    except UnreadableError:
        raise
    except ValueError:
        raise entry.wrong("a grid that xarray can make") from None
    return Grid(made, tuple(dims))


def _coordinate_in(entry: Entry, size_of: dict[str, int]) -> Any:
    import xarray

    values, dims = array_in(entry["values"]), entry["dims"].texts()
    if not {*dims} <= {*size_of} or values.size != math.prod(size_of[dim] for dim in dims):
        raise entry["dims"].wrong("dimensions of the cells, of the size of the values")
    if entry["is_object"].truth():
        values = values.astype(object)
    values = values.reshape([size_of[dim] for dim in dims])
    return xarray.Variable(dims, values, _attributes_in(entry["attributes"]))


def _attributes_in(entry: Entry) -> dict[str, Any]:
    return {name: value_in(entry[name]) for name in entry.names()}
