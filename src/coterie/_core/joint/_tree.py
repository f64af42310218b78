"""A tree of features by likeness, and the rules for its groups.

A leaf is a feature, or several that must stay together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.values import BoolArray, FloatArray, IntArray


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

    def only(self, chosen: BoolArray) -> Rules:
        """The rules for some of the leaves."""
        some = np.flatnonzero(chosen)
        graph, kinds = self.neighbours, self.kinds
        return self._replace(
            neighbours=None if graph is None else sparse.csr_array(graph[some][:, some]),
            kinds=None if kinds is None else kinds[some],
        )


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


def labels_of(tree: Tree, nodes: IntArray) -> IntArray:
    """The number of the node above each leaf; -1 where there is none."""
    rise = np.zeros(tree.n_leaves + 1, dtype=np.intp)
    rise[tree.start[nodes]] += np.arange(1, len(nodes) + 1)
    rise[tree.stop[nodes]] -= np.arange(1, len(nodes) + 1)
    labels = np.empty(tree.n_leaves, dtype=np.intp)
    labels[tree.order] = rise[:-1].cumsum() - 1
    return labels
