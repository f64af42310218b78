"""Columns that are known by their sums only: scatters for a search, without the rows."""

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
    """Where columns lie: the mean and the spread of each, 0 where it is constant."""

    centre: FloatArray
    spread: FloatArray


@dataclass(frozen=True)
class SummedColumns:
    """Features, or weighted sums of some, of which only sums over rows are known.

    Parameters
    ----------
    parts : tuple of Accumulated
        The sums over each batch of rows, of the features and of the targets.
    first : ndarray of shape (n_rows, n_columns)
        The first row, and the first that is another one, if there is one.
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
        """Number of rows, as often as each counts."""
        return sum(part.count for part in self.parts)

    def scaled(self, centre: FloatArray, spread: FloatArray) -> SummedColumns:
        """The columns less a centre, divided by a spread."""
        weights = sparse.diags_array(1 / spread)
        return replace(self._times(weights), first=(self.first - centre) / spread)

    def summed(self, membership: sparse.csr_array) -> SummedColumns:
        """Sums of some columns, by weights of shape (n_sums, n_columns)."""
        return replace(self._times(membership), first=(membership @ self.first.T).T)

    def _times(self, weights: Any) -> SummedColumns:
        combined = weights if self.combined is None else weights @ self.combined
        return replace(self, combined=sparse.csr_array(combined))

    def scatter_among(self, columns: IntArray) -> FloatArray:
        """Scatter of some columns with each other over all rows; 0 for constants."""
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
        """The same, all rows in one batch."""
        return replace(self, parts=(together(self.parts),))

    @property
    def counts(self) -> FloatArray:
        """Number of rows in each batch, of shape (n_batches, 1)."""
        return np.array([[part.count] for part in self.parts])

    def _means(self) -> tuple[FloatArray, FloatArray]:
        """An origin, and the means in each batch as seen from there."""
        origin, gaps = _means_in(self.parts)
        return self._of_columns(origin[None])[0], self._of_columns(gaps)

    def _of_columns(self, values: FloatArray) -> FloatArray:
        """Values of features and targets as values of columns and targets."""
        if self.combined is None:
            return values
        d = self.combined.shape[1]
        return np.hstack([(self.combined @ values[:, :d].T).T, values[:, d:]])

    def _magnitude(self) -> FloatArray:
        """What the scatters of columns are sums of, so that rounding can be told."""
        own = np.stack([part.own for part in self.parts])
        if self.combined is None:
            return np.zeros(own.shape)
        d = self.combined.shape[1]
        weights = self.combined.power(2)
        sizes = np.diff(self.combined.indptr)
        return np.hstack([(weights @ own[:, :d].T).T * (sizes - 1), 0 * own[:, d:]])

    def gram(self, rows: RowSets) -> tuple[GramSource, Location]:
        """Scatters of the standardised columns, the targets last, and where the columns lie."""
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
        """Put the scatters within a batch where they belong."""
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
    """Where features lie, then targets."""
    own = np.stack([part.own for part in parts])
    counts = np.array([[part.count] for part in parts])
    return located(_means_in(parts), counts, own, np.zeros(own.shape))


def _means_in(parts: Sequence[Accumulated]) -> tuple[FloatArray, FloatArray]:
    """An origin, and the means in each batch as seen from there."""
    origin = parts[0].origin
    gaps = np.stack([(part.origin - origin) + part.from_origin for part in parts])
    return origin, gaps


def located(
    means: tuple[FloatArray, FloatArray],
    counts: FloatArray,
    own: FloatArray,
    magnitude: FloatArray,
) -> Location:
    """Where columns lie, by an origin and the means and own scatters in each batch."""
    origin, gaps = means
    n = counts.sum()
    middle = (counts * gaps).sum(axis=0) / n
    scatter = (own + counts * np.square(gaps - middle)).sum(axis=0)
    scatter = np.where(scatter > ROUNDING * magnitude.sum(axis=0), scatter, 0.0)
    centre, spread = origin + middle, np.sqrt(scatter / n)
    return Location(centre, np.where(spread <= CONSTANT * np.abs(centre), 0.0, spread))


def together(parts: Sequence[Accumulated]) -> Accumulated:
    """The sums over all rows; themselves where there is one batch only."""
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
    """Multiply rows and columns, in place; what was symmetric stays so to the last bit."""
    for start in range(0, len(factors), STRIP_ROWS):
        strip = slice(start, start + STRIP_ROWS)
        scatter[strip] *= np.outer(factors[strip], factors)


def gram_signed(source: GramSource, signs: FloatArray) -> GramSource:
    """The same scatters, of the features times 1 or -1 each."""
    signs = np.append(signs, np.ones(source.n_targets))
    scatters = source.scatters * signs[:, None] * signs
    return GramSource(source.rows, source.count, source.mean * signs, scatters, source.n_targets)


def gram_in_order(source: GramSource, order: IntArray) -> GramSource:
    """The same scatters, of the features in another order."""
    targets = np.arange(len(order), source.mean.shape[1])
    places = np.concatenate([order, targets])
    scatters = np.stack([scatter[np.ix_(places, places)] for scatter in source.scatters])
    return GramSource(source.rows, source.count, source.mean[:, places], scatters, len(targets))


def order_by_sums(
    source: GramSource, where: Location, first: FloatArray
) -> tuple[IntArray, IntArray]:
    """An order of the features by what is known of them, and which of them are copies.

    By their first rows and their spreads, then by what they have to do with the targets. It does
    not depend on where they stand, but for features that all of that cannot tell apart.

    Returns
    -------
    order : ndarray of shape (n_features,)
    copies : ndarray of shape (n_features,)
        In that order, the same number for features that are copies of each other.
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
    """Features that may be copies, by sets of those that are."""
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
