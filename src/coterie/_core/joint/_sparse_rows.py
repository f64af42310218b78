"""Standardised sparse columns as rows: their products, with the means taken off afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.values import FloatArray, IntArray


class SparseRows:
    """Rows of mean 0 that are the rows of a sparse array less a number each.

    Parameters
    ----------
    matrix : csr_array of shape (n_rows, n_samples)
        Values divided by their standard deviation.
    shift : ndarray of shape (n_rows,)
        Their means, also divided.
    counts : ndarray of shape (n_samples,)
        How many times each sample counts.
    """

    def __init__(self, matrix: Any, shift: FloatArray, counts: FloatArray) -> None:
        self.matrix, self.shift, self.counts = matrix, shift, counts
        self.total = float(counts.sum())

    def __len__(self) -> int:
        return len(self.shift)

    def copy(self) -> SparseRows:
        """The same rows, which may be changed."""
        return SparseRows(self.matrix, self.shift, self.counts)

    def add(self, first: IntArray, second: IntArray, sign: FloatArray) -> None:
        """Add the second rows, times a sign, to the first, and empty them."""
        n = len(self)
        weights = np.ones(n)
        weights[second] = 0.0
        everything = np.arange(n)
        places = np.append(everything, first), np.append(everything, second)
        moved = sparse.csr_array((np.append(weights, sign), places), shape=(n, n))
        self.matrix, self.shift = sparse.csr_array(moved @ self.matrix), moved @ self.shift

    def weighted(self, weights: sparse.csr_array) -> SparseRows:
        """Weighted sums of the rows; `weights` has shape (n_rows, n_sums)."""
        across = sparse.csr_array(weights.T)
        return SparseRows(sparse.csr_array(across @ self.matrix), across @ self.shift, self.counts)

    def some(self, rows: IntArray) -> SparseRows:
        """Some of the rows."""
        return SparseRows(self.matrix[rows], self.shift[rows], self.counts)

    def toarray(self) -> FloatArray:
        """The rows as a dense array."""
        return np.asarray(self.matrix.toarray() - self.shift[:, None])

    def times(self, other: FloatArray) -> FloatArray:
        """The product with an array of shape (n_samples, n)."""
        return np.asarray(self.matrix @ other - np.outer(self.shift, other.sum(axis=0)))

    def mean_products(self, other: SparseRows, a: IntArray, b: IntArray) -> FloatArray:
        """Mean product of row a with row b of the other, for many pairs."""
        both = self.matrix[a].multiply(other.matrix[b])
        return np.asarray(both @ self.counts / self.total - self.shift[a] * other.shift[b])

    def gram(self) -> FloatArray:
        """Mean products of all rows with each other, exactly symmetric."""
        products = (self._weighted_matrix() @ self.matrix.T).toarray() / self.total
        products -= np.outer(self.shift, self.shift)
        return np.asarray((products + products.T) / 2)

    def overlapping(self, least: float, *, signs: bool) -> tuple[IntArray, IntArray]:
        """Pairs of rows with a mean product of at least so much, the lower row first."""
        products = sparse.triu(self._weighted_matrix() @ self.matrix.T, k=1).tocoo()
        a, b = products.row.astype(np.intp), products.col.astype(np.intp)
        value = products.data / self.total - self.shift[a] * self.shift[b]
        near = (np.abs(value) if signs else value) >= least
        return a[near], b[near]

    def _weighted_matrix(self) -> Any:
        return self.matrix @ sparse.diags_array(self.counts)


def standardised_sparse(
    columns: Any, counts: FloatArray
) -> tuple[SparseRows, FloatArray, FloatArray]:
    """Standardised columns of a sparse array as rows, their means, and standard deviations.

    The standard deviation of a constant is 0, and its row is empty.
    """
    across, total = sparse.csr_array(columns.T, copy=True), counts.sum()
    across.eliminate_zeros()
    low, high = (getattr(across, each)(axis=1).toarray().ravel() for each in ("min", "max"))
    # In units of the largest value, so that squares of huge or tiny numbers are numbers.
    unit = np.maximum(np.maximum(high, -low), np.finfo(float).tiny)
    n_each = np.diff(across.indptr)

    def with_data(data: FloatArray) -> Any:
        return sparse.csr_array((data, across.indices, across.indptr), shape=across.shape)

    scaled = with_data(across.data / np.repeat(unit, n_each))
    mean = scaled @ counts / total
    apart = with_data(np.square(scaled.data - np.repeat(mean, n_each)))
    of_zeros = total - with_data(np.ones(len(across.data))) @ counts
    spread = np.sqrt((apart @ counts + of_zeros * np.square(mean)) / total)
    spread[low == high] = 0.0
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    rows = with_data(scaled.data * np.repeat(inverse, n_each))
    return SparseRows(rows, mean * inverse, counts), mean * unit, spread * unit
