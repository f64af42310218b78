"""Count, means and scatter of a table; the moments of two tables can be added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie._core.evidence._columns import means
from coterie._core.values import FloatArray

# Columns are centred first where the square of a mean exceeds the variance by this factor, since
# subtracting it afterwards would lose precision.
FAR_FROM_ZERO = 1e4
EPS = float(np.finfo(np.float64).eps)
# Rows of a scatter that are corrected at a time, so that they stay in the cache.
STRIP_ROWS = 64


@dataclass(frozen=True)
class BatchMoments:
    """Number of rows, means and scatter of the columns of a table.

    The scatter is the sum over rows of the products of deviations from the mean. The moments of
    ``a`` plus the moments of ``b`` are the moments of ``a`` and ``b`` together.

    Parameters
    ----------
    count : float
        Number of rows, or the sum of their weights.
    mean : ndarray of shape (n_columns,)
    scatter : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 2.0]])
    >>> both = BatchMoments.of(table[:1]) + BatchMoments.of(table[1:])
    >>> both.count, both.mean.tolist()
    (3.0, [3.0, 3.0])
    >>> np.allclose(both.scatter, 3 * np.cov(table.T, ddof=0))
    True
    """

    count: float
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of(
        cls,
        table: FloatArray,
        out: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> BatchMoments:
        """Moments of a table of shape (n_rows, n_columns); the scatter is written to ``out``.

        A row of weight k counts as k rows.
        """
        mean = means(table, weights)
        if weights is not None:
            # Centre first: rows multiplied by the roots of weights have another mean.
            table = np.sqrt(weights)[:, None] * (table - mean)
            return cls(float(weights.sum()), mean, all_products(table, out))
        n = len(table)
        scatter = all_products(table, out)
        diagonal = np.diagonal(scatter)
        between = n * mean**2
        if (between > FAR_FROM_ZERO * np.abs(diagonal - between)).any():
            centred = table - mean
            return cls(float(n), mean, all_products(centred, out))
        if (between > EPS * diagonal).any():
            take_out_means(scatter, n, mean)
        return cls(float(n), mean, scatter)

    def __add__(self, other: BatchMoments) -> BatchMoments:
        # Sums of squares about a common origin would lose precision by cancellation. The
        # difference of the two means does not.
        count = self.count + other.count
        gap = other.mean - self.mean
        between = np.outer(gap, gap) * (self.count * other.count / count)
        mean = self.mean + gap * (other.count / count)
        return BatchMoments(count, mean, self.scatter + other.scatter + between)


def all_products(rows: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Sums over rows of the products of all pairs of columns, exactly symmetric.

    Two sums of the same products may differ in their last bits if the processor adds them in
    another order.
    """
    # For ``rows.T @ rows`` NumPy computes one triangle and mirrors it, if BLAS can read the matrix
    # without a copy. Otherwise it multiplies two copies, and the result may not be symmetric.
    if not _is_for_blas(rows):
        rows = np.array(rows, order="C")
    return np.matmul(rows.T, rows, out=out)


def _is_for_blas(rows: FloatArray) -> bool:
    """Whether BLAS can read the array without a copy: rows or columns are contiguous."""
    (n, d), (by_row, by_column), size = rows.shape, rows.strides, rows.itemsize
    far, length = (by_row, d) if by_column == size else (by_column, n)
    is_dense = size in rows.strides and far >= size * length and far % size == 0
    return is_dense and rows.flags.aligned


def take_out_means(products: FloatArray, n: float, mean: FloatArray) -> None:
    """Convert sums of products over n rows into scatters, in place; symmetry is preserved."""
    for start in range(0, len(mean), STRIP_ROWS):
        strip = slice(start, start + STRIP_ROWS)
        # Multiply the means first: (n * a) * b and (n * b) * a may be rounded differently.
        between = np.outer(mean[strip], mean)
        between *= n
        products[strip] -= between
