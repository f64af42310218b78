"""How many columns there are in effect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie.statistics._columns import standardised
from coterie.values import FloatArray, IntArray

# Columns whose correlations are looked at, and rows; more would not change their mean square by
# much.
LOOKED_AT = 256
ROWS = 1024
# Sums of the same weights differ by less than this share of the whole, in whatever order.
SAME = 1e-10


def effective_number(columns: Any, weights: FloatArray | None = None) -> float:
    """The number of independent columns that would be as correlated as these on average.

    ``D^2 / sum of all r^2`` for D columns: D if none are correlated, 1 if all are the same. In
    n rows even independent columns look correlated, so it stays below n. Of many columns only
    some are looked at, evenly spread over an order that depends on their values alone; and
    of many rows, some evenly spread ones.

    Parameters
    ----------
    columns : ndarray or sparse array of shape (n_samples, n_columns)
        NaN where there is no value, which counts as the mean of the column.
    weights : ndarray of shape (n_samples,), optional
        How many times each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(10_000, 4))
    >>> round(effective_number(np.repeat(factors, 5, axis=1)))
    4
    """
    n_columns = columns.shape[1]
    chosen = looked_at(_first_two(columns))
    rows, weights = _some_rows(columns.shape[0], weights)
    return effective_number_in(_dense(columns[rows][:, chosen]), n_columns, weights)


def looked_at(first: FloatArray) -> IntArray:
    """The columns to look at, by the first row and the first that is another one."""
    return np.lexsort(first)[_spread_out(first.shape[1], LOOKED_AT)]


def effective_number_in(
    some: FloatArray, n_columns: int, weights: FloatArray | None = None
) -> float:
    """The effective number of so many columns, of which these are some, in some rows."""
    values, _, spread = standardised(some, weights=weights)
    values = values[:, spread > 0]
    m = values.shape[1]
    share = 1 / len(values) if weights is None else (weights / weights.sum())[:, None]
    squares = float(np.square(values.T @ (share * values)).sum())
    return _effective(squares, m, n_columns)


def effective_number_of(scatter: FloatArray, n_columns: int, n: float) -> float:
    """The effective number of so many columns, from the scatter of some that vary over n rows.

    As it would look in the rows that are looked at, where these are fewer: there, columns that
    have a correlation of r have one of r^2 + (1 - r^2)^2 / n on average.
    """
    spread = np.sqrt(np.diagonal(scatter))
    squares = np.square(scatter / np.outer(spread, spread))
    if n > ROWS:
        n_seen = -(-n // -(-n // ROWS))
        squares += np.square(1 - np.minimum(squares, 1.0)) * (1 / (n_seen - 1) - 1 / (n - 1))
    np.fill_diagonal(squares, 1.0)
    return _effective(float(squares.sum()), len(squares), n_columns)


def _effective(squares: float, m: int, n_columns: int) -> float:
    """The effective number, from all squared correlations of m columns added up."""
    if m < 2:
        return 1.0
    between_others = max(squares - m, 0.0) / (m * (m - 1))
    return n_columns / (1 + (n_columns - 1) * between_others)


def _first_two(columns: Any) -> FloatArray:
    """The first row, and the first that is another one."""
    first = _dense(columns[[0]])
    for number in range(1, columns.shape[0]):
        row = _dense(columns[[number]])
        if not np.array_equal(row, first):
            return np.vstack([first, row])
    return first


def _dense(columns: Any) -> FloatArray:
    """Columns without gaps, each filled with the mean of its column."""
    columns = columns.toarray() if hasattr(columns, "toarray") else np.asarray(columns)
    missing = np.isnan(columns)
    if not missing.any():
        return columns
    count = np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, np.where(missing, 0.0, columns).sum(axis=0) / count, columns)


def places_looked_at(total: float) -> FloatArray:
    """Where the rows that are looked at lie, if each were there as often as it counts."""
    total = float(unrounded(total, total))
    return np.arange(0, total, -(-total // ROWS))


def unrounded(counts: ArrayLike, total: float) -> FloatArray:
    """Sums of weights, all below a total, to as many digits as do not depend on who adds them.

    Whole numbers stay what they are, unless there are billions.
    """
    finest = 2.0 ** np.floor(np.log2(max(total, 1.0) * SAME))
    return np.round(np.asarray(counts, dtype=np.float64) / finest) * finest


def _some_rows(
    n_samples: int, weights: FloatArray | None
) -> tuple[IntArray | slice, FloatArray | None]:
    """Rows to look at, and how many times each counts."""
    if weights is None:
        return slice(None, None, -(-n_samples // ROWS)), None
    total = weights.sum()
    if unrounded(total, total) <= ROWS:
        return slice(None), weights
    # The rows that would be taken if each were there as often as it counts.
    places = places_looked_at(total)
    return np.searchsorted(unrounded(np.cumsum(weights), total), places, side="right"), None


def _spread_out(n: int, at_most: int) -> IntArray:
    """Evenly spread numbers below n, not more than so many."""
    return np.linspace(0, n - 1, min(n, at_most)).round().astype(np.intp)
