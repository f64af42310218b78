"""The ridge penalty: how much the coefficients of a regression on all columns are shrunk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.joint._sums import RowSums, Scatter
from coterie._core.values import FloatArray

# Penalties per row, in units of the mean variance of the regression's directions.
PENALTIES = 10.0 ** np.arange(-8.0, 2.1, 0.5)


class Penalty(NamedTuple):
    """The penalty per row, and the noise: what the regression leaves of the targets' variance."""

    per_row: float
    noise: float


def penalty_by_folds(sums: RowSums, sizes: FloatArray) -> Penalty:
    """The largest penalty whose held-out error is within one standard error of the lowest.

    A feature shares its coefficient with the members of its unit, so the penalty of a unit is its
    size times that of a feature. Larger penalties than needed make the prices less precise and
    more stable, which is why the largest one is taken.
    """
    n_rows, n_features = sums.count.sum(), sizes.sum()
    grid = PENALTIES * max(1.0, n_features / n_rows)
    errors = np.array([_errors(sums, split, sizes, grid) for split in range(sums.n_splits)])
    mean = errors.mean(axis=0)
    best = int(mean.argmin())
    near = mean <= mean[best] + standard_error(errors - errors[:, [best]])
    return Penalty(float(grid[np.flatnonzero(near).max()]), float(mean[best]))


def standard_error(values: FloatArray) -> FloatArray:
    """Standard error of the mean over splits, along the first axis; 0 for one split."""
    if len(values) < 2:
        return np.zeros(values.shape[1:])
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


def _errors(sums: RowSums, split: int, sizes: FloatArray, grid: FloatArray) -> FloatArray:
    train = sums.over(sums.train[split])
    slopes = ridge_slopes(train, sizes, grid)
    return sums.squared_error(sums.test[split], train.mean, slopes)


def ridge_slopes(train: Scatter, sizes: FloatArray, grid: FloatArray) -> FloatArray:
    """Coefficients of shape (n_penalties, n_columns, n_targets), by one eigendecomposition."""
    scale = 1 / np.sqrt(sizes)
    values, vectors = np.linalg.eigh(train.columns * np.outer(scale, scale))
    within = vectors.T @ (scale[:, None] * train.cross)
    # Directions without variance get no coefficient, also with the smallest penalty.
    shrunk = np.maximum(values, 0.0) + grid[:, None] * train.n
    return scale[:, None] * (vectors @ (within / shrunk[:, :, None]))
