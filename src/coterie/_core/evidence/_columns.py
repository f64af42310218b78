"""Standardisation of columns to mean 0 and spread 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.values import BoolArray, FloatArray

# A column is constant if its spread, relative to its mean, is at most this: it is rounding error.
CONSTANT = 10 * float(np.finfo(np.float64).eps)
# Squares of numbers between these bounds neither overflow nor underflow.
SMALL, LARGE = 1e-100, 1e100
# Numbers in the largest temporary table of weighted rows.
ENTRIES_PER_CHUNK = 2**20


class Standardised(NamedTuple):
    """Columns of mean 0 and spread 1, with their original centre and spread.

    ``values * spread + centre`` gives the original columns. A constant column has values 0
    and spread 0.
    """

    values: FloatArray
    centre: FloatArray
    spread: FloatArray


def standardised(
    columns: FloatArray, out: FloatArray | None = None, weights: FloatArray | None = None
) -> Standardised:
    """Columns minus their means, divided by their population standard deviations.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    out : ndarray of shape (n_samples, n_columns), optional
        Output array of the values, in float64.
    weights : ndarray of shape (n_samples,), optional
        Weight of each row; 1 if not given.

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
    # Division by a power of two is exact.
    unit = np.ones(columns.shape[1])
    largest = np.abs(columns[:, extreme]).max(axis=0).astype(np.float64)
    unit[extreme] = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    values, centre, spread = _plainly_standardised(columns / unit, out, weights)
    return Standardised(values, centre * unit, spread * unit)


def means(columns: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Weighted mean of each column."""
    if weights is None:
        return columns.mean(axis=0, dtype=np.float64)
    return _weighted_sum(columns, weights) / weights.sum()


def _weighted_sum(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sum of each column.

    It is not a matrix product: there the last digit of a sum depends on the position of the
    column, so copies of a column would get different sums.
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
        # The first mean of a column far from zero has a rounding error; it is corrected here.
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
    """Columns standardised over the rows that have a value; 0 in place of missing values."""
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
    """Mask of columns so large or so small that their squares overflow or underflow."""
    extreme = ~((spread > SMALL) & (spread < LARGE))
    magnitude = np.abs(columns[:, extreme]).max(axis=0).astype(np.float64)
    extreme[extreme] = (magnitude > 0) & ((magnitude < SMALL) | (magnitude > LARGE))
    return extreme
