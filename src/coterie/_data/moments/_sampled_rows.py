"""The small sample of rows that moments keep."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from coterie._core.evidence import ROWS, places_looked_at, unrounded
from coterie._core.values import FloatArray, IntArray


@dataclass
class SampledRows:
    """The first rows, and evenly spaced ones if the total number of rows is known.

    ``tolerance="auto"`` uses this sample to see how correlated the columns are.

    Parameters
    ----------
    n_expected : float or None
        Total number of rows, or the sum of their weights.
    n_before : float
        Number of rows before these, which are counted elsewhere.
    first : ndarray of shape (n_rows, n_features)
        The first row, and the first row that differs from it.
    numbers : list of ndarray
        Indices in `positions` of the sampled rows, one array for each batch.
    rows : list of ndarray of shape (n_rows, n_features)
        The sampled rows, one array for each batch.
    """

    n_expected: float | None = None
    n_before: float = 0.0
    first: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    numbers: list[IntArray] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)

    @property
    def positions(self) -> FloatArray:
        """Positions of the sampled rows, on the scale of cumulative weights."""
        if self.n_expected is None or unrounded(self.n_expected, self.n_expected) <= ROWS:
            return np.empty(0)
        return places_looked_at(self.n_expected)

    def add(self, features: FloatArray, weights: FloatArray | None, n_counted: float) -> None:
        """Sample the rows of a batch that follows `n_counted` rows."""
        self._add_first(features)
        positions = self.positions
        if self.n_expected is None or not len(positions):
            return
        before = self.n_before + n_counted
        counts = np.ones(len(features)) if weights is None else weights
        sums = unrounded(np.cumsum(np.append(before, counts)), self.n_expected)
        begin, end = np.searchsorted(positions, sums[[0, -1]])
        if end > begin:
            at = np.searchsorted(sums[1:], positions[begin:end], side="right")
            self.numbers.append(np.arange(begin, end))
            self.rows.append(features[at])

    def _add_first(self, features: FloatArray) -> None:
        if not len(self.first):
            self.first = features[:1].copy()
        if len(self.first) == 1:
            for row in features:
                if not np.array_equal(row, self.first[0]):
                    self.first = np.vstack([self.first, row])
                    break

    def combine(self, other: SampledRows) -> SampledRows:
        """The sample of both sets of rows, in the order of their `n_before`."""
        one, two = (other, self) if other.n_before < self.n_before else (self, other)
        same = one.n_expected == two.n_expected
        kept = SampledRows(one.n_expected if same else None, one.n_before, one.first)
        if len(two.first):
            kept._add_first(two.first)
        if same:
            kept.numbers, kept.rows = one.numbers + two.numbers, one.rows + two.rows
        return kept

    def looked_at(self, n_counted: float) -> FloatArray | None:
        """The evenly spaced rows; None unless all rows have been counted."""
        if not self.rows or self.n_expected is None or self.n_before != 0:
            return None
        if unrounded(n_counted - self.n_expected, self.n_expected) != 0:
            return None
        numbers, rows = np.concatenate(self.numbers), np.vstack(self.rows)
        order = np.argsort(numbers, kind="stable")
        is_complete = np.array_equal(numbers[order], np.arange(len(self.positions)))
        return rows[order] if is_complete else None

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        return self.first.nbytes + sum(rows.nbytes for rows in self.rows)
