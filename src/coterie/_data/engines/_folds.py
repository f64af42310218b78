"""Fold numbers of the rows of a block, from the offset of the block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from coterie._core.values import BoolArray, IntArray
from coterie._data.engines._block_offsets import BlockOffset, check_labels


class FoldRule(Protocol):
    """Gives the fold of each row of a block, from the offset of the block."""

    def of(self, offset: BlockOffset, y: Any, counts: BoolArray) -> IntArray:
        """The fold of each row of a block; `counts` marks the rows with a weight above 0."""


@dataclass(frozen=True)
class ContiguousFolds:
    """Contiguous folds as in ``KFold``, of the rows with a weight above 0.

    Parameters
    ----------
    ends : ndarray of shape (n_folds,)
        The number of the first row after each fold.
    """

    ends: IntArray

    def of(self, offset: BlockOffset, y: Any, counts: BoolArray) -> IntArray:
        return _fold_of(self.ends, offset.n_counted_before + np.cumsum(counts) - counts)


@dataclass(frozen=True)
class StratifiedFolds:
    """Folds with about the same share of each label, as in ``StratifiedKFold``.

    Parameters
    ----------
    ends : mapping from labels to ndarray of shape (n_folds,)
        Among the rows with a label, the number of the first row after each fold.
    """

    ends: Mapping[str, IntArray]

    def of(self, offset: BlockOffset, y: Any, counts: BoolArray) -> IntArray:
        labels, folds = np.asarray(y).ravel(), np.zeros(len(counts), dtype=np.intp)
        for label, ends in self.ends.items():
            at = np.flatnonzero((labels == label) & counts)
            folds[at] = _fold_of(ends, offset.labels.get(label, 0) + np.arange(len(at)))
        return folds


@dataclass(frozen=True)
class FunctionFolds:
    """Folds from a function of row numbers, which include rows of weight 0."""

    function: Callable[[IntArray], Any]

    def of(self, offset: BlockOffset, y: Any, counts: BoolArray) -> IntArray:
        return np.asarray(self.function(offset.n_rows_before + np.arange(len(counts))))


def fold_rule(cv: Any, stratified: bool, end: BlockOffset) -> FoldRule | None:
    """The rule for a number of folds or a function of rows; None for other folds.

    Parameters
    ----------
    cv : int, callable, or anything else
    stratified : bool
        Whether folds have about the same share of each label.
    end : BlockOffset
        The offset of the end of all rows.
    """
    if callable(cv):
        return FunctionFolds(cv)
    if not isinstance(cv, Integral):
        return None
    n_folds = int(cv)
    if isinstance(cv, bool) or not 2 <= n_folds <= end.n_counted_before:
        raise ValueError(
            "cv must be from 2 to the number of rows with a weight above 0, "
            f"{end.n_counted_before}, got {cv!r}."
        )
    if stratified and end.labels:
        check_labels(end.labels)
        return StratifiedFolds(_ends_by_label(n_folds, end.labels))
    each, more = divmod(end.n_counted_before, n_folds)
    return ContiguousFolds(np.cumsum(each + (np.arange(n_folds) < more)))


def _ends_by_label(n_folds: int, labels: Mapping[str, int]) -> dict[str, IntArray]:
    """Where each fold ends among the rows with each label.

    As in StratifiedKFold: rows sorted by label are dealt to the folds in turn.
    """
    most, least = max(labels.values()), min(labels.values())
    if most < n_folds:
        raise ValueError(
            f"cv={n_folds} needs {n_folds} rows or more of some label, and none has more than "
            f"{most}."
        )
    if least < n_folds:
        warnings.warn(
            f"The least populated class in y has only {least} members, which is less than "
            f"n_splits={n_folds}.",
            UserWarning,
            stacklevel=2,
        )
    ends, start = {}, 0
    for label, number in labels.items():
        shares = _round_robin_counts(start + number, n_folds) - _round_robin_counts(start, n_folds)
        ends[label] = np.cumsum(shares)
        start += number
    return ends


def _round_robin_counts(n_rows: int, n_folds: int) -> IntArray:
    """Number of rows in each fold, if `n_rows` rows are dealt to the folds in turn."""
    return (n_rows - np.arange(n_folds) + n_folds - 1) // n_folds


def _fold_of(ends: IntArray, numbers: IntArray) -> IntArray:
    return np.minimum(np.searchsorted(ends, numbers, side="right"), len(ends) - 1)
