"""Ratios and correlations that are 0 where the denominator is 0."""

from __future__ import annotations

import numpy as np

from coterie._core.values import FloatArray, where


def ratio(numerator: FloatArray | float, denominator: FloatArray) -> FloatArray:
    """Numerator over a denominator of 0 or more; 0 where the denominator is 0.

    A constant column explains nothing, so constants need no special case.
    """
    return numerator / where(denominator > 0, denominator, np.inf)


def correlation(scatter: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Correlation of two columns from their scatter; 0 if one of them is constant."""
    r = ratio(scatter, np.sqrt(left) * np.sqrt(right))
    return np.minimum(np.maximum(r, -1.0), 1.0)
