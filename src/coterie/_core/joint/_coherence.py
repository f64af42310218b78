"""Which groups of a tree are coherent: all members correlate with what they share."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._core.joint._likeness import NO_SPREAD, Leaves, row_products
from coterie._core.joint._tree import Rules
from coterie._core.values import BoolArray, FloatArray, IntArray

# A member may lie this much below the floor, for rounding.
ROUNDING = 1e-9
# Pairs of leaves that are looked at together.
PAIRS = 2**20


class Coherence:
    """Leaves, the slot and the sign of each, and which slots hold groups that are coherent.

    Parameters
    ----------
    leaves : Leaves
    rules : Rules
    own : ndarray of shape (n_leaves,)
        Standard deviation of each leaf.
    """

    def __init__(self, leaves: Leaves, rules: Rules, own: FloatArray) -> None:
        n = len(own)
        self.leaves, self.rules, self.own = leaves, rules, own
        self.is_coherent, self.slot = np.ones(n, dtype=bool), np.arange(n)
        self.sign = np.ones(n)
        # Covariance of each leaf with the sum of its group, both with their signs.
        self.shared = np.square(own)

    def merge(
        self,
        first: IntArray,
        second: IntArray,
        value: FloatArray,
        sign: FloatArray,
        spread: FloatArray,
        sums: Any,
    ) -> BoolArray:
        """Move the leaves of the second slots to the first; which merged groups are coherent.

        Parameters
        ----------
        first, second : ndarray of shape (n_merges,)
        value : ndarray of shape (n_merges,)
            The likeness of each pair.
        sign : ndarray of shape (n_merges,)
            Signs of the second groups.
        spread : ndarray of shape (n_merges,)
            Standard deviations of the merged groups.
        sums : ndarray of shape (n_slots, n_samples) or None
            The sums of the groups, already merged, where leaves are columns.
        """
        # Features whose correlation with what they share is at least the floor have at least its
        # square with each other. Without this, two unrelated features could share their mean.
        floor = self.rules.floor
        may_be = self.is_coherent[first] & self.is_coherent[second]
        may_be &= (floor <= 0) | (value >= floor**2)
        if self.rules.is_coherent is None:
            may_be &= spread > NO_SPREAD
        flip = np.ones(len(self.slot))
        flip[second] = sign
        self.sign *= flip[self.slot]
        before, number = self.slot, np.arange(len(self.slot))
        number[second] = first
        self.slot = number[self.slot]
        self.is_coherent[first] = may_be
        asked, width = first[may_be], np.ones(len(self.slot))
        width[first] = spread
        if self.rules.is_coherent is not None:
            self._ask(asked)
        elif floor > 0 and len(asked):
            if self.leaves.covariances is not None:
                self._share(asked, second[may_be], before)
            self._compare(asked, width, sums)
        return self.is_coherent[first]

    def _members(self, slots: IntArray) -> IntArray:
        """The leaves of some slots."""
        is_asked = np.zeros(len(self.slot), dtype=bool)
        is_asked[slots] = True
        return np.flatnonzero(is_asked[self.slot])

    def _ask(self, slots: IntArray) -> None:
        """Ask the aggregation about each group."""
        assert self.rules.is_coherent is not None
        members = self._members(slots)
        members = members[np.argsort(self.slot[members], kind="stable")]
        stops = np.flatnonzero(np.diff(self.slot[members])) + 1
        for some in np.split(members, stops) if len(members) else []:
            self.is_coherent[self.slot[some[0]]] = self.rules.is_coherent(some)

    def _compare(self, slots: IntArray, spread: FloatArray, sums: Any) -> None:
        """Groups with a member below the floor are not coherent."""
        members = self._members(slots)
        above = self.slot[members]
        if self.leaves.covariances is not None:
            shared = self.shared[members]
        else:
            assert self.leaves.columns is not None
            shared = self.sign[members] * row_products(self.leaves.columns, sums, members, above)
        correlation = shared / (spread[above] * self.own[members])
        self.is_coherent[above[~(correlation >= self.rules.floor - ROUNDING)]] = False

    def _share(self, first: IntArray, second: IntArray, before: IntArray) -> None:
        """Add to the covariance of each leaf with its group what the other group brings."""
        assert self.leaves.covariances is not None
        # Members in the order of the merges: those of the first group, then of the second.
        rank = np.full(len(before), -1)
        rank[first], rank[second] = 2 * np.arange(len(first)), 2 * np.arange(len(first)) + 1
        members = np.flatnonzero(rank[before] >= 0)
        members = members[np.argsort(rank[before[members]], kind="stable")]
        counts = np.bincount(rank[before[members]], minlength=2 * len(first))
        starts = np.append(0, counts.cumsum())
        is_first = rank[before[members]] % 2 == 0
        lines = members[is_first]
        merge = rank[before[lines]] // 2
        n_others, from_others = counts[2 * merge + 1], starts[2 * merge + 1]
        n_pairs = np.append(0, n_others.cumsum())
        cuts = np.searchsorted(n_pairs, np.arange(0, n_pairs[-1], PAIRS))
        for low, high in zip(cuts, np.append(cuts[1:], len(lines)), strict=True):
            number = n_others[low:high]
            one = np.repeat(lines[low:high], number)
            place = np.repeat(from_others[low:high] - n_pairs[low:high], number)
            other = members[place + np.arange(n_pairs[low], n_pairs[high])]
            both = self.sign[one] * self.sign[other] * self.leaves.covariances[one, other]
            self.shared += np.bincount(one, both, len(before))
            self.shared += np.bincount(other, both, len(before))
