"""MutualCFA: the mutual information with the target that a merge loses, for any dependence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, rel_entr

from coterie._core.criteria._ratios import ratio
from coterie._core.evidence import COLLINEAR, ROUNDING, PairColumns
from coterie._core.values import FloatArray, IntArray, Verdict, where

# In a column with standard deviation 1, values closer than this differ only by rounding.
SAME_VALUE = 1e-9
# Values of w that are closer than this share of its standard deviation count as the same.
RESOLUTION = 0.05
# Rows per level in a stratum, and strata per level, if there are enough rows.
ROWS, STRATA = 4, 4
# Distinct values of w that a stratum may always have.
VALUES = 8
# A target with at most this many distinct values is treated as classes.
CLASSES = 10


@dataclass(frozen=True)
class Mutual:
    """Mutual information of (u, v) and y minus that of w and y, in nats.

    The target may depend on the features in any way: no linear relation and no order of classes
    is assumed. The average loss from noise alone is subtracted, so that a merge that loses nothing
    has a price near 0, which may be negative. All rows are sorted twice for each candidate, and
    some hundreds of rows are needed to detect any dependence.

    Parameters
    ----------
    tolerance : float
        The allowance: the loss of mutual information that a merge may cause, in nats.
    levels : int
        How many values of each column are told apart; see :func:`levels_for`.
    """

    tolerance: float
    levels: int

    def verdict(self, pairs: PairColumns) -> Verdict:
        """Price and allowance of each candidate."""
        lost = information_lost(pairs, self.levels)
        price = lost.nats - ratio(lost.freedom, 2 * lost.n)
        return Verdict(price[None], np.full((1, len(price)), self.tolerance))


@dataclass(frozen=True)
class MutualParsimony:
    """Mutual information that a merge loses in-sample, compared with the loss from noise alone.

    If nothing is lost, 2 n times the price is approximately chi-squared. With one degree of
    freedom the allowance is ``penalty / (2 n)``, as in :class:`Parsimony`. With more degrees of
    freedom it is the quantile that noise exceeds with the same probability. The penalty times the
    degrees of freedom would be too large: it would hide all but the strongest effects.

    Parameters
    ----------
    penalty : float
        2 for AIC, log n for BIC, 2 log D for RIC.
    levels : int
        How many values of each column are told apart; see :func:`levels_for`.
    """

    penalty: float
    levels: int

    def verdict(self, pairs: PairColumns) -> Verdict:
        """Price and allowance of each candidate."""
        lost = information_lost(pairs, self.levels)
        allowance = ratio(exceeded_as_rarely(self.penalty, lost.freedom), 2 * lost.n)
        return Verdict(lost.nats[None], allowance[None])


def levels_for(n: float) -> int:
    """Number of levels (bins) per column for n rows: the fifth root of n, and at least 3.

    The number of rows per cell of three columns then grows as ``n ** 0.4``. Two levels would not
    detect a target that depends on the absolute difference of u and v.

    Examples
    --------
    >>> [levels_for(n) for n in (50, 200, 1000, 5000, 100_000)]
    [3, 3, 4, 5, 10]
    """
    return max(3, round(n**0.2))


def exceeded_as_rarely(penalty: float, freedom: FloatArray) -> FloatArray:
    """The chi-squared quantile with the tail probability of the penalty at one degree of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> exceeded_as_rarely(4.0, np.array([0.0, 1.0, 36.0])).round(1).tolist()
    [0.0, 4.0, 51.5]
    """
    is_free = freedom > ROUNDING
    quantile = chdtri(np.where(is_free, freedom, 1.0), chdtrc(1.0, penalty))
    return np.where(is_free, quantile, 0.0)


class Lost(NamedTuple):
    """What m merges lose, each of shape (m,)."""

    nats: FloatArray
    freedom: FloatArray  # degrees of freedom: the average loss from noise alone, times 2 n
    n: FloatArray


def information_lost(pairs: PairColumns, levels: int) -> Lost:
    """The mutual information of (u, v) with the target that w does not have.

    By the chain rule it is ``I(y; (u, v) | w)``. Given w, one contrast of u and v determines both.
    Rows are therefore put into strata of nearly equal w, and the contrast is ranked within each
    stratum.
    """
    # Estimating I(y; (u, v)) and I(y; w) from two tables would be biased: cells of (u, v) resolve
    # w more finely than levels of w do, so that even copies would have a positive price.
    counts = pairs.weights.max(axis=1) > 0
    u, v, w, y, weights = (np.ascontiguousarray(column[counts].T) for column in pairs[:5])
    target = target_levels(y, weights, levels)
    weights = np.broadcast_to(weights, w.shape)
    stratum = strata(w, weights, levels)
    inside = levels_within(stratum, contrast(u, v, w, weights), weights, levels)
    shape = largest(stratum) + 1, levels, largest(target) + 1
    return compared(counted(weights, stratum, inside, target, shape=shape))


def compared(table: FloatArray) -> Lost:
    """Divergence of a table from its expectation under independence within strata.

    Observed and expected counts are summed over the strata of a level before they are compared,
    so that cells have enough rows: ``sum observed log(observed / expected) / n``. Summing can
    only lower the divergence.

    Parameters
    ----------
    table : ndarray of shape (m, strata, levels, target levels)
        Number of rows in each cell.
    """
    inside, target = table.sum(axis=3, keepdims=True), table.sum(axis=2, keepdims=True)
    total = inside.sum(axis=2, keepdims=True)
    share = ratio(inside, total)
    expected = share * target
    # The variance of a hypergeometric count. For one row it is 0, so the divisor does not matter.
    variance = expected * (1.0 - share) * (total - target)
    variance = ratio(variance, np.maximum(total - 1.0, total / 2))

    level = coarse(total[:, :, 0, 0], levels=table.shape[2])
    table, expected, variance = (summed(part, level) for part in (table, expected, variance))
    n = table.sum(axis=(1, 2))
    nats = ratio(rel_entr(table, expected).sum(axis=(1, 2)), n)
    freedom = ratio(variance, expected).sum(axis=(1, 2))
    return Lost(where(nats > ROUNDING, nats, 0.0), freedom, n)


def summed(table: FloatArray, level: IntArray) -> FloatArray:
    """Sum of a table over the strata of each level, of shape (m, levels, cells)."""
    m, n_strata, levels, target_levels = table.shape
    n_cells = levels * target_levels
    level = np.repeat(level, n_cells, axis=1)
    cell: IntArray = np.tile(np.arange(n_cells), (m, n_strata))
    # In this order the sums of a candidate do not depend on the other candidates, to the last bit.
    return counted(table.reshape(cell.shape), level, cell, shape=(levels, n_cells))


def contrast(u: FloatArray, v: FloatArray, w: FloatArray, weights: FloatArray) -> FloatArray:
    """Residual of u minus residual of v, both given w, standardised; 0 if it is only rounding.

    If w is the sum, the maximum or the minimum of u and v, then w and the contrast determine both.
    """
    n = weights.sum(axis=1, keepdims=True)
    u, v, w = (x - ratio(product(weights, x), n) for x in (u, v, w))
    ww = product(weights * w, w)
    per_ww = ratio(1.0, where(ww > ROUNDING * n, ww, 0.0))
    uw, vw = product(weights * w, u), product(weights * w, v)
    # If w is the difference of u and v, the contrast is their sum.
    sign = where(product(weights * u, v) > uw * vw * per_ww, 1.0, -1.0)
    rest = u + sign * v - (uw + sign * vw) * per_ww * w
    scatter, both = product(weights * rest, rest), product(weights, u**2 + v**2)
    # The sign makes the longer tail positive, so that swapping u and v changes nothing.
    is_longer = product(weights * rest, np.abs(rest)) >= -ROUNDING * scatter
    sign = where(is_longer, 1.0, -1.0)
    return rest * sign * np.sqrt(n / where(scatter > COLLINEAR * both, scatter, np.inf))


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum of the products of two columns, of shape (m, 1)."""
    return np.einsum("ij,ij->i", left, right)[:, None]


class Ranked(NamedTuple):
    """Values of each column in ascending order."""

    order: IntArray
    gap: FloatArray  # distance to the value before; 0 for equal values
    middle: FloatArray  # mid-rank: the weight below, plus half of the weight of equal values


def ranked(values: FloatArray, weights: FloatArray, near: float = 0.0) -> Ranked:
    """Sort each row of a table, and rank it by weights.

    Examples
    --------
    >>> import numpy as np
    >>> ranked(np.array([[5.0, 3.0, 5.0]]), np.array([[1.0, 2.0, 1.0]])).middle
    array([[1., 3., 3.]])
    """
    values = counting(values, weights)
    order = np.argsort(values, axis=1)
    gap = np.diff(np.take_along_axis(values, order, axis=1), axis=1, prepend=-np.inf)
    weights = np.take_along_axis(weights, order, axis=1)
    gap[gap <= near] = 0.0
    up_to = np.cumsum(weights, axis=1)
    is_last = np.append(gap[:, 1:] > 0, np.ones((len(gap), 1), dtype=bool), axis=1)
    below = np.maximum.accumulate(where(gap > 0, up_to - weights, 0.0), axis=1)
    above = np.minimum.accumulate(where(is_last, up_to, np.inf)[:, ::-1], axis=1)[:, ::-1]
    return Ranked(order, gap, (below + above) / 2)


def counting(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The values; those of weight 0 are replaced by the largest value of nonzero weight."""
    counts = weights > 0
    if counts.all():
        return values
    top = values.max(axis=1, keepdims=True, where=counts, initial=-np.inf)
    return where(counts, values, where(np.isfinite(top), top, 0.0))


def strata(w: FloatArray, weights: FloatArray, levels: int) -> IntArray:
    """Stratum number of each row, by ascending w.

    Equal values are in the same stratum. So are values that are closer than the resolution, unless
    there are many of them: a few outliers can make all other values look close to each other.

    Examples
    --------
    >>> import numpy as np
    >>> w = np.repeat([[0.0, 1.0, 1.01, 2.0]], 12, axis=1)
    >>> strata(w, np.ones(w.shape), levels=3)[0, ::12].tolist()
    [0, 1, 1, 2]
    """
    order, gap, middle = ranked(w, weights, SAME_VALUE)
    most = np.maximum(VALUES, (gap > 0).sum(axis=1, keepdims=True) / (STRATA * levels))
    # The part of a stratum between a value and the one before: by rows, and by distance or number
    # of values. The smaller part is used.
    part = np.diff(middle, axis=1, prepend=-np.inf) / (ROWS * levels)
    part = np.minimum(part, np.maximum(gap / RESOLUTION, 1.0 / most))
    is_far = part >= 1
    passed = np.cumsum(where(is_far, 0.0, part), axis=1)
    passed -= np.maximum.accumulate(where(is_far, passed, 0.0), axis=1)
    begins = is_far | (np.diff(np.floor(passed + SAME_VALUE), axis=1, prepend=0.0) > 0)
    return in_order_of_rows(np.cumsum(begins, axis=1) - 1, order)


def levels_within(
    stratum: IntArray, values: FloatArray, weights: FloatArray, levels: int
) -> IntArray:
    """Level of each value, by its rank within its stratum."""
    # Strata are shifted far apart, so that one sort ranks all of them.
    span = 1.0 + 2.0 * np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    order, _, middle = ranked(stratum * span + values, weights, SAME_VALUE)
    totals = counted(weights, stratum, shape=(largest(stratum) + 1,))
    below = np.cumsum(totals, axis=1) - totals
    stratum = np.take_along_axis(stratum, order, axis=1)
    rank = middle - np.take_along_axis(below, stratum, axis=1)
    return in_order_of_rows(
        by_rank(rank, np.take_along_axis(totals, stratum, axis=1), levels), order
    )


def target_levels(y: FloatArray, weights: FloatArray, levels: int) -> IntArray:
    """Level of each target value: its class, or a level by rank if there are many values.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[0.0, 0.0, 0.0, 0.0, 7.0, 2.0]])
    >>> target_levels(y, np.ones((1, 6)), levels=3)
    array([[0, 0, 0, 0, 2, 1]])
    """
    order, gap, middle = ranked(np.broadcast_to(y, weights.shape), weights)
    value = np.cumsum(gap > 0, axis=1) - 1
    few = value.max(axis=1, keepdims=True, initial=0) < max(levels, CLASSES)
    n = weights.sum(axis=1, keepdims=True)
    return in_order_of_rows(np.where(few, value, by_rank(middle, n, levels)), order)


def coarse(totals: FloatArray, levels: int) -> IntArray:
    """Level that each stratum belongs to, given the number of rows of each stratum.

    Examples
    --------
    >>> import numpy as np
    >>> coarse(np.array([[5.0, 1.0, 0.0, 2.0, 2.0]]), levels=2)
    array([[0, 1, 1, 1, 1]])
    >>> coarse(np.array([[5.0, 1.0, 0.0, 2.0, 2.0]]), levels=4)
    array([[0, 1, 1, 2, 3]])
    """
    number = np.maximum(np.cumsum(totals > 0, axis=1) - 1, 0)
    few = number[:, -1:] < levels
    middle = np.cumsum(totals, axis=1) - totals / 2
    return np.where(few, number, by_rank(middle, totals.sum(axis=1, keepdims=True), levels))


def by_rank(middle: FloatArray, n: FloatArray, levels: int) -> IntArray:
    """Level of each rank, for levels of equal weight."""
    # A rank on the edge of two levels belongs to the upper one, whatever its rounding error.
    level = np.floor(levels * ratio(middle, n) + SAME_VALUE).astype(np.intp)
    return np.minimum(level, levels - 1)


def in_order_of_rows(values: IntArray, order: IntArray) -> IntArray:
    """The values in the order before the sort."""
    undone = np.empty_like(values)
    np.put_along_axis(undone, order, values, axis=1)
    return undone


def largest(labels: IntArray) -> int:
    """The largest label; 0 if there are none."""
    return int(labels.max(initial=0))


def counted(weights: FloatArray, *labels: IntArray, shape: tuple[int, ...]) -> FloatArray:
    """Weight of each combination of labels in each row of a table.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[0, 1, 1]]), np.array([[0, 0, 1]])
    >>> counted(np.array([[1.0, 1.0, 2.0]]), a, b, shape=(2, 2))
    array([[[1., 0.],
            [1., 2.]]])
    """
    cell = np.arange(len(weights))[:, None]
    for label, size in zip(labels, shape, strict=True):
        cell = cell * size + label
    full = len(weights), *shape
    sums = np.bincount(cell.ravel(), weights.ravel(), minlength=math.prod(full))
    return sums.reshape(full).astype(np.float64, copy=False)
