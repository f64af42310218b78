"""Composes the rooms: from columns or their sums to a tree, a path and a number of groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.joint._choice import Scored, scored_numbers
from coterie._core.joint._growth import grow_tree
from coterie._core.joint._likeness import Leaves
from coterie._core.joint._path import Freedom, Path, joint_path
from coterie._core.joint._penalty import Penalty, penalty_by_folds
from coterie._core.joint._sums import RowSums, Scatter
from coterie._core.joint._tree import Rules, Tree
from coterie._core.values import BoolArray, FloatArray, IntArray, TellStep, tell_nobody

# The path starts from at most as many groups as there are rows, within these limits. More
# coefficients than rows cannot be told apart, and fewer groups are the same in other rows more
# often.
FEWEST_START, MOST_START = 50, 200
# Stability is measured on paths from this share of the sets of rows.
STABILITY_SHARE = 0.6


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
    n_rows : float
    """

    leaves: Leaves
    relevance: FloatArray
    sums: Callable[[sparse.csr_array], RowSums]
    n_rows: float


@dataclass(frozen=True)
class JointFit:
    """The tree of the features, the joint path, and the scores of the numbers on it.

    Parameters
    ----------
    tree : Tree
    path : Path
    scored : Scored
    relevance : ndarray of shape (n_nodes,)
        Share of the targets' variance that each node alone explains.
    resampled : tuple of dict
        For each path from some of the rows: number of groups -> the group of each leaf, or -1.
    leaves_out : bool
    kept : ndarray of shape (n_leaves,)
        Leaves that are never left out.
    """

    tree: Tree
    path: Path
    scored: Scored
    relevance: FloatArray
    resampled: tuple[dict[int, IntArray], ...]
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
            nodes = most_relevant(self.tree, nodes, self.relevance, self.kept, n_groups)
        if len(nodes) != n_groups:
            fewest = min(self.path.numbers) if n_groups < len(self.path.start) else len(nodes)
            raise ValueError(
                f"n_groups={n_groups} cannot be reached: min_correlation and the other limits "
                f"leave {fewest} groups at least. Lower min_correlation, or use rest='drop'."
            )
        return nodes

    def labels_at(self, n_groups: int) -> IntArray:
        """The group of each leaf where there are so many groups; -1 for those left out."""
        return labels_of(self.tree, self.nodes_at(n_groups))

    def stability_at(self, n_groups: int, sizes: IntArray) -> FloatArray:
        """How well each group is found again from some of the rows, from 0 to 1.

        The largest overlap (members in both, divided by members in either) with a group of the
        same number of groups, averaged over the resampled paths.
        """
        labels = self.labels_at(n_groups)
        found = [_overlaps(labels, _nearest_number(one, n_groups), sizes) for one in self.resampled]
        return np.mean(found, axis=0)


def labels_of(tree: Tree, nodes: IntArray) -> IntArray:
    """The number of the node above each leaf; -1 where there is none."""
    rise = np.zeros(tree.n_leaves + 1, dtype=np.intp)
    rise[tree.start[nodes]] += np.arange(1, len(nodes) + 1)
    rise[tree.stop[nodes]] -= np.arange(1, len(nodes) + 1)
    labels = np.empty(tree.n_leaves, dtype=np.intp)
    labels[tree.order] = rise[:-1].cumsum() - 1
    return labels


def _nearest_number(found: dict[int, IntArray], n_groups: int) -> IntArray:
    return found[min(found, key=lambda number: (abs(number - n_groups), number))]


def _overlaps(labels: IntArray, others: IntArray, sizes: IntArray) -> FloatArray:
    n, m = labels.max() + 1, others.max() + 1
    both = np.zeros((n + 1, m + 1))
    np.add.at(both, (labels, others), sizes)
    either = both.sum(axis=1)[:n, None] + both.sum(axis=0)[None, :m] - both[:n, :m]
    return (both[:n, :m] / either).max(axis=1)


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
    """The nodes that alone explain the targets best, at most so many; kept ones are among them."""
    must = holds_kept(tree, nodes, kept)
    rank = np.lexsort((-relevance[nodes], ~must))
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
) -> JointFit:
    """The tree of likeness, and the path on it by joint prices, with held-out scores.

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
        Is told the steps "tree", "path", "folds" and "stability".
    """
    tree = grow_tree(data.leaves, rules, tell)
    tell("path", 0, 1)
    everything = np.arange(len(tree.start))
    alone = tree.below(everything, tree.signs[:, None] * data.relevance)
    relevance = np.square(alone).sum(axis=1) / np.maximum(tree.spread, 1e-9) ** 2
    most = int(np.clip(data.n_rows, FEWEST_START, MOST_START))
    start = cut(tree, most)
    if len(start) > most and leaves_out:
        start = most_relevant(tree, start, relevance, kept, most)
    sums = data.sums(_weights(tree, start))
    penalty = penalty_by_folds(sums, tree.n_members[start].astype(np.float64))
    is_kept = holds_kept(tree, start, kept)
    freedom = Freedom(leaves_out, is_kept)
    path = joint_path(sums.everything(), tree, start, penalty, freedom)
    tell("path", 1, 1)
    by_split = []
    for done, train in enumerate(sums.train):
        tell("folds", done, sums.n_splits)
        by_split.append(joint_path(sums.over(train), tree, start, penalty, freedom))
    scored = scored_numbers(sums, by_split, _start_in_nodes(tree, start), path.numbers)
    tell("folds", sums.n_splits, sums.n_splits)
    resampled = _resampled(sums, tree, start, penalty, rules, scored, freedom, tell)
    return JointFit(tree, path, scored, relevance, resampled, leaves_out, kept)


def _weights(tree: Tree, nodes: IntArray) -> sparse.csr_array:
    """Each node as a signed sum of leaves, of shape (n_leaves, n_nodes)."""
    labels, shape = labels_of(tree, nodes), (tree.n_leaves, len(nodes))
    leaves = np.flatnonzero(labels >= 0)
    return sparse.csr_array((tree.signs[leaves], (leaves, labels[leaves])), shape=shape)


def _start_in_nodes(tree: Tree, start: IntArray) -> FloatArray:
    """Which starting groups each node consists of, of shape (n_nodes, n_start)."""
    first = tree.start[start]
    return ((first >= tree.start[:, None]) & (first < tree.stop[:, None])).astype(np.float64)


def _resampled(
    sums: RowSums,
    tree: Tree,
    start: IntArray,
    penalty: Penalty,
    rules: Rules,
    scored: Scored,
    freedom: Freedom,
    tell: TellStep,
) -> tuple[dict[int, IntArray], ...]:
    """The groups of paths, and of trees, from some of the rows."""
    within = _rules_of_start(rules, tree, start)
    above, everything = labels_of(tree, start), sums.everything()
    shares = _shares_of_sets(len(sums.count))
    found: list[dict[int, IntArray]] = []
    for sets in shares:
        tell("stability", len(found), len(shares))
        scatter = _standardised(sums.over(sets), everything)
        sizes = tree.n_members[start]
        grown = grow_tree(Leaves(sizes, scatter.columns / scatter.n), within)
        path = joint_path(scatter, grown, np.arange(len(start)), penalty, freedom)
        numbers = [number for number in scored.numbers.tolist() if number in path.numbers]
        labels = {
            number: labels_of(grown, path.groups_at(number)) for number in numbers or path.numbers
        }
        found.append({number: np.append(one, -1)[above] for number, one in labels.items()})
    tell("stability", len(shares), len(shares))
    return tuple(found)


def _standardised(some: Scatter, everything: Scatter) -> Scatter:
    """The scatter over some rows, each column scaled to the variance that it has over all rows.

    Likeness is a mean correlation. Without this, columns that happen to vary more in some rows
    would seem to be more alike.
    """
    wanted = everything.columns.diagonal() / everything.n
    own = some.columns.diagonal() / some.n
    scale = np.sqrt(np.divide(wanted, own, out=np.zeros_like(own), where=own > 0))
    return some._replace(
        mean=some.mean * np.append(scale, np.ones(len(some.mean) - len(scale))),
        columns=some.columns * np.outer(scale, scale),
        cross=some.cross * scale[:, None],
    )


def _rules_of_start(rules: Rules, tree: Tree, start: IntArray) -> Rules:
    """The rules for the starting groups as leaves; they already have their signs."""
    member = abs(_weights(tree, start))
    graph, kinds = rules.neighbours, rules.kinds
    if graph is not None:
        graph = sparse.csr_array(member.T @ graph @ member)
    if kinds is not None:
        # A group with a feature that stays alone has no other.
        kinds = np.array([kinds[tree.leaves(int(node))].max() for node in start])
    return rules._replace(signs=False, neighbours=graph, kinds=kinds, is_coherent=None)


def _shares_of_sets(n_sets: int) -> list[BoolArray]:
    """As many shares of the sets of rows as there are sets, each from one set on."""
    n_taken = max(1, min(n_sets - 1, round(STABILITY_SHARE * n_sets)))
    first = np.concatenate([np.ones(n_taken, dtype=bool), np.zeros(n_sets - n_taken, dtype=bool)])
    return [np.roll(first, shift) for shift in range(min(n_sets, 5))]
