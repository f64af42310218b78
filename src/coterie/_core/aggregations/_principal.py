"""First principal component: a weighted sum whose weights are learned from rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from coterie._core.aggregations._protocols import Weights
from coterie._core.values import FloatArray, IntArray

# A sum of weights is treated as 0 if its absolute value is at most this.
OPPOSED = 1e-9


class PrincipalState(NamedTuple):
    """Centred columns, and the eigenvalues and eigenvectors of their scatter, largest last."""

    columns: FloatArray
    eigenvalues: FloatArray
    eigenvectors: FloatArray


@dataclass(frozen=True)
class Principal:
    """First principal component, with the sign for which the sum of the weights is positive.

    If the weights sum to 0, the first nonzero weight is positive. ``row_weights`` has the weight of
    each row; None if all are 1.
    """

    name: str = "principal"
    keeps_single: bool = False
    row_weights: FloatArray | None = field(default=None, compare=False)

    def first(self, column: FloatArray) -> PrincipalState:
        return self._state(self._centred(column[:, None]))

    def joined(self, state: PrincipalState, column: FloatArray) -> PrincipalState:
        return self._state(np.column_stack([state.columns, self._centred(column[:, None])]))

    def _centred(self, columns: FloatArray) -> FloatArray:
        return columns - np.average(columns, axis=0, weights=self.row_weights)

    def _weighted(self, centred: FloatArray) -> FloatArray:
        return centred if self.row_weights is None else self.row_weights[:, None] * centred

    def _state(self, centred: FloatArray) -> PrincipalState:
        return PrincipalState(centred, *np.linalg.eigh(centred.T @ self._weighted(centred)))

    def value(self, state: PrincipalState) -> FloatArray:
        return state.columns @ self._top(state)

    def _top(self, state: PrincipalState) -> FloatArray:
        top = state.eigenvectors[:, -1]
        total = float(top.sum())
        # Weights that cancel sum to a rounding error, which must not decide the sign.
        leading = total if abs(total) > OPPOSED else float(top[np.argmax(np.abs(top) > OPPOSED)])
        return top if leading >= 0 else -top

    def with_each(self, state: PrincipalState, columns: FloatArray) -> FloatArray:
        # A further column adds one row and one column to the scatter matrix. In the basis of the
        # eigenvectors this is a bordered diagonal matrix, and its largest eigenvalue is the root
        # of one equation per candidate. The sign of the eigenvector is arbitrary, since no price
        # depends on the sign of a merged column.
        centred = self._centred(columns)
        weighted = self._weighted(centred)
        border = state.eigenvectors.T @ (state.columns.T @ weighted)
        corner = np.einsum("ij,ij->j", centred, weighted)
        old, new = _top_of_bordered(state.eigenvalues, border, corner)
        return state.columns @ (state.eigenvectors @ old) + centred * new

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        chosen = columns[:, members]
        centre = np.average(chosen, axis=0, weights=self.row_weights)
        centred = chosen - centre
        # Scaling does not change the weights, and prevents overflow and underflow of squares.
        return Weights(centre, self._top(self._state(centred / (np.abs(centred).max() or 1.0))))

    def values(self, columns: FloatArray) -> FloatArray:
        centre, weights = self.weights(columns, np.arange(columns.shape[1]))
        return (columns - centre) @ weights


def _top_of_bordered(
    diagonal: FloatArray, border: FloatArray, corner: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors to the largest eigenvalue of k bordered diagonal matrices.

    Parameters
    ----------
    diagonal : ndarray of shape (m,)
        In ascending order.
    border : ndarray of shape (m, k)
    corner : ndarray of shape (k,)

    Returns
    -------
    old, new : ndarray of shape (m, k) and (k,)
        The components of the diagonal and of the corner.
    """
    gaps = (diagonal[-1] - diagonal[:-1])[:, None]
    excess = corner - diagonal[-1]
    # A candidate orthogonal to the top eigenvector is treated as nearly orthogonal. Then the
    # result is the one of the two with the larger variance, without a special case.
    size = corner + diagonal[-1]
    nearly = np.finfo(np.float64).eps * np.where(size > 0, size, 1.0)
    last = np.where(np.abs(border[-1]) > nearly, border[-1], nearly)
    border = np.vstack([border[:-1], last])
    squares = np.square(border)
    # The largest eigenvalue exceeds that of the old matrix by x > 0, the root of the convex
    # and decreasing f(x) = excess - x + sum of squares / (gaps + x). The start is the root for
    # the top eigenvector alone, which is below the root, so Newton's steps only increase x.
    larger = np.hypot(excess / 2, last) + np.abs(excess) / 2
    x = np.where(excess > 0, larger, squares[-1] / larger)
    for _ in range(100):
        inverse = 1 / np.vstack([gaps + x, x])
        f = excess - x + np.sum(squares * inverse, axis=0)
        step = f / (1 + np.sum(squares * inverse**2, axis=0))
        x = np.maximum(x, x + step)
        if np.all(step <= 1e-15 * x):
            break
    # The eigenvector is (border / (gaps + x), 1), here multiplied by x.
    old = np.vstack([x * border[:-1] / (gaps + x), last])
    length = np.sqrt(np.sum(old**2, axis=0) + x**2)
    return old / length, x / length
