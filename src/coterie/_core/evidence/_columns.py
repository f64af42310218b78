"""Columns brought to a common centre and spread, whatever their units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.values import BoolArray, FloatArray

# A spread this small beside the column's own magnitude is rounding, not variation.
CONSTANT = 10 * float(np.finfo(np.float64).eps)
# Squares of numbers between these bounds neither overflow nor vanish.
SMALL, LARGE = 1e-100, 1e100
# Numbers in the largest temporary table of weighted rows.
ENTRIES_PER_CHUNK = 2**20


class Standardised(NamedTuple):
    """Columns of mean 0 and spread 1, with what was taken out of them.

    ``values * spread + centre`` are the columns again. A constant column has values 0
    and spread 0.
    """

    values: FloatArray
    centre: FloatArray
    spread: FloatArray


def standardised(
    columns: FloatArray, out: FloatArray | None = None, weights: FloatArray | None = None
) -> Standardised:
    """Each column less its mean, divided by its population standard deviation.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    out : ndarray of shape (n_samples, n_columns), optional
        Where to put the values, in float64.
    weights : ndarray of shape (n_samples,), optional
        How many times each row counts; once if not given.

    Examples
    --------
    >>> import numpy as np
    >>> standardised(np.array([[1e8 + 1.0, 5.0], [1e8 - 1.0, 5.0]])).values.tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    plain = _plainly_standardised(columns, out, weights)
    extreme = _extreme(columns, plain.spread)
    if not extreme.any():
        return plain
    # Powers of two, which cost no digits.
    unit = np.ones(columns.shape[1])
    largest = np.abs(columns[:, extreme]).max(axis=0).astype(np.float64)
    unit[extreme] = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    values, centre, spread = _plainly_standardised(columns / unit, out, weights)
    return Standardised(values, centre * unit, spread * unit)


def means(columns: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean of each column over rows that count so many times."""
    if weights is None:
        return columns.mean(axis=0, dtype=np.float64)
    return _weighted_sum(columns, weights) / weights.sum()


def _weighted_sum(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Sum of each column over rows that count so many times.

    Not a product of matrices: there the last digit of a sum depends on where its column stands, so
    that copies would be copies no more.
    """
    step = max(1, ENTRIES_PER_CHUNK // max(1, columns.shape[1]))
    rows = range(0, len(weights), step)
    return np.sum(
        [(weights[i : i + step, None] * columns[i : i + step]).sum(axis=0) for i in rows], axis=0
    )


def _plainly_standardised(
    columns: FloatArray, out: FloatArray | None, weights: FloatArray | None
) -> Standardised:
    with np.errstate(over="ignore", invalid="ignore"):
        centre = means(columns, weights)
        values: FloatArray = np.subtract(columns, centre, dtype=np.float64, out=out)
        # The first mean of a column far from zero is off by its own rounding.
        drift = means(values, weights)
        values -= drift
        spread = _spread(values, weights)
        constant = spread <= CONSTANT * np.abs(centre)
        values /= np.where(constant | (spread == 0), 1.0, spread)
    values[:, constant] = 0.0
    return Standardised(values, centre + drift, np.where(constant, 0.0, spread))


def _spread(deviations: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return np.sqrt(np.einsum("ij,ij->j", deviations, deviations) / len(deviations))
    return np.sqrt(_weighted_sum(np.square(deviations), weights) / weights.sum())


def available(columns: FloatArray, weights: FloatArray | None = None) -> Standardised:
    """Each column standardised over the rows that have a value, and 0 where there is none."""
    has = ~np.isnan(columns)
    if has.all():
        return standardised(columns, weights=weights)
    values = np.zeros(columns.shape)
    centre, spread = np.zeros((2, columns.shape[1]))
    for j, rows in enumerate(has.T):
        counts = None if weights is None else weights[rows]
        if rows.any() and (counts is None or counts.any()):
            column = standardised(columns[rows, j, None], weights=counts)
            values[rows, j] = column.values[:, 0]
            centre[j], spread[j] = column.centre[0], column.spread[0]
    return Standardised(values, centre, spread)


def _extreme(columns: FloatArray, spread: FloatArray) -> BoolArray:
    """Which columns are so large or so small that their squares leave the floats."""
    extreme = ~((spread > SMALL) & (spread < LARGE))
    magnitude = np.abs(columns[:, extreme]).max(axis=0).astype(np.float64)
    extreme[extreme] = (magnitude > 0) & ((magnitude < SMALL) | (magnitude > LARGE))
    return extreme
