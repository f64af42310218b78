"""Functions and families, which a file can name and not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._data.parameters import is_aggregation, is_extension
from coterie._persist.files import Entry, NotPlainError, UnreadableError
from coterie.families import FAMILIES, Family, dispersion_of, negative_binomial

# The only functions that a file can name without being given them.
NUMPY: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        np.absolute,
        np.arcsinh,
        np.arctan,
        np.cbrt,
        np.cos,
        np.exp,
        np.expm1,
        np.log,
        np.log10,
        np.log1p,
        np.log2,
        np.negative,
        np.positive,
        np.reciprocal,
        np.sign,
        np.sin,
        np.sqrt,
        np.square,
        np.tanh,
    )
}


def checked_functions(functions: Any) -> dict[str, Any]:
    """Functions and families by name."""
    if functions is None:
        return {}
    if not isinstance(functions, Mapping):
        raise TypeError(
            f"functions must be a dict from names to functions or families, got {functions!r}."
        )
    for name, one in functions.items():
        if not isinstance(name, str) or not (
            callable(one) or isinstance(one, Family) or is_extension(one)
        ):
            raise TypeError(
                "functions must be a dict from names to functions or families, got "
                f"{name!r}: {one!r}."
            )
    return dict(functions)


@dataclass(frozen=True)
class Naming:
    """Names for functions and families: those given, then their own."""

    given: Mapping[str, Any]
    used: dict[str, Any] = field(default_factory=dict)

    def plain(self, thing: Any) -> dict[str, Any]:
        """What a file says instead of a function or a family."""
        if isinstance(thing, Family):
            return self._family(thing)
        for name, known in NUMPY.items():
            if thing is known:
                return {"is": "numpy", "name": name}
        return self._named(thing, getattr(thing, "__name__", getattr(thing, "name", "")))

    def _family(self, family: Family) -> dict[str, Any]:
        if FAMILIES.get(family.name) == family:
            return {"is": "family", "name": family.name}
        dispersion = dispersion_of(family)
        if dispersion is not None:
            return {"is": "family", "name": "negative_binomial", "dispersion": dispersion}
        return self._named(family, family.name)

    def _named(self, thing: Any, own: str) -> dict[str, Any]:
        given = [name for name, one in self.given.items() if one is thing]
        name = given[0] if given else own
        if not given and (not name.isidentifier() or name in self.given):
            raise ValueError(
                f"{thing!r} has no name of its own for the file: give it one, "
                "save(path, functions={'a_name': it})."
            )
        if self.used.setdefault(name, thing) is not thing:
            raise ValueError(
                f"Two different functions are called {name!r}: give them names, "
                "save(path, functions={'a_name': one, 'another': the_other})."
            )
        return {"is": "given", "name": name}


def numpy_in(entry: Entry) -> Any:
    """A function of numpy that is known by its name."""
    return NUMPY[entry["name"].word([*NUMPY])]


def given_in(entry: Entry, functions: Mapping[str, Any]) -> Any:
    """A function or family that the loader was given."""
    name = entry["name"].text()
    if name not in functions:
        raise UnreadableError(
            f"it needs the function or family {name!r}, which no file can hold: "
            f"load(path, functions={{{name!r}: ...}})"
        )
    return functions[name]


def family_in(entry: Entry) -> Family:
    """A family that is known by its name."""
    name = entry["name"].word([*FAMILIES, "negative_binomial"])
    if name in FAMILIES:
        return FAMILIES[name]
    dispersion = entry["dispersion"]
    if not dispersion.number() > 0:
        raise dispersion.wrong("a number of more than 0")
    return negative_binomial(dispersion.number())


def function_in(entry: Entry, functions: Mapping[str, Any]) -> Callable[..., Any]:
    """A function, known or given."""
    if entry["is"].word(["numpy", "given"]) == "numpy":
        return numpy_in(entry)
    given = given_in(entry, functions)
    if not callable(given):
        raise UnreadableError(
            f"functions[{entry['name'].text()!r}] must be a function, got {given!r}"
        )
    return given


def aggregation_in(entry: Entry, functions: Mapping[str, Any]) -> Any:
    """A function or an aggregation, known or given."""
    if entry["is"].word(["numpy", "given"]) == "given":
        given = given_in(entry, functions)
        if is_aggregation(given):
            return given
    return function_in(entry, functions)


def plain_function(function: Any, naming: Naming) -> dict[str, Any]:
    """What a file says instead of a function; an error for anything else."""
    if not callable(function):
        raise NotPlainError(type(function).__name__)
    return naming.plain(function)
