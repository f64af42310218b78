"""The joint path: groups merge or are left out, the cheapest first, given all other columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import blas

from coterie._core.joint._penalty import Penalty
from coterie._core.joint._sums import Scatter
from coterie._core.joint._tree import Tree
from coterie._core.values import BoolArray, FloatArray, IntArray

# Two groups whose members have at least this mean correlation are alike. They merge as soon as
# their price is within noise, and neither is left out while they may merge.
ALIKE = 0.5
# The regression is solved from scratch when this share of the groups is left.
SOLVED_ANEW = 0.75
# Variances of coefficients are at least this share of what they were at the start; smaller ones
# are rounding.
SMALLEST_WIDTH = 1e-14
# A price within noise, in units of the noise: about the largest of fifty by chance, 2 log 50.
WITHIN_NOISE = 8.0


class Step(NamedTuple):
    """One step of a path: two groups merge, or one is left out (`second` and `merged` are -1)."""

    first: int
    second: int
    merged: int
    price: float


class Freedom(NamedTuple):
    """Whether groups may be left out, and which of the starting groups never are."""

    leaves_out: bool
    kept: BoolArray

    def only(self, chosen: BoolArray) -> Freedom:
        """The same for some of the starting groups."""
        return self._replace(kept=self.kept[chosen])


class Path(NamedTuple):
    """A path from many groups to one, each step with one group fewer.

    Parameters
    ----------
    start : ndarray of shape (n_start,)
        The nodes of the tree that are the groups before the first step.
    steps : list of Step
    """

    start: IntArray
    steps: list[Step]

    @property
    def numbers(self) -> range:
        """The numbers of groups on the path."""
        return range(len(self.start) - len(self.steps), len(self.start) + 1)

    @property
    def reached(self) -> IntArray:
        """All nodes that are groups somewhere on the path."""
        made = [step.merged for step in self.steps if step.merged >= 0]
        return np.append(self.start, np.array(made, dtype=np.intp))

    def groups_at(self, n_groups: int) -> IntArray:
        """The nodes that are the groups where there are so many."""
        kept = dict.fromkeys(self.start.tolist())
        for step in self.steps[: len(self.start) - n_groups]:
            del kept[step.first]
            if step.merged >= 0:
                del kept[step.second]
                kept[step.merged] = None
        return np.array(sorted(kept), dtype=np.intp)


def joint_path(
    scatter: Scatter,
    tree: Tree,
    start: IntArray,
    penalty: Penalty,
    freedom: Freedom,
) -> Path:
    """The path of a ridge regression on all groups, whose coefficients become equal or zero.

    The regression minimises ``|y - sum_g S_g theta_g|^2 + lambda sum_g m_g theta_g^2``, S_g the
    sum of the m_g standardised members of a group, with the signs of the tree. With ``K = (S'S +
    lambda M)^-1``, a constraint ``a' theta = 0`` raises the minimum by ``(a' theta)^2 / (a' K
    a)``, its price: a is e_g - e_h for a merge of g and h, and e_g where g is left out.

    Parameters
    ----------
    scatter : Scatter
        Moments of the sums S_g of the starting groups, and of the targets.
    tree : Tree
        Two groups may merge if they are the children of a node that may be a group.
    start : ndarray of shape (n_start,)
        The nodes of the starting groups.
    penalty : Penalty
    freedom : Freedom
    """
    return _Regression(scatter, tree, start, penalty, freedom).path()


def prices_among(scatter: Scatter, sizes: IntArray, penalty: Penalty) -> FloatArray:
    """What each two groups would cost with one coefficient for both, of shape (n, n).

    Parameters
    ----------
    scatter : Scatter
        Moments of the sums of the groups, and of the targets.
    sizes : ndarray of shape (n,)
    """
    ridge = scatter.columns.copy()
    ridge[np.diag_indices(len(ridge))] += scatter.n * penalty.per_row * sizes + 1e-12 * ridge.max()
    inverse = np.linalg.inv(ridge)
    theta, own = inverse @ scatter.cross, inverse.diagonal()
    gap = np.square(theta[:, None] - theta[None, :]).sum(axis=2)
    width = own[:, None] + own[None, :] - 2 * inverse
    least = SMALLEST_WIDTH * own
    return np.asarray(gap / np.maximum(width, least[:, None] + least[None, :]))


class _Regression:
    """The regression while its groups merge. A place is a row of its matrices."""

    def __init__(
        self,
        scatter: Scatter,
        tree: Tree,
        start: IntArray,
        penalty: Penalty,
        freedom: Freedom,
    ) -> None:
        p = len(start)
        self.tree, self.start, self.leaves_out = tree, start, freedom.leaves_out
        self.noise, self.parent = penalty.noise * WITHIN_NOISE, tree.parent
        self.ridge, self.cross = scatter.columns.copy(), scatter.cross.copy()
        # A little more than the penalty, so that copies without a penalty can be inverted.
        self.ridge[np.diag_indices(p)] += (
            scatter.n * penalty.per_row * tree.n_members[start] + 1e-12 * self.ridge.max()
        )
        self.alive, self.kept = np.ones(p, dtype=bool), freedom.kept.copy()
        self.node = start.copy()
        # Where the groups are among the nodes of the tree.
        self.place = np.full(len(tree.start), -1)
        self._solve()

    def _solve(self) -> None:
        """Solve the regression on the groups that are left from scratch.

        Updates lose digits where columns are nearly collinear. Solving anew whenever a quarter of
        the groups is gone costs about as much as the first time, in all.
        """
        left = self.alive
        self.ridge, self.cross = self.ridge[np.ix_(left, left)], self.cross[left]
        self.node, self.kept = self.node[left], self.kept[left]
        self.alive = np.ones(len(self.node), dtype=bool)
        self.inverse = np.ascontiguousarray(np.linalg.inv(self.ridge))
        self.theta = self.inverse @ self.cross
        self.least = SMALLEST_WIDTH * self.inverse.diagonal()
        self.place[self.node] = np.arange(len(self.node))
        parent = self.parent[self.node]
        parent = parent[(parent >= 0) & self.tree.may_be_group[parent]]
        first, second = self.place[self.tree.children[parent - self.tree.n_leaves]].T
        # Each pair is met at both of its ends, at the lower place first.
        _, once = np.unique(parent, return_index=True)
        once = np.sort(once[(first[once] >= 0) & (second[once] >= 0)])
        # A column for each pair: its places, and the node that it would become.
        self.pairs = np.array([first[once], second[once], parent[once]])
        self.alike = self.tree.likeness[parent[once] - self.tree.n_leaves]

    def _consider(self, node: int) -> None:
        """Add the pair of a node and its sibling, if both are groups and may merge."""
        parent = int(self.parent[node])
        if parent < 0 or not self.tree.may_be_group[parent]:
            return
        merge = parent - self.tree.n_leaves
        first, second = self.place[self.tree.children[merge]].tolist()
        if first >= 0 and second >= 0:
            self.pairs = np.hstack([self.pairs, [[first], [second], [parent]]])
            self.alike = np.append(self.alike, self.tree.likeness[merge])

    def path(self) -> Path:
        """All steps."""
        steps = []
        while (step := self._next_step()) is not None:
            steps.append(step)
        return Path(self.start, steps)

    def _next_step(self) -> Step | None:
        n_left = int(np.count_nonzero(self.alive))
        if n_left <= 1:
            return None
        if n_left <= SOLVED_ANEW * len(self.alive):
            self._solve()
        merge, merge_price, is_free = self._cheapest_merge()
        if not is_free and self.leaves_out:
            position, price = self._cheapest_to_leave_out()
            if price < merge_price:
                return self._left_out(position, price)
        return None if merge is None else self._merged(merge, merge_price)

    def _cheapest_merge(self) -> tuple[tuple[int, int, int] | None, float, bool]:
        """The next merge, its price, and whether it is free: of alike groups, within noise."""
        if not self.alike.size:
            return None, np.inf, False
        first, second, _ = self.pairs
        own = self.inverse.diagonal()
        gap = self.theta[first] - self.theta[second]
        width = own[first] + own[second] - 2 * self.inverse[first, second]
        # Of near copies without a penalty, the width is a difference of equal numbers.
        width = np.maximum(width, self.least[first] + self.least[second])
        price = np.einsum("ij,ij->i", gap, gap) / width
        free = (price <= self.noise) & (self.alike >= ALIKE)
        is_free = bool(free.any())
        if is_free:
            chosen = int(np.where(free, self.alike, -np.inf).argmax())
        else:
            chosen = int(price.argmin())
        pair = tuple(self.pairs[:, chosen].tolist())
        return pair, float(price[chosen]), is_free

    def _cheapest_to_leave_out(self) -> tuple[int, float]:
        own = np.maximum(self.inverse.diagonal(), self.least)
        price = np.einsum("ij,ij->i", self.theta, self.theta) / own
        price[self.kept | ~self.alive] = np.inf
        price[self.pairs[:2, self.alike >= ALIKE]] = np.inf
        chosen = int(price.argmin())
        return chosen, float(price[chosen])

    def _merged(self, pair: tuple[int, int, int], price: float) -> Step:
        first, second, parent = pair
        self._constrain(
            self.inverse[first] - self.inverse[second],
            self.theta[first] - self.theta[second],
            [first, second],
        )
        self.ridge[first] += self.ridge[second]
        self.ridge[:, first] += self.ridge[:, second]
        self.cross[first] += self.cross[second]
        step = Step(int(self.node[first]), int(self.node[second]), parent, price)
        self.place[[step.first, step.second, parent]] = -1, -1, first
        self.node[first] = parent
        self.kept[first] |= self.kept[second]
        self._remove(second)
        self._consider(parent)
        return step

    def _left_out(self, position: int, price: float) -> Step:
        self._constrain(self.inverse[position].copy(), self.theta[position].copy(), [position])
        step = Step(int(self.node[position]), -1, -1, price)
        self.place[step.first] = -1
        self._remove(position)
        return step

    def _constrain(self, k: FloatArray, gap: FloatArray, places: list[int]) -> None:
        """Solve the regression again with one more constraint ``a' theta = 0``.

        Parameters
        ----------
        k : ndarray of shape (n_places,)
            ``K a``, K the inverse.
        gap : ndarray of shape (n_targets,)
            ``a' theta``.
        places : list of int
            Where a is not 0: 1 at the first place, and -1 at the second, if there is one.
        """
        width = k[places[0]] - (k[places[1]] if len(places) > 1 else 0.0)
        width = max(float(width), float(self.least[places].sum()))
        self.theta -= k[:, None] * (gap / width)
        # In place: the matrix is symmetric, so its transpose is the same in Fortran's order.
        blas.dger(-1 / width, k, k, a=self.inverse.T, overwrite_a=1)

    def _remove(self, position: int) -> None:
        self.alive[position] = False
        self.inverse[position] = self.inverse[:, position] = 0.0
        self.theta[position] = 0.0
        # A group has one sibling, so it is in one pair at most.
        left = (self.pairs[:2] != position).all(axis=0)
        if not left.all():
            self.pairs, self.alike = self.pairs[:, left], self.alike[left]
