"""The allowance that nobody has to choose: a test for each merge, and one for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from coterie._core.criteria import Criterion
from coterie._core.values import Partition, Trace
from coterie.estimators._prepared import Prepared

# The penalty is halved as long as that pays, and once more, at most this often.
HALVINGS = 12
# A regression on more columns than this share of the samples explains too much to be believed.
BELIEVABLE = 1 / 3
# Costs that differ by less are the same.
ROUNDING = 1e-6


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

    n_effective = prepared.effective_number()
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
    Several targets share the choice and pay for the rest one by one, as much as each counts. Groups
    of constants take no part.
    """
    n, d = prepared.seen.n, prepared.n_varying_groups(partition)
    if d > BELIEVABLE * n:
        return math.inf
    left = prepared.seen.left_by(partition)
    fit = float(prepared.importance @ (n * np.log(left / n) + d * math.log(n)))
    return fit + 2 * d * math.log(m) + 2 * m * math.log(d)
