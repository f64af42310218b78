"""Aggregations: functions that turn a group of columns into one column.

There are two kinds. An :class:`Additive` aggregation is a sum of one contribution per column, so
a search needs only covariances. The others keep a running state (see
:class:`coterie._core.evidence.RunningAggregate`) and need the columns themselves. In addition, a
:class:`Linear` aggregation has weights.

Every aggregation has a ``name``, which is used in the names of output columns; ``keeps_single``,
whether the aggregate of one column is that column; and ``values(columns)``, which gives one value
per row of columns of shape (n_samples, m).
"""

from coterie._core.aggregations._additive import LinearSum, SumOfSquares
from coterie._core.aggregations._available import filled, means_of_available
from coterie._core.aggregations._forms import (
    AGGREGATIONS,
    Aggregation,
    over_available,
    running_form,
    weighted,
)
from coterie._core.aggregations._principal import Principal, PrincipalState
from coterie._core.aggregations._protocols import Additive, Linear, Weights
from coterie._core.aggregations._running import Custom, Extreme, Median, Norm

__all__ = [
    "AGGREGATIONS",
    "Additive",
    "Aggregation",
    "Custom",
    "Extreme",
    "Linear",
    "LinearSum",
    "Median",
    "Norm",
    "Principal",
    "PrincipalState",
    "SumOfSquares",
    "Weights",
    "filled",
    "means_of_available",
    "over_available",
    "running_form",
    "weighted",
]
