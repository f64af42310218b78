"""Division where nothing over nothing is nothing."""

from __future__ import annotations

import numpy as np

from coterie._core.values import FloatArray, where


def ratio(numerator: FloatArray | float, denominator: FloatArray) -> FloatArray:
    """Numerator over a denominator of 0 or more, and 0 where that is 0.

    A column that does not vary explains nothing, so constants need no case of their own.
    """
    return numerator / where(denominator > 0, denominator, np.inf)


def correlation(scatter: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Scatter of two columns over the root of their own; 0 where one is constant."""
    r = ratio(scatter, np.sqrt(left) * np.sqrt(right))
    return np.minimum(np.maximum(r, -1.0), 1.0)
