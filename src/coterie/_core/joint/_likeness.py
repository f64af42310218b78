"""How alike groups of features are: from their covariances, or from the columns themselves.

The likeness of two groups is the mean correlation between a member of one and a member of the
other. It needs only the (signed) sums of their standardised members: the covariance of the sums,
divided by both sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.values import BoolArray, FloatArray, IntArray

# With more leaves, their covariances are computed a block of rows at a time and not kept.
MAX_KEPT = 8_000
# How many of the most alike groups of each group are considered at a time, if there are more.
N_NEAREST = 5
# Numbers in a block of covariances, or in the columns at both ends of some edges.
BLOCK = 2**24
# A sum of features with a smaller standard deviation is constant: the features cancel out.
NO_SPREAD = 1e-9

Forbidden = Callable[[IntArray, IntArray], BoolArray | None]


class Leaves(NamedTuple):
    """Leaves of a tree: features, or sums of features that must stay together.

    Parameters
    ----------
    sizes : ndarray of shape (n_leaves,)
        Number of features that each leaf is the sum of.
    covariances : ndarray of shape (n_leaves, n_leaves) or None
        Covariances of the leaves, each a sum of standardised features.
    columns : ndarray of shape (n_leaves, n_samples) or None
        The leaves themselves, of mean 0, as rows; needed without covariances.
    """

    sizes: IntArray
    covariances: FloatArray | None = None
    columns: FloatArray | None = None


class Pairs(NamedTuple):
    """Pairs of groups, and the covariances of their sums."""

    first: IntArray
    second: IntArray
    covariance: FloatArray

    def likeness(self, sizes: IntArray, *, signs: bool) -> FloatArray:
        """Mean correlation between members; its absolute value if signs are allowed."""
        value = self.covariance / (sizes[self.first] * sizes[self.second])
        return np.abs(value) if signs else value


def blocks(total: int, size: int) -> list[tuple[int, int]]:
    """The numbers from 0 to a total in stretches of a size."""
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def row_products(first: FloatArray, second: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Mean product of row a of the first and row b of the second array, for many pairs."""
    n_samples = first.shape[1]
    made = [
        np.einsum("ij,ij->i", first[a[start:stop]], second[b[start:stop]])
        for start, stop in blocks(len(a), max(1, BLOCK // n_samples))
    ]
    return np.concatenate([np.empty(0), *made]) / n_samples


def edges_of(neighbours: sparse.csr_array) -> tuple[IntArray, IntArray]:
    """Both ends of each edge of a graph, each edge once."""
    upper = sparse.triu(neighbours, k=1).tocoo()
    return upper.row.astype(np.intp), upper.col.astype(np.intp)


def edges_between(edges: tuple[IntArray, IntArray], number: IntArray) -> tuple[IntArray, IntArray]:
    """Edges between groups, each once; `number` has the group of each end."""
    a, b = number[edges[0]], number[edges[1]]
    a, b = np.minimum(a, b), np.maximum(a, b)
    kept = a != b
    n_groups = int(number.max()) + 1
    codes = np.unique(a[kept] * n_groups + b[kept])
    return codes // n_groups, codes % n_groups


def nearest_pairs(sums: FloatArray, sizes: IntArray, forbidden: Forbidden, *, signs: bool) -> Pairs:
    """Each group with the few groups that are most alike, a block of groups at a time."""
    n, n_samples = sums.shape
    n_near = min(N_NEAREST, n - 1)
    found = []
    for start, stop in blocks(n, max(1, BLOCK // n)):
        rows = np.arange(start, stop)
        covariance = sums[rows] @ sums.T / n_samples
        value = np.abs(covariance) if signs else covariance.copy()
        value /= sizes
        value[np.arange(len(rows)), rows] = -np.inf
        barred = forbidden(rows[:, None], np.arange(n)[None, :])
        if barred is not None:
            value[barred] = -np.inf
        near = np.argpartition(-value, n_near - 1, axis=1)[:, :n_near]
        allowed = np.take_along_axis(value, near, axis=1) > -np.inf
        first = np.repeat(rows, n_near)[allowed.ravel()]
        second = near.ravel()[allowed.ravel()]
        found.append((first, second, covariance[first - start, second]))
    first, second, covariance = (np.concatenate(part) for part in zip(*found, strict=True))
    return Pairs(first, second, covariance)


def matched(pairs: Pairs, value: FloatArray, n_groups: int, *, fully: bool) -> IntArray:
    """The pairs that are the most alike for both groups; each group is in at most one.

    Ties go to the group with the smaller number. With `fully`, the same among the groups that are
    left, and so on.
    """
    chosen: list[IntArray] = []
    left = np.arange(len(value))
    free = np.ones(n_groups, dtype=bool)
    while len(left):
        a, b = pairs.first[left], pairs.second[left]
        low, high = np.minimum(a, b), np.maximum(a, b)
        # The best pair of each group comes last.
        rank = np.lexsort((-high, -low, value[left]))
        best = np.full(n_groups, -1)
        best[low[rank]] = rank
        other = np.full(n_groups, -1)
        other[high[rank]] = rank
        place = np.empty(len(rank), dtype=np.intp)
        place[rank] = np.arange(len(rank))
        top = np.where((best >= 0) & ((other < 0) | (place[best] > place[other])), best, other)
        # The same pair may be listed from both ends: they agree on low and high.
        mutual = np.flatnonzero(
            (low[top[low]] == low)
            & (high[top[low]] == high)
            & (low[top[high]] == low)
            & (high[top[high]] == high)
        )
        _, once = np.unique(low[mutual], return_index=True)
        new = left[mutual[once]]
        chosen.append(new)
        free[pairs.first[new]] = free[pairs.second[new]] = False
        is_free = free[pairs.first[left]] & free[pairs.second[left]]
        left = left[is_free] if fully else left[:0]
    return np.concatenate([np.empty(0, dtype=np.intp), *chosen])
