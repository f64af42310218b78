"""Evidence for groups that are weighted sums of columns, computed from their scatters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._core.evidence._columns import LARGE, SMALL
from coterie._core.evidence._pairs import (
    BREADTH,
    FROM_CONSTANTS,
    RESTARTS,
    PairMoments,
    without_rounding,
)
from coterie._core.evidence._rows import unless_constant
from coterie._core.evidence._sources import Source
from coterie._core.values import FloatArray, IntArray


class SumGroup(NamedTuple):
    """A weighted sum of columns: its representation in the source, its means and its scatters.

    ``mean``, ``own`` and ``parts`` have shape (n_batches, 1); ``parts`` is the sum of the scatters
    of its members. Weights are divided by the largest weight so far, ``unit``, so that squares
    neither overflow nor underflow.
    """

    total: Any
    mean: FloatArray
    own: FloatArray
    parts: FloatArray
    unit: FloatArray  # (1,)


class SumChain(NamedTuple):
    """A sum to which k columns are added one after the other."""

    links: Any  # the representation in the source
    mean_own_parts: tuple[FloatArray, FloatArray, FloatArray]  # (n_batches, k) each
    unit: FloatArray  # (1,)


class SumsSeen(NamedTuple):
    """Moments of k sums and their scatters with m columns, the last of which is the target."""

    mean: FloatArray  # (n_batches, k)
    own: FloatArray  # (n_batches, k)
    parts: FloatArray  # (n_batches, k), sum of the scatters of their members
    rows: FloatArray  # (n_batches, k, m), scatter with each column
    unit: FloatArray  # (k,) or (1,)


class SumsWithin(NamedTuple):
    """Moments of k groups within each set; fields broadcast to (sets..., k, m)."""

    u: FloatArray
    uu: FloatArray
    parts: FloatArray
    rows: FloatArray  # with the candidates, then with their contributions if these differ
    uy: FloatArray
    unit: FloatArray  # (k,) or (1,)


class SumEvidence:
    """Pair moments of groups that are sums of contributions.

    Scatter is linear: the scatter of a sum with a column is the sum of the scatters. So a merge
    adds one row, and the moments of a candidate are looked up. This holds for any source.

    Parameters
    ----------
    source : Source
        Its table holds the contribution of each feature to a sum, then the features themselves
        if these differ, then the target.
    weights : ndarray of shape (n_features,)
        Weight of each standardised contribution in a sum: its spread, so that columns are added
        in their own units.
    signs : bool, default=False
        Whether a candidate with negative correlation to a group is multiplied by -1 to join it.

    Attributes
    ----------
    n : ndarray of shape (sets..., 1)
        Number of rows in each set.
    columns : ndarray of shape (3, sets..., 1, n_columns)
        Mean, own scatter and scatter with the target of each column of the table.
    deviations : ndarray of shape (sets..., n_batches, n_columns)
        Mean of each batch minus the mean of its set, multiplied by the root of its count.
    as_candidate : int
        Index of the first feature in the table.
    typical_weight : float
        Unit of the weights in a group that starts with a constant.
    units_differ : bool
        Whether the smallest weight is 0 or negligible relative to the largest.
    apart : ndarray of shape (n_batches, n_columns)
        Mean of each batch minus the mean of all rows, multiplied by the root of its count.
    """

    def __init__(self, source: Source, weights: FloatArray, *, signs: bool = False) -> None:
        self.n_features = len(weights)
        self.max_candidates = source.max_columns
        self.signs = signs
        # Merges are not computed ahead if weights differ too much for a common unit, or if signs
        # are allowed, since the sign of a link is known only when it joins.
        self.foresight = 128 if _all_alike(weights[weights > 0]) and not signs else 1
        self.restarts, self.breadth = RESTARTS, BREADTH
        self.foresees = True
        self.is_light = source.is_light
        self.source, self._rows = source, source.rows
        self.weights = weights
        self._target = source.target_column
        self._targets = np.array([self._target])
        self.as_candidate = source.own.shape[1] - source.n_targets - len(weights)
        mean, count = source.mean, source.count
        self.n = self._rows.total(count)
        set_mean = self._rows.total(count * mean) / self.n
        self.deviations = self._rows.deviations(count, mean)
        to_target = self.deviations[..., [self._target]]
        own = self._rows.pooled(self.deviations, self.deviations, source.own)
        own = unless_constant(own, self.n, set_mean)
        with_target = self._rows.pooled(self.deviations, to_target, source.with_target)
        # Stored in one array, so that one lookup is enough for a candidate.
        self.columns = np.stack([set_mean, own, with_target])[..., None, :]
        self.apart = self._rows.off_centre(count, mean)
        self.units_differ = not _all_alike(weights)
        self.typical_weight = _typical(weights)

    @property
    def relevance(self) -> FloatArray:
        """Squared correlation of each feature with the target over all rows; NaN for constants."""
        features = slice(self.as_candidate, self.as_candidate + self.n_features)
        target = self.apart[:, [self._target]]
        with_target = self._rows.over_all(self.source.with_target)
        with_target = with_target + (self.apart * target).sum(axis=0)
        own = np.asarray(self._own_scatter())
        scatter = np.square(np.asarray(with_target))[features]
        varies = (own[features] > 0) & (np.asarray(self.weights) > 0)
        return np.divide(
            scatter, own[features] * own[self._target], where=varies, out=_no_value(scatter)
        )

    def _own_scatter(self) -> FloatArray:
        """Scatter of each column over all rows."""
        return self._rows.over_all(self.source.own) + np.square(self.apart).sum(axis=0)

    @property
    def spread(self) -> FloatArray:
        """Spread of the contribution of each feature to a sum."""
        n = float(self._rows.over_all(self.source.count)[0])
        own = np.asarray(self._own_scatter())[: self.n_features] / n
        return np.asarray(self.weights) * np.sqrt(np.maximum(own, 0.0))

    def _weights_in(self, unit: FloatArray, features: IntArray) -> FloatArray:
        """Weights of features divided by each unit, (len(unit), len(features))."""
        weights = self.weights[features]
        relative = weights / unit[:, None]
        if not self.units_differ:
            return relative
        return np.where(weights > 0, np.clip(relative, SMALL, LARGE), 0.0)

    def _units(self, features: IntArray) -> FloatArray:
        """Unit of the weights in a group that starts with each feature."""
        weights = self.weights[features]
        return np.where(weights > 0, weights, self.typical_weight)

    def alone(self, feature: int) -> SumGroup:
        """The group of one feature."""
        features, nothing = np.array([feature]), np.zeros(self.source.count.shape)
        unit, total = self._units(features), self.source.nothing()
        return self.joined(SumGroup(total, nothing, nothing, nothing, unit), features)

    def joined(self, group: SumGroup, features: IntArray) -> SumGroup:
        """The group after some features have joined."""
        chain = self._chain(group, features)
        mean, own, parts = (field[:, -1:] for field in chain.mean_own_parts)
        return SumGroup(self.source.end(chain.links), mean, own, parts, chain.unit)

    def _in_units_of(self, group: SumGroup, features: IntArray) -> SumGroup:
        """The group in units of the largest weight of some features, if it exceeds the unit."""
        if not self.units_differ:
            return group
        heaviest = float(self.weights[features].max())
        if heaviest <= group.unit[0]:
            return group
        factor = group.unit[0] / heaviest
        total, mean, own, parts, _ = group
        squared = factor**2
        unit = np.array([heaviest])
        return SumGroup(total * factor, mean * factor, own * squared, parts * squared, unit)

    def _chain(self, group: SumGroup, features: IntArray) -> SumChain:
        group = self._in_units_of(group, features)
        weights = self._weights_in(group.unit, features)[0]
        if self.signs:
            weights = weights * self._signs_with(group, features)
        links = self.source.chain(group.total, features, weights)
        added = weights**2 * self.source.own.take(features, axis=1)
        shifts = weights * self.source.mean.take(features, axis=1)
        mean_own_parts = (
            group.mean + np.cumsum(shifts, axis=1),
            self.source.growth(links, group.own),
            group.parts + np.cumsum(added, axis=1),
        )
        return SumChain(links, mean_own_parts, group.unit)

    def _signs_with(self, group: SumGroup, features: IntArray) -> FloatArray:
        """Sign with which each of some features would join a group, 1 or -1."""
        scatter = self.source.against(group.total, features)
        left = self._rows.off_centre(self.source.count, group.mean)
        between = left * self.apart.take(features, axis=1)
        return self._signs_of(scatter, between)

    def _signs_of(self, scatter: FloatArray, between: FloatArray) -> FloatArray:
        """-1 where the scatter over all rows is negative, else 1; the first axis is batches."""
        total = self._rows.over_all(scatter) + between.sum(axis=0)
        return np.where(total < 0, -1.0, 1.0)

    def pairs(self, group: SumGroup, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate."""
        seen = self._seen_by(candidates)
        rows = self.source.against(group.total, seen)[:, None]
        return self._pairs_seen(SumsSeen(*group[1:4], rows, group.unit), seen, candidates)

    def pairs_along(self, group: SumGroup, links: IntArray, candidates: IntArray) -> PairMoments:
        """Moments with each candidate after each link: (k, m) pairs for k links, m candidates."""
        chain, seen = self._chain(group, links), self._seen_by(candidates)
        rows = self.source.against_each(chain.links, seen)
        sums = SumsSeen(*chain.mean_own_parts, rows, chain.unit)
        return self._pairs_seen(sums, seen, candidates)

    def pairs_of_singles(self, features: IntArray, candidates: IntArray) -> PairMoments:
        """Moments of groups of one feature each with each candidate."""
        unit = self._units(features)
        weights = np.where(self.weights[features] > 0, 1.0, 0.0)
        mean = weights * self.source.mean[:, features]
        own = weights * self.source.own[:, features]
        seen = self._seen_by(candidates)
        rows = weights[:, None] * self.source.between(features, seen)
        return self._pairs_seen(SumsSeen(mean, own, own, rows, unit), seen, candidates)

    def _pairs_seen(self, sums: SumsSeen, seen: IntArray, candidates: IntArray) -> PairMoments:
        signs = self._signs(sums, candidates)
        return self._pairs(self._within_sets(sums, seen), seen, candidates, signs)

    def _signs(self, sums: SumsSeen, candidates: IntArray) -> FloatArray | None:
        """Sign of each candidate for each sum, of shape (k, m); None if signs are not allowed."""
        if not self.signs:
            return None
        left = self._rows.off_centre(self.source.count, sums.mean)[..., None]
        between = left * self.apart.take(candidates, axis=1)[:, None]
        return self._signs_of(sums.rows[..., : len(candidates)], between)

    def signs_in_turn(self, members: IntArray) -> FloatArray:
        """Signs, 1 or -1, of features that joined a group in this order."""
        signs, group = np.ones(len(members)), self.alone(int(members[0]))
        for place, member in enumerate(members[1:, None], start=1):
            signs[place] = self._signs_with(group, member)[0]
            group = self.joined(group, member)
        return signs

    def _seen_by(self, candidates: IntArray) -> IntArray:
        """Columns of the table to use: candidates, their contributions if different, target."""
        if self.as_candidate == 0:
            return np.concatenate((candidates, self._targets))
        return np.concatenate((candidates + self.as_candidate, candidates, self._targets))

    def pairs_in_turn(self, group: SumGroup, links: IntArray, candidates: IntArray) -> PairMoments:
        """Moments with each candidate after the links that precede it have joined."""
        chain, looked_at = self._chain(group, links), self._seen_by(candidates)
        seen = looked_at[:-1]
        after = np.searchsorted(links, candidates) - 1
        mean, own, parts = (field[:, after] for field in chain.mean_own_parts)
        after_seen = np.tile(after, len(seen) // len(candidates))
        with_seen = self.source.against_in_turn(chain.links, after_seen, seen)
        target = self._targets
        with_target = self.source.against_each(chain.links, target)[:, after, 0]
        gaps = self._rows.deviations(self.source.count, mean)
        gaps_seen = np.tile(gaps, len(seen) // len(candidates))
        sums = SumsWithin(
            u=(self._rows.total(self.source.count * mean) / self.n)[..., None, :],
            uu=self._rows.pooled(gaps, gaps, own)[..., None, :],
            parts=self._rows.total(parts)[..., None, :],
            rows=self._rows.pooled(gaps_seen, self.deviations[..., seen], with_seen)[..., None, :],
            uy=self._rows.pooled(gaps, self.deviations[..., target], with_target)[..., None, :],
            unit=chain.unit,
        )
        return self._pairs(sums, looked_at, candidates)

    def _within_sets(self, sums: SumsSeen, seen: IntArray) -> SumsWithin:
        if self._rows.is_one:
            mean, own, parts, rows = (field[0] for field in sums[:4])
        else:
            gaps = self._rows.deviations(self.source.count, sums.mean)
            mean = self._rows.total(self.source.count * sums.mean) / self.n
            own = self._rows.pooled(gaps, gaps, sums.own)
            parts = self._rows.total(sums.parts)
            rows = self._rows.pooled_crosswise(gaps, self.deviations[..., seen], sums.rows)
        mean, own, parts = mean[..., None], own[..., None], parts[..., None]
        return SumsWithin(mean, own, parts, rows[..., :-1], rows[..., -1:], sums.unit)

    def _pairs(
        self,
        sums: SumsWithin,
        seen: IntArray,
        candidates: IntArray,
        signs: FloatArray | None = None,
    ) -> PairMoments:
        m = len(candidates)
        mean, own, with_target = self.columns.take(seen, axis=-1)
        n = self.n[..., None]
        u_left = FROM_CONSTANTS * n * sums.u**2
        uu = without_rounding(sums.uu, sums.parts + u_left)
        contributed = slice(m) if self.as_candidate == 0 else slice(m, -1)
        with_contributed = sums.rows if self.as_candidate == 0 else sums.rows[..., m:]
        weights = self._weights_in(sums.unit, candidates)
        v, uv, vy = mean[..., :m], sums.rows[..., :m], with_target[..., :m]
        if signs is not None:
            # A candidate of negative sign is multiplied by -1.
            weights, v, uv, vy = (each * signs for each in (weights, v, uv, vy))
        added = weights**2 * own[..., contributed]
        merged = uu + added + 2 * weights * with_contributed
        shift = weights * mean[..., contributed]
        w_left = u_left + FROM_CONSTANTS * n * shift**2
        return PairMoments(
            n=n,
            u=sums.u,
            v=v,
            w=sums.u + shift,
            y=mean[..., -1:],
            uu=uu,
            vv=own[..., :m],
            ww=without_rounding(merged, uu + added + w_left),
            yy=own[..., -1:],
            uv=uv,
            uy=sums.uy,
            vy=vy,
            wy=sums.uy + weights * with_target[..., contributed],
        )


def _no_value(like: FloatArray) -> FloatArray:
    return np.full(like.shape, np.nan)


def _typical(weights: FloatArray) -> float:
    """Geometric mean of the positive weights; 1 if there are none."""
    varying = weights[weights > 0]
    return float(np.exp(np.log(varying).mean())) if len(varying) else 1.0


def _all_alike(weights: FloatArray) -> bool:
    """Whether all weights are positive and squares of their ratios do not underflow."""
    return len(weights) == 0 or bool(weights.min() > SMALL * weights.max())
