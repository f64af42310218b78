"""What a fit works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coterie.estimators._rows import Rows
from coterie.estimators._seen import Seen
from coterie.estimators._targets import Targets
from coterie.grouping import Groupable
from coterie.units import Units
from coterie.values import FloatArray, IntArray

Splits = list[tuple[IntArray, IntArray]]


class Data(NamedTuple):
    """What a fit was given, once it is validated."""

    columns: Any  # (n_samples, n_inputs), NaN where there may be gaps; or sparse
    targets: Targets
    rows: Rows
    splits: Splits | None
    gaps: bool  # whether the columns have some


class Prepared(NamedTuple):
    """What a fit works on: what is known of inputs and targets, and the evidence gathered."""

    seen: Seen
    importance: FloatArray  # (n_targets,), how much each target counts
    groupable: Groupable
    of_units: Callable[[Units, FloatArray | None], Groupable]
    least: FloatArray | None = None  # rows that a question must be asked of, if there are gaps
