"""Scatters of columns on a device, such as a GPU, computed and stored there."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from coterie._core.evidence._accumulated import mirrored
from coterie._core.evidence._columns import CONSTANT, LARGE
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._sources import GramChain, GramSource
from coterie._core.evidence._sums import SumEvidence
from coterie._core.values import FloatArray, IntArray, is_sparse

# Columns per block in a product of all pairs; blocks above the diagonal are not computed.
COLUMNS_PER_PRODUCT = 1024
# On a device each call costs about a millisecond, whatever its size. So one call computes more
# merges ahead (FORESIGHT, RESTARTS) and more candidates (BREADTH) than on the host.
FORESIGHT, BREADTH, RESTARTS = 1024, 2**20, 128
# Numbers in one array of results, so that temporary arrays stay small relative to the scatters.
MAX_BATCH_ENTRIES = 2**25


class Standard(NamedTuple):
    """Standardised columns on a device, and their original centre and spread on the host."""

    values: Any  # (n_samples, n_columns), float64
    centre: FloatArray
    spread: FloatArray  # 0 for constant columns


def standardised_there(columns: Any, weights: Any = None) -> Standard:
    """Columns standardised on their device: minus the mean, divided by the standard deviation.

    The standard deviation is that of the population.

    Parameters
    ----------
    columns : array on a device, of shape (n_samples, n_columns)
    weights : array on the device, of shape (n_samples,), optional
        Weight of each row.
    """
    values = columns.astype(np.float64)
    centre = _means(values, weights)
    values = values - centre
    # The first mean of a column far from zero has a rounding error; it is corrected here.
    drift = _means(values, weights)
    values = values - drift
    centre = np.asarray(centre + drift)
    spread = np.sqrt(np.asarray(_means(np.square(values), weights)))
    if not np.isfinite(spread).all() or spread.max() > LARGE:
        raise ValueError(f"X has numbers beyond {LARGE:g}: use other units.")
    constant = spread <= CONSTANT * np.abs(centre)
    factors = np.where(constant | (spread == 0), 0.0, 1 / np.where(spread > 0, spread, 1.0))
    return Standard(values * factors, centre, np.where(constant, 0.0, spread))


def _means(values: Any, weights: Any) -> Any:
    return values.mean(axis=0) if weights is None else weights @ values / weights.sum()


def scatter_among(columns: Any, weights: FloatArray | None, chosen: IntArray) -> FloatArray:
    """Scatter matrix of some columns over all rows, for columns on the host or on a device.

    Parameters
    ----------
    columns : ndarray, sparse array or array on a device, of shape (n_samples, n_columns)
    weights : ndarray of shape (n_samples,) or None
        Weight of each row.
    chosen : ndarray of shape (k,)
    """
    some = columns[:, chosen]
    if is_sparse(some):
        some = some.toarray()
    if weights is not None and not isinstance(some, np.ndarray):
        weights = some.moved(weights)
    some = some.astype(np.float64)
    mean = _means(some, weights)
    centred = some - mean
    counted = centred if weights is None else centred * weights[:, None]
    scatter = np.asarray(counted.T @ centred)
    # The scatter of a constant column is rounding error.
    n = float(columns.shape[0] if weights is None else weights.sum())
    varies = np.diagonal(scatter) > n * np.square(CONSTANT * np.asarray(mean))
    return np.where(varies & varies[:, None], scatter, 0.0)


class DeviceSource:
    """Scatters looked up in one matrix per batch, stored on a device.

    Parameters
    ----------
    rows : RowSets
    columns : array on a device, of shape (n_samples, n_features)
        Standardised.
    targets : ndarray of shape (n_samples, n_targets)
        Standardised too.
    """

    def __init__(self, rows: RowSets, columns: Any, targets: FloatArray) -> None:
        there, n_targets = columns.moved(targets), targets.shape[1]
        parts = [_within(columns, there, batch, rows.weights_of(batch)) for batch in rows.batches]
        whole = None if rows.whole is None else columns.moved(rows.whole)
        self.rows = RowSets(rows.batches, columns.moved(rows.membership), rows.weights, whole)
        self.count = columns.moved(np.array([[count] for count, _, _ in parts]))
        self.mean: Any = np.stack([mean for _, mean, _ in parts])
        self.scatters = [scatter for _, _, scatter in parts]
        self.own = np.stack([_diagonal(scatter) for scatter in self.scatters])
        self.n_targets = n_targets
        self.is_light = True
        n_columns, n_sets = self.mean.shape[1], max(1, rows.membership.size // len(rows.batches))
        self.max_columns = min(
            n_columns, max(4 * COLUMNS_PER_PRODUCT, MAX_BATCH_ENTRIES // (n_sets * RESTARTS))
        )
        self._look_at(n_columns - n_targets)

    def _look_at(self, column: int) -> None:
        self.target_column = column
        self.with_target = np.stack([scatter[column] for scatter in self.scatters])

    def aimed_at(self, number: int) -> DeviceSource:
        """The same scatters, with another of the targets selected."""
        aimed = copy(self)
        aimed._look_at(self.mean.shape[1] - self.n_targets + number)
        return aimed

    def on_host(self) -> GramSource:
        """The same scatters in host memory, exactly symmetric."""
        whole = None if self.rows.whole is None else np.asarray(self.rows.whole)
        membership = np.asarray(self.rows.membership)
        rows = RowSets(self.rows.batches, membership, self.rows.weights, whole)
        scatters = np.stack([np.asarray(scatter) for scatter in self.scatters])
        for scatter in scatters:
            mirrored(scatter, scatter)
        count, mean = np.asarray(self.count), np.asarray(self.mean)
        return GramSource(rows, count, mean, scatters, self.n_targets)

    def between(self, left: Any, right: Any) -> Any:
        """Scatter of each left with each right column, (n_batches, len(left), len(right))."""
        rows = (np.take(scatter, left, axis=0) for scatter in self.scatters)
        return np.stack([np.take(some, right, axis=1) for some in rows])

    def nothing(self) -> Any:
        """The empty sum, of shape (n_batches, n_columns)."""
        return self.own * 0.0

    def against(self, total: Any, columns: Any) -> Any:
        """Scatter of a sum with each column."""
        return np.take(total, columns, axis=1)

    def chain(self, total: Any, links: Any, weights: Any) -> GramChain:
        """Chain of sums, to which weighted columns are added one after the other."""
        return GramChain(total, links, weights)

    def growth(self, chain: GramChain, start: Any) -> Any:
        """Scatter of the sum with itself after each link, given that before the first."""
        total, links, weights = chain
        before = np.take(total, links, axis=1)
        if len(links) > 1:
            before = before + np.triu(weights[:, None] * self.between(links, links), 1).sum(axis=1)
        steps = weights**2 * np.take(self.own, links, axis=1) + 2 * weights * before
        return start + np.cumsum(steps, axis=1)

    def against_each(self, chain: GramChain, columns: Any) -> Any:
        """Scatter of the sum after each link with each column."""
        total, links, weights = chain
        rows = np.cumsum(weights[:, None] * self.between(links, columns), axis=1)
        return rows + np.take(total, columns, axis=1)[:, None]

    def against_in_turn(self, chain: GramChain, after: Any, columns: Any) -> Any:
        """Scatter of each column with the sum after link ``after`` of that column."""
        total, links, weights = chain
        numbers = self.mean.moved(np.arange(len(links)))
        joined = np.where(numbers[:, None] <= after, 1.0, 0.0)
        joined = joined * weights[:, None]
        rows = (joined * self.between(links, columns)).sum(axis=1)
        return np.take(total, columns, axis=1) + rows

    def end(self, chain: GramChain) -> Any:
        """The sum after the last link."""
        total, links, weights = chain
        rows = [weights @ np.take(scatter, links, axis=0) for scatter in self.scatters]
        return total + np.stack(rows)


def _within(
    columns: Any, targets: Any, batch: Any, weights: FloatArray | None
) -> tuple[float, Any, Any]:
    """Count, means and scatter of the rows of a batch; targets are the last columns."""
    counts = None if weights is None else columns.moved(weights)
    count = float(len(columns[batch])) if weights is None else float(weights.sum())
    means = [_means(each[batch], counts) for each in (columns, targets)]
    features = columns[batch] - means[0]
    aims = targets[batch] - means[1]
    if counts is None:
        return count, np.concatenate(means), _products(features, features, aims)
    weighted = features * counts[:, None]
    return count, np.concatenate(means), _products(weighted, features, aims, counts)


def _products(left: Any, right: Any, targets: Any, counts: Any = None) -> Any:
    """Products of all pairs of features and targets; exactly symmetric unless compiled (JAX).

    Targets are multiplied separately: products of the features alone are faster.
    """
    d, n = right.shape[1], right.shape[1] + targets.shape[1]
    cross = left.T @ targets
    own = targets.T @ (targets if counts is None else targets * counts[:, None])
    if right.is_compiled:
        above = np.concatenate([left.T @ right, cross], axis=1)
        return np.concatenate([above, np.concatenate([cross.T, own], axis=1)])
    products = right.empty((n, n))
    for start in range(0, d, COLUMNS_PER_PRODUCT):
        rows = slice(start, min(start + COLUMNS_PER_PRODUCT, d))
        block = left[:, rows].T @ right[:, : rows.stop]
        before, among = block[:, : rows.start], block[:, rows.start :]
        products[rows, : rows.start], products[: rows.start, rows] = before, before.T
        products[rows, rows] = _both_ways(among)
    products[:d, d:], products[d:, :d], products[d:, d:] = cross, cross.T, _both_ways(own)
    return products


def _both_ways(products: Any) -> Any:
    """Mean of a matrix and its transpose, which is symmetric."""
    return (products + products.T) * 0.5


def _diagonal(scatter: Any) -> Any:
    """Scatter of each column with itself."""
    n = len(scatter)
    return scatter.reshape(n * n)[:: n + 1]


class DeviceEvidence(SumEvidence):
    """Pair moments of sums of columns on a device; indices are moved there once per call."""

    def __init__(self, source: Any, weights: FloatArray, *, signs: bool = False) -> None:
        super().__init__(source, weights, signs=signs)
        self.source: Any = source
        self._like: Any = source.mean
        self.weights = self._like.moved(weights)
        self.breadth, self.restarts = BREADTH, RESTARTS
        self.foresight = FORESIGHT if self.foresight > 1 else 1

    def _moved(self, places: IntArray) -> Any:
        return self._like.moved(places)

    def joined(self, group: Any, features: IntArray) -> Any:
        """The group after some features have joined."""
        return super().joined(group, self._moved(features))

    def pairs(self, group: Any, candidates: IntArray) -> Any:
        """Moments of the group with each candidate."""
        return super().pairs(group, self._moved(candidates))

    def pairs_along(self, group: Any, links: IntArray, candidates: IntArray) -> Any:
        """Moments with each candidate after each link: (k, m) pairs for k links, m candidates."""
        return super().pairs_along(group, self._moved(links), self._moved(candidates))

    def pairs_in_turn(self, group: Any, links: IntArray, candidates: IntArray) -> Any:
        """Moments with each candidate after the links that precede it have joined."""
        return super().pairs_in_turn(group, self._moved(links), self._moved(candidates))

    def pairs_of_singles(self, features: IntArray, candidates: IntArray) -> Any:
        """Moments of groups of one feature each with each candidate."""
        return super().pairs_of_singles(self._moved(features), self._moved(candidates))
