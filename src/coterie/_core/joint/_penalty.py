"""The ridge penalty: how much the coefficients of a regression on all columns are shrunk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.joint._sums import RowSums, Scatter
from coterie._core.values import BoolArray, FloatArray

# Penalties per row, in units of the mean variance of the regression's directions.
PENALTIES = 10.0 ** np.arange(-8.0, 3.05, 0.1)
# How many times the most likely penalty is taken: prices become less precise, and groups are the
# same in other rows more often.
CAUTION = 3.0
# Likelihoods whose logarithms differ by less are equal. With fewer rows than columns, all small
# penalties may be equally likely, and rounding must not choose.
TIED = 0.01
# A gain on held-out rows of so many standard errors is taken to be no chance.
SURE = 2.0


class Penalty(NamedTuple):
    """A ridge penalty, and what the regression with it leaves on held-out rows.

    Parameters
    ----------
    per_row : float
        The penalty, divided by the number of rows.
    noise : float
        Held-out squared error of the regression, summed over targets.
    null : float
        That of the means of the targets.
    predicts : bool
        Whether the regression is better than the means by more than chance gives.
    """

    per_row: float
    noise: float
    null: float
    predicts: bool


def penalty_and_noise(
    sums: RowSums, sizes: FloatArray, own: BoolArray, starts: BoolArray
) -> Penalty:
    """A cautious penalty, and the held-out error of the regression with it.

    A feature shares its coefficient with the members of its group, so the penalty of a group is
    its size times that of a feature.

    Parameters
    ----------
    sums : RowSums
        Sums of the groups.
    sizes : ndarray of shape (n_groups,)
    own : ndarray of shape (n_groups,)
        The groups of the regression on all rows.
    starts : ndarray of shape (n_splits, n_groups)
        The groups of the regression on the training rows of each split.
    """
    everything = sums.everything().only(own)
    scale = 1 / np.sqrt(sizes[own])
    variation, vectors = np.linalg.eigh(everything.columns * np.outer(scale, scale))
    per_row = cautious_penalty(
        np.maximum(variation, 0.0),
        vectors.T @ (scale[:, None] * everything.cross),
        everything.targets,
        everything.n,
        float(sizes[own].sum()),
    )
    errors = np.array(
        [_errors(sums.only(one), split, sizes[one], per_row) for split, one in enumerate(starts)]
    )
    # Of a perfect prediction, rounding may leave less than nothing.
    null, noise = np.maximum(errors.mean(axis=0), 0.0).tolist()
    return Penalty(per_row, noise, null, is_gain(errors[:, 0] - errors[:, 1]))


def is_gain(gains: FloatArray) -> bool:
    """Whether gains on held-out rows, one for each split, are more than chance gives."""
    return bool(gains.mean() > SURE * standard_error(gains))


def _errors(sums: RowSums, split: int, sizes: FloatArray, per_row: float) -> FloatArray:
    """Held-out errors of the mean of the training rows, and of the regression."""
    train = sums.over(sums.train[split])
    slopes = ridge_slopes(train, sizes, per_row)
    models = np.array([np.zeros_like(slopes), slopes])
    return sums.squared_error(sums.test[split], train.mean, models)


def cautious_penalty(
    variation: FloatArray, along: FloatArray, targets: FloatArray, n_rows: float, size: float
) -> float:
    """Three times the penalty per row with the highest marginal likelihood (empirical Bayes).

    A ridge regression is the mean of a posterior: coefficients have a normal prior whose variance
    is that of the noise, divided by the penalty. The likelihood of a penalty is that of the
    targets if coefficients are drawn from this prior. Targets share the penalty, and each has its
    own noise. Unlike a held-out error, the likelihood has no folds, and moves little with the rows.

    Parameters
    ----------
    variation : ndarray of shape (n_directions,)
        Sums of squares of the columns along their principal directions.
    along : ndarray of shape (n_directions, n_targets)
        Products of the targets with the columns along these directions.
    targets : ndarray of shape (n_targets,)
        Sum of squares of each target.
    n_rows : float
    size : float
        Number of columns.
    """
    grid = PENALTIES * max(1.0, size / n_rows)
    penalties = grid * n_rows
    # What the regression leaves of the targets, and what its coefficients cost.
    left = targets[:, None] - np.square(along).T @ (1 / (variation[:, None] + penalties))
    left = np.maximum(left, np.finfo(float).tiny)
    width = np.log1p(variation[:, None] / penalties).sum(axis=0)
    likelihood = -max(n_rows - 1, 1.0) * np.log(left).sum(axis=0) - len(targets) * width
    most_likely = np.flatnonzero(likelihood >= likelihood.max() - TIED)[-1]
    return float(CAUTION * grid[most_likely])


def standard_error(values: FloatArray) -> FloatArray:
    """Standard error of the mean over splits, along the first axis; 0 for one split."""
    if len(values) < 2:
        return np.zeros(values.shape[1:])
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


def ridge_slopes(train: Scatter, sizes: FloatArray, per_row: float) -> FloatArray:
    """Coefficients of shape (n_columns, n_targets)."""
    scale = 1 / np.sqrt(sizes)
    within = train.columns * np.outer(scale, scale)
    within[np.diag_indices(len(within))] += per_row * train.n
    return scale[:, None] * np.linalg.solve(within, scale[:, None] * train.cross)
