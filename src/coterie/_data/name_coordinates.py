"""Where features lie, as far as their names tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coterie._core.values import FloatArray

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
# What stands before or after a coordinate, and which way it goes.
ACROSS = ("lon", "long", "longitude", "x", "e", "east", "col")
UP = ("lat", "latitude", "y", "n", "north", "row")
# More different words than this are names of places, and not of what is measured there.
MOST_LAYERS = 12
# Fewer names may be numbered by chance.
FEWEST = 8


_PLACED = re.compile(rf"(?<![A-Za-z])([A-Za-z]+)[ _=:]*({NUMBER.pattern})")
_WORD_AND_PLACE = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join((*ACROSS, *UP))})[ _=:]*{NUMBER.pattern}", re.IGNORECASE
)


class Axis(NamedTuple):
    """Positions along a line, and what they are called."""

    name: str
    positions: FloatArray


class Plane(NamedTuple):
    """Positions on a plane or on the globe, what they are called, and what lies there."""

    across_name: str
    up_name: str
    across: FloatArray
    up: FloatArray
    layers: list[str]


def axis_in(names: Sequence[str], fewest: int = FEWEST) -> Axis | None:
    """Positions along an axis, where names differ by a number alone that only rises or falls.

    Examples
    --------
    >>> axis_in([f"{wavelength} nm" for wavelength in range(900, 940, 5)])
    Axis(name='nm', positions=array([900., 905., 910., 915., 920., 925., 930., 935.]))
    >>> axis_in(["age", "income"]) is None
    True
    """
    if len(names) < fewest:
        return None
    parts = [_parts(name) for name in names]
    if len({(texts, len(numbers)) for texts, numbers in parts}) != 1:
        return None
    numbers = np.array([numbers for _, numbers in parts]).reshape(len(names), -1)
    if not np.isfinite(numbers).all():
        return None
    varying = np.flatnonzero((numbers != numbers[0]).any(axis=0))
    steps = np.diff(numbers[:, varying], axis=0)
    if len(varying) != 1 or not ((steps > 0).all() or (steps < 0).all()):
        return None
    which = int(varying[0])
    return Axis(_name_of_axis(names[0], which), numbers[:, which])


def _name_of_axis(name: str, which: int) -> str:
    """The word before a number of a name; or else the text behind it, such as a unit."""
    match = list(NUMBER.finditer(name))[which]
    before = re.findall(r"[^\W\d_]+", name[: match.start()])
    return before[-1] if before else name[match.end() :].strip(" _()[]")


def plane_in(names: Sequence[str]) -> Plane | None:
    """Coordinates of all features, where each name holds a longitude and a latitude, or x and y.

    Examples
    --------
    >>> plane = plane_in(["wind_lon120_lat-30", "wind_lon122.5_lat-30", "wind_lon120_lat-27.5"])
    >>> plane.across
    array([120. , 122.5, 120. ])
    >>> plane.up
    array([-30. , -30. , -27.5])
    >>> plane.layers
    ['wind', 'wind', 'wind']
    """
    found = [_coordinates(name) for name in names]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    across_name, up_name = known[0][0], known[0][2]
    if any((one[0], one[2]) != (across_name, up_name) for one in known):
        return None
    across, up = np.array([one[1] for one in known]), np.array([one[3] for one in known])
    if not (np.isfinite(across).all() and np.isfinite(up).all()):
        return None
    return Plane(across_name, up_name, across, up, _layers(names))


def _layers(names: Sequence[str]) -> list[str]:
    """What the names say besides coordinates, as far as only a few things are said."""
    rest = [_WORD_AND_PLACE.sub(" ", name) for name in names]
    words = [re.findall(r"[^\W_]+", text) for text in rest]
    if len({*map(len, words)}) != 1:
        return [""] * len(names)
    columns = [column for column in zip(*words, strict=True) if len({*column}) <= MOST_LAYERS]
    return [" ".join(said) for said in zip(*columns, strict=True)] or [""] * len(names)


def _parts(name: str) -> tuple[tuple[str, ...], list[float]]:
    """The texts between the numbers of a name, and the numbers."""
    found = list(NUMBER.finditer(name))
    numbers = [float(match.group()) for match in found]
    edges = [0, *(edge for match in found for edge in (match.start(), match.end())), len(name)]
    texts = tuple(name[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return texts, numbers


def _coordinates(name: str) -> tuple[str, float, str, float] | None:
    """The two coordinates in a name, each after a word that says which way it goes."""
    across = up = None
    for word, number in _PLACED.findall(name):
        if word.lower() in ACROSS and across is None:
            across = (word, float(number))
        elif word.lower() in UP and up is None:
            up = (word, float(number))
    return None if across is None or up is None else (*across, *up)
