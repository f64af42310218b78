"""Covariances among the groups of a tree while it grows."""

from __future__ import annotations

import numpy as np

from coterie._core.joint._likeness import CACHED, Forbidden, blocks
from coterie._core.values import FloatArray, IntArray

# The matrix is built anew, without the groups that are gone, when this share of its rows is left.
COMPACT = 0.75


class Between:
    """Covariances among the groups that are left.

    Parameters
    ----------
    covariances : ndarray of shape (n_groups, n_groups)
        Never written to.
    slots : ndarray of shape (n_groups,)
        The slot of each group, below `n_slots`.
    """

    def __init__(self, covariances: FloatArray, slots: IntArray, n_slots: int) -> None:
        self.matrix = covariances
        self.memory: FloatArray | None = None
        self.at = np.zeros(n_slots, dtype=np.intp)
        self._number(slots)

    def _number(self, slots: IntArray) -> None:
        """Give the rows of the matrix to these slots."""
        self.slots, self.at[slots] = slots, np.arange(len(slots))
        self.is_left = np.ones(len(slots), dtype=bool)

    def of(self, first: IntArray, second: IntArray) -> FloatArray:
        """Covariances of pairs of groups."""
        return np.asarray(self.matrix[self.at[first], self.at[second]])

    @property
    def open_slots(self) -> IntArray:
        """Slots of the groups that are left."""
        return self.slots[self.is_left]

    def close(self, slots: IntArray) -> None:
        """Forget groups that no other may join."""
        self.is_left[self.at[slots]] = False

    def merge(self, first: IntArray, second: IntArray, sign: FloatArray) -> None:
        """Add the groups of the second slots, times a sign, to those of the first."""
        self.close(second)
        rebuild = np.count_nonzero(self.is_left) < COMPACT * len(self.slots)
        if rebuild or self.memory is None:
            self._rebuild(self.at[first], self.at[second], sign)
        else:
            self._update(self.at[first], self.at[second], sign)

    def _update(self, a: IntArray, b: IntArray, sign: FloatArray) -> None:
        rows = self.matrix.take(b, axis=0)
        rows *= sign[:, None]
        rows += self.matrix.take(a, axis=0)
        rows[:, a] = _mirrored(rows.take(a, axis=1) + sign * rows.take(b, axis=1))
        self.matrix[a] = rows
        self.matrix[:, a] = rows.T

    def _rebuild(self, a: IntArray, b: IntArray, sign: FloatArray) -> None:
        kept = np.flatnonzero(self.is_left)
        # A group that does not merge has itself as a partner, times 0.
        partner, factor = np.arange(len(self.slots)), np.zeros(len(self.slots))
        partner[a], factor[a] = b, sign
        other, times = partner[kept], factor[kept]
        if self.memory is None:
            self.memory = np.empty(len(kept) ** 2)
        # In the memory of the old matrix: a row goes where it was or before, and the partners of
        # later rows come after those.
        made = self.memory[: len(kept) ** 2].reshape(len(kept), len(kept))
        for start, stop in blocks(len(kept), max(1, CACHED // len(self.slots))):
            rows = self.matrix.take(kept[start:stop], axis=0)
            has = np.flatnonzero(times[start:stop])
            rows[has] += times[start + has, None] * self.matrix.take(other[start + has], axis=0)
            more = rows.take(other, axis=1)
            more *= times
            np.add(rows.take(kept, axis=1), more, out=made[start:stop])
        has = np.flatnonzero(times)
        made[np.ix_(has, has)] = _mirrored(made[np.ix_(has, has)])
        self.matrix = made
        self._number(self.slots[kept])

    def nearest(
        self, slots: IntArray, sizes: IntArray, forbidden: Forbidden, *, signs: bool
    ) -> tuple[IntArray, FloatArray]:
        """The most alike group of each, -1 for none, and the likeness; ties go to the lower slot.

        Parameters
        ----------
        slots : ndarray of shape (n,)
            Slots of the groups that are asked about.
        sizes : ndarray of shape (n_slots,)
        """
        rows, bar = self.at[slots], np.where(self.is_left, 0.0, -np.inf)
        near, value = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        weights = sizes[self.slots].astype(np.float64)
        is_plain = bool((weights == 1).all())
        for start, stop in blocks(len(rows), max(1, CACHED // len(self.slots))):
            some = rows[start:stop]
            like = self.matrix.take(some, axis=0)
            if signs:
                np.abs(like, out=like)
            if not is_plain:
                # The product of two sizes is exact, so that both groups see the same likeness.
                like /= np.multiply.outer(weights[some], weights)
            like += bar
            line = np.arange(len(some))
            like[line, some] = -np.inf
            barred = forbidden(self.slots[some][:, None], self.slots[None, :])
            if barred is not None:
                like[barred] = -np.inf
            best = like.argmax(axis=1)
            value[start:stop] = like[line, best]
            near[start:stop] = self.slots[best]
        near[value == -np.inf] = -1
        return near, value


def _mirrored(block: FloatArray) -> FloatArray:
    """A square block, made symmetric to the last bit."""
    lower = np.tril(block, -1)
    return lower + lower.T + np.diag(block.diagonal())
