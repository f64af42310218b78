"""What a fit works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coterie.aggregations import Aggregation
from coterie.estimators._rows import Rows
from coterie.estimators._targets import Targets
from coterie.gathering import Asked
from coterie.grouping import Groupable
from coterie.statistics import RowSets
from coterie.units import Units
from coterie.values import FloatArray, IntArray

Splits = list[tuple[IntArray, IntArray]]
# Some targets, of shape (n_samples, n), and how often each row counts for them.
Block = tuple[FloatArray, FloatArray | None]


class Data(NamedTuple):
    """What a fit was given, once it is validated."""

    columns: Any  # (n_samples, n_inputs), NaN where there may be gaps; or sparse
    targets: Targets
    rows: Rows
    splits: Splits | None
    gaps: bool  # whether the columns have some


class Prepared(NamedTuple):
    """What a fit works on: inputs, targets, and the evidence gathered from them."""

    columns: Any  # (n_samples, n_inputs), NaN where there may be gaps; or sparse
    targets: FloatArray  # (n_samples, n_targets)
    importance: FloatArray  # (n_targets,), how much each target counts
    all_together: list[Block]  # the targets, for a regression on all aggregates
    rows: RowSets
    asked: Asked
    aggregation: Aggregation
    groupable: Groupable
    of_units: Callable[[Units, FloatArray | None], Groupable]

    @property
    def n(self) -> float:
        """Number of rows, as often as each counts."""
        weights = self.rows.weights
        return float(len(self.targets) if weights is None else weights.sum())
