"""Sums over sets of rows, from which regressions on any split are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from coterie._core.joint._sparse_rows import SparseRows
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

    def only(self, chosen: BoolArray) -> Scatter:
        """The moments of some of the columns, and of all targets."""
        kept = np.append(chosen, np.ones(len(self.targets), dtype=bool))
        columns = self.columns[np.ix_(chosen, chosen)]
        return self._replace(mean=self.mean[kept], columns=columns, cross=self.cross[chosen])


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

    def only(self, chosen: BoolArray) -> RowSums:
        """The sums of some of the columns, and of all targets."""
        if chosen.all():
            return self
        kept = np.flatnonzero(np.append(chosen, np.ones(self.n_targets, dtype=bool)))
        products = self.products[:, kept[:, None], kept[None, :]]
        return replace(self, total=self.total[:, kept], products=products)

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


@dataclass(frozen=True)
class CrossSums:
    """Sums over sets of rows of very many columns, and of their products with the targets.

    Parameters
    ----------
    count : ndarray of shape (n_sets,)
    total : ndarray of shape (n_sets, n_columns)
    targets : ndarray of shape (n_sets, n_targets)
        Sums of the targets.
    cross : ndarray of shape (n_sets, n_columns, n_targets)
    train : ndarray of shape (n_splits, n_sets)
        Which sets each split learns from.
    """

    count: FloatArray
    total: FloatArray
    targets: FloatArray
    cross: FloatArray
    train: BoolArray

    def covariance(self, sets: BoolArray) -> FloatArray:
        """Covariance of each column with each target over some sets of rows."""
        n = float(self.count[sets].sum())
        mean, of_targets = self.total[sets].sum(axis=0) / n, self.targets[sets].sum(axis=0) / n
        return np.asarray(self.cross[sets].sum(axis=0) / n - np.outer(mean, of_targets))


class Splits(NamedTuple):
    """Sets of rows, and which of them each split learns from and is scored on.

    A row of no set, -1, is shared by all: each has an equal part of its weight.
    """

    set_of_row: IntArray
    train: BoolArray
    test: BoolArray

    @classmethod
    def of_folds(cls, fold: IntArray, n_folds: int | None = None) -> Splits:
        """Each fold is held out once; by default there are as many as rows name."""
        held_out = np.eye(int(fold.max()) + 1 if n_folds is None else n_folds, dtype=bool)
        return cls(fold, ~held_out, held_out)

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[IntArray, IntArray]], n_rows: int) -> Splits:
        """Splits as scikit-learn gives them: training and held-out rows."""
        inside = np.zeros((n_rows, 2 * len(pairs)), dtype=bool)
        for number, (train, test) in enumerate(pairs):
            inside[train, 2 * number], inside[test, 2 * number + 1] = True, True
        patterns, of_row = np.unique(inside, axis=0, return_inverse=True)
        return cls(of_row.ravel(), patterns[:, 0::2].T, patterns[:, 1::2].T)


def weights_in_sets(counts: FloatArray, splits: Splits) -> FloatArray:
    """How much each row counts in each set, of shape (n_rows, n_sets)."""
    n_sets = splits.train.shape[1]
    inside = splits.set_of_row[:, None] == np.arange(n_sets)
    return np.where(splits.set_of_row[:, None] < 0, 1 / n_sets, inside) * counts[:, None]


def cross_sums(rows: Any, targets: FloatArray, counts: FloatArray, splits: Splits) -> CrossSums:
    """The sums of columns that are the rows of an array of shape (n_columns, n_samples)."""
    weights = weights_in_sets(counts, splits)
    by_target = weights[:, :, None] * targets[:, None, :]
    n_sets, n_targets = by_target.shape[1:]
    wanted = np.hstack([weights, by_target.reshape(len(targets), -1)])
    both = rows.times(wanted) if isinstance(rows, SparseRows) else rows @ wanted
    cross = both[:, n_sets:].reshape(len(rows), n_sets, n_targets).swapaxes(0, 1)
    of_targets = np.asarray(by_target.sum(axis=0))
    return CrossSums(weights.sum(axis=0), both[:, :n_sets].T, of_targets, cross, splits.train)


def sums_of_rows(
    columns: FloatArray, targets: FloatArray, weights: FloatArray | None, splits: Splits
) -> RowSums:
    """The sums of columns of shape (n_samples, n_columns), set by set."""
    both: Any = np.hstack([columns, targets])
    counts = np.ones(len(both)) if weights is None else weights
    n_sets = splits.train.shape[1]
    parts = [np.flatnonzero(splits.set_of_row == one) for one in range(n_sets)]
    count = np.array([counts[rows].sum() for rows in parts])
    total = np.array([counts[rows] @ both[rows] for rows in parts])
    products = np.array([(both[rows] * counts[rows, None]).T @ both[rows] for rows in parts])
    shared = np.flatnonzero(splits.set_of_row < 0)
    if len(shared):
        share = counts[shared] / n_sets
        count += share.sum()
        total += share @ both[shared]
        products += (both[shared] * share[:, None]).T @ both[shared]
    return RowSums(count, total, products, targets.shape[1], splits.train, splits.test)
