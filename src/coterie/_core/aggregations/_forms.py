"""All aggregations by name, and their variants for missing values and row weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from coterie._core.aggregations._additive import LinearSum, SumOfSquares
from coterie._core.aggregations._available import (
    AvailableExtreme,
    AvailableMedian,
    AvailableSquares,
    AvailableSum,
)
from coterie._core.aggregations._principal import Principal
from coterie._core.aggregations._protocols import Additive
from coterie._core.aggregations._running import Custom, Extreme, Median, Norm
from coterie._core.values import FloatArray

Aggregation = LinearSum | SumOfSquares | Norm | Extreme | Median | Principal | Custom

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


def over_available(aggregation: Aggregation, row_weights: FloatArray | None = None) -> Any:
    """Variant of the aggregation for missing values; None if there is no such variant.

    It keeps a running state. ``row_weights`` has the weight of each row.
    """
    match aggregation:
        case LinearSum(_, average):
            return AvailableSum(average, row_weights)
        case SumOfSquares():
            return AvailableSquares(False, row_weights)
        case Norm():
            return AvailableSquares(True, row_weights)
        case Extreme(_, of):
            return AvailableExtreme(np.fmax if of is np.maximum else np.fmin, row_weights)
        case Median():
            return AvailableMedian(row_weights)
    return None


def running_form(
    aggregation: Aggregation, row_weights: FloatArray | None = None, *, missing: bool
) -> Any:
    """Variant of the aggregation with a running state, for missing values if ``missing``.

    Sums have such a variant too, for criteria that need the aggregate row by row.
    """
    if missing or isinstance(aggregation, Additive):
        return over_available(aggregation, row_weights) or Custom(aggregation.values)
    return aggregation


def weighted(aggregation: Aggregation, row_weights: FloatArray | None) -> Aggregation:
    """The aggregation with row weights, if it learns its weights from rows."""
    if isinstance(aggregation, Principal):
        return replace(aggregation, row_weights=row_weights)
    return aggregation
