"""The allowance that nobody has to choose: a test for each merge, and one for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from coterie.criteria import Criterion
from coterie.estimators._aggregates import aggregates_of, oriented
from coterie.estimators._prepared import Prepared
from coterie.statistics import available, effective_number, means
from coterie.values import FloatArray, Partition, Trace, is_sparse

# The penalty is halved as long as that pays, and once more, at most this often.
HALVINGS = 12
# A regression on more columns than this share of the samples explains too much to be believed.
BELIEVABLE = 1 / 3
# Costs that differ by less are the same.
ROUNDING = 1e-6
# A column of which less than this is left beside those before it says nothing of its own.
COLLINEAR = 1e-9
# A residual this small beside the target is rounding.
PERFECT = 1e-12
TINY = float(np.finfo(np.float64).tiny)


class Automatic(NamedTuple):
    """A partition, its trace, and the penalty that gave it."""

    partition: Partition
    trace: Trace
    penalty: float


def automatic(
    prepared: Prepared, penalty: float, criterion_of: Callable[[float], Criterion]
) -> Automatic:
    """Group by a test for each merge, with the penalty that serves all of them together.

    Each question looks at two columns and takes the rest of the signal for noise, so that many
    small effects drown in each other. So the groups are found again with half the penalty, and
    half of that, and taken if the regression on all aggregates is the better for it, by the
    extended Bayesian information criterion.
    """

    def with_penalty(penalty: float) -> Automatic:
        return Automatic(*prepared.groupable.by(criterion_of(penalty)), penalty)

    n_effective = effective_number(prepared.columns, prepared.rows.weights)
    best = with_penalty(penalty)
    cost = lowest = _cost(prepared, best.partition, n_effective)
    worse = 0
    for halving in range(1, HALVINGS + 1):
        if worse == 2 or cost == math.inf:
            break
        finer = with_penalty(penalty / 2**halving)
        cost = _cost(prepared, finer.partition, n_effective)
        worse += 1
        if cost < lowest - ROUNDING:
            best, lowest, worse = finer, cost, 0
    return best


def _cost(prepared: Prepared, partition: Partition, m: float) -> float:
    """Extended BIC of the regression on all aggregates; infinite where these are too many.

    ``n log(residual / n) + d (log n + 2 log M) + 2 M log d`` for d aggregates of M columns in
    effect: each aggregate pays for being one of many, and each column for its choice among them.
    Several targets share the choice and pay for the rest one by one, as much as each counts.
    """
    n, d = prepared.n, len(partition.groups)
    if d > BELIEVABLE * n:
        return math.inf
    aggregates = aggregates_of(
        prepared.aggregation,
        partition.groups,
        prepared.columns,
        oriented(partition),
        gaps=prepared.asked.gaps,
    )
    values = aggregates.values(prepared.columns)
    left = np.concatenate([residuals(values, *block) for block in prepared.all_together])
    fit = float(prepared.importance @ (n * np.log(left / n) + d * math.log(n)))
    return fit + 2 * d * math.log(m) + 2 * m * math.log(d)


def residuals(
    aggregates: Any, targets: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Sum of squares that least squares with intercept leaves of each target.

    An aggregate that has no value in a row counts as its mean.
    """
    aggregates = aggregates.toarray() if is_sparse(aggregates) else aggregates
    values = available(aggregates, weights).values
    deviations = targets - means(targets, weights)
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        values, deviations = root * values, root * deviations
    n = len(targets) if weights is None else weights.sum()
    triangle = _triangle(values, deviations)
    says_something = np.abs(np.diagonal(triangle))[: values.shape[1]] > COLLINEAR * np.sqrt(n)
    if not says_something.all():
        triangle = _triangle(values[:, says_something], deviations)
    left = triangle[np.count_nonzero(says_something) :, -targets.shape[1] :]
    total = np.square(deviations).sum(axis=0)
    # Squares of numbers such as 1e-200 are nothing at all, and nothing has no logarithm.
    return np.maximum(np.square(left).sum(axis=0), np.maximum(PERFECT * total, TINY))


def _triangle(values: FloatArray, targets: FloatArray) -> FloatArray:
    """What is left of each column beside those before it, on and above the diagonal."""
    return np.asarray(np.linalg.qr(np.column_stack([values, targets]), mode="r"))
