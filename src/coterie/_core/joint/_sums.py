"""Sums over sets of rows, from which regressions on any split are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import BoolArray, FloatArray, IntArray

# Products of so many rows are computed at a time: Ctrl-C waits for one matrix product.
ROWS_AT_A_TIME = 1024


class Scatter(NamedTuple):
    """Moments of columns and targets about their means.

    Parameters
    ----------
    n : float
        Number of rows, or the sum of their weights.
    mean : ndarray of shape (n_columns + n_targets,)
    columns : ndarray of shape (n_columns, n_columns)
    cross : ndarray of shape (n_columns, n_targets)
    targets : ndarray of shape (n_targets,)
        Sum of squares of each target.
    """

    n: float
    mean: FloatArray
    columns: FloatArray
    cross: FloatArray
    targets: FloatArray


@dataclass(frozen=True)
class RowSums:
    """Sums and products of columns and targets over sets of rows, and which sets are a split.

    Evidence adds: the sums over two sets of rows are the sums over both. So any training set is
    a sum of sets, and no split needs a second pass over the rows.

    Parameters
    ----------
    count : ndarray of shape (n_sets,)
    total : ndarray of shape (n_sets, n_columns + n_targets)
    products : ndarray of shape (n_sets, n_columns + n_targets, n_columns + n_targets)
    n_targets : int
    train, test : ndarray of shape (n_splits, n_sets)
        Which sets each split learns from and is scored on.
    """

    count: FloatArray
    total: FloatArray
    products: FloatArray
    n_targets: int
    train: BoolArray
    test: BoolArray

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.train)

    def over(self, sets: BoolArray) -> Scatter:
        """Moments over some sets of rows, about their means."""
        count = float(self.count[sets].sum())
        mean = self.total[sets].sum(axis=0) / count
        about = self.products[sets].sum(axis=0) - count * np.outer(mean, mean)
        p = len(mean) - self.n_targets
        return Scatter(count, mean, about[:p, :p], about[:p, p:], about[p:, p:].diagonal())

    def everything(self) -> Scatter:
        """Moments over all rows."""
        return self.over(np.ones(len(self.count), dtype=bool))

    def squared_error(self, sets: BoolArray, mean: FloatArray, slopes: FloatArray) -> FloatArray:
        """Mean squared error, summed over targets, of predictions for some sets of rows.

        Parameters
        ----------
        mean : ndarray of shape (n_columns + n_targets,)
            Means of the training rows.
        slopes : ndarray of shape (n_models, n_columns, n_targets)
        """
        count, total = self.count[sets].sum(), self.total[sets].sum(axis=0)
        about = self.products[sets].sum(axis=0)
        about = about - np.outer(total, mean) - np.outer(mean, total)
        about = about + count * np.outer(mean, mean)
        p = len(mean) - self.n_targets
        fitted = np.einsum("mat,mat->m", about[:p, :p] @ slopes, slopes)
        cross = np.einsum("at,mat->m", about[:p, p:], slopes)
        return (np.trace(about[p:, p:]) - 2 * cross + fitted) / count


def products_of(rows: FloatArray) -> FloatArray:
    """The products of all rows with each other, of shape (n_rows, n_rows), exactly symmetric."""
    products = np.empty((len(rows), len(rows)))
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        stop = start + ROWS_AT_A_TIME
        some, later = rows[start:stop], rows[stop:]
        products[start:stop, start:stop] = some @ some.T
        products[start:stop, stop:] = some @ later.T
        products[stop:, start:stop] = products[start:stop, stop:].T
    return products


class Splits(NamedTuple):
    """Sets of rows, and which of them each split learns from and is scored on."""

    set_of_row: IntArray
    train: BoolArray
    test: BoolArray

    @classmethod
    def of_folds(cls, fold: IntArray) -> Splits:
        """Each fold is held out once."""
        held_out = np.eye(int(fold.max()) + 1, dtype=bool)
        return cls(fold, ~held_out, held_out)

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[IntArray, IntArray]], n_rows: int) -> Splits:
        """Splits as scikit-learn gives them: training and held-out rows."""
        inside = np.zeros((n_rows, 2 * len(pairs)), dtype=bool)
        for number, (train, test) in enumerate(pairs):
            inside[train, 2 * number], inside[test, 2 * number + 1] = True, True
        patterns, of_row = np.unique(inside, axis=0, return_inverse=True)
        return cls(of_row.ravel(), patterns[:, 0::2].T, patterns[:, 1::2].T)


def sums_of_rows(
    columns: FloatArray, targets: FloatArray, weights: FloatArray | None, splits: Splits
) -> RowSums:
    """The sums of columns of shape (n_samples, n_columns), set by set."""
    both: Any = np.hstack([columns, targets])
    counts = np.ones(len(both)) if weights is None else weights
    parts = [np.flatnonzero(splits.set_of_row == one) for one in range(splits.train.shape[1])]
    return RowSums(
        np.array([counts[rows].sum() for rows in parts]),
        np.array([counts[rows] @ both[rows] for rows in parts]),
        np.array([(both[rows] * counts[rows, None]).T @ both[rows] for rows in parts]),
        targets.shape[1],
        splits.train,
        splits.test,
    )
