"""Columns brought to a common centre and spread, whatever their units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.values import BoolArray, FloatArray

# A spread this small beside the column's own magnitude is rounding, not variation.
CONSTANT = 10 * float(np.finfo(np.float64).eps)
# Squares of numbers between these bounds neither overflow nor vanish.
SMALL, LARGE = 1e-100, 1e100


class Standardised(NamedTuple):
    """Columns of mean 0 and spread 1, with what was taken out of them.

    ``values * spread + centre`` are the columns again. A constant column has values 0
    and spread 0.
    """

    values: FloatArray
    centre: FloatArray
    spread: FloatArray


def standardised(columns: FloatArray, out: FloatArray | None = None) -> Standardised:
    """Each column less its mean, divided by its population standard deviation.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    out : ndarray of shape (n_samples, n_columns), optional
        Where to put the values, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> standardised(np.array([[1e8 + 1.0, 5.0], [1e8 - 1.0, 5.0]])).values.tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    plain = _plainly_standardised(columns, out)
    extreme = _extreme(columns, plain.spread)
    if not extreme.any():
        return plain
    unit = np.ones(columns.shape[1])
    unit[extreme] = np.abs(columns[:, extreme]).max(axis=0)
    values, centre, spread = _plainly_standardised(columns / unit, out)
    return Standardised(values, centre * unit, spread * unit)


def _plainly_standardised(columns: FloatArray, out: FloatArray | None) -> Standardised:
    with np.errstate(over="ignore", invalid="ignore"):
        centre = columns.mean(axis=0, dtype=np.float64)
        values: FloatArray = np.subtract(columns, centre, dtype=np.float64, out=out)
        # The first mean of a column far from zero is off by its own rounding.
        drift = values.mean(axis=0)
        values -= drift
        spread = np.sqrt(np.einsum("ij,ij->j", values, values) / len(values))
        constant = spread <= CONSTANT * np.abs(centre)
        values /= np.where(constant | (spread == 0), 1.0, spread)
    values[:, constant] = 0.0
    return Standardised(values, centre + drift, np.where(constant, 0.0, spread))


def _extreme(columns: FloatArray, spread: FloatArray) -> BoolArray:
    """Which columns are so large or so small that their squares leave the floats."""
    extreme = ~((spread > SMALL) & (spread < LARGE))
    magnitude = np.abs(columns[:, extreme]).max(axis=0).astype(np.float64)
    extreme[extreme] = (magnitude > 0) & ((magnitude < SMALL) | (magnitude > LARGE))
    return extreme
