"""Sources of scatters between columns: their interface, and lookup in one matrix."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from coterie._core.evidence._moments import BatchMoments, all_products, take_out_means
from coterie._core.evidence._rows import RowSets
from coterie._core.values import FloatArray, IntArray

# Columns are centred first where the square of a mean exceeds the variance by this factor.
NEAR_ZERO = 10.0
# Products of four scatters between these bounds neither overflow nor underflow.
TINY, HUGE = 1e-60, 1e60


class Source(Protocol):
    """Interface for scatters between the columns of a standardised table, within each batch.

    The last columns are targets, and one of them is selected. A *sum* is the representation of a
    weighted sum of columns by the source. A *chain* represents a sum to which columns, the *links*,
    are added one after the other. Other code does not depend on these representations.
    """

    rows: RowSets
    max_columns: int  # that should be requested in one call
    is_light: bool  # whether its products are too small to be worth several threads
    count: FloatArray  # (n_batches, 1)
    mean: FloatArray  # (n_batches, n_columns)
    own: FloatArray  # (n_batches, n_columns), scatter of each column with itself
    n_targets: int
    target_column: int
    with_target: FloatArray  # (n_batches, n_columns)

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left with each right column, (n_batches, len(left), len(right))."""

    def nothing(self) -> Any:
        """The empty sum."""

    def against(self, total: Any, columns: IntArray) -> FloatArray:
        """Scatter of a sum with each column, (n_batches, len(columns))."""

    def chain(self, total: Any, links: IntArray, weights: FloatArray) -> Any:
        """Chain of sums, to which weighted columns are added one after the other."""

    def growth(self, chain: Any, start: FloatArray) -> FloatArray:
        """Scatter of the sum with itself after each link, (n_batches, k).

        ``start`` is that before the first link, (n_batches, 1).
        """

    def against_each(self, chain: Any, columns: IntArray) -> FloatArray:
        """Scatter of the sum after each link with each column, (n_batches, k, len(columns))."""

    def against_in_turn(self, chain: Any, after: IntArray, columns: IntArray) -> FloatArray:
        """Scatter of each column with the sum after link ``after`` of that column.

        The result has shape (n_batches, len(columns)).
        """

    def end(self, chain: Any) -> Any:
        """The sum after the last link."""


class GramChain(NamedTuple):
    """A row of scatters, and the weighted columns to add to it."""

    total: FloatArray
    links: IntArray
    weights: FloatArray


class GramSource:
    """Scatters looked up in one matrix per batch; a sum is a row of such a matrix.

    Parameters
    ----------
    rows : RowSets
    count : ndarray of shape (n_batches, 1)
    mean : ndarray of shape (n_batches, n_columns)
    scatters : ndarray of shape (n_batches, n_columns, n_columns)
    n_targets : int, default=1
        Number of targets, which are the last columns.
    """

    def __init__(
        self,
        rows: RowSets,
        count: FloatArray,
        mean: FloatArray,
        scatters: FloatArray,
        n_targets: int = 1,
    ) -> None:
        self.rows, self.count, self.mean, self.scatters = rows, count, mean, scatters
        self.n_targets = n_targets
        self.is_light = True
        self.max_columns = mean.shape[1]
        self.own: FloatArray = np.diagonal(scatters, axis1=1, axis2=2).copy()
        self._look_at(mean.shape[1] - n_targets)

    def _look_at(self, column: int) -> None:
        self.target_column = column
        self.with_target: FloatArray = self.scatters[:, column]

    def aimed_at(self, number: int) -> GramSource:
        """The same scatters, with another of the targets selected."""
        aimed = copy(self)
        aimed._look_at(self.mean.shape[1] - self.n_targets + number)
        return aimed

    @classmethod
    def of_table(cls, table: FloatArray, rows: RowSets, n_targets: int = 1) -> GramSource:
        """Scatters of a table of standardised columns; the last columns are targets."""
        scatters = np.empty((len(rows.batches), table.shape[1], table.shape[1]))
        batches = [
            BatchMoments.of(table[batch], scatter, rows.weights_of(batch))
            for batch, scatter in zip(rows.batches, scatters, strict=True)
        ]
        count = np.array([[batch.count] for batch in batches])
        mean = np.stack([batch.mean for batch in batches])
        return cls(rows, count, mean, scatters, n_targets)

    @classmethod
    def of_columns(
        cls, columns: FloatArray, targets: FloatArray, rows: RowSets
    ) -> GramSource | None:
        """Scatters of columns in their own units, which saves a copy of them.

        None if that would lose precision: if the square of a mean is much larger than the variance,
        or if a product of scatters might overflow or underflow. All rows have weight 1.
        """
        if not _are_near(columns[:: max(1, len(columns) // 100)]):
            return None
        n_targets = targets.shape[1]
        n_batches, n_columns = len(rows.batches), columns.shape[1] + n_targets
        scatters = np.empty((n_batches, n_columns, n_columns))
        mean = np.empty((n_batches, n_columns))
        for number, batch in enumerate(rows.batches):
            _multiply(columns[batch], targets[batch], scatters[number], mean[number])
        lengths = [len(targets[batch]) for batch in rows.batches]
        count = np.array(lengths, dtype=np.float64)[:, None]
        products = np.diagonal(scatters, axis1=1, axis2=2)
        if not (products.min() > TINY and products.max() < HUGE):
            return None
        if (products > (1 + NEAR_ZERO) * (products - count * mean**2)).any():
            return None
        for number, scatter in enumerate(scatters):
            take_out_means(scatter, lengths[number], mean[number])
        centre = (count * mean).sum(axis=0) / count.sum()
        return cls(rows, count, mean - centre, scatters, n_targets)

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left with each right column, (n_batches, len(left), len(right))."""
        return self.scatters[:, left[:, None], right]

    def nothing(self) -> FloatArray:
        """The empty sum, of shape (n_batches, n_columns)."""
        return np.zeros(self.own.shape)

    def against(self, total: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of a sum with each column."""
        return total.take(columns, axis=1)

    def chain(self, total: FloatArray, links: IntArray, weights: FloatArray) -> GramChain:
        """Chain of sums, to which weighted columns are added one after the other."""
        return GramChain(total, links, weights)

    def growth(self, chain: GramChain, start: FloatArray) -> FloatArray:
        """Scatter of the sum with itself after each link, given that before the first."""
        total, links, weights = chain
        before = total.take(links, axis=1)
        if len(links) > 1:
            before += np.triu(weights[:, None] * self.between(links, links), 1).sum(axis=1)
        steps = weights**2 * self.own.take(links, axis=1) + 2 * weights * before
        return start + np.cumsum(steps, axis=1)

    def against_each(self, chain: GramChain, columns: IntArray) -> FloatArray:
        """Scatter of the sum after each link with each column."""
        total, links, weights = chain
        rows = weights[:, None] * self.between(links, columns)
        rows[:, 0] += total.take(columns, axis=1)
        # For long rows this loop is faster than np.cumsum along the first axis.
        for before, after in pairwise(range(len(links))):
            rows[:, after] += rows[:, before]
        return rows

    def against_in_turn(self, chain: GramChain, after: IntArray, columns: IntArray) -> FloatArray:
        """Scatter of each column with the sum after link ``after`` of that column."""
        total, links, weights = chain
        joined = np.where(np.arange(len(links))[:, None] <= after, weights[:, None], 0.0)
        rows = [np.einsum("km,km->m", joined, s[links[:, None], columns]) for s in self.scatters]
        return total.take(columns, axis=1) + np.stack(rows)

    def end(self, chain: GramChain) -> FloatArray:
        """The sum after the last link."""
        total, links, weights = chain
        return total + np.stack([weights @ scatter[links] for scatter in self.scatters])


def _are_near(columns: FloatArray) -> bool:
    """Whether all means are small relative to the spreads."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((columns.mean(axis=0) ** 2 < NEAR_ZERO * columns.var(axis=0)).all())


def _multiply(
    columns: FloatArray, targets: FloatArray, products: FloatArray, mean: FloatArray
) -> None:
    """Write the products of all columns, targets last, to ``products`` and means to ``mean``."""
    n = columns.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        all_products(columns, products[:n, :n])
        products[n:, :n] = targets.T @ columns
        products[:n, n:] = products[n:, :n].T
        all_products(targets, products[n:, n:])
        mean[:n], mean[n:] = columns.mean(axis=0), targets.mean(axis=0)
