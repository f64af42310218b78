"""Correlations of features within groups and between them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from coterie._core.values import FloatArray, IntArray
from coterie.report.inspection._standardised import (
    StandardisedColumns,
    membership_matrix,
    selection_matrix,
    share_with_both,
)
from coterie.report.inspection._summary import Correlation

# More rows could not be told apart in the report.
MAX_CELLS = 160


def likeness(columns: StandardisedColumns, labels: IntArray, signs: FloatArray) -> FloatArray:
    """Mean correlation between two members of each group, times their signs; NaN for one member."""
    groups = membership_matrix(labels, signs)
    sizes = np.bincount(labels)
    sums = columns.sums(groups)
    own = np.bincount(labels, columns.variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = ((sums**2).sum(axis=0) - own) / (sizes * (sizes - 1))
        if columns.observed is not None:
            mean = mean / np.diagonal(columns.observed_together(groups))
    return np.where(sizes > 1, mean.clip(-1, 1), np.nan)


def with_aggregates(
    columns: StandardisedColumns, aggregates: FloatArray, groups: list[IntArray], signs: FloatArray
) -> list[FloatArray]:
    """Correlations of the members of each group with its aggregate, times their signs."""
    standardised = StandardisedColumns.of(aggregates, columns.share)
    each = standardised.sums(sparse.eye_array(aggregates.shape[1], format="csr"))
    found = []
    for number, members in enumerate(groups):
        own = columns.sums(selection_matrix(members, len(signs)))
        shared = share_with_both(columns, members, standardised, np.full(len(members), number))
        found.append((signs[members] * (own.T @ each[:, number]) / shared).clip(-1, 1))
    return found


def correlation_summary(
    columns: StandardisedColumns,
    labels: IntArray,
    signs: FloatArray,
    order: IntArray | None = None,
    rest: int | None = None,
) -> Correlation:
    """Correlations of features, or of blocks of features, ordered by group; `rest` is last."""
    groups, left_out = ordered_groups(np.where(labels == rest, -1, labels), order)
    blocks, means = block_correlations(columns, groups, left_out, signs, MAX_CELLS)
    return Correlation(
        thousandths=(1000 * means).round().astype(int).tolist(),
        groups=[int(labels[block[0]]) for block in blocks],
        features=[block.tolist() for block in blocks],
    )


def ordered_groups(
    labels: IntArray, order: IntArray | None = None
) -> tuple[list[IntArray], IntArray]:
    """The members of each group, in the order in which they are drawn, and what is left out.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
        From 0 on, or -1 for features that are left out.
    order : ndarray of shape (n_features,), optional
        The features in an order that groups and their members follow, such as that of the leaves
        of a tree. By default the order of the labels, and within groups that of the table.
    """
    given = np.arange(len(labels)) if order is None else order
    rest, given = given[labels[given] < 0], given[labels[given] >= 0]
    # A stable sort keeps the given order within groups.
    by_group = np.argsort(labels[given], kind="stable")
    starts = np.unique(labels[given][by_group], return_index=True)[1]
    groups = np.split(given[by_group], starts[1:])
    if order is not None:
        groups = [groups[place] for place in np.argsort(by_group[starts])]
    return groups, rest


def block_correlations(
    columns: StandardisedColumns,
    groups: list[IntArray],
    rest: IntArray,
    signs: FloatArray,
    most: int,
) -> tuple[list[IntArray], FloatArray]:
    """At most `most` blocks of features within these groups, and their mean correlations.

    What is left out has at most a third of the blocks, the last ones. Each feature is multiplied
    by its sign. The matrix of all features is never formed.
    """
    n_rest = min(len(rest), max(most // 3, most - sum(map(len, groups))))
    blocks = _feature_blocks(groups, most - n_rest) if groups else []
    blocks += np.array_split(rest, n_rest) if n_rest else []
    of_feature = np.empty(len(signs), dtype=np.intp)
    for number, block in enumerate(blocks):
        of_feature[block] = number
    return blocks, columns.mean_correlations(membership_matrix(of_feature, signs))


def _feature_blocks(groups: list[IntArray], most: int) -> list[IntArray]:
    """At most `most` blocks of features, each within one group unless there are too many groups."""
    n_features = sum(map(len, groups))
    if n_features <= most:
        return [feature for group in groups for feature in np.split(group, len(group))]
    if len(groups) >= most:
        return np.array_split(np.concatenate(groups), most)
    spare = most - len(groups)
    extra = [int(spare * (len(group) - 1) / (n_features - len(groups))) for group in groups]
    pairs = zip(groups, extra, strict=True)
    return [block for group, more in pairs for block in np.array_split(group, 1 + more)]
