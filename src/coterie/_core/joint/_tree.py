"""A tree of features by likeness: which features belong together, whatever the target.

A leaf is a feature, or several that must stay together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.joint._likeness import (
    MAX_KEPT,
    NO_SPREAD,
    Leaves,
    Pairs,
    edges_between,
    edges_of,
    matched,
    nearest_pairs,
    row_products,
)
from coterie._core.values import BoolArray, FloatArray, IntArray

# A member may lie this much below the floor, for rounding.
ROUNDING = 1e-9


class Rules(NamedTuple):
    """What may be a group, whatever the target.

    Parameters
    ----------
    floor : float
        The smallest correlation between a member and the aggregate of its group; 0: none. Two
        groups that merge have a likeness of at least its square.
    signs : bool
        Whether features may join multiplied by -1.
    neighbours : csr_array of shape (n_leaves, n_leaves) or None
        Two groups may join only if a member of one is a neighbour of a member of the other.
    max_size : int or None
    kinds : ndarray of shape (n_leaves,) or None
        Features of different kinds 1, 2, ... never share a group; 0 may join any, -1 none.
    is_coherent : callable or None
        Says whether leaves meet the floor, for an aggregation that is no mean or sum.
    """

    floor: float
    signs: bool
    neighbours: sparse.csr_array | None = None
    max_size: int | None = None
    kinds: IntArray | None = None
    is_coherent: Callable[[IntArray], bool] | None = None


@dataclass(frozen=True)
class Tree:
    """A binary tree. Nodes 0 to n_leaves - 1 are leaves, the next ones are merges.

    Parameters
    ----------
    children : ndarray of shape (n_merges, 2)
        The two nodes of each merge, in order of falling likeness.
    likeness : ndarray of shape (n_merges,)
        Mean correlation between a member of one child and a member of the other; never above
        that of the children.
    may_be_group : ndarray of shape (n_nodes,)
        Which nodes are coherent and keep to the constraints.
    n_members : ndarray of shape (n_nodes,)
        Number of features below each node.
    spread : ndarray of shape (n_nodes,)
        Standard deviation of the sum of the standardised features below each node.
    order : ndarray of shape (n_leaves,)
        The leaves, such that those below any node are adjacent.
    start, stop : ndarray of shape (n_nodes,)
        Where the leaves below each node are in `order`.
    signs : ndarray of shape (n_leaves,)
        Signs of the leaves relative to the root.
    """

    children: IntArray
    likeness: FloatArray
    may_be_group: BoolArray
    n_members: IntArray
    spread: FloatArray
    order: IntArray
    start: IntArray
    stop: IntArray
    signs: FloatArray

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.order)

    @property
    def parent(self) -> IntArray:
        """The parent of each node; -1 for the root."""
        parent = np.full(len(self.start), -1, dtype=np.intp)
        parent[self.children.ravel()] = np.repeat(np.arange(self.n_leaves, len(self.start)), 2)
        return parent

    def leaves(self, node: int) -> IntArray:
        """The leaves below a node, sorted."""
        return np.sort(self.order[self.start[node] : self.stop[node]])

    def below(self, nodes: IntArray, per_leaf: FloatArray) -> FloatArray:
        """Sums over the leaves below each node; `per_leaf` has shape (n_leaves, n)."""
        total = np.vstack([np.zeros(per_leaf.shape[1]), per_leaf[self.order].cumsum(axis=0)])
        return total[self.stop[nodes]] - total[self.start[nodes]]


def grow_tree(leaves: Leaves, rules: Rules) -> Tree:
    """Merge the most alike groups first, until one is left.

    The likeness of two groups is the mean correlation between their members, so this is average
    linkage. It is found by following nearest neighbours, or with a graph of neighbours, and for
    very many leaves, in rounds: all pairs that are nearest to each other merge at once.
    """
    growth = _Growth(leaves, rules)
    if rules.neighbours is not None:
        growth.merge_along_edges(edges_of(rules.neighbours))
    else:
        growth.merge_in_rounds(MAX_KEPT)
        growth.merge_along_chains()
    growth.join_the_rest()
    return growth.tree()


class _Growth:
    """The tree while it grows. Slots 0 to n_leaves - 1 hold the groups that are left."""

    def __init__(self, leaves: Leaves, rules: Rules) -> None:
        n = len(leaves.sizes)
        self.leaves, self.rules, self.n_leaves = leaves, rules, n
        self.is_open = np.ones(n, dtype=bool)
        self.node, self.sizes = np.arange(n), leaves.sizes.copy()
        self.ok = np.ones(n, dtype=bool)
        self.kinds = np.zeros(n, dtype=np.intp) if rules.kinds is None else rules.kinds.copy()
        self.sign, self.members = np.ones(n), [np.array([leaf]) for leaf in range(n)]
        columns, covariances = leaves.columns, leaves.covariances
        self.sums: Any = None if columns is None else columns.copy()
        # Covariances of groups with groups, and of groups with leaves. The rows of the first are
        # those of `slots`, and `at` says which row a slot has.
        self.slots, self.at, self.bar = np.arange(n), np.arange(n), np.zeros(n)
        self.between: Any = None if covariances is None else covariances.copy()
        self.with_leaves: Any = None if covariances is None else covariances.copy()
        self.own = np.array([self._spread(slot) for slot in range(n)])
        self.children: list[tuple[int, int]] = []
        self.likeness: list[float] = []
        self.may_be_group, self.spread = [True] * n, self.own.tolist()
        self.n_members: list[int] = leaves.sizes.tolist()

    def _spread(self, slot: int) -> float:
        """Standard deviation of the sum of a group."""
        if self.between is None and self.sums is None:
            return 0.0
        if self.between is not None:
            return float(np.sqrt(max(self.between[self.at[slot], self.at[slot]], 0.0)))
        return float(np.sqrt(self.sums[slot] @ self.sums[slot] / self.sums.shape[1]))

    def forbidden(self, first: Any, second: Any) -> BoolArray | None:
        """Which pairs of groups may not join; None if all may."""
        bars = []
        if self.rules.max_size is not None:
            bars.append(self.sizes[first] + self.sizes[second] > self.rules.max_size)
        if self.rules.kinds is not None:
            a, b = self.kinds[first], self.kinds[second]
            bars.append((a < 0) | (b < 0) | ((a != b) & (a > 0) & (b > 0)))
        if not bars:
            return None
        return bars[0] if len(bars) == 1 else bars[0] | bars[1]

    def merge_along_edges(self, edges: tuple[IntArray, IntArray]) -> None:
        """In each round, merge neighbours that are the most alike for each other."""
        while len(edges[0]):
            barred = self.forbidden(*edges)
            a, b = edges if barred is None else (edges[0][~barred], edges[1][~barred])
            number = self._merge_matched(Pairs(a, b, self._covariances(a, b)), fully=False)
            if number is None:
                return
            edges = edges_between(edges, number)

    def merge_in_rounds(self, most: int) -> None:
        """Merge groups that are the most alike for each other, until at most so many are left."""
        while np.count_nonzero(self.is_open) > most:
            slots = np.flatnonzero(self.is_open)
            pairs = nearest_pairs(
                self.sums[slots],
                self.sizes[slots],
                partial(self._forbidden_among, slots),
                signs=self.rules.signs,
            )
            pairs = Pairs(slots[pairs.first], slots[pairs.second], pairs.covariance)
            if self._merge_matched(pairs, fully=True) is None:
                return

    def _forbidden_among(self, slots: IntArray, a: Any, b: Any) -> BoolArray | None:
        return self.forbidden(slots[a], slots[b])

    def _covariances(self, a: Any, b: Any) -> Any:
        if self.between is not None:
            return np.asarray(self.between[self.at[a], self.at[b]])
        return row_products(self.sums, self.sums, a, b)

    def _merge_matched(self, pairs: Pairs, *, fully: bool) -> IntArray | None:
        """Merge matched pairs; the slot in which each slot's group is now; None if none merged."""
        value = pairs.likeness(self.sizes, signs=self.rules.signs)
        chosen = matched(pairs, value, self.n_leaves, fully=fully)
        if not len(chosen):
            return None
        number = np.arange(self.n_leaves)
        for pair in chosen[np.argsort(-value[chosen], kind="stable")]:
            first, second = sorted((int(pairs.first[pair]), int(pairs.second[pair])))
            is_flipped = self.rules.signs and pairs.covariance[pair] < 0
            self._merge(first, second, float(value[pair]), -1.0 if is_flipped else 1.0)
            number[second] = first
        return number

    def merge_along_chains(self) -> None:
        """Follow nearest neighbours until two groups are nearest to each other, and merge them."""
        self._number(np.flatnonzero(self.is_open) if self.between is None else self.slots)
        if self.between is None:
            some = self.sums[self.slots]
            self.between = some @ some.T / some.shape[1]
        is_closed = ~self.is_open
        left, lowest = int(np.count_nonzero(self.is_open)), 0
        chain: list[int] = []
        while left > 1:
            while is_closed[lowest]:
                lowest += 1
            chain = chain or [lowest]
            last = chain[-1]
            nearest, value = self._nearest(last, chain[-2] if len(chain) > 1 else -1)
            closed = -1
            if nearest < 0:
                closed = chain.pop()
            elif nearest in chain:
                del chain[chain.index(nearest) :]
                first, closed = sorted((last, nearest))
                is_flipped = self.rules.signs and self._covariances(first, closed) < 0
                self._merge(first, closed, value, -1.0 if is_flipped else 1.0)
            else:
                chain.append(nearest)
            if closed >= 0:
                is_closed[closed], self.bar[self.at[closed]] = True, -np.inf
                left -= 1
            if 2 * left < len(self.slots):
                self._compact()

    def _compact(self) -> None:
        """Forget the covariances of groups that are closed."""
        kept = self.bar == 0
        self.between = self.between[np.ix_(kept, kept)]
        self._number(self.slots[kept])

    def _number(self, slots: IntArray) -> None:
        """Give the rows of the covariances to these slots."""
        self.slots, self.at[slots] = slots, np.arange(len(slots))
        self.bar = np.zeros(len(slots))

    def _nearest(self, slot: int, before: int) -> tuple[int, float]:
        """The most alike group that may join one, -1 for none; among ties the one before."""
        own = self.at[slot]
        value = np.abs(self.between[own]) if self.rules.signs else self.between[own].copy()
        value /= self.sizes[self.slots]
        value += self.bar
        value[own] = -np.inf
        barred = self.forbidden(slot, self.slots)
        if barred is not None:
            value[barred] = -np.inf
        best = int(value.argmax())
        if before >= 0 and value[self.at[before]] >= value[best]:
            best = int(self.at[before])
        if value[best] == -np.inf:
            return -1, -np.inf
        return int(self.slots[best]), float(value[best] / self.sizes[slot])

    def join_the_rest(self) -> None:
        """Merge what may not share a group, so that the tree has one root."""
        slots = np.flatnonzero(self.is_open).tolist()
        # These are no groups, so their covariances are of no use.
        self.sums = self.between = self.with_leaves = None
        for second in slots[1:]:
            self.ok[slots[0]] = False
            self._merge(slots[0], second, -1.0, 1.0)

    def _merge(self, first: int, second: int, value: float, sign: float) -> None:
        """Merge the group in the second slot into that in the first, times a sign."""
        self.children.append((int(self.node[first]), int(self.node[second])))
        self.likeness.append(value)
        self.node[first] = self.n_leaves + len(self.children) - 1
        self.sizes[first] += self.sizes[second]
        self.kinds[first] = max(self.kinds[first], self.kinds[second])
        self.is_open[second] = False
        if sign < 0:
            self.sign[self.members[second]] *= -1.0
        self.members[first] = np.concatenate([self.members[first], self.members[second]])
        self.members[second] = self.members[second][:0]
        if self.sums is not None:
            self.sums[first] += sign * self.sums[second]
        if self.between is not None:
            a, b = self.at[first], self.at[second]
            self.between[a] += sign * self.between[b]
            own = self.between[a, a] + sign * self.between[a, b]
            self.between[:, a] = self.between[a]
            self.between[a, a] = own
        spread = self._spread(first)
        # Features whose correlation with what they share is at least the floor have at least its
        # square with each other. Without this, two unrelated features could share their mean.
        is_alike = self.rules.floor <= 0 or value >= self.rules.floor**2
        may_be = bool(is_alike and self.ok[first] and self.ok[second])
        if may_be and self.with_leaves is not None:
            self.with_leaves[first] += sign * self.with_leaves[second]
        self.ok[first] = may_be and self._is_coherent(first, spread)
        self.may_be_group.append(bool(self.ok[first]))
        self.spread.append(spread)
        self.n_members.append(int(self.sizes[first]))

    def _is_coherent(self, slot: int, spread: float) -> bool:
        """Whether all members of a group are at or above the floor."""
        members = self.members[slot]
        if self.rules.is_coherent is not None:
            return self.rules.is_coherent(members)
        if spread <= NO_SPREAD:
            return False
        if self.rules.floor <= 0:
            return True
        if self.with_leaves is not None:
            covariance = self.with_leaves[slot, members]
        else:
            assert self.leaves.columns is not None
            covariance = self.leaves.columns[members] @ self.sums[slot] / self.sums.shape[1]
        correlation = self.sign[members] * covariance / (spread * self.own[members])
        return bool(correlation.min() >= self.rules.floor - ROUNDING)

    def tree(self) -> Tree:
        """The finished tree, with merges in order of falling likeness."""
        n = self.n_leaves
        value = list(self.likeness)
        for merge, pair in enumerate(self.children):
            value[merge] = min(value[merge], *(value[node - n] for node in pair if node >= n), 1.0)
        rank = np.argsort(-np.array(value), kind="stable")
        number = np.empty(n + len(rank), dtype=np.intp)
        number[:n], number[n + rank] = np.arange(n), n + np.arange(len(rank))
        children = number[np.array(self.children, dtype=np.intp).reshape(-1, 2)[rank]]
        old = np.concatenate([np.arange(n), n + rank])
        order, start, stop = _laid_out(children.tolist(), n)
        return Tree(
            children,
            np.array(value)[rank],
            np.array(self.may_be_group, dtype=bool)[old],
            np.array(self.n_members, dtype=np.intp)[old],
            np.array(self.spread)[old],
            order,
            start,
            stop,
            self.sign,
        )


def _laid_out(children: list[list[int]], n: int) -> tuple[IntArray, IntArray, IntArray]:
    """An order of the leaves in which each node is one stretch, and where the stretches are."""
    size, start = [1] * (n + len(children)), [0] * (n + len(children))
    for node, (a, b) in enumerate(children, start=n):
        size[node] = size[a] + size[b]
    for node in range(n + len(children) - 1, n - 1, -1):
        a, b = children[node - n]
        start[a], start[b] = start[node], start[node] + size[a]
    order = np.empty(n, dtype=np.intp)
    order[start[:n]] = np.arange(n)
    return order, np.array(start), np.array(start) + np.array(size)
