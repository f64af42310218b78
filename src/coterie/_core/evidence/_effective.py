"""How many candidates there are in effect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._core.evidence._columns import standardised
from coterie._core.values import FloatArray, IntArray

# Columns whose contrasts are looked at, and rows; more would not change their mean square by
# much.
MAX_COLUMNS_LOOKED_AT = 256
ROWS = 1024
# Sums of the same weights differ by less than this share of the whole, in whatever order.
SAME_RELEVANCE = 1e-10
# Of a column that is the mean of all but for this share of its variance, no contrast is left.
COMMON = 1e-9


def effective_number(
    columns: Any,
    n_columns: int | None = None,
    weights: FloatArray | None = None,
    *,
    signs: bool = False,
) -> float:
    """The number of independent candidates that would be as correlated as these on average.

    Whether a candidate belongs to a group of all others is asked of its contrast: what is left of
    it beside their mean. So the contrasts are counted, ``D^2 / sum of all r^2`` for D of them: D if
    they are not correlated, however much the columns have in common; 1 if all columns are the
    same. In n rows even independent contrasts look correlated, so it stays below n. Of many rows
    only some are looked at, evenly spread.

    Parameters
    ----------
    columns : ndarray or sparse array of shape (n_samples, n_looked_at)
        NaN where there is no value, which counts as the mean of the column.
    n_columns : int, optional
        How many columns there are, of which these are some. Without it, these are all.
    weights : ndarray of shape (n_samples,), optional
        How many times each row counts.
    signs : bool, default=False
        Whether columns may be multiplied by -1 before their mean is taken.

    Examples
    --------
    Twenty columns, of which each is shared by four:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(10_000, 5))
    >>> round(effective_number(np.repeat(factors, 4, axis=1)))
    4

    Twenty columns that have much in common, and each something of its own:

    >>> alike = factors[:, :1] + 0.3 * rng.normal(size=(10_000, 20))
    >>> round(effective_number(alike))
    19
    """
    rows, weights = _some_rows(columns.shape[0], weights)
    values, _, spread = standardised(_dense(columns[rows], weights), weights=weights)
    values = values[:, spread > 0]
    share = 1 / len(values) if weights is None else (weights / weights.sum())[:, None]
    squares = _contrasts(values.T @ (share * values), signs)
    return _effective(squares, columns.shape[1] if n_columns is None else n_columns)


def looked_at(relevance: FloatArray) -> IntArray:
    """The columns to look at: evenly spread over their order by relevance for the target.

    That order depends neither on where columns stand, nor on their signs, nor on that of the rows,
    and not on rounding either.

    Parameters
    ----------
    relevance : ndarray of shape (n_columns,)
        Squared correlations with the target; NaN for columns that do not vary.
    """
    varying = np.flatnonzero(~np.isnan(relevance))
    order = np.argsort(relevance[varying].astype(np.float32), kind="stable")
    return varying[order[_spread_out(len(varying), MAX_COLUMNS_LOOKED_AT)]]


def effective_number_of(
    scatter: FloatArray, n_columns: int, n: float, *, signs: bool = False
) -> float:
    """The effective number of so many columns, from the scatter of some that vary over n rows.

    As it would look in the rows that are looked at, where these are fewer: there, contrasts that
    have a correlation of r have one of r^2 + (1 - r^2)^2 / n on average.
    """
    spread = np.sqrt(np.diagonal(scatter))
    squares = _contrasts(scatter / np.outer(spread, spread), signs)
    if n > ROWS:
        n_seen = -(-n // -(-n // ROWS))
        squares += np.square(1 - np.minimum(squares, 1.0)) * (1 / (n_seen - 1) - 1 / (n - 1))
        np.fill_diagonal(squares, 1.0)
    return _effective(squares, n_columns)


def _contrasts(correlation: FloatArray, signs: bool) -> FloatArray:
    """Squared correlations of what is left of columns beside the mean of all of them."""
    if not len(correlation):
        return correlation
    orientation = np.ones(len(correlation))
    if signs:
        # As seen from the column that has the most in common with the others.
        orientation = np.sign(correlation[np.square(correlation).sum(axis=0).argmax()])
    with_mean = correlation @ orientation / len(orientation)
    of_mean = with_mean @ orientation / len(orientation)
    # Columns that add up to nothing have no mean to be left beside.
    if of_mean > COMMON:
        correlation = correlation - np.outer(with_mean, with_mean) / of_mean
    own = np.diagonal(correlation)
    left = own > COMMON
    spread = np.sqrt(own[left])
    return np.square(correlation[np.ix_(left, left)] / np.outer(spread, spread))


def _effective(squares: FloatArray, n_columns: int) -> float:
    """The effective number of so many columns, from squared correlations of some contrasts."""
    m = len(squares)
    if m < 2:
        return 1.0
    between_others = max(float(squares.sum()) - m, 0.0) / (m * (m - 1))
    return n_columns / (1 + (n_columns - 1) * between_others)


def _dense(columns: Any, weights: FloatArray | None) -> FloatArray:
    """Columns without missing values, each filled with the mean of its column."""
    columns = columns.toarray() if hasattr(columns, "toarray") else np.asarray(columns)
    missing = np.isnan(columns)
    if not missing.any():
        return columns
    counts = 1.0 * ~missing if weights is None else weights[:, None] * ~missing
    total = (counts * np.where(missing, 0.0, columns)).sum(axis=0)
    count = counts.sum(axis=0)
    return np.where(missing, total / np.where(count > 0, count, 1.0), columns)


def places_looked_at(total: float) -> FloatArray:
    """Where the rows that are looked at lie, if each were there as often as it counts."""
    total = float(unrounded(total, total))
    return np.arange(0, total, -(-total // ROWS))


def unrounded(counts: ArrayLike, total: float) -> FloatArray:
    """Sums of weights, all below a total, to as many digits as do not depend on who adds them.

    Whole numbers stay what they are, unless there are billions.
    """
    finest = 2.0 ** np.floor(np.log2(max(total, 1.0) * SAME_RELEVANCE))
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
