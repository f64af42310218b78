"""Python values to JSON and back. Types that JSON lacks become objects with a type tag."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coterie._persist.files._arrays import array_in, number_in, plain_array, plain_numbers
from coterie._persist.files._entry import Entry

TAGS = ("number", "tuple", "set", "range", "array", "scalar", "objects")
# Bounds of a range are below this.
MAX_RANGE_BOUND = 2**62


class NotPlainError(TypeError):
    """The type of a value that JSON cannot hold; the caller adds where it is."""


def _refuse(value: Any) -> Any:
    raise NotPlainError(type(value).__name__)


def plain_value(value: Any, other: Callable[[Any], Any] = _refuse) -> Any:
    """A value as JSON; values of unknown types are passed to `other`.

    Examples
    --------
    >>> plain_value([1, "auto", np.inf, np.arange(2)])
    [1, 'auto', {'is': 'number', 'value': 'Infinity'}, {'is': 'array', 'dtype': 'int64', \
'shape': [2], 'values': [0, 1]}]
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        plain = plain_numbers(value)
        return value if math.isfinite(value) else {"is": "number", "value": plain}
    if type(value) is list:
        return [plain_value(one, other) for one in value]
    if type(value) is tuple:
        return {"is": "tuple", "values": [plain_value(one, other) for one in value]}
    if type(value) is set:
        return {"is": "set", "values": [plain_value(one, other) for one in sorted(value, key=repr)]}
    if type(value) is range:
        return {"is": "range", "values": [value.start, value.stop, value.step]}
    if isinstance(value, np.ndarray):
        return _array_to_json(value, other)
    if isinstance(value, np.generic):
        return _array_to_json(np.asarray(value), other) | {"is": "scalar"}
    return other(value)


def _array_to_json(array: Any, other: Callable[[Any], Any]) -> dict[str, Any]:
    plain = plain_array(array)
    if plain is not None:
        return plain
    if array.dtype.kind != "O" or array.ndim != 1:
        raise NotPlainError(f"array of {array.dtype} and shape {array.shape}")
    return {"is": "objects", "values": [plain_value(one, other) for one in array.tolist()]}


def value_in(entry: Entry, others: Mapping[str, Callable[[Entry], Any]] | None = None) -> Any:
    """The value of an entry, by its type tag if it has one."""
    if entry.is_list:
        return [value_in(one, others) for one in entry.items()]
    if isinstance(entry.value, float):
        return entry.number()
    if not entry.is_object:
        return entry.value
    others = others or {}
    kind = entry["is"].word([*TAGS, *others])
    if kind in others:
        return others[kind](entry)
    return _load_tagged(kind, entry, others)


def _load_tagged(kind: str, entry: Entry, others: Mapping[str, Callable[[Entry], Any]]) -> Any:
    if kind == "number":
        return number_in(entry["value"])
    if kind == "array":
        return array_in(entry)
    if kind == "scalar":
        array = array_in(entry)
        if array.ndim:
            raise entry["shape"].wrong("empty for a scalar")
        return array[()]
    if kind == "range":
        start, stop, step = entry["values"].whole_numbers(
            3, least=-MAX_RANGE_BOUND, most=MAX_RANGE_BOUND
        )
        if step == 0:
            raise entry["values"].wrong("start, stop and a step that is not 0")
        return range(start, stop, step)
    values = [value_in(one, others) for one in entry["values"].items()]
    if kind == "set":
        return _load_set(entry["values"], values)
    return tuple(values) if kind == "tuple" else _object_array(values)


def _load_set(entry: Entry, values: list[Any]) -> set[Any]:
    try:
        return set(values)
    except TypeError:
        raise entry.wrong("a list of what a set can have") from None


def _object_array(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
