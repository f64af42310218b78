"""Division where nothing over nothing is nothing."""

from __future__ import annotations

import numpy as np

from coterie.values import FloatArray


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Numerator over denominator, and 0 where the denominator is 0.

    A column that does not vary explains nothing, so constants need no case of their own.
    """
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator != 0)


def correlation(scatter: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Scatter of two columns over the root of their own; 0 where one is constant."""
    return np.clip(ratio(scatter, np.sqrt(left) * np.sqrt(right)), -1.0, 1.0)
