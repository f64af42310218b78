"""How many columns there are in effect."""

from __future__ import annotations

import numpy as np

from coterie.statistics._columns import standardised
from coterie.values import FloatArray, IntArray

# Columns whose correlations are looked at, and rows; more would not change their mean square by
# much.
LOOKED_AT = 256
ROWS = 1024


def effective_number(columns: FloatArray) -> float:
    """The number of independent columns that would be as correlated as these on average.

    ``D^2 / sum of all r^2`` for D columns: D if none are correlated, 1 if all are the same. In
    n rows even independent columns look correlated, so it stays below n. Of many columns only
    some are looked at, evenly spread over an order that depends on their values alone; and
    of many rows, some evenly spread ones.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(10_000, 4))
    >>> round(effective_number(np.repeat(factors, 5, axis=1)))
    4
    """
    n_columns = columns.shape[1]
    order = np.lexsort(columns[:2])
    rows = columns[:: -(-len(columns) // ROWS)]
    values, _, spread = standardised(rows[:, order[_spread_out(n_columns, LOOKED_AT)]])
    values = values[:, spread > 0]
    m = values.shape[1]
    if m < 2:
        return 1.0
    squares = float(np.square(values.T @ values / len(values)).sum())
    between_others = max(squares - m, 0.0) / (m * (m - 1))
    return n_columns / (1 + (n_columns - 1) * between_others)


def _spread_out(n: int, at_most: int) -> IntArray:
    """Evenly spread numbers below n, not more than so many."""
    return np.linspace(0, n - 1, min(n, at_most)).round().astype(np.intp)
