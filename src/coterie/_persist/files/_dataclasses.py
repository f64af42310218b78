"""Dataclasses to JSON and back, by the types of their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from coterie._persist.files._arrays import floats_in, number_in, plain_numbers
from coterie._persist.files._entry import Entry, UnreadableError

Record = TypeVar("Record")


def plain_record(value: Any) -> Any:
    """A dataclass of numbers, strings, lists and other dataclasses as JSON.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Step:
    ...     name: str
    ...     prices: list[float]
    >>> plain_record(Step("a", [0.5, float("inf")]))
    {'name': 'a', 'prices': [0.5, 'Infinity']}
    """
    if is_dataclass(value):
        return {one.name: plain_record(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {name: plain_record(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain_record(one) for one in value]
    return plain_numbers(value) if isinstance(value, float) else value


def record_in(entry: Entry, kind: type[Record]) -> Record:
    """Load a dataclass of this type from an entry.

    Fields are int, float, str, bool, another dataclass, a list or a dict of those, or None. A field
    with a default may be missing, so that old files can be read. A ValueError of the dataclass
    becomes an UnreadableError.
    """
    try:
        return _load_field(entry, kind)
    except UnreadableError:
        raise
    except ValueError as error:
        raise UnreadableError(f"{entry.spoken_of} is wrong: {error}".rstrip(".")) from None


def _load_field(entry: Entry, hint: Any) -> Any:
    if get_origin(hint) in (UnionType, Union):
        (inner,) = (one for one in get_args(hint) if one is not NoneType)
        return None if entry.is_null else _load_field(entry, inner)
    if get_origin(hint) is list:
        return _load_list(entry, get_args(hint)[0])
    if get_origin(hint) is dict:
        return {name: _load_field(entry[name], get_args(hint)[1]) for name in entry.names()}
    if isinstance(hint, type) and is_dataclass(hint):
        hints = _field_types(hint)
        entry.names(hints)
        known = [name for name in hints if not _is_missing_with_default(hint, name, entry)]
        return hint(**{name: _load_field(entry[name], hints[name]) for name in known})
    return SCALAR_LOADERS[hint](entry)


def _is_missing_with_default(kind: Any, name: str, entry: Entry) -> bool:
    """Whether a field is missing and has a default, as in files from before the field existed."""
    return entry.get(name) is None and name in _names_with_default(kind)


@cache
def _names_with_default(kind: Any) -> set[str]:
    return {one.name for one in fields(kind) if one.default is not MISSING}


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _load_list(entry: Entry, hint: Any) -> list[Any]:
    """A list; lists of numbers and strings are checked at once."""
    if hint in LIST_LOADERS:
        return LIST_LOADERS[hint](entry)
    return [_load_field(one, hint) for one in entry.items()]


MAX_EXACT_INT = 2**53
SCALAR_LOADERS: dict[Any, Callable[[Entry], Any]] = {
    int: lambda entry: entry.whole(-MAX_EXACT_INT, MAX_EXACT_INT),
    float: number_in,
    str: Entry.text,
    bool: Entry.truth,
}
LIST_LOADERS: dict[Any, Callable[[Entry], list[Any]]] = {
    int: lambda entry: entry.whole_numbers(least=-MAX_EXACT_INT, most=MAX_EXACT_INT),
    float: lambda entry: floats_in(entry).tolist(),
    str: Entry.texts,
    bool: Entry.truths,
}
