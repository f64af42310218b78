"""How alike groups of features are: from their covariances, or from the columns themselves.

The likeness of two groups is the mean correlation between a member of one and a member of the
other. It needs only the (signed) sums of their standardised members: the covariance of the sums,
divided by both sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.joint._sparse_rows import SparseRows
from coterie._core.values import BoolArray, FloatArray, IntArray

# With more leaves, their covariances are computed a block of rows at a time and not kept.
MAX_KEPT = 8_000
# How many of the most alike groups of each group are considered at a time, if there are more.
N_NEAREST = 5
# Numbers in a block of covariances.
BLOCK = 2**24
# Numbers that are worked on at a time: they stay in the processor's cache.
CACHED = 2**16
# A sum of features with a smaller standard deviation is constant: the features cancel out.
NO_SPREAD = 1e-9

Forbidden = Callable[[IntArray, IntArray], BoolArray | None]
Covariances = Callable[[IntArray, IntArray], FloatArray]


class Leaves(NamedTuple):
    """Leaves of a tree: features, or sums of features that must stay together.

    Parameters
    ----------
    sizes : ndarray of shape (n_leaves,)
        Number of features that each leaf is the sum of.
    covariances : ndarray of shape (n_leaves, n_leaves) or None
        Covariances of the leaves, each a sum of standardised features.
    columns : ndarray of shape (n_leaves, n_samples), SparseRows or None
        The leaves themselves, of mean 0, as rows; needed without covariances.
    """

    sizes: IntArray
    covariances: FloatArray | None = None
    columns: FloatArray | SparseRows | None = None


class Pairs(NamedTuple):
    """Pairs of groups, and the covariances of their sums."""

    first: IntArray
    second: IntArray
    covariance: FloatArray

    def likeness(self, sizes: IntArray, *, signs: bool) -> FloatArray:
        """Mean correlation between members; its absolute value if signs are allowed."""
        value = self.covariance / (sizes[self.first] * sizes[self.second])
        return np.abs(value) if signs else value

    def where(self, chosen: Any) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.first[chosen], self.second[chosen], self.covariance[chosen])


def blocks(total: int, size: int) -> list[tuple[int, int]]:
    """The numbers from 0 to a total in stretches of a size."""
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def row_products(first: Any, second: Any, a: IntArray, b: IntArray) -> FloatArray:
    """Mean product of row a of the first and row b of the second array, for many pairs."""
    if isinstance(first, SparseRows):
        return first.mean_products(second, a, b)
    n_samples, made = first.shape[1], np.empty(len(a))
    for start, stop in blocks(len(a), max(1, CACHED // n_samples)):
        some = slice(start, stop)
        made[some] = np.einsum("ij,ij->i", first[a[some]], second[b[some]])
    return made / n_samples


def edges_of(neighbours: sparse.csr_array) -> tuple[IntArray, IntArray]:
    """Both ends of each edge of a graph, each edge once, the lower end first."""
    upper = sparse.triu(neighbours, k=1).tocoo()
    return upper.row.astype(np.intp), upper.col.astype(np.intp)


def pairs_between(pairs: Pairs, number: IntArray, covariances: Covariances) -> Pairs:
    """Pairs of groups after some have merged, each once.

    Parameters
    ----------
    number : ndarray of shape (n_slots,)
        The slot in which the group of each slot is now.
    covariances : callable
        Covariances of pairs; asked for those with a group that has changed.
    """
    n = len(number)
    changed = number != np.arange(n)
    changed[number[changed]] = True
    is_new = changed[pairs.first] | changed[pairs.second]
    a, b = number[pairs.first[is_new]], number[pairs.second[is_new]]
    codes = np.sort(np.minimum(a, b)[a != b] * n + np.maximum(a, b)[a != b])
    codes = codes[np.append(True, codes[1:] != codes[:-1])] if len(codes) else codes
    a, b = codes // n, codes % n
    same = pairs.where(~is_new)
    return Pairs(
        np.concatenate([same.first, a]),
        np.concatenate([same.second, b]),
        np.concatenate([same.covariance, covariances(a, b)]),
    )


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
    # A pair may be listed from both ends.
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, once = np.unique(low * n + high, return_index=True)
    return Pairs(low[once], high[once], covariance[once])


def matched(pairs: Pairs, value: FloatArray, n_groups: int, *, fully: bool) -> IntArray:
    """The pairs that are the most alike for both groups; each group is in at most one.

    Each pair is listed once, the lower group first. Ties go to the group with the smaller number.
    With `fully`, the same among the groups that are left, and so on.
    """
    chosen: list[IntArray] = []
    left = np.arange(len(value))
    code = pairs.first * n_groups + pairs.second
    free = np.ones(n_groups, dtype=bool)
    while len(left):
        a, b, own = pairs.first[left], pairs.second[left], value[left]
        top = np.full(n_groups, -np.inf)
        np.maximum.at(top, a, own)
        np.maximum.at(top, b, own)
        best = np.full(n_groups, n_groups**2)
        for end in (a, b):
            is_top = own == top[end]
            np.minimum.at(best, end[is_top], code[left[is_top]])
        new = left[(best[a] == code[left]) & (best[b] == code[left])]
        chosen.append(new)
        free[pairs.first[new]] = free[pairs.second[new]] = False
        is_free = free[pairs.first[left]] & free[pairs.second[left]]
        left = left[is_free] if fully else left[:0]
    return np.concatenate([np.empty(0, dtype=np.intp), *chosen])
