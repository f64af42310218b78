"""A group of columns becomes one column.

Two kinds, and the type says which. An :class:`Additive` aggregation adds up what each
column contributes, so covariances are all that a search needs. The others keep a running
state (see :class:`coterie._core.evidence.RunningAggregate`) and must see the columns. Apart
from that, one that is :class:`Linear` offers its weights.

All have a ``name``, the word for them in the names of output columns; ``keeps_single``,
whether the aggregate of one column is that column; and ``values(columns)``, one value per
row of columns of shape (n_samples, m).
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
