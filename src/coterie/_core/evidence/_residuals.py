"""Residual sum of squares of a regression on all aggregates, from rows or from scatters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from coterie._core.devices import OnDevice
from coterie._core.evidence._columns import available, means
from coterie._core.evidence._on_device import standardised_there
from coterie._core.values import FloatArray, is_sparse

# A column is redundant if its residual on the columns before it, in spreads, is at most this.
MIN_REST = 1e-9
# Smallest share of the sum of squares of a target that is more than rounding error.
SMALLEST_SHARE = 1e-12
TINY = float(np.finfo(np.float64).tiny)
# As MIN_REST, for squared residuals computed from scatters, which have half the digits.
MIN_PIVOT = 1e-13


def residual_ss(
    aggregates: Any, targets: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Residual sum of squares of each target, by least squares with intercept.

    A missing value of an aggregate is replaced by its mean.
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
    # The result must be positive for the logarithm, but squares of numbers such as 1e-200 are 0.
    return np.maximum(np.square(left).sum(axis=0), np.maximum(SMALLEST_SHARE * total, TINY))


def _residual_ss_there(
    aggregates: OnDevice, targets: FloatArray, weights: FloatArray | None
) -> FloatArray:
    """Residual sum of squares for aggregates on a device; only scatters are moved to the host."""
    counts = None if weights is None else aggregates.moved(weights)
    values = standardised_there(aggregates, counts).values
    columns = np.concatenate([values, targets - means(targets, weights)], axis=1)
    weighted = columns if counts is None else columns * counts[:, None]
    return residual_ss_from_scatter(np.asarray(weighted.T @ columns), targets.shape[1])


def _triangle(values: FloatArray, targets: FloatArray) -> FloatArray:
    """Triangular factor R of the QR decomposition of the values, then the targets."""
    return np.asarray(np.linalg.qr(np.column_stack([values, targets]), mode="r"))


def residual_ss_from_scatter(scatter: FloatArray, n_targets: int) -> FloatArray:
    """Residual sum of squares from the scatter of the aggregates and, last, the targets.

    Redundant aggregates are left out by a pivoted Cholesky decomposition: the aggregate with the
    largest residual comes next, until all residuals are rounding errors.
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
