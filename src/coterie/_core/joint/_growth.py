"""Grows the tree of likeness: in each round, all groups that are nearest to each other merge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._core.joint._between import Between
from coterie._core.joint._cells import pairs_within_cells
from coterie._core.joint._coherence import Coherence
from coterie._core.joint._likeness import (
    CACHED,
    MAX_KEPT,
    Leaves,
    Pairs,
    blocks,
    edges_of,
    matched,
    pairs_between,
    row_products,
)
from coterie._core.joint._sparse_rows import SparseRows
from coterie._core.joint._tree import Rules, Tree
from coterie._core.values import BoolArray, FloatArray, IntArray, TellStep, tell_nobody

# Of very many groups, those that are alike merge first, as long as at least this share does.
FEW_MERGES = 0.05
# Sparse columns are compared where their values overlap and their likeness is at least this.
LEAST_LIKENESS = 0.1


def grow_tree(leaves: Leaves, rules: Rules, tell: TellStep = tell_nobody) -> Tree:
    """Merge the most alike groups first, until one is left.

    The likeness of two groups is the mean correlation between their members, so this is average
    linkage. It is found in rounds: all pairs that are nearest to each other merge at once. A
    merged group is never more like a third than both of its parts were, so pairs that are nearest
    to each other stay so until they merge, and the rounds find the same tree as one merge at a
    time. With a graph of neighbours, and for very many leaves, this holds only nearly.
    """
    growth = _Growth(leaves, rules, tell)
    if rules.neighbours is not None:
        growth.merge_along_edges(*edges_of(rules.neighbours))
    elif isinstance(leaves.columns, SparseRows):
        least = max(rules.floor**2, LEAST_LIKENESS)
        growth.merge_along_edges(*leaves.columns.overlapping(least, signs=rules.signs))
        if np.count_nonzero(growth.is_open) <= MAX_KEPT // 4:
            growth.merge_nearest()
    else:
        if growth.n_leaves > MAX_KEPT:
            growth.merge_few_nearest(MAX_KEPT // 4)
        growth.merge_nearest()
    growth.join_the_rest()
    tell("tree", growth.n_leaves, growth.n_leaves)
    return growth.tree()


class _Round(NamedTuple):
    """Merges of one round: what the nodes consist of, and what is known of them."""

    children: IntArray
    likeness: FloatArray
    may_be_group: BoolArray
    n_members: IntArray
    n_leaves: IntArray
    spread: FloatArray


def _no_merges() -> _Round:
    none = np.empty(0, dtype=np.intp)
    return _Round(none.reshape(0, 2), np.empty(0), none.astype(bool), none, none, np.empty(0))


class _Growth:
    """The tree while it grows. Slots 0 to n_leaves - 1 hold the groups that are left."""

    def __init__(self, leaves: Leaves, rules: Rules, tell: TellStep) -> None:
        n, self.tell = len(leaves.sizes), tell
        tell("tree", 0, n)
        self.leaves, self.rules, self.n_leaves, self.n_nodes = leaves, rules, n, n
        self.is_open = np.ones(n, dtype=bool)
        self.node, self.sizes = np.arange(n), leaves.sizes.copy()
        # Leaves below each slot, and the likeness of its last merge.
        self.counts, self.lowest = np.ones(n, dtype=np.intp), np.ones(n)
        self.kinds = np.zeros(n, dtype=np.intp) if rules.kinds is None else rules.kinds.copy()
        columns, covariances = leaves.columns, leaves.covariances
        self.sums: Any = None if columns is None else columns.copy()
        self.between = None if covariances is None else Between(covariances, np.arange(n), n)
        self.coherence = Coherence(leaves, rules, self._spreads(np.arange(n)))
        self.rounds = [_no_merges()]

    def _spreads(self, slots: IntArray) -> FloatArray:
        """Standard deviations of the sums of groups."""
        return np.sqrt(np.maximum(self._covariances(slots, slots), 0.0))

    def _covariances(self, a: IntArray, b: IntArray) -> FloatArray:
        if self.between is not None:
            return self.between.of(a, b)
        return row_products(self.sums, self.sums, a, b)

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

    def merge_along_edges(self, a: IntArray, b: IntArray) -> None:
        """In each round, merge neighbours that are the most alike for each other."""
        pairs = Pairs(a, b, self._covariances(a, b))
        while len(pairs.first):
            barred = self.forbidden(pairs.first, pairs.second)
            # What is barred now stays so: groups only grow.
            pairs = pairs if barred is None else pairs.where(~barred)
            number = self._merge_matched(pairs, fully=False)
            pairs = pairs_between(pairs, number, self._covariances)

    def merge_few_nearest(self, most: int) -> None:
        """Merge groups that are the most alike for each other, until at most so many are left.

        Only groups of a cell are compared, in other cells each round. Groups that are alike enough
        to share one merge first, and others where hardly any of these are left.
        """
        number, are_alike = 0, True
        while (n_open := int(np.count_nonzero(self.is_open))) > most:
            pairs = pairs_within_cells(
                self.sums,
                np.flatnonzero(self.is_open),
                self.sizes,
                self.forbidden,
                signs=self.rules.signs,
                number=number,
            )
            if are_alike:
                value = pairs.likeness(self.sizes, signs=self.rules.signs)
                pairs = pairs.where(value >= self.rules.floor**2)
            self._merge_matched(pairs, fully=True, most=n_open - most)
            n_merged = n_open - int(np.count_nonzero(self.is_open))
            if not n_merged and not are_alike:
                return
            are_alike &= n_merged >= FEW_MERGES * n_open
            number += 1

    def _merge_matched(self, pairs: Pairs, *, fully: bool, most: int | None = None) -> IntArray:
        """Merge matched pairs, at most so many; the slot in which each slot's group is now."""
        value = pairs.likeness(self.sizes, signs=self.rules.signs)
        chosen = matched(pairs, value, self.n_leaves, fully=fully)
        if most is not None and len(chosen) > most:
            chosen = chosen[np.argsort(-value[chosen], kind="stable")[:most]]
        some = pairs.where(chosen)
        return self._merge(some.first, some.second, value[chosen], some.covariance)

    def merge_nearest(self) -> None:
        """In each round, merge all groups that are nearest to each other."""
        if self.between is None:
            slots = np.flatnonzero(self.is_open)
            self.between = Between(_covariances_of(self.sums, slots), slots, self.n_leaves)
        near, value = np.full(self.n_leaves, -1), np.full(self.n_leaves, -np.inf)
        stale = self.between.open_slots
        while len(stale):
            near[stale], value[stale] = self.between.nearest(
                stale, self.sizes, self.forbidden, signs=self.rules.signs
            )
            self.between.close(stale[near[stale] < 0])
            left = self.between.open_slots
            first = _nearest_to_each_other(left, near, value)
            second = near[first]
            number = self._merge(first, second, value[first], self.between.of(first, second))
            is_new = np.zeros(self.n_leaves, dtype=bool)
            is_new[first] = is_new[second] = True
            left = left[number[left] == left]
            stale = left[is_new[left] | is_new[near[left]]]

    def join_the_rest(self) -> None:
        """Merge what may not share a group, so that the tree has one root."""
        slots = np.flatnonzero(self.is_open)
        if len(slots) < 2:
            return
        nodes, n = self.node[slots], len(slots) - 1
        before = np.append(nodes[0], self.n_nodes + np.arange(n - 1))
        self.rounds.append(
            _Round(
                np.column_stack([before, nodes[1:]]),
                np.full(n, -1.0),
                np.zeros(n, dtype=bool),
                self.sizes[slots].cumsum()[1:],
                self.counts[slots].cumsum()[1:],
                np.zeros(n),
            )
        )

    def _merge(
        self, first: IntArray, second: IntArray, value: FloatArray, covariance: FloatArray
    ) -> IntArray:
        """Merge pairs of groups, each into the lower slot; the slot of each slot's group now."""
        self.tell("tree", self.n_nodes - self.n_leaves, self.n_leaves)
        rank = np.argsort(-value, kind="stable")
        value, covariance = value[rank], covariance[rank]
        first, second = np.minimum(first, second)[rank], np.maximum(first, second)[rank]
        sign = np.where(covariance < 0, -1.0, 1.0) if self.rules.signs else np.ones(len(value))
        children = np.column_stack([self.node[first], self.node[second]])
        self.node[first] = self.n_nodes + np.arange(len(first))
        self.n_nodes += len(first)
        self.sizes[first] += self.sizes[second]
        self.counts[first] += self.counts[second]
        self.kinds[first] = np.maximum(self.kinds[first], self.kinds[second])
        self.lowest[first] = np.minimum(np.minimum(self.lowest[first], self.lowest[second]), value)
        self.is_open[second] = False
        if isinstance(self.sums, SparseRows):
            self.sums.add(first, second, sign)
        elif self.sums is not None:
            for start, stop in blocks(len(first), max(1, CACHED // self.sums.shape[1])):
                more = self.sums[second[start:stop]]
                more *= sign[start:stop, None]
                self.sums[first[start:stop]] += more
        if self.between is not None:
            self.between.merge(first, second, sign)
        spread = self._spreads(first)
        may_be = self.coherence.merge(first, second, value, sign, spread, self.sums)
        self.rounds.append(
            _Round(
                children,
                self.lowest[first],
                may_be,
                self.sizes[first],
                self.counts[first],
                spread,
            )
        )
        number = np.arange(self.n_leaves)
        number[second] = first
        return number

    def tree(self) -> Tree:
        """The finished tree, with merges in order of falling likeness."""
        n, leaves = self.n_leaves, np.arange(self.n_leaves)
        ones = np.ones(n, dtype=np.intp)
        start = _laid_out(self.rounds, n)
        made = _Round(*(np.concatenate(part) for part in zip(*self.rounds, strict=True)))
        rank = np.argsort(-made.likeness, kind="stable")
        number = np.empty(n + len(rank), dtype=np.intp)
        number[:n], number[n + rank] = leaves, n + np.arange(len(rank))
        order = np.empty(n, dtype=np.intp)
        order[start[:n]] = leaves
        start = start[np.concatenate([leaves, n + rank])]
        return Tree(
            number[made.children[rank]],
            made.likeness[rank],
            np.concatenate([ones, made.may_be_group[rank]]).astype(bool),
            np.concatenate([self.leaves.sizes, made.n_members[rank]]).astype(np.intp),
            np.concatenate([self.coherence.own, made.spread[rank]]),
            order,
            start,
            start + np.concatenate([ones, made.n_leaves[rank]]).astype(np.intp),
            self.coherence.sign,
        )


def _covariances_of(sums: Any, slots: IntArray) -> FloatArray:
    if isinstance(sums, SparseRows):
        return sums.some(slots).gram()
    some = sums[slots]
    return np.asarray(some @ some.T / some.shape[1])


def _nearest_to_each_other(left: IntArray, near: IntArray, value: FloatArray) -> IntArray:
    """The lower slots of pairs of groups that are nearest to each other.

    If covariances are symmetric only up to rounding, there may be no such pair among ties. The
    most alike are one then.
    """
    other = near[left]
    first = left[(near[other] == left) & (left < other)]
    return first if len(first) or not len(left) else left[[value[left].argmax()]]


def _laid_out(rounds: list[_Round], n: int) -> IntArray:
    """Where the leaves of each node start, in an order in which each node is one stretch."""
    n_leaves = np.concatenate([np.ones(n, dtype=np.intp), *(one.n_leaves for one in rounds)])
    start = np.zeros(len(n_leaves), dtype=np.intp)
    stop = len(n_leaves)
    for one in reversed(rounds):
        own, (first, second) = start[stop - len(one.children) : stop], one.children.T
        start[first], start[second] = own, own + n_leaves[first]
        stop -= len(one.children)
    return start
