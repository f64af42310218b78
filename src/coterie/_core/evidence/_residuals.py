"""What a regression on all aggregates leaves of the targets, by rows or by scatters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from coterie._core.devices import OnDevice
from coterie._core.evidence._columns import available, means
from coterie._core.evidence._on_device import standardised_there
from coterie._core.values import FloatArray, is_sparse

# A column of which less than this is left beside those before it says nothing of its own.
MIN_REST = 1e-9
# A residual this small beside the target is rounding.
SMALLEST_SHARE = 1e-12
TINY = float(np.finfo(np.float64).tiny)
# The same of its square, in scatters, which have half the digits.
MIN_PIVOT = 1e-13


def residual_ss(
    aggregates: Any, targets: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Sum of squares that least squares with intercept leaves of each target.

    An aggregate that has no value in a row counts as its mean.
    """
    if isinstance(aggregates, OnDevice):
        return _residual_ss_there(aggregates, targets, weights)
    aggregates = aggregates.toarray() if is_sparse(aggregates) else aggregates
    values = available(aggregates, weights).values
    deviations = targets - means(targets, weights)
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        values, deviations = root * values, root * deviations
    n = len(targets) if weights is None else weights.sum()
    triangle = _triangle(values, deviations)
    says_something = np.abs(np.diagonal(triangle))[: values.shape[1]] > MIN_REST * np.sqrt(n)
    if not says_something.all():
        triangle = _triangle(values[:, says_something], deviations)
    left = triangle[np.count_nonzero(says_something) :, -targets.shape[1] :]
    total = np.square(deviations).sum(axis=0)
    # Squares of numbers such as 1e-200 are nothing at all, and nothing has no logarithm.
    return np.maximum(np.square(left).sum(axis=0), np.maximum(SMALLEST_SHARE * total, TINY))


def _residual_ss_there(
    aggregates: OnDevice, targets: FloatArray, weights: FloatArray | None
) -> FloatArray:
    """The same for aggregates on a device: their scatters come to the host, and no row."""
    counts = None if weights is None else aggregates.moved(weights)
    values = standardised_there(aggregates, counts).values
    columns = np.concatenate([values, targets - means(targets, weights)], axis=1)
    weighted = columns if counts is None else columns * counts[:, None]
    return residual_ss_from_scatter(np.asarray(weighted.T @ columns), targets.shape[1])


def _triangle(values: FloatArray, targets: FloatArray) -> FloatArray:
    """What is left of each column beside those before it, on and above the diagonal."""
    return np.asarray(np.linalg.qr(np.column_stack([values, targets]), mode="r"))


def residual_ss_from_scatter(scatter: FloatArray, n_targets: int) -> FloatArray:
    """The same from the scatter of the aggregates and, last, the targets.

    Aggregates that say nothing beside the others are left out: one after the other is taken of
    which the most is left, until there is nothing left.
    """
    m = len(scatter) - n_targets
    total = np.diagonal(scatter)[m:]
    spread = np.sqrt(np.maximum(np.diagonal(scatter)[:m], 0.0))
    varies = np.flatnonzero(spread)
    explained = np.zeros(n_targets)
    if len(varies):
        unit = spread[varies]
        correlation = scatter[np.ix_(varies, varies)] / np.outer(unit, unit)
        with_targets = scatter[varies, m:] / unit[:, None]
        triangle, order, rank, _ = lapack.dpstrf(correlation, tol=MIN_PIVOT)
        chosen = order[:rank] - 1
        parts = solve_triangular(triangle[:rank, :rank], with_targets[chosen], trans=1)
        explained = np.square(parts).sum(axis=0)
    return np.maximum(total - explained, np.maximum(SMALLEST_SHARE * total, TINY))
