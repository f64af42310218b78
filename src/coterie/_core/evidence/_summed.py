"""Scatters for a search from accumulated sums, without the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.evidence._accumulated import Accumulated, mirrored
from coterie._core.evidence._columns import CONSTANT
from coterie._core.evidence._moments import STRIP_ROWS, take_out_means
from coterie._core.evidence._pairs import ROUNDING
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._sources import GramSource
from coterie._core.values import FloatArray, IntArray


class Location(NamedTuple):
    """Mean and spread of each column; the spread is 0 if the column is constant."""

    centre: FloatArray
    spread: FloatArray


@dataclass(frozen=True)
class SummedColumns:
    """Features, or weighted sums of features, of which only sums over rows are known.

    Parameters
    ----------
    parts : tuple of Accumulated
        The sums over each batch of rows, of the features and of the targets.
    first : ndarray of shape (n_rows, n_columns)
        The first row, and the first row that differs from it, if there is one.
    combined : sparse array of shape (n_columns, n_features) or None
        The weight of each feature in each column; None where the columns are the features.
    """

    parts: tuple[Accumulated, ...]
    first: FloatArray
    combined: sparse.csr_array | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.first.shape[1]

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""
        return sum(part.count for part in self.parts)

    def scaled(self, centre: FloatArray, spread: FloatArray) -> SummedColumns:
        """The columns minus a centre, divided by a spread."""
        weights = sparse.diags_array(1 / spread)
        return replace(self._times(weights), first=(self.first - centre) / spread)

    def summed(self, membership: sparse.csr_array) -> SummedColumns:
        """Weighted sums of the columns; the weights have shape (n_sums, n_columns)."""
        return replace(self._times(membership), first=(membership @ self.first.T).T)

    def _times(self, weights: Any) -> SummedColumns:
        combined = weights if self.combined is None else weights @ self.combined
        return replace(self, combined=sparse.csr_array(combined))

    def scatter_among(self, columns: IntArray) -> FloatArray:
        """Scatter matrix of some columns over all rows; 0 for constants."""
        d = self.parts[0].n_features
        scatter, varies = (
            scatter_within(together(self.parts)),
            location_of(self.parts).spread[:d] > 0,
        )
        scatter = np.where(varies & varies[:, None], scatter, 0.0)
        if self.combined is None:
            return scatter[np.ix_(columns, columns)]
        some = self.combined[columns]
        return np.asarray(some @ (some @ scatter).T)

    def pooled(self) -> SummedColumns:
        """The same columns, with all rows in one batch."""
        return replace(self, parts=(together(self.parts),))

    @property
    def counts(self) -> FloatArray:
        """Number of rows in each batch, of shape (n_batches, 1)."""
        return np.array([[part.count] for part in self.parts])

    def _means(self) -> tuple[FloatArray, FloatArray]:
        """An origin, and the means in each batch minus the origin."""
        origin, gaps = _means_in(self.parts)
        return self._of_columns(origin[None])[0], self._of_columns(gaps)

    def _of_columns(self, values: FloatArray) -> FloatArray:
        """Values of columns and targets, from values of features and targets."""
        if self.combined is None:
            return values
        d = self.combined.shape[1]
        return np.hstack([(self.combined @ values[:, :d].T).T, values[:, d:]])

    def _magnitude(self) -> FloatArray:
        """Magnitude of the terms that the scatter of a column is a sum of, to detect rounding."""
        own = np.stack([part.own for part in self.parts])
        if self.combined is None:
            return np.zeros(own.shape)
        d = self.combined.shape[1]
        weights = self.combined.power(2)
        sizes = np.diff(self.combined.indptr)
        return np.hstack([(weights @ own[:, :d].T).T * (sizes - 1), 0 * own[:, d:]])

    def gram(self, rows: RowSets) -> tuple[GramSource, Location]:
        """Scatters of the standardised columns, targets last, and the location of the columns."""
        n_targets = self.parts[0].targets.shape[0]
        n_all = self.n_columns + n_targets
        scatters = np.empty((len(self.parts), n_all, n_all))
        for part, out in zip(self.parts, scatters, strict=True):
            self._fill(part, out)
        own = np.maximum(np.diagonal(scatters, axis1=1, axis2=2), 0.0)
        origin_and_gaps = self._means()
        where = located(origin_and_gaps, self.counts, own, self._magnitude())
        factors = np.where(where.spread > 0, 1 / np.where(where.spread > 0, where.spread, 1.0), 0.0)
        for scatter in scatters:
            _multiply(scatter, factors)
        gaps = origin_and_gaps[1]
        middle = (self.counts * gaps).sum(axis=0) / self.n
        mean = (gaps - middle) * factors
        return GramSource(rows, self.counts, mean, scatters, n_targets), where

    def _fill(self, part: Accumulated, out: FloatArray) -> None:
        """Write the scatters within a batch to ``out``."""
        m, d = self.n_columns, part.n_features
        if self.combined is None:
            scatter_within(part, out[:m, :m])
        else:
            half = self.combined @ scatter_within(part)
            mirrored(self.combined @ half.T, out[:m, :m])
        gap = part.from_origin
        cross = part.cross - part.count * np.outer(gap[:d], gap[d:])
        out[:m, m:] = cross if self.combined is None else self.combined @ cross
        out[m:, :m] = out[:m, m:].T
        mirrored(part.targets, out[m:, m:])
        take_out_means(out[m:, m:], part.count, gap[d:])


def location_of(parts: Sequence[Accumulated]) -> Location:
    """Location of the features, then of the targets."""
    own = np.stack([part.own for part in parts])
    counts = np.array([[part.count] for part in parts])
    return located(_means_in(parts), counts, own, np.zeros(own.shape))


def _means_in(parts: Sequence[Accumulated]) -> tuple[FloatArray, FloatArray]:
    """An origin, and the means in each batch minus the origin."""
    origin = parts[0].origin
    gaps = np.stack([(part.origin - origin) + part.from_origin for part in parts])
    return origin, gaps


def located(
    means: tuple[FloatArray, FloatArray],
    counts: FloatArray,
    own: FloatArray,
    magnitude: FloatArray,
) -> Location:
    """Location of columns, from an origin and the means and own scatters in each batch."""
    origin, gaps = means
    n = counts.sum()
    middle = (counts * gaps).sum(axis=0) / n
    scatter = (own + counts * np.square(gaps - middle)).sum(axis=0)
    scatter = np.where(scatter > ROUNDING * magnitude.sum(axis=0), scatter, 0.0)
    centre, spread = origin + middle, np.sqrt(scatter / n)
    return Location(centre, np.where(spread <= CONSTANT * np.abs(centre), 0.0, spread))


def together(parts: Sequence[Accumulated]) -> Accumulated:
    """Sums over all rows; not copied if there is only one batch."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0].copy()
    for part in parts[1:]:
        total.join(part)
    return total


def scatter_within(part: Accumulated, out: FloatArray | None = None) -> FloatArray:
    """Scatter of the features within a batch, of shape (n_features, n_features)."""
    d = part.n_features
    scatter = mirrored(part.features, np.empty((d, d)) if out is None else out)
    take_out_means(scatter, part.count, part.from_origin[:d])
    return scatter


def _multiply(scatter: FloatArray, factors: FloatArray) -> None:
    """Multiply rows and columns by factors, in place; exact symmetry is preserved."""
    for start in range(0, len(factors), STRIP_ROWS):
        strip = slice(start, start + STRIP_ROWS)
        scatter[strip] *= np.outer(factors[strip], factors)


def gram_signed(source: GramSource, signs: FloatArray) -> GramSource:
    """Scatters of the features, each multiplied by its sign, 1 or -1."""
    signs = np.append(signs, np.ones(source.n_targets))
    scatters = source.scatters * signs[:, None] * signs
    return GramSource(source.rows, source.count, source.mean * signs, scatters, source.n_targets)


def gram_in_order(source: GramSource, order: IntArray) -> GramSource:
    """Scatters of the features in another order."""
    targets = np.arange(len(order), source.mean.shape[1])
    places = np.concatenate([order, targets])
    scatters = np.stack([scatter[np.ix_(places, places)] for scatter in source.scatters])
    return GramSource(source.rows, source.count, source.mean[:, places], scatters, len(targets))


def order_by_sums(
    source: GramSource, where: Location, first: FloatArray
) -> tuple[IntArray, IntArray]:
    """Order of the features by their known statistics, and which features are copies.

    Features are sorted by their first rows, then their spreads, then their scatters with the
    targets. The order depends on their positions only where all of these are equal.

    Returns
    -------
    order : ndarray of shape (n_features,)
    copies : ndarray of shape (n_features,)
        Numbers from 1, in that order; features that are copies of each other have the same number.
    """
    d = first.shape[1]
    with_targets = source.scatters[:, :d, d:].sum(axis=0)
    # In single precision, since copies may differ in their last digits.
    with np.errstate(over="ignore"):
        known = np.vstack([where.spread[:d], *with_targets.T]).astype(np.float32)
    keys = np.vstack([known[::-1], first[::-1]])
    order = np.lexsort(keys)
    sorted_keys = keys[:, order]
    starts = np.flatnonzero((sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)) + 1
    runs = np.split(order, starts)
    sets = [copies for run in runs for copies in _copies_among(source, run)]
    numbers = np.repeat(1 + np.arange(len(sets)), [len(copies) for copies in sets])
    return np.concatenate(sets), numbers


def _copies_among(source: GramSource, features: IntArray) -> list[IntArray]:
    """Sets of features that are copies of each other, among features that may be."""
    if len(features) == 1:
        return [features]
    mean = source.mean[:, features]
    scatter = source.scatters[:, features[:, None], features].sum(axis=0)
    scatter += (source.count * mean).T @ mean
    own = np.diagonal(scatter)
    apart = own[:, None] + own - 2 * scatter
    is_copy = apart <= ROUNDING * (own[:, None] + own)
    sets, left = [], np.arange(len(features))
    while len(left):
        same = is_copy[left[0], left]
        sets.append(features[left[same]])
        left = left[~same]
    return sets
