"""Groups that are weighted sums of columns: covariances suffice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.statistics._columns import LARGE, SMALL, Standardised
from coterie.statistics._moments import Moments
from coterie.statistics._pairs import PairMoments, without_rounding
from coterie.statistics._rows import RowSets
from coterie.values import FloatArray, IntArray


class SumGroup(NamedTuple):
    """A weighted sum of columns: its mean, its scatter, and its scatter with every column.

    ``mean`` and ``scatter`` have shape (sets..., 1), ``row`` has (sets..., n_columns).
    Weights are counted in units of ``unit``, so that squares stay within the floats.
    """

    mean: FloatArray
    scatter: FloatArray
    row: FloatArray
    unit: float


class SumEvidence:
    """Pair moments of groups that add up contributions, looked up in scatter matrices.

    The table behind it holds what each feature contributes to a sum, then the features
    themselves where these differ, then the target. Scatter is linear: that of a sum with
    any column is the sum of scatters, so a merge adds one row and a question is a look-up.

    Parameters
    ----------
    contributions, features : Standardised of shape (n_samples, n_features)
        What each feature adds to a sum, and what it is as a candidate; often the same.
    target : Standardised of shape (n_samples, 1)
    rows : RowSets
    """

    def __init__(
        self,
        contributions: Standardised,
        features: Standardised,
        target: Standardised,
        rows: RowSets,
    ) -> None:
        parts = [contributions, features, target]
        if contributions is features:
            parts.pop(0)
        table = np.hstack([part.values for part in parts])
        self._weights = contributions.spread
        self.n_features = self.max_candidates = len(self._weights)
        self._as_candidate = table.shape[1] - 1 - self.n_features
        self._rows = rows
        self._batches = [Moments.of(table[batch]) for batch in rows.batches]
        self._count = np.array([[batch.count] for batch in self._batches])
        self._mean = np.stack([batch.mean for batch in self._batches])
        self._set_count = rows.total(self._count)
        self._set_mean = rows.total(self._count * self._mean) / self._set_count
        self._own = self._own_scatter()
        self._with_target = self._row(table.shape[1] - 1)

    def _own_scatter(self) -> FloatArray:
        """Scatter of each column within each set; 0 where it is constant there."""
        diagonal = np.stack([np.diagonal(batch.scatter) for batch in self._batches])
        own = self._rows.pooled(self._count, self._mean, self._mean, diagonal)
        return without_rounding(own, own + self._set_count * self._set_mean**2)

    def _row(self, column: int) -> FloatArray:
        """Scatter of one column with every column, within each set."""
        scatter = np.stack([batch.scatter[column] for batch in self._batches])
        mean = self._mean[:, column, None]
        return self._rows.pooled(self._count, mean, self._mean, scatter)

    def _relative_weights(self, unit: float, features: IntArray) -> FloatArray:
        weights = self._weights[features]
        return np.where(weights > 0, np.clip(weights / unit, SMALL, LARGE), 0.0)

    def _typical_weight(self) -> float:
        varying = self._weights[self._weights > 0]
        return float(np.exp(np.log(varying).mean())) if len(varying) else 1.0

    def alone(self, feature: int) -> SumGroup:
        """The group of one feature."""
        unit = self._weights[feature] or self._typical_weight()
        empty = np.zeros(self._set_count.shape)
        group = SumGroup(empty, empty, np.zeros(self._own.shape), float(unit))
        return self.joined(group, feature)

    def joined(self, group: SumGroup, feature: int) -> SumGroup:
        """The group with one feature more."""
        column = np.array([feature])
        weight = self._relative_weights(group.unit, column)
        return SumGroup(
            group.mean + weight * self._set_mean[..., column],
            self._merged_scatter(group, column, weight),
            group.row + weight * self._row(feature),
            group.unit,
        )

    def _merged_scatter(
        self, group: SumGroup, columns: IntArray, weights: FloatArray
    ) -> FloatArray:
        added = weights**2 * self._own[..., columns]
        merged = group.scatter + 2 * weights * group.row[..., columns] + added
        return without_rounding(merged, group.scatter + added)

    def pairs(self, group: SumGroup, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate, from the rows of each set."""
        weights = self._relative_weights(group.unit, candidates)
        features = candidates + self._as_candidate
        with_target = group.row[..., -1:]
        return PairMoments(
            n=self._set_count,
            u=group.mean,
            v=self._set_mean[..., features],
            w=group.mean + weights * self._set_mean[..., candidates],
            y=self._set_mean[..., -1:],
            uu=group.scatter,
            vv=self._own[..., features],
            ww=self._merged_scatter(group, candidates, weights),
            yy=self._own[..., -1:],
            uv=group.row[..., features],
            uy=with_target,
            vy=self._with_target[..., features],
            wy=with_target + weights * self._with_target[..., candidates],
        )
