"""The tree and the numbers of groups of a joint fit, as parts of a summary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie._core.values import FloatArray
from coterie.estimators import shown_labels, tree_reasons

# Labels of all partitions; more would make the report slow to open.
MAX_LABELS = 400_000


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"a summary must have {what}.")


@dataclass(frozen=True)
class NumberPath:
    """Scores and groups for each of T numbers of groups.

    Parameters
    ----------
    n_groups : list of int, T
    scores, std_errors, stability : list of float, T each
        Cross-validated scores, standard errors of the difference to the best, and how well the
        groups are found again from some of the rows.
    labels : list of T lists of int
        The group of each feature; the number of groups for features that are left out. Empty if
        not known, or if there are too many.
    """

    n_groups: list[int]
    scores: list[float]
    std_errors: list[float]
    stability: list[float]
    labels: list[list[int]]

    def check(self, n_features: int, n_groups: int) -> None:
        """Raise if the sizes do not match these numbers of features and groups."""
        n = len(self.n_groups)
        columns = (self.scores, self.std_errors, self.stability)
        _require(n > 0 and all(len(one) == n for one in columns), "scores of numbers of groups")
        _require(len(self.labels) in (0, n), "labels for all numbers of groups, or none")
        for count, labels in zip(self.n_groups, self.labels, strict=False):
            _require(len(labels) == n_features, "labels of all features for numbers of groups")
            _require({*range(count)} <= {*labels} <= {*range(count + 1)}, "groups numbered from 0")


@dataclass(frozen=True)
class Tree:
    """The tree of likeness, and why its branches share a group or do not.

    Parameters
    ----------
    first, second : list of int, D - 1 each
        The two nodes of each merge: features from 0 on, then merges.
    likeness : list of float, D - 1
        Mean correlation between a member of one branch and a member of the other.
    order : list of int, D
        The features in the order of the leaves.
    min_correlation : float
        The smallest correlation of a member with its group.
    may_join, prices, exit_prices, allowance
        As in ``TreeReasons``, with None where there is no price; lists are empty and the
        allowance is None if not known.
    constant : list of int
        Constant features.
    group_prices : list of G lists of float
        As in ``TreeReasons``; empty if not known.
    group_allowance : float or None
    """

    first: list[int]
    second: list[int]
    likeness: list[float]
    order: list[int]
    min_correlation: float
    may_join: list[int]
    prices: list[float | None]
    exit_prices: list[float | None]
    allowance: float | None
    constant: list[int]
    group_prices: list[list[float]] = field(default_factory=list)
    group_allowance: float | None = None

    def check(self, n_features: int, n_groups: int) -> None:
        """Raise if the sizes do not match these numbers of features and groups."""
        n = n_features - 1
        _require(len(self.first) == len(self.second) == len(self.likeness) == n, "a whole tree")
        _require(sorted([*self.first, *self.second]) == [*range(2 * n)], "each node once")
        rows = enumerate(zip(self.first, self.second, strict=True), start=n_features)
        _require(all(max(pair) < node for node, pair in rows), "branches before their merges")
        _require(sorted(self.order) == [*range(n_features)], "all features in its tree")
        _require({len(self.may_join), len(self.prices)} in ({0}, {n}), "reasons for all merges")
        _require(len(self.exit_prices) in (0, n_features), "prices of all features")
        _require({*self.constant} <= {*range(n_features)}, "constants among its features")
        lengths = {len(self.group_prices), *map(len, self.group_prices)}
        _require(len(lengths) == 1, "prices of all pairs of groups")


def build_number_path(reducer: Any) -> NumberPath | None:
    """The scores of each number of groups of a joint fit, and the groups; None for others."""
    path = getattr(reducer, "path_", None)
    if not isinstance(path, dict):
        return None
    numbers = path["n_groups"].tolist()
    is_small = len(numbers) * len(reducer.labels_) <= MAX_LABELS
    is_known = tree_reasons(reducer) is not None
    return NumberPath(
        n_groups=numbers,
        scores=path["score"].tolist(),
        std_errors=path["std_error"].tolist(),
        stability=path["stability"].tolist(),
        labels=[shown_labels(reducer.with_n_groups(number)).tolist() for number in numbers]
        if is_small and is_known
        else [],
    )


def build_tree(reducer: Any, order: Any) -> Tree | None:
    """The tree of a joint fit with the reasons for its groups; None for others."""
    if order is None:
        return None
    linkage, reasons = reducer.tree_, tree_reasons(reducer)
    tree = Tree(
        first=linkage[:, 0].astype(int).tolist(),
        second=linkage[:, 1].astype(int).tolist(),
        likeness=(1 - linkage[:, 2]).round(4).tolist(),
        order=order.tolist(),
        min_correlation=float(reducer.min_correlation),
        may_join=[],
        prices=[],
        exit_prices=[],
        allowance=None,
        constant=[],
    )
    if reasons is None:
        return tree
    return replace(
        tree,
        may_join=reasons.may_join.tolist(),
        prices=_known(reasons.prices),
        exit_prices=_known(reasons.exit_prices),
        allowance=reasons.allowance,
        constant=np.flatnonzero(reasons.is_constant).tolist(),
        group_prices=reasons.group_prices.tolist(),
        group_allowance=reasons.group_allowance if reasons.group_prices.size else None,
    )


def _known(prices: FloatArray) -> list[float | None]:
    return [None if np.isnan(price) else price for price in prices.tolist()]
