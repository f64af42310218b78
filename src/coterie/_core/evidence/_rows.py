"""Sets of rows on which prices are computed, such as training and held-out rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie._core.evidence._columns import CONSTANT
from coterie._core.values import FloatArray, IntArray

Rows = IntArray | slice


@dataclass(frozen=True)
class RowSets:
    """Sets of rows, each a union of batches, so that moments are computed once per batch.

    For example, five folds need five batches: the training rows of a fold are the other four.

    Parameters
    ----------
    batches : tuple of index arrays or slices
        The rows of each batch.
    membership : ndarray of shape (..., n_batches)
        1 where a set contains a batch, else 0. Shape (1,) for the one set of all rows;
        (2, n_splits, n_batches) for training rows (first) and held-out rows (second).
    weights : ndarray of shape (n_samples,) or None
        Weight of each row; None if all are 1.
    whole : ndarray of shape (n_batches,) or None
        1 for the batches that together hold every row once, else 0; None for all batches.
    """

    batches: tuple[Rows, ...]
    membership: FloatArray
    weights: FloatArray | None = None
    whole: FloatArray | None = None

    @classmethod
    def all_rows(cls, weights: FloatArray | None = None) -> RowSets:
        """One set that holds every row."""
        return cls((slice(None),), np.ones(1), weights)

    @classmethod
    def of_splits(
        cls,
        splits: Iterable[tuple[IntArray, IntArray]],
        n_samples: int,
        weights: FloatArray | None = None,
        *,
        every_row: bool = False,
    ) -> RowSets:
        """Training and held-out rows of each split.

        If ``every_row`` is set, and the splits leave out some rows or repeat some, there is one
        further batch of all rows. It belongs to no set.

        Examples
        --------
        >>> import numpy as np
        >>> rows = RowSets.of_splits([([2, 3], [0, 1]), ([0, 1], [2, 3])], n_samples=4)
        >>> rows.batches
        (slice(0, 2, None), slice(2, 4, None))
        >>> rows.membership.tolist()
        [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
        """
        trains, tests = zip(*splits, strict=True)
        sides = [np.asarray(side, dtype=np.intp) for side in (*trains, *tests)]
        counts = np.stack([np.bincount(side, minlength=n_samples) for side in sides])
        member_of, batch_of_row = _shared_batches(counts)
        is_shared = counts.max() <= 1 and len(member_of) <= len(sides)
        if not is_shared:
            # Rows are repeated, or splits overlap in too many ways to share batches.
            batches, membership = sides, np.eye(len(sides))
        else:
            batches = [np.flatnonzero(batch_of_row == b) for b in range(len(member_of))]
            membership = member_of.T.astype(np.float64)
        whole = None
        if every_row and not (is_shared and sum(map(len, batches)) == n_samples):
            whole = np.append(np.zeros(len(batches)), 1.0)
            batches = [*batches, np.arange(n_samples)]
            membership = np.column_stack([membership, np.zeros(len(membership))])
        shape = (2, len(trains), len(batches))
        return cls(tuple(map(_as_slice, batches)), membership.reshape(shape), weights, whole)

    @classmethod
    def of_folds(cls, n_folds: int) -> RowSets:
        """Folds in which each batch is held out in turn and the others are for training.

        Examples
        --------
        >>> RowSets.of_folds(2).membership.tolist()
        [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
        """
        each = np.eye(n_folds)
        # The slices are placeholders: the rows were summed elsewhere.
        return cls((slice(0, 0),) * n_folds, np.stack([1.0 - each, each]))

    def over_all(self, per_batch: FloatArray) -> FloatArray:
        """Sum over the batches that together hold every row once."""
        if self.whole is None:
            return per_batch.sum(axis=0)
        return (per_batch * self.whole.reshape(-1, *[1] * (per_batch.ndim - 1))).sum(axis=0)

    def off_centre(self, count: FloatArray, mean: FloatArray) -> FloatArray:
        """Mean of each batch minus the mean of all rows, multiplied by the root of its count.

        The scatter between batches is the sum over batches of products of these. Together with the
        scatter within batches, it is the scatter over all rows. The result is 0 for batches whose
        rows are already in others.
        """
        if self.whole is not None:
            count = count * self.whole[:, None]
        return np.sqrt(count) * (mean - (count * mean).sum(axis=0) / count.sum())

    def counts(self, n_samples: int) -> FloatArray:
        """Number of rows of each batch, or their sum of weights, of shape (n_batches, 1)."""
        weights = np.ones(n_samples) if self.weights is None else self.weights
        return np.array([[weights[batch].sum()] for batch in self.batches])

    def weights_of(self, batch: Rows) -> FloatArray | None:
        """Weight of each row of a batch; None if all are 1."""
        return None if self.weights is None else self.weights[batch]

    @property
    def is_one(self) -> bool:
        """Whether there is one set, of one batch."""
        return self.membership.shape == (1,)

    def side_by_side(self, n_samples: int) -> tuple[IntArray, IntArray | None]:
        """Edges of the batches when their rows are adjacent, and the order of the rows for that.

        The order is None if the rows of the batches are already adjacent.
        """
        everyone = np.arange(n_samples)
        rows = [everyone[batch] for batch in self.batches]
        edges = np.cumsum([0, *map(len, rows)])
        order = np.concatenate(rows)
        return edges, None if np.array_equal(order, everyone) else order

    def total(self, per_batch: FloatArray) -> FloatArray:
        """Sum over the batches of each set: (n_batches, ...) becomes (sets..., ...)."""
        if self.is_one:
            return per_batch[0]
        sets = self.membership.shape[:-1]
        flat = self.membership.reshape(-1, len(per_batch)) @ per_batch.reshape(len(per_batch), -1)
        return flat.reshape(*sets, *per_batch.shape[1:])

    def deviations(self, count: FloatArray, mean: FloatArray) -> FloatArray:
        """Mean of each batch minus the mean of its set, multiplied by the root of its count.

        Parameters
        ----------
        count : ndarray of shape (n_batches, 1)
        mean : ndarray of shape (n_batches, k)

        Returns
        -------
        ndarray of shape (sets..., n_batches, k)
            0 where a set does not contain a batch.
        """
        set_mean = self.total(count * mean) / self.total(count)
        gaps = np.sqrt(count) * (mean - set_mean[..., None, :])
        return gaps * self.membership[..., None]

    def pooled(self, left: FloatArray, right: FloatArray, scatter: FloatArray) -> FloatArray:
        """Scatter within each set: the sum of the scatter within and between its batches.

        Sums about a common origin would lose precision by cancellation where a set is far from it.
        Deviations from the mean of the set do not.

        Parameters
        ----------
        left, right : ndarray of shape (sets..., n_batches, k)
            Deviations of the columns, as from ``deviations``.
        scatter : ndarray of shape (n_batches, k)
            Scatter of each left column with its right column, within each batch.
        """
        return scatter[0] if self.is_one else self.total(scatter) + (left * right).sum(axis=-2)

    def pooled_crosswise(
        self, left: FloatArray, right: FloatArray, scatter: FloatArray
    ) -> FloatArray:
        """Scatter within each set, as ``pooled``, of all pairs of k left and m right columns.

        ``scatter`` has shape (n_batches, k, m), the result (sets..., k, m).
        """
        if self.is_one:
            return scatter[0]
        return self.total(scatter) + np.swapaxes(left, -1, -2) @ right


def _shared_batches(counts: NDArray[np.intp]) -> tuple[NDArray[np.bool_], IntArray]:
    """Batches of rows that belong to the same training and test sets; unused rows are left out."""
    used = counts.any(axis=0)
    # Packed into bytes, since rows of booleans are slow to compare.
    packed = np.packbits(counts[:, used] > 0, axis=0).T
    packed, inverse = np.unique(
        np.ascontiguousarray(packed).view(f"V{packed.shape[1]}"), return_inverse=True
    )
    bits = np.unpackbits(packed.view(np.uint8).reshape(len(packed), -1), axis=1)
    member_of = bits[:, : len(counts)] > 0
    # Batches are numbered in the order of their first row.
    first_row = np.full(len(member_of), len(inverse))
    np.minimum.at(first_row, inverse.ravel(), np.arange(len(inverse)))
    order = np.argsort(first_row)
    batch_of_row = np.full(counts.shape[1], -1, dtype=np.intp)
    batch_of_row[used] = np.argsort(order)[inverse.ravel()]
    return member_of[order], batch_of_row


def _as_slice(rows: IntArray) -> Rows:
    """A slice if the rows are consecutive, since slicing gives a view and indexing copies."""
    consecutive = len(rows) > 0 and bool((np.diff(rows) == 1).all())
    return slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows


def unless_constant(scatter: FloatArray, n: FloatArray, mean: FloatArray) -> FloatArray:
    """Scatter of n values about their mean; 0 where it is only rounding error."""
    return np.where(scatter > n * np.square(CONSTANT * mean), scatter, 0.0)
