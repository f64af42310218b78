"""Why branches of the tree of a joint fit share a group or do not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._core.joint import ALLOWANCE, prices_of_groups
from coterie._core.values import FloatArray, IntArray
from coterie.estimators._joint_held_out import evidence_again
from coterie.estimators._joint_model import JointModel

# Whether the branches of a merge may share a group, and if not, why.
ALLOWED, UNLIKE, FORBIDDEN = 0, 1, 2
# The distance in a linkage of what has no likeness: constants, and branches that limits bar.
NO_LIKENESS = 2.0


class TreeReasons(NamedTuple):
    """What the path of a joint fit says about each merge of its linkage.

    Parameters
    ----------
    may_join : ndarray of shape (n_inputs - 1,)
        0: the branches may share a group. 1: they are too unlike. 2: a member would have too low a
        correlation with the aggregate, or the user's constraints keep them apart.
    prices : ndarray of shape (n_inputs - 1,)
        What the merge costs on the path, as a share of the targets' variance; NaN if the path
        does not merge these branches: they were merged before it by likeness alone, or one of
        them was left out first.
    exit_prices : ndarray of shape (n_inputs,)
        What it cost to leave the group of each input out; NaN if the path does not leave it out.
    allowance : float
        The highest price that was paid for the groups of the fit.
    is_constant : ndarray of shape (n_inputs,)
    group_prices : ndarray of shape (n_groups, n_groups)
        What two groups of the fit would cost with one coefficient for both, as a share of the
        targets' variance, given all other groups; empty if not known.
    group_allowance : float
        What a coefficient is allowed to cost, likewise.
    """

    may_join: IntArray
    prices: FloatArray
    exit_prices: FloatArray
    allowance: float
    is_constant: Any
    group_prices: FloatArray
    group_allowance: float


def tree_reasons(reducer: Any) -> TreeReasons | None:
    """Why branches of the tree of a fitted Coterie share a group or do not.

    None if the path is not known, as for a reducer that was loaded from a model file.
    """
    plain = getattr(reducer, "_model", None)
    if plain is None or not hasattr(reducer, "tree_"):
        return None
    model = JointModel.again(plain)
    node_of = _nodes_of_linkage(model, reducer.tree_)
    tree, path = model.joint.tree, model.joint.path
    steps = path.steps[: max(0, len(path.start) - reducer.n_groups_)]
    price_of = {step.merged: step.price for step in path.steps if step.merged >= 0}
    prices = [price_of.get(node, np.nan) for node in node_of.tolist()]
    exit_prices = np.full(tree.n_leaves + 1, np.nan)
    for step in steps:
        if step.merged < 0:
            exit_prices[tree.leaves(step.first)] = step.price
    floor = float(reducer.min_correlation) ** 2
    return TreeReasons(
        _may_join(reducer.tree_, node_of, tree.may_be_group, floor),
        np.array(prices) / model.n_samples,
        exit_prices[model.leaf_of] / model.n_samples,
        max((step.price for step in steps), default=0.0) / model.n_samples,
        model.constant,
        *_prices_of_groups(reducer, model),
    )


def _prices_of_groups(reducer: Any, model: JointModel) -> tuple[FloatArray, float]:
    plain = vars(reducer).get("_evidence")
    if plain is None:
        return np.empty((0, 0)), np.nan
    evidence = evidence_again(plain)
    nodes = model.groups_at(int(reducer.n_groups_))[1]
    if not np.isin(nodes, model.joint.path.reached).all():
        return np.empty((0, 0)), np.nan
    prices = prices_of_groups(model.joint.tree, nodes, evidence)
    return prices / model.n_samples, ALLOWANCE * evidence.penalty.noise / model.n_samples


def _nodes_of_linkage(model: JointModel, linkage: FloatArray) -> IntArray:
    """The node of the tree that each merge of the linkage is; -1 for merges of equals or constants.

    A node is known by its first input and its size: of two branches with the same first input, one
    holds the other.
    """
    tree, n = model.joint.tree, len(model.leaf_of)
    first = np.full(len(tree.start), n, dtype=np.intp)
    varying = np.flatnonzero(model.leaf_of >= 0)
    np.minimum.at(first, model.leaf_of[varying], varying)
    for node, (one, other) in enumerate(tree.children.tolist(), start=tree.n_leaves):
        first[node] = min(first[one], first[other])
    inner = range(tree.n_leaves, len(tree.start))
    known = {(int(first[node]), int(tree.n_members[node])): node for node in inner}
    firsts, found = [*range(n)], []
    for one, other, _, size in linkage.tolist():
        firsts.append(min(firsts[int(one)], firsts[int(other)]))
        found.append(known.get((firsts[-1], int(size)), -1))
    return np.array(found, dtype=np.intp)


def _may_join(linkage: FloatArray, node_of: IntArray, allowed: Any, floor: float) -> IntArray:
    """Whether each merge may be a group: it and all merges below it."""
    n = len(linkage) + 1
    found = np.full(2 * n - 1, ALLOWED, dtype=np.intp)
    rows = zip(linkage.tolist(), node_of.tolist(), strict=True)
    for node, ((one, other, distance, _), own) in enumerate(rows, start=n):
        below = max(found[int(one)], found[int(other)])
        if own < 0 and distance >= NO_LIKENESS:
            found[node] = UNLIKE
        elif own >= 0 and not allowed[own]:
            # Branches that no limit allows to merge are joined at the end, at this distance.
            is_unlike = 1 - distance < floor and distance < NO_LIKENESS
            found[node] = UNLIKE if is_unlike else FORBIDDEN
        else:
            found[node] = below
    return found[n:]
