"""Effective number of candidates, given their correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._core.evidence._columns import standardised
from coterie._core.values import FloatArray, IntArray

# Number of columns and of rows that are sampled. More would hardly change the mean squared
# correlation of the contrasts.
MAX_COLUMNS_LOOKED_AT = 256
ROWS = 1024
# Sums of the same weights in different orders differ by less than this share of the total.
SAME_RELEVANCE = 1e-10
# A column has no contrast if its residual, given the mean, has at most this share of its variance.
COMMON = 1e-9


def effective_number(
    columns: Any,
    n_columns: int | None = None,
    weights: FloatArray | None = None,
    *,
    signs: bool = False,
) -> float:
    """Effective number of candidates: how many independent ones have the same mean correlation.

    Whether a candidate belongs to a group of all others depends on its contrast: the residual of
    the column after the mean of all columns is taken out. The effective number of D contrasts is
    ``D^2 / sum of all r^2``. It is D if the contrasts are not correlated, however much the columns
    have in common, and 1 if all columns are the same. In n rows even independent contrasts have
    nonzero sample correlations, so the number stays below n. If there are many rows, an evenly
    spaced sample of them is used.

    Parameters
    ----------
    columns : ndarray or sparse array of shape (n_samples, n_looked_at)
        NaN for missing values, which are replaced by the mean of the column.
    n_columns : int, optional
        Total number of columns, if these are a sample. By default, these are all columns.
    weights : ndarray of shape (n_samples,), optional
        Weight of each row.
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
    """Sample of columns, evenly spaced in their order by relevance for the target.

    That order does not depend on the positions or signs of the columns, on the order of the rows,
    or on rounding errors.

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
    """Effective number of ``n_columns`` columns, from the scatter of a sample of them over n rows.

    The columns of the sample must not be constant. If n exceeds the number of rows that
    ``effective_number`` samples, squared correlations are corrected to their expected values in
    that sample: for a correlation r, about r^2 + (1 - r^2)^2 / n in n rows.
    """
    spread = np.sqrt(np.diagonal(scatter))
    squares = _contrasts(scatter / np.outer(spread, spread), signs)
    if n > ROWS:
        n_seen = -(-n // -(-n // ROWS))
        squares += np.square(1 - np.minimum(squares, 1.0)) * (1 / (n_seen - 1) - 1 / (n - 1))
        np.fill_diagonal(squares, 1.0)
    return _effective(squares, n_columns)


def _contrasts(correlation: FloatArray, signs: bool) -> FloatArray:
    """Squared correlations of the contrasts: residuals of columns given the mean of all."""
    if not len(correlation):
        return correlation
    orientation = np.ones(len(correlation))
    if signs:
        # Signs are relative to the column with the largest sum of squared correlations.
        orientation = np.sign(correlation[np.square(correlation).sum(axis=0).argmax()])
    with_mean = correlation @ orientation / len(orientation)
    of_mean = with_mean @ orientation / len(orientation)
    # Columns that sum to zero have no mean to take out.
    if of_mean > COMMON:
        correlation = correlation - np.outer(with_mean, with_mean) / of_mean
    own = np.diagonal(correlation)
    left = own > COMMON
    spread = np.sqrt(own[left])
    return np.square(correlation[np.ix_(left, left)] / np.outer(spread, spread))


def _effective(squares: FloatArray, n_columns: int) -> float:
    """Effective number of ``n_columns`` columns, from squared correlations of some contrasts."""
    m = len(squares)
    if m < 2:
        return 1.0
    between_others = max(float(squares.sum()) - m, 0.0) / (m * (m - 1))
    return n_columns / (1 + (n_columns - 1) * between_others)


def _dense(columns: Any, weights: FloatArray | None) -> FloatArray:
    """Dense columns, with each missing value replaced by the mean of its column."""
    columns = columns.toarray() if hasattr(columns, "toarray") else np.asarray(columns)
    missing = np.isnan(columns)
    if not missing.any():
        return columns
    counts = 1.0 * ~missing if weights is None else weights[:, None] * ~missing
    total = (counts * np.where(missing, 0.0, columns)).sum(axis=0)
    count = counts.sum(axis=0)
    return np.where(missing, total / np.where(count > 0, count, 1.0), columns)


def places_looked_at(total: float) -> FloatArray:
    """Positions of the sampled rows, if each row were repeated as often as its weight says."""
    total = float(unrounded(total, total))
    return np.arange(0, total, -(-total // ROWS))


def unrounded(counts: ArrayLike, total: float) -> FloatArray:
    """Sums of weights, rounded to the digits that do not depend on the order of summation.

    No sum may exceed ``total``. Integers are not changed, unless they are in the billions.
    """
    finest = 2.0 ** np.floor(np.log2(max(total, 1.0) * SAME_RELEVANCE))
    return np.round(np.asarray(counts, dtype=np.float64) / finest) * finest


def _some_rows(
    n_samples: int, weights: FloatArray | None
) -> tuple[IntArray | slice, FloatArray | None]:
    """Sample of rows, and their weights."""
    if weights is None:
        return slice(None, None, -(-n_samples // ROWS)), None
    total = weights.sum()
    if unrounded(total, total) <= ROWS:
        return slice(None), weights
    # The same sample as if each row were repeated as often as its weight says.
    places = places_looked_at(total)
    return np.searchsorted(unrounded(np.cumsum(weights), total), places, side="right"), None


def _spread_out(n: int, at_most: int) -> IntArray:
    """Evenly spaced integers below n, at most ``at_most`` of them."""
    return np.linspace(0, n - 1, min(n, at_most)).round().astype(np.intp)
