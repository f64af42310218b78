"""Coordinates of features from their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coterie._core.values import FloatArray

NUMBER_IN_NAME = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
# Words before a coordinate, and its direction.
HORIZONTAL_WORDS = ("lon", "long", "longitude", "x", "e", "east", "col")
VERTICAL_WORDS = ("lat", "latitude", "y", "n", "north", "row")
# More different words are names of stations rather than of variables.
MAX_LAYERS = 12
# With fewer names, numbers may occur by chance.
MIN_NAMES = 8


_WORD_AND_NUMBER = re.compile(rf"(?<![A-Za-z])([A-Za-z]+)[ _=:]*({NUMBER_IN_NAME.pattern})")
_DIRECTIONS = "|".join((*HORIZONTAL_WORDS, *VERTICAL_WORDS))
_COORDINATE = re.compile(
    rf"(?<![A-Za-z])(?:{_DIRECTIONS})[ _=:]*{NUMBER_IN_NAME.pattern}", re.IGNORECASE
)


class Axis(NamedTuple):
    """Positions along an axis, and its name."""

    name: str
    positions: FloatArray


class Plane(NamedTuple):
    """Positions on a plane or on the globe, the names of its axes, and the variables there."""

    across_name: str
    up_name: str
    across: FloatArray
    up: FloatArray
    layers: list[str]


def axis_from_names(names: Sequence[str], min_names: int = MIN_NAMES) -> Axis | None:
    """Positions along an axis, if the names differ only by a number that rises or falls.

    Examples
    --------
    >>> axis_from_names([f"{wavelength} nm" for wavelength in range(900, 940, 5)])
    Axis(name='nm', positions=array([900., 905., 910., 915., 920., 925., 930., 935.]))
    >>> axis_from_names(["age", "income"]) is None
    True
    """
    if len(names) < min_names:
        return None
    parts = [_split_name(name) for name in names]
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
    return Axis(_axis_name(names[0], which), numbers[:, which])


def _axis_name(name: str, which: int) -> str:
    """The word before a number in a name, or else the text after it, such as a unit."""
    match = list(NUMBER_IN_NAME.finditer(name))[which]
    before = re.findall(r"[^\W\d_]+", name[: match.start()])
    return before[-1] if before else name[match.end() :].strip(" _()[]")


def plane_from_names(names: Sequence[str]) -> Plane | None:
    """Coordinates of all features, if each name has a longitude and a latitude, or x and y.

    Examples
    --------
    >>> names = ["wind_lon120_lat-30", "wind_lon122.5_lat-30", "wind_lon120_lat-27.5"]
    >>> plane = plane_from_names(names)
    >>> plane.across
    array([120. , 122.5, 120. ])
    >>> plane.up
    array([-30. , -30. , -27.5])
    >>> plane.layers
    ['wind', 'wind', 'wind']
    """
    found = [_coordinates_in_name(name) for name in names]
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
    """The words in the names besides the coordinates, if there are only a few different ones."""
    rest = [_COORDINATE.sub(" ", name) for name in names]
    words = [re.findall(r"[^\W_]+", text) for text in rest]
    if len({*map(len, words)}) != 1:
        return [""] * len(names)
    columns = [column for column in zip(*words, strict=True) if len({*column}) <= MAX_LAYERS]
    return [" ".join(said) for said in zip(*columns, strict=True)] or [""] * len(names)


def _split_name(name: str) -> tuple[tuple[str, ...], list[float]]:
    """The text between the numbers in a name, and the numbers."""
    found = list(NUMBER_IN_NAME.finditer(name))
    numbers = [float(match.group()) for match in found]
    edges = [0, *(edge for match in found for edge in (match.start(), match.end())), len(name)]
    texts = tuple(name[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return texts, numbers


def _coordinates_in_name(name: str) -> tuple[str, float, str, float] | None:
    """The horizontal and the vertical coordinate in a name, each with its word."""
    across = up = None
    for word, number in _WORD_AND_NUMBER.findall(name):
        if word.lower() in HORIZONTAL_WORDS and across is None:
            across = (word, float(number))
        elif word.lower() in VERTICAL_WORDS and up is None:
            up = (word, float(number))
    return None if across is None or up is None else (*across, *up)
