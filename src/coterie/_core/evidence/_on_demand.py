"""Scatters computed from the columns on demand, for tables too wide for a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from itertools import pairwise

import numpy as np

from coterie._core.evidence._columns import Standardised, means, standardised
from coterie._core.evidence._rows import RowSets
from coterie._core.values import FloatArray, IntArray

# Numbers in the largest temporary block of columns.
ENTRIES_PER_BLOCK = 2**19
# Columns whose centre is more than this many spreads from zero are centred before products, since
# they would lose precision otherwise.
FAR_FROM_ZERO = 1e4


class ColumnSource:
    """Scatters computed from the columns on demand; a sum is stored as a column.

    Columns are read in blocks, and each block is converted to float64. So memory stays near twice
    that of the columns: the columns and a copy in which each feature is contiguous. Columns in
    Fortran order need no copy.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_features)
    contribution : callable or None
        Maps a block of columns to their contributions to a sum. None if columns are added as they
        are.
    target : Standardised of shape (n_samples, 1)
    rows : RowSets

    Attributes
    ----------
    features : ndarray of shape (n_features, n_rows)
        Features in their own units, one per row of the array; the rows of each batch are adjacent.
    edges : ndarray of shape (n_batches + 1,)
        Start of each batch among these rows, and the end of the last.
    target : ndarray of shape (n_rows,)
    is_plain : bool
        Whether the table consists of the features and the target only.
    centre, scale : ndarray of shape (n_columns,)
        ``(column - centre) * scale`` has mean 0 and spread 1.
    """

    def __init__(
        self,
        columns: FloatArray,
        contribution: Callable[[FloatArray], FloatArray] | None,
        target: Standardised,
        rows: RowSets,
    ) -> None:
        self.rows = rows
        self.is_light = False
        self.n_targets = 1
        self.max_columns = max(1, ENTRIES_PER_BLOCK // len(columns))
        self.edges, order = rows.side_by_side(len(columns))
        self._batches = [slice(a, b) for a, b in pairwise(self.edges)]
        # Each feature is contiguous in memory, since features are read one by one.
        by_feature = columns.T if order is None else np.take(columns.T, order, axis=1)
        self.features = np.ascontiguousarray(by_feature)
        self.weights = rows.weights
        if order is not None and self.weights is not None:
            self.weights = self.weights[order]
        self._order = order
        self.target = target.values[:, 0] if order is None else target.values[order, 0]
        self.is_plain = contribution is None
        self._layers = [contribution, None] if contribution else [None]
        self._n_features = columns.shape[1]
        n_columns = len(self._layers) * self._n_features + 1
        self.centre, self.spread = np.zeros(n_columns), np.ones(n_columns)
        self.target_column = n_columns - 1
        self.count: FloatArray = rows.counts(len(columns))
        self.mean, self.own, self.with_target = np.zeros((3, len(self.count), n_columns))
        self._read_once()

    def _read_once(self) -> None:
        """Compute centre and spread of all columns, and their moments within each batch."""
        for place in self._blocks():
            block = standardised(self._raw(place).T, weights=self.weights)
            values, self.centre[place], self.spread[place] = block
            self._learn(place, values)
        self._learn(slice(-1, None), self.target[:, None])
        varies = self.spread > 0
        self.scale = np.divide(1.0, self.spread, out=np.zeros(len(varies)), where=varies)
        self._is_far = bool((np.abs(self.centre) * self.scale).max() > FAR_FROM_ZERO)

    def aimed_at(self, target: Standardised) -> ColumnSource:
        """The same columns with another target."""
        aimed = copy(self)
        values = target.values[:, 0]
        aimed.target = values if self._order is None else values[self._order]
        aimed.mean, aimed.own = self.mean.copy(), self.own.copy()
        aimed.with_target = np.empty(self.own.shape)
        for place in self._blocks():
            columns = np.arange(place.start, place.stop)
            aimed.with_target[:, place] = self._scatter(aimed.target[None], columns)[:, 0]
        aimed._learn(slice(-1, None), aimed.target[:, None])
        return aimed

    def _blocks(self) -> Iterator[slice]:
        for layer in range(len(self._layers)):
            end = (layer + 1) * self._n_features
            for start in range(layer * self._n_features, end, self.max_columns):
                yield slice(start, min(start + self.max_columns, end))

    def _learn(self, place: slice, values: FloatArray) -> None:
        for number, batch in enumerate(self._batches):
            part, weights = values[batch], self._weights_of(batch)
            mean = means(part, weights)
            self.mean[number, place] = mean
            if weights is None:
                self.own[number, place] = np.square(part - mean).sum(axis=0)
            else:
                self.own[number, place] = weights @ np.square(part - mean)
            deviations = self._deviations(self.target[None], batch)[0]
            self.with_target[number, place] = deviations @ part

    def _weights_of(self, batch: slice) -> FloatArray | None:
        return None if self.weights is None else self.weights[batch]

    def _deviations(self, vectors: FloatArray, batch: slice) -> FloatArray:
        """Weighted deviations of vectors from their means within a batch."""
        deviations, weights = self._from_mean(vectors, batch), self._weights_of(batch)
        return deviations if weights is None else weights * deviations

    def _from_mean(self, vectors: FloatArray, batch: slice) -> FloatArray:
        part = vectors[:, batch]
        return part - means(part.T, self._weights_of(batch))[:, None]

    def _raw(self, place: slice | IntArray) -> FloatArray:
        """Columns of one layer of the table in their own units, in float64, one per row."""
        first = place.start if isinstance(place, slice) else int(place[0])
        layer = first // self._n_features
        offset = layer * self._n_features
        if isinstance(place, slice):
            block = self.features[place.start - offset : place.stop - offset]
        else:
            block = self._gathered(place - offset)
        transform = self._layers[layer]
        block = block.astype(np.float64, copy=False)
        return transform(block) if transform else block

    def _gathered(self, features: IntArray) -> FloatArray:
        """Some features, one per row; a view where they are consecutive."""
        first, last = int(features[0]), int(features[-1])
        if last - first + 1 == len(features) and (np.diff(features) == 1).all():
            return self.features[first : last + 1]
        return np.take(self.features, features, axis=0)

    def _parts(self, columns: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Columns of the table, layer by layer, centred if a centre is far from zero."""
        layer = columns // self._n_features
        layer[columns == len(self.centre) - 1] = -1
        for run in np.split(columns, np.flatnonzero(np.diff(layer)) + 1):
            if run[0] == len(self.centre) - 1:
                yield run, self.target[None]
            else:
                raw = self._raw(run)
                yield run, raw - self.centre[run, None] if self._is_far else raw

    def _standard(self, columns: IntArray) -> FloatArray:
        """Standardised columns of one layer of the table, one per row."""
        values = self._raw(columns) - self.centre[columns, None]
        values *= self.scale[columns, None]
        return values

    def _scatter(self, left: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of each of k vectors (k, n_samples) with each column, within each batch."""
        scatter = np.empty((len(self.count), len(left), len(columns)))
        # Deviations of the left vectors sum to zero, so the right columns need no centring.
        centred = [self._deviations(left, batch) for batch in self._batches]
        start = 0
        for run, block in self._parts(columns):
            end = start + len(run)
            for number, batch in enumerate(self._batches):
                scatter[number, :, start:end] = centred[number] @ block[:, batch].T
            start = end
        scatter *= self.scale[columns]
        return scatter

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left with each right column, (n_batches, len(left), len(right))."""
        return self._scatter(self._standard(left), right)

    def nothing(self) -> FloatArray:
        """The empty sum, of shape (n_samples,)."""
        return np.zeros(len(self.target))

    def against(self, total: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of a sum with each column, (n_batches, len(columns))."""
        return self._scatter(total[None], columns)[:, 0]

    def chain(self, total: FloatArray, links: IntArray, weights: FloatArray) -> FloatArray:
        """The sum after each link of the chain, (k, n_samples)."""
        sums = self._standard(links)
        sums *= weights[:, None]
        sums[0] += total
        # For long rows this loop is faster than np.cumsum along the first axis.
        for before, after in pairwise(sums):
            after += before
        return sums

    def growth(self, chain: FloatArray, start: FloatArray) -> FloatArray:
        """Scatter of the sum with itself after each link, (n_batches, k)."""
        centred = [self._from_mean(chain, batch) for batch in self._batches]
        if self.weights is None:
            return np.stack([np.einsum("ij,ij->i", part, part) for part in centred])
        weighed = zip(centred, map(self._weights_of, self._batches), strict=True)
        return np.stack([np.square(part) @ weights for part, weights in weighed])

    def against_each(self, chain: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of the sum after each link with each column."""
        return self._scatter(chain, columns)

    def against_in_turn(self, chain: FloatArray, after: IntArray, columns: IntArray) -> FloatArray:
        """Scatter of each column with the sum after link ``after`` of that column."""
        scatter = np.empty((len(self.count), len(columns)))
        centred = [self._deviations(chain, batch) for batch in self._batches]
        start = 0
        for run, block in self._parts(columns):
            links = after[start : start + len(run)]
            # Consecutive columns with the same link need one product, on views.
            for a, b in pairwise([0, *np.flatnonzero(np.diff(links)) + 1, len(run)]):
                for number, batch in enumerate(self._batches):
                    product = block[a:b, batch] @ centred[number][links[a]]
                    scatter[number, start + a : start + b] = product
            start += len(run)
        scatter *= self.scale[columns]
        return scatter

    def end(self, chain: FloatArray) -> FloatArray:
        """The sum after the last link."""
        return chain[-1].copy()
