"""Composes the rooms: from columns or their sums to a tree, a path and a number of groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.joint._choice import number_within_allowance
from coterie._core.joint._growth import grow_tree
from coterie._core.joint._held_out import (
    FoldEvidence,
    groups_predict,
    rules_of_start,
    shares_of_sets,
)
from coterie._core.joint._likeness import Leaves
from coterie._core.joint._path import Freedom, Path, joint_path
from coterie._core.joint._penalty import penalty_and_noise
from coterie._core.joint._sums import CrossSums, RowSums
from coterie._core.joint._tree import Rules, Tree, labels_of
from coterie._core.values import BoolArray, FloatArray, IntArray, TellStep, tell_nobody

# The path starts from at most as many groups as there are rows, within these limits. More
# coefficients than rows cannot be told apart, and fewer groups are the same in other rows more
# often.
FEWEST_START, MOST_START = 50, 150


class JointData(NamedTuple):
    """Standardised leaves and targets, known by what a joint fit asks of them.

    A leaf is a feature, or the sum of several that must stay together.

    Parameters
    ----------
    leaves : Leaves
    relevance : ndarray of shape (n_leaves, n_targets)
        Covariance of each leaf with each standardised target.
    sums : callable
        The :class:`RowSums` of weighted sums of the leaves; the argument is a sparse array of
        shape (n_leaves, n_sums).
    cross : callable
        The :class:`CrossSums` of all leaves.
    n_rows : float
    """

    leaves: Leaves
    relevance: FloatArray
    sums: Callable[[sparse.csr_array], RowSums]
    cross: Callable[[], CrossSums]
    n_rows: float


@dataclass(frozen=True)
class JointFit:
    """The tree of the features, the joint path, and the number of groups.

    Parameters
    ----------
    tree : Tree
    path : Path
    chosen : int
        The number of groups within the allowance.
    relevance : ndarray of shape (n_nodes,)
        Share of the targets' variance that each node alone explains.
    leaves_out : bool
    kept : ndarray of shape (n_leaves,)
        Leaves that are never left out.
    """

    tree: Tree
    path: Path
    chosen: int
    relevance: FloatArray
    leaves_out: bool
    kept: BoolArray

    def nodes_at(self, n_groups: int) -> IntArray:
        """The nodes of the tree that are the groups where there are so many."""
        if n_groups in self.path.numbers:
            return self.path.groups_at(n_groups)
        if n_groups > self.tree.n_leaves:
            raise ValueError(
                f"n_groups must be {self.tree.n_leaves} or less, the number of columns that vary, "
                f"got {n_groups}."
            )
        is_too_few = n_groups < min(self.path.numbers)
        nodes = self.path.start[:0] if is_too_few else cut(self.tree, n_groups)
        if len(nodes) > n_groups and self.leaves_out:
            nodes = most_relevant(self.tree, nodes, self.relevance[nodes], self.kept, n_groups)
        if len(nodes) != n_groups:
            fewest = min(self.path.numbers) if n_groups < len(self.path.start) else len(nodes)
            raise ValueError(f"n_groups={n_groups} cannot be reached: {self._least(fewest)}")
        return nodes

    def _least(self, fewest: int) -> str:
        """Why there are so many groups at least, and what to do about it."""
        n_kept = int(np.count_nonzero(self.kept))
        if n_kept == fewest:
            return f"keep has {n_kept} columns, each a group of its own. Keep fewer."
        advice = "" if self.leaves_out else ", or use rest='drop'"
        return (
            f"min_correlation and the other limits leave {fewest} groups at least. Lower "
            f"min_correlation{advice}."
        )

    def labels_at(self, n_groups: int) -> IntArray:
        """The group of each leaf where there are so many groups; -1 for those left out."""
        return labels_of(self.tree, self.nodes_at(n_groups))


def cut(tree: Tree, most: int) -> IntArray:
    """So many groups, or more where the tree does not allow it: the most alike merge first."""
    n = tree.n_leaves
    # The parts of a group may be groups too, and merge before it.
    merges = np.flatnonzero(tree.may_be_group[n:])[: max(0, n - most)]
    is_group = np.zeros(len(tree.start), dtype=bool)
    is_group[:n] = is_group[n + merges] = True
    is_group[tree.children[merges]] = False
    return np.flatnonzero(is_group)


def most_relevant(
    tree: Tree, nodes: IntArray, relevance: FloatArray, kept: BoolArray, most: int
) -> IntArray:
    """The nodes that alone explain the targets best, at most so many; kept ones are among them.

    `relevance` is that of each of the nodes.
    """
    must = holds_kept(tree, nodes, kept)
    rank = np.lexsort((-relevance, ~must))
    return np.sort(nodes[rank[: max(most, int(must.sum()))]])


def holds_kept(tree: Tree, nodes: IntArray, kept: BoolArray) -> BoolArray:
    """Which nodes have a leaf that is never left out."""
    return tree.below(nodes, kept[:, None].astype(np.float64))[:, 0] > 0


def fit_joint(
    data: JointData,
    rules: Rules,
    *,
    leaves_out: bool,
    kept: BoolArray,
    tell: TellStep = tell_nobody,
) -> tuple[JointFit, FoldEvidence]:
    """The tree of likeness, and the path on it by joint prices.

    Parameters
    ----------
    data : JointData
    rules : Rules
        Which groups may be.
    leaves_out : bool
        Whether groups that add nothing may be left out.
    kept : ndarray of shape (n_leaves,)
        Leaves that are never left out.
    tell : callable
        Is told the steps "tree" and "path".

    Returns
    -------
    JointFit
    FoldEvidence
        What scores on held-out rows and stability are computed from.
    """
    tree = grow_tree(data.leaves, rules, tell)
    tell("path", 0, 1)
    everything = np.arange(len(tree.start))
    relevance = relevance_of(tree, everything, data.relevance)
    most = int(np.clip(data.n_rows, FEWEST_START, MOST_START))
    candidates = cut(tree, most)
    starts = _Starts(tree, candidates, kept, most if leaves_out else len(candidates))
    start = starts.by(relevance[candidates])
    pool, sums, starts_of_splits, shares = starts.pool(start, data)
    own = np.isin(pool, start)
    sizes = tree.n_members[pool].astype(np.float64)
    penalty = penalty_and_noise(sums, sizes, own, starts_of_splits)
    freedom = Freedom(leaves_out, holds_kept(tree, pool, kept))
    path = joint_path(sums.everything().only(own), tree, start, penalty, freedom.only(own))
    chosen = number_within_allowance(path, penalty, data.n_rows)
    of_pool = rules_of_start(rules, tree, pool)
    evidence = FoldEvidence(sums, penalty, of_pool, freedom, pool, starts_of_splits, shares)
    if not penalty.predicts and groups_predict(tree, chosen, evidence):
        evidence = evidence._replace(penalty=penalty._replace(predicts=True))
    tell("path", 1, 1)
    return JointFit(tree, path, chosen, relevance, leaves_out, kept), evidence


def relevance_of(tree: Tree, nodes: IntArray, covariance: FloatArray) -> FloatArray:
    """Share of the targets' variance that each node alone explains.

    Parameters
    ----------
    covariance : ndarray of shape (n_leaves, n_targets)
        Covariance of each leaf with each standardised target.
    """
    alone = tree.below(nodes, tree.signs[:, None] * covariance)
    return np.asarray(np.square(alone).sum(axis=1) / np.maximum(tree.spread[nodes], 1e-9) ** 2)


class _Starts(NamedTuple):
    """Which of the candidates a path starts from: those that alone explain the targets best."""

    tree: Tree
    candidates: IntArray
    kept: BoolArray
    most: int

    def by(self, relevance: FloatArray) -> IntArray:
        """The nodes at the start, by the relevance of the candidates."""
        if len(self.candidates) <= self.most:
            return self.candidates
        return most_relevant(self.tree, self.candidates, relevance, self.kept, self.most)

    def pool(
        self, start: IntArray, data: JointData
    ) -> tuple[IntArray, RowSums, BoolArray, BoolArray]:
        """All nodes that any path starts from, their sums, and which those of each path are.

        The target chooses for the path from some of the rows in these rows alone: otherwise the
        rows that are held out would have had a say.
        """
        if len(self.candidates) <= self.most:
            sums = data.sums(_weights(self.tree, start))
            n_shares = len(shares_of_sets(len(sums.count)))
            everything = np.ones((sums.n_splits + n_shares, len(start)), dtype=bool)
            return start, sums, everything[: sums.n_splits], everything[sums.n_splits :]
        cross = data.cross()
        sets = [*cross.train, *shares_of_sets(len(cross.count))]
        each = [
            self.by(relevance_of(self.tree, self.candidates, cross.covariance(some)))
            for some in sets
        ]
        pool = np.unique(np.concatenate([start, *each]))
        chosen = np.array([np.isin(pool, one) for one in each])
        n_splits = len(cross.train)
        sums = data.sums(_weights(self.tree, pool))
        return pool, sums, chosen[:n_splits], chosen[n_splits:]


def _weights(tree: Tree, nodes: IntArray) -> sparse.csr_array:
    """Each node as a signed sum of leaves, of shape (n_leaves, n_nodes)."""
    labels, shape = labels_of(tree, nodes), (tree.n_leaves, len(nodes))
    leaves = np.flatnonzero(labels >= 0)
    return sparse.csr_array((tree.signs[leaves], (leaves, labels[leaves])), shape=shape)
