"""What a fit works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from coterie.aggregations import Aggregation
from coterie.grouping import Groupable
from coterie.units import Units
from coterie.values import FloatArray, IntArray

Splits = list[tuple[IntArray, IntArray]]


class Prepared(NamedTuple):
    """What a fit works on: inputs, target, and the evidence gathered from them."""

    columns: FloatArray
    target: FloatArray
    aggregation: Aggregation
    groupable: Groupable
    of_units: Callable[[Units, FloatArray | None], Groupable]
