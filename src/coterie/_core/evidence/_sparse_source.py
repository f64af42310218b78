"""Scatters of sparse columns, computed on demand."""

from __future__ import annotations

import math
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.evidence._columns import Standardised
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._sources import NEAR_ZERO
from coterie._core.evidence._sparse_features import (
    DENSE,
    Sparse,
    are_consecutive,
    blocks,
    counting_rows,
    feature_moments,
    feature_range,
    over_rows,
    some_features,
    standard_features,
)
from coterie._core.values import BoolArray, FloatArray, IntArray

# Number of columns per call and set of rows; with more, arrays would not fit in the cache.
MAX_COLUMNS_PER_ANSWER = 8192


class SparseChain(NamedTuple):
    """A sum, and the weighted columns to add to it."""

    total: FloatArray
    links: IntArray
    weights: FloatArray


class SparseSource:
    """Scatters computed from sparse columns on demand; a sum is stored as a dense column.

    For tables too wide for a matrix of all scatters. Equal to a ColumnSource of the same columns
    as a dense array.

    Parameters
    ----------
    columns : sparse array of shape (n_samples, n_features)
    target : Standardised of shape (n_samples, 1)
    rows : RowSets

    Attributes
    ----------
    features : tuple of csr_array of shape (n_features, n_rows in the batch)
        Features in units of their spread, one per row, for each batch.
    edges : ndarray of shape (n_batches + 1,)
        Start of each batch among the rows of positive weight, and the end of the last.
    target : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,) or None
    offset : ndarray of shape (n_features,)
        What is to be subtracted from ``features`` so that their means are 0.
    is_plain : bool
        Whether the table consists of the features and the target only: always.
    centre, spread, scale : ndarray of shape (n_features + 1,)
        Centre and spread of the columns of the table, and ``1 / spread``, 0 for constants.
    """

    def __init__(self, columns: Sparse, target: Standardised, rows: RowSets) -> None:
        self.rows = rows
        self.is_light = True
        self.n_targets = 1
        self.max_columns = MAX_COLUMNS_PER_ANSWER if rows.is_one else MAX_COLUMNS_PER_ANSWER // 4
        n_samples, self.target_column = columns.shape
        batches = counting_rows(rows, n_samples)
        self._order = np.concatenate(batches)
        self.edges = np.cumsum([0, *map(len, batches)])
        self._batches = [slice(a, b) for a, b in pairwise(self.edges)]
        self.is_plain = True
        weights = np.ones(n_samples) if rows.weights is None else rows.weights
        self._weights = weights[self._order]
        self.weights = None if rows.weights is None else self._weights
        standard = standard_features(columns, self._order, self._weights)
        self.offset = standard.offset
        self.features = tuple(
            over_rows(standard.values, np.arange(a, b)) for a, b in pairwise(self.edges)
        )
        self.centre, self.spread = np.append(standard.centre, 0.0), np.append(standard.spread, 1.0)
        varies = self.spread > 0
        self.scale = np.divide(1.0, self.spread, out=np.zeros(len(varies)), where=varies)
        self.count = rows.counts(n_samples)
        self._learn()
        self._aim(target)

    def _learn(self) -> None:
        """Compute the moments of all features within each batch, and which are heavy.

        Heavy features have many nonzero entries or lie far from zero. They are converted to dense
        arrays for products.
        """
        shape = (len(self.count), self.target_column + 1)
        self.mean: FloatArray = np.empty(shape)
        self.own: FloatArray = np.empty(shape)
        self._level = np.empty((len(self.count), self.target_column))
        stored = np.sum([np.diff(values.indptr) for values in self.features], axis=0)
        heavy = stored > DENSE * len(self._order)
        for number, values in enumerate(self.features):
            level, own = feature_moments(values, self._weights[self._batches[number]])
            self.mean[number, :-1], self.own[number, :-1] = level - self.offset, own
            self._level[number] = level
            heavy |= self.count[number] * level**2 > NEAR_ZERO * own
        self._is_heavy = np.append(heavy, True)

    def _aim(self, target: Standardised) -> None:
        self.target = target.values[self._order, 0]
        for number, batch in enumerate(self._batches):
            mean, gaps = self._mean_and_gaps(self.target[batch], number)
            self.mean[number, -1] = mean
            self.own[number, -1] = self._weights[batch] @ gaps**2
        self.with_target: FloatArray = self._scatter(self.target, np.arange(self.target_column + 1))
        self.with_target[:, -1] = self.own[:, -1]

    def aimed_at(self, target: Standardised) -> SparseSource:
        """The same columns with another target."""
        aimed = copy(self)
        aimed.mean, aimed.own = self.mean.copy(), self.own.copy()
        aimed._aim(target)
        return aimed

    def _mean_and_gaps(self, vectors: FloatArray, number: int) -> tuple[FloatArray, FloatArray]:
        """Means of vectors within one batch, and the deviations; (n_rows,) or (n_rows, k)."""
        mean = self._weights[self._batches[number]] @ vectors / (self.count[number, 0] or 1.0)
        return mean, vectors - mean

    def _scatter(self, vectors: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of vectors, (n_rows,) or (n_rows, k), with m columns, (n_batches, [k,] m)."""
        scatter = np.empty((len(self.count), *vectors.shape[1:], len(columns)))
        is_target = columns == self.target_column
        places = _all_but(is_target)
        # Deviations sum to zero, so the features need no centring.
        for number, batch in enumerate(self._batches):
            _, gaps = self._mean_and_gaps(vectors[batch], number)
            gaps.T[...] *= self._weights[batch]
            products = _products(self.features[number], columns[places], gaps)
            scatter[number][..., places] = products.T
            scatter[number][..., is_target] = (self.target[batch] @ gaps)[..., None]
        return scatter

    def _dense(self, columns: IntArray) -> FloatArray:
        """Standardised columns of the table, (n_rows, k)."""
        is_target = columns == self.target_column
        features = np.where(is_target, 0, columns)
        dense = np.empty((len(self.target), len(columns)))
        for values, batch in zip(self.features, self._batches, strict=True):
            dense[batch] = some_features(values, features).toarray(order="F").T
        dense -= self.offset[features]
        dense[:, is_target] = self.target[:, None]
        return dense

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left with each right column, (n_batches, len(left), len(right))."""
        # A single column is faster as a dense array.
        is_heavy = self._is_heavy[left] | (len(left) == 1)
        if not is_heavy.any():
            return self._between_light(left, right)
        scatter = np.empty((len(self.count), len(left), len(right)))
        heavy, light = np.flatnonzero(is_heavy), np.flatnonzero(~is_heavy)
        for block in blocks(len(heavy), len(self.target)):
            scatter[:, heavy[block]] = self._scatter(self._dense(left[heavy[block]]), right)
        if len(light):
            scatter[:, light] = self._between_light(left[light], right)
        return scatter

    def _between_light(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of light features, mostly zero and with small means, with other columns."""
        scatter = np.empty((len(self.count), len(left), len(right)))
        is_target = right == self.target_column
        places = _all_but(is_target)
        for number, batch in enumerate(self._batches):
            values, level = self.features[number], self._level[number]
            some = some_features(values, left)
            weighted = some.data * self._weights[batch][some.indices]
            shape = (values.shape[1], len(left))
            factors = sparse.csc_array((weighted, some.indices, some.indptr), shape=shape).tocsr()
            means = np.outer(self.count[number] * level[left], level[right[places]])
            scatter[number][:, places] = _products(values, right[places], factors).T - means
        scatter[:, :, is_target] = self.with_target[:, left, None]
        return scatter

    def nothing(self) -> FloatArray:
        """The empty sum, of shape (n_rows,)."""
        return np.zeros(len(self.target))

    def against(self, total: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of a sum with each column."""
        return self._scatter(total, columns)

    def chain(self, total: FloatArray, links: IntArray, weights: FloatArray) -> SparseChain:
        """Chain of sums, to which weighted columns are added one after the other."""
        return SparseChain(total, links, weights)

    def growth(self, chain: SparseChain, start: FloatArray) -> FloatArray:
        """Scatter of the sum with itself after each link, given that before the first."""
        total, links, weights = chain
        own = np.take(self.own, links, axis=1)
        if len(links) == 1:
            with_last = self.against(total, links) + weights * own
        else:
            with_last = np.diagonal(self.against_each(chain, links), axis1=1, axis2=2)
        return start + np.cumsum(weights * (2 * with_last - weights * own), axis=1)

    def against_each(self, chain: SparseChain, columns: IntArray) -> FloatArray:
        """Scatter of the sum after each link with each column."""
        scatter = self.between(chain.links, columns)
        scatter *= chain.weights[:, None]
        scatter[:, 0] += self.against(chain.total, columns)
        # For long rows this loop is many times faster than np.cumsum along the first axis.
        for before, after in pairwise(np.moveaxis(scatter, 1, 0)):
            after += before
        return scatter

    def against_in_turn(self, chain: SparseChain, after: IntArray, columns: IntArray) -> FloatArray:
        """Scatter of each column with the sum after link ``after`` of that column."""
        return self.against_each(chain, columns)[:, after, np.arange(len(columns))]

    def end(self, chain: SparseChain) -> FloatArray:
        """The sum after the last link."""
        total, links, weights = chain
        total = total - weights @ self.offset[links]
        for values, batch in zip(self.features, self._batches, strict=True):
            total[batch] += some_features(values, links).T @ weights
        return total


def _all_but(is_target: BoolArray) -> slice | IntArray:
    """Positions that are not the target; a slice if only the last can be the target."""
    if is_target[:-1].any():
        return np.flatnonzero(~is_target)
    return slice(len(is_target) - int(is_target[-1:].sum()))


def _products(
    values: sparse.csr_array, features: IntArray, vectors: FloatArray | sparse.csr_array
) -> FloatArray:
    """Products of some features with vectors, (n_rows,) or (n_rows, k), as a dense array."""
    if not len(features):
        return np.empty((0, *vectors.shape[1:]))
    first, last = int(features.min()), int(features.max())
    in_between = last - first + 1 - len(features)
    # If few other features lie in between, it is cheaper to multiply them too than to copy rows.
    is_whole = in_between * math.prod(vectors.shape[1:]) <= len(features)
    chosen = feature_range(values, first, last + 1) if is_whole else some_features(values, features)
    products = chosen @ vectors
    dense = products.toarray() if sparse.issparse(products) else products
    if not is_whole or are_consecutive(features):
        return dense
    return np.take(dense, features - first, axis=0)
