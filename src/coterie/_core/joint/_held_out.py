"""What held-out rows say of a joint fit: scores of the numbers of groups, and their stability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.joint._choice import Scored, held_out_errors, scored_numbers
from coterie._core.joint._growth import grow_tree
from coterie._core.joint._likeness import Leaves
from coterie._core.joint._path import Freedom, Path, joint_path, prices_among
from coterie._core.joint._penalty import Penalty, is_gain
from coterie._core.joint._sums import RowSums, Scatter
from coterie._core.joint._tree import Rules, Tree, labels_of
from coterie._core.values import BoolArray, FloatArray, IntArray

# Stability is measured on paths from this share of the sets of rows. The tree below the groups at
# the start is that of all rows, which makes groups easier to find again; so two fifths of the rows
# say what fits to half of the rows find.
STABILITY_SHARE = 0.4
# A variance of a smaller share of that over all rows is rounding.
ROUNDING = 1e-9
# On so many paths at most.
MAX_RESAMPLED = 5


class FoldEvidence(NamedTuple):
    """What a path is walked on again, without some of the rows.

    The fit itself does without, so this is kept until somebody asks.

    Parameters
    ----------
    sums : RowSums
        Sums of the groups that are at the start of any path.
    penalty : Penalty
    rules : Rules
        For these groups, as leaves; they have their signs.
    freedom : Freedom
    pool : ndarray of shape (n_pool,)
        The nodes of the tree that these groups are.
    starts : ndarray of shape (n_splits, n_pool)
        Which are at the start of the path from the training rows of each split. Where there are
        more candidates than a path starts from, the target chooses, in these rows alone.
    shares : ndarray of shape (n_shares, n_pool)
        The same for each path from some of the rows, for the stability.
    """

    sums: RowSums
    penalty: Penalty
    rules: Rules
    freedom: Freedom
    pool: IntArray
    starts: BoolArray
    shares: BoolArray


class HeldOut(NamedTuple):
    """What held-out rows say of a joint fit.

    Parameters
    ----------
    scored : Scored
    resampled : list of dict
        For each path from some of the rows: number of groups -> the group of each group at the
        start, or -1.
    """

    scored: Scored
    resampled: list[dict[int, IntArray]]

    def stability(self, labels: IntArray, start: IntArray, sizes: IntArray) -> FloatArray:
        """How well each group is found again from some of the rows, from 0 to 1.

        The largest overlap (members in both, divided by members in either) with a group of the
        same number of groups, averaged over the resampled paths.

        Parameters
        ----------
        labels : ndarray of shape (n_leaves,)
            The group of each leaf, or -1.
        start : ndarray of shape (n_leaves,)
            The group at the start of the path that each leaf is in, or -1.
        sizes : ndarray of shape (n_leaves,)
            Number of features of each leaf.
        """
        found = [_nearest_number(one, int(labels.max()) + 1) for one in self.resampled]
        overlaps = [_overlaps(labels, np.append(one, -1)[start], sizes) for one in found]
        return np.asarray(np.mean(overlaps, axis=0))


def held_out(tree: Tree, path: Path, chosen: int, evidence: FoldEvidence) -> HeldOut:
    """Walk the path again without some of the rows, and score its groups on others."""
    parts = _start_in_nodes(tree, evidence.pool)
    paths = _paths_of_splits(tree, evidence)
    scored = scored_numbers(evidence.sums, paths, parts, path.numbers, chosen)
    return HeldOut(scored, _resampled(tree, path, scored.numbers.tolist(), evidence))


def groups_predict(tree: Tree, number: int, evidence: FoldEvidence) -> bool:
    """Whether so many groups predict held-out rows better than the means by more than chance."""
    parts, paths = _start_in_nodes(tree, evidence.pool), _paths_of_splits(tree, evidence)
    errors = held_out_errors(evidence.sums, paths, parts, [number])
    return is_gain(errors[:, 0] - errors[:, 1])


def prices_of_groups(tree: Tree, nodes: IntArray, evidence: FoldEvidence) -> FloatArray:
    """What each two of some groups would cost with one coefficient for both, of shape (n, n)."""
    parts, whole = _start_in_nodes(tree, evidence.pool)[nodes], evidence.sums.everything()
    of_groups = whole._replace(
        columns=parts @ whole.columns @ parts.T, cross=parts @ whole.cross, mean=whole.mean[:0]
    )
    return prices_among(of_groups, tree.n_members[nodes], evidence.penalty)


def _paths_of_splits(tree: Tree, evidence: FoldEvidence) -> list[Path]:
    """The path from the training rows of each split."""
    sums, pool, freedom = evidence.sums, evidence.pool, evidence.freedom
    return [
        joint_path(
            sums.over(train).only(some), tree, pool[some], evidence.penalty, freedom.only(some)
        )
        for train, some in zip(sums.train, evidence.starts, strict=True)
    ]


def rules_of_start(rules: Rules, tree: Tree, start: IntArray) -> Rules:
    """The rules for the groups at the start as leaves; they already have their signs."""
    labels = labels_of(tree, start)
    graph, kinds = rules.neighbours, rules.kinds
    if graph is not None:
        leaves = np.flatnonzero(labels >= 0)
        shape = (tree.n_leaves, len(start))
        member = sparse.csr_array((np.ones(len(leaves)), (leaves, labels[leaves])), shape=shape)
        graph = sparse.csr_array(member.T @ graph @ member)
    if kinds is not None:
        # A group with a feature that stays alone has no other.
        kinds = np.array([kinds[tree.leaves(int(node))].max() for node in start])
    return rules._replace(signs=False, neighbours=graph, kinds=kinds, is_coherent=None)


def _start_in_nodes(tree: Tree, start: IntArray) -> FloatArray:
    """Which starting groups each node consists of, of shape (n_nodes, n_start)."""
    first = tree.start[start]
    return ((first >= tree.start[:, None]) & (first < tree.stop[:, None])).astype(np.float64)


def _resampled(
    tree: Tree, path: Path, wanted: list[int], evidence: FoldEvidence
) -> list[dict[int, IntArray]]:
    """The groups of paths, and of trees, from some of the rows."""
    sums, pool, everything = evidence.sums, evidence.pool, evidence.sums.everything()
    place = np.searchsorted(pool, path.start)
    found: list[dict[int, IntArray]] = []
    for sets, some in zip(shares_of_sets(len(sums.count)), evidence.shares, strict=True):
        sizes = tree.n_members[pool[some]]
        scatter = _standardised(sums.over(sets).only(some), everything.only(some))
        grown = grow_tree(Leaves(sizes, scatter.columns / scatter.n), evidence.rules.only(some))
        freedom = evidence.freedom.only(some)
        again = joint_path(scatter, grown, np.arange(len(sizes)), evidence.penalty, freedom)
        numbers = [number for number in wanted if number in again.numbers] or again.numbers
        labels = np.full((len(numbers), len(pool)), -1, dtype=np.intp)
        labels[:, some] = [labels_of(grown, again.groups_at(number)) for number in numbers]
        found.append(dict(zip(numbers, labels[:, place], strict=True)))
    return found


def _standardised(some: Scatter, everything: Scatter) -> Scatter:
    """The scatter over some rows, each column scaled to the variance that it has over all rows.

    Likeness is a mean correlation. Without this, columns that happen to vary more in some rows
    would seem to be more alike. A column that is constant in these rows stays so: what rounding
    leaves of its variance is not enlarged.
    """
    wanted = everything.columns.diagonal() / everything.n
    own = some.columns.diagonal() / some.n
    varies = own > ROUNDING * wanted
    scale = np.sqrt(np.divide(wanted, own, out=np.zeros_like(own), where=varies))
    return some._replace(
        mean=some.mean * np.append(scale, np.ones(len(some.mean) - len(scale))),
        columns=some.columns * np.outer(scale, scale),
        cross=some.cross * scale[:, None],
    )


def shares_of_sets(n_sets: int) -> list[BoolArray]:
    """As many shares of the sets of rows as there are sets, each from one set on."""
    n_taken = max(1, min(n_sets - 1, round(STABILITY_SHARE * n_sets)))
    first = np.concatenate([np.ones(n_taken, dtype=bool), np.zeros(n_sets - n_taken, dtype=bool)])
    return [np.roll(first, shift) for shift in range(min(n_sets, MAX_RESAMPLED))]


def _nearest_number(found: dict[int, IntArray], n_groups: int) -> IntArray:
    return found[min(found, key=lambda number: (abs(number - n_groups), number))]


def _overlaps(labels: IntArray, others: IntArray, sizes: IntArray) -> FloatArray:
    n, m = labels.max() + 1, others.max() + 1
    both = np.zeros((n + 1, m + 1))
    np.add.at(both, (labels, others), sizes)
    either = both.sum(axis=1)[:n, None] + both.sum(axis=0)[None, :m] - both[:n, :m]
    return np.asarray((both[:n, :m] / either).max(axis=1, initial=0.0))
