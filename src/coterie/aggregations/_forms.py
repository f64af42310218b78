"""All aggregations by their names, and the forms that they take for gaps and row weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from coterie.aggregations._additive import LinearSum, SumOfSquares
from coterie.aggregations._available import AvailableMedian, AvailableSum
from coterie.aggregations._principal import Principal
from coterie.aggregations._protocols import Additive
from coterie.aggregations._running import Custom, Extreme, Median, Norm
from coterie.values import FloatArray

Aggregation = (
    LinearSum
    | SumOfSquares
    | Norm
    | Extreme
    | Median
    | Principal
    | Custom
    | AvailableSum
    | AvailableMedian
)

AGGREGATIONS: dict[str, Aggregation] = {
    "mean": LinearSum("mean", average=True),
    "sum": LinearSum("sum", average=False),
    "sum_of_squares": SumOfSquares(),
    "norm": Norm(),
    "max": Extreme("max", np.maximum),
    "min": Extreme("min", np.minimum),
    "median": Median(),
    "principal": Principal(),
}


def over_available(aggregation: Aggregation) -> Aggregation | None:
    """The aggregation over the members that have a value, or None where there is none."""
    match aggregation:
        case LinearSum(name, average):
            return AvailableSum(name, aggregation, average)
        case SumOfSquares(name):
            return AvailableSum(name, aggregation, keeps_single=False)
        case Norm(name):
            return AvailableSum(name, SumOfSquares(), root=True, keeps_single=False)
        case Extreme(name, of):
            return Extreme(name, np.fmax if of is np.maximum else np.fmin)
        case Median():
            return AvailableMedian()
    return None


def running_form(aggregation: Aggregation, *, gaps: bool) -> Any:
    """The aggregation with a running state, over the members that have a value if some have none.

    A sum has one too, for those who must see it row by row.
    """
    if gaps or isinstance(aggregation, Additive):
        return over_available(aggregation)
    return aggregation


def weighed(aggregation: Aggregation, row_weights: FloatArray | None) -> Aggregation:
    """The aggregation as learned from rows that count so many times."""
    if isinstance(aggregation, Principal):
        return replace(aggregation, row_weights=row_weights)
    return aggregation
