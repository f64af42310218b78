"""The allowance that nobody has to choose: a test for each merge, and one for all of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from coterie.criteria import Parsimony
from coterie.estimators._aggregates import aggregates_of, oriented
from coterie.estimators._prepared import Prepared
from coterie.statistics import effective_number
from coterie.values import FloatArray, Partition, Trace

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


class Automatic(NamedTuple):
    """A partition, its trace, and the penalty that gave it."""

    partition: Partition
    trace: Trace
    penalty: float


def automatic(prepared: Prepared, penalty: float) -> Automatic:
    """Group by an F test for each merge, with the penalty that serves all of them together.

    Each question looks at two columns and takes the rest of the signal for noise, so that many
    small effects drown in each other. So the groups are found again with half the penalty, and
    half of that, and taken if the regression on all aggregates is the better for it, by the
    extended Bayesian information criterion.
    """
    n_effective = effective_number(prepared.columns)
    best = _with_penalty(prepared, penalty)
    cost = lowest = _cost(prepared, best.partition, n_effective)
    worse = 0
    for halving in range(1, HALVINGS + 1):
        if worse == 2 or cost == math.inf:
            break
        finer = _with_penalty(prepared, penalty / 2**halving)
        cost = _cost(prepared, finer.partition, n_effective)
        worse += 1
        if cost < lowest - ROUNDING:
            best, lowest, worse = finer, cost, 0
    return best


def _with_penalty(prepared: Prepared, penalty: float) -> Automatic:
    return Automatic(*prepared.groupable.by(Parsimony(penalty)), penalty)


def _cost(prepared: Prepared, partition: Partition, m: float) -> float:
    """Extended BIC of the regression on all aggregates; infinite where these are too many.

    ``n log(residual / n) + d (log n + 2 log M) + 2 M log d`` for d aggregates of M columns in
    effect: each aggregate pays for being one of many, and each column for its choice among them.
    """
    columns, target = prepared.columns, prepared.target
    n, d = len(target), len(partition.groups)
    if d > BELIEVABLE * n:
        return math.inf
    signs = oriented(partition)
    aggregates = aggregates_of(prepared.aggregation, partition.groups, columns, signs)
    left = residual(aggregates.values(columns), target)
    model_space = 2 * d * math.log(m) + 2 * m * math.log(d)
    return n * math.log(left / n) + d * math.log(n) + model_space


def residual(aggregates: FloatArray, target: FloatArray) -> float:
    """Sum of squares that least squares with intercept leaves of the target."""
    deviations = target - target.mean()
    spread = aggregates.std(axis=0)
    values = (aggregates - aggregates.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    lengths = _lengths_left(np.column_stack([values, deviations]))
    says_something = lengths[:-1] > COLLINEAR * np.sqrt(len(target))
    if not says_something.all():
        lengths = _lengths_left(np.column_stack([values[:, says_something], deviations]))
    total = float(deviations @ deviations)
    return max(float(lengths[-1]) ** 2, PERFECT * total)


def _lengths_left(columns: FloatArray) -> FloatArray:
    """Length of what is left of each column beside those before it."""
    return np.abs(np.diagonal(np.asarray(np.linalg.qr(columns, mode="r"))))
