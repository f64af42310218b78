"""Short labels of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def coordinate_labels(coordinates: NDArray[Any]) -> list[str]:
    """Coordinates as short and unique labels."""
    for digits in (7, 15, 17):
        texts = _format_coordinates(coordinates, digits)
        if len({*texts}) == len(texts):
            return texts
    return [f"{text}#{place}" for place, text in enumerate(texts)]


def _format_coordinates(coordinates: NDArray[Any], digits: int) -> list[str]:
    kind = coordinates.dtype.kind
    if kind == "f":
        return [_format_float(value, digits) for value in coordinates.tolist()]
    if kind == "M":
        return np.datetime_as_string(coordinates, unit="auto").tolist()
    if kind == "m":
        return _format_durations(coordinates)
    # Dates of other calendars are objects with an isoformat method.
    dates = (getattr(value, "isoformat", None) for value in coordinates)
    return [iso() if iso else str(value) for iso, value in zip(dates, coordinates, strict=True)]


def _format_float(value: float, digits: int) -> str:
    # Adding 0 removes the sign of -0.
    return f"{value + 0.0:.{15 if value.is_integer() else digits}g}"


def _format_durations(lengths: NDArray[Any]) -> list[str]:
    """Durations such as 6h, in the largest unit that all are multiples of."""
    for unit in ("D", "h", "m", "s", "ms", "us", "ns"):
        counts = lengths // np.timedelta64(1, unit)
        if (counts * np.timedelta64(1, unit) == lengths).all():
            break
    return [f"{count}{unit}" for count in counts.tolist()]
