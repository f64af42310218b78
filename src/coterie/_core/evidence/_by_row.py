"""Evidence row by row, for criteria that need more than moments and for missing values."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from coterie._core.evidence._columns import available, means, standardised
from coterie._core.evidence._pair_columns import PairColumns
from coterie._core.evidence._pairs import (
    BREADTH,
    RESTARTS,
    ROUNDING,
    PairMoments,
)
from coterie._core.evidence._rows import RowSets, unless_constant
from coterie._core.evidence._running import MAX_TEMPORARY, RunningAggregate
from coterie._core.values import BoolArray, FloatArray, IntArray


class RowGroup(NamedTuple):
    """The state of an aggregate, its standardised values, and which rows have a value."""

    state: Any
    values: FloatArray  # (n_samples, 1)
    has: BoolArray  # (n_samples, 1)
    widest: float  # the largest spread of a member


class RowEvidence:
    """The columns of a group, its candidates and their merged aggregates, in all rows.

    A row is used for a pair if both the group and the candidate have a value in it. Missing values
    in other columns do not matter.

    Parameters
    ----------
    aggregate : RunningAggregate
        If columns have missing values, it must return NaN where no member has a value.
    columns : ndarray of shape (n_samples, n_features)
        NaN for missing values.
    target : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples,) or None
    offset : ndarray of shape (n_samples,) or None
        Known part of the linear predictor.
    """

    def __init__(
        self,
        aggregate: RunningAggregate,
        columns: FloatArray,
        target: FloatArray,
        weights: FloatArray | None = None,
        offset: FloatArray | None = None,
    ) -> None:
        n_samples, self.n_features = columns.shape
        # One call allocates about a dozen tables of this size, which should fit in the cache.
        self.max_candidates = max(1, MAX_TEMPORARY // 16 // n_samples)
        self.foresight, self.restarts, self.breadth = 1, RESTARTS, BREADTH
        self.foresees = False
        self.is_light = False
        self._aggregate, self._columns = aggregate, columns
        self._cancels = bool(getattr(aggregate, "cancels", False))
        self._target = target[:, None]
        self._weights = np.ones((n_samples, 1)) if weights is None else weights[:, None]
        self._offset = np.zeros((n_samples, 1)) if offset is None else offset[:, None]
        standard = available(columns, self._weights[:, 0])
        self._features, self._has = standard.values, ~np.isnan(columns)
        self.spread = standard.spread

    @property
    def relevance(self) -> FloatArray:
        """Squared correlation of each feature with the target; NaN for constants."""
        weights = self._weights[:, 0]
        target = standardised(self._target, weights=weights).values
        r = means(self._features * target, weights)
        return np.where(self.spread > 0, np.square(r), np.nan)

    def aimed_at(self, target: FloatArray) -> RowEvidence:
        """The same evidence about another target."""
        aimed = copy(self)
        aimed._target = target[:, None]
        return aimed

    def _filled(
        self, columns: FloatArray, widest: FloatArray | float
    ) -> tuple[FloatArray, BoolArray]:
        """Standardised columns, 0 for missing values, and the mask of rows that have a value.

        If members cancel each other, a spread that is tiny relative to ``widest``, the largest
        spread of a member, is rounding error. Such columns are set to 0.
        """
        values, _, spread = available(columns, self._weights[:, 0])
        if self._cancels:
            values[:, spread**2 <= ROUNDING * np.square(widest)] = 0.0
        return values, ~np.isnan(columns)

    def _group(self, state: Any, widest: float) -> RowGroup:
        values, has = self._filled(self._aggregate.value(state)[:, None], widest)
        return RowGroup(state, values, has, widest)

    def alone(self, feature: int) -> RowGroup:
        """The group of one feature."""
        state = self._aggregate.first(self._columns[:, feature])
        return self._group(state, float(self.spread[feature]))

    def joined(self, group: RowGroup, features: IntArray) -> RowGroup:
        """The group after some features have joined."""
        state = group.state
        for feature in features:
            state = self._aggregate.joined(state, self._columns[:, feature])
        return self._group(state, max(group.widest, float(self.spread[features].max())))

    def pairs(self, group: RowGroup, candidates: IntArray) -> PairColumns:
        """Columns of the group with each candidate."""
        merged = self._aggregate.with_each(group.state, self._columns[:, candidates])
        shared = group.has & self._has[:, candidates]
        weights = self._weights if shared.all() else self._weights * shared
        return PairColumns(
            u=group.values,
            v=self._features[:, candidates],
            w=self._filled(merged, np.maximum(group.widest, self.spread[candidates]))[0],
            y=self._target,
            weights=weights,
            offset=self._offset,
        )


class PairwiseEvidence:
    """Pair moments over the rows that have both the group and the candidate.

    Parameters
    ----------
    by_row : RowEvidence
    rows : RowSets
    """

    def __init__(self, by_row: RowEvidence, rows: RowSets) -> None:
        self.n_features, self.max_candidates = by_row.n_features, by_row.max_candidates
        self.foresight, self.foresees = by_row.foresight, by_row.foresees
        self.restarts, self.breadth = by_row.restarts, by_row.breadth
        self.is_light = by_row.is_light
        self._by_row, self._rows = by_row, rows
        self.alone, self.joined, self.spread = by_row.alone, by_row.joined, by_row.spread

    @property
    def relevance(self) -> FloatArray:
        """Squared correlation of each feature with the target; NaN for constants."""
        return self._by_row.relevance

    def pairs(self, group: RowGroup, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate."""
        return moments_within(self._by_row.pairs(group, candidates), self._rows)


def moments_within(columns: PairColumns, rows: RowSets) -> PairMoments:
    """Moments of columns within each set, over the rows that are used for each candidate."""
    u, v, w, y, weights, _ = columns
    table = {"u": u, "v": v, "w": w, "y": y}
    weights = np.broadcast_to(weights, v.shape)
    count = np.stack([weights[batch].sum(axis=0) for batch in rows.batches])
    mean, centred = {}, {}
    for name, column in table.items():
        mean[name], centred[name] = _centred(column, weights, count, rows)
    n = rows.total(count)
    set_mean = {name: _over(rows.total(count * mean[name]), n) for name in table}
    root = np.sqrt(count) * rows.membership[..., None]
    gaps = {name: root * (mean[name] - set_mean[name][..., None, :]) for name in table}

    def scatter(a: str, b: str) -> FloatArray:
        batches = [
            np.einsum("ij,ij,ij->j", weights[batch], left, right)
            for batch, left, right in zip(rows.batches, centred[a], centred[b], strict=True)
        ]
        return rows.pooled(gaps[a], gaps[b], np.stack(batches))

    own = {name: unless_constant(scatter(name, name), n, set_mean[name]) for name in table}
    fields = PairMoments(
        n,
        *(set_mean[name] for name in "uvwy"),
        *(own[name] for name in "uvwy"),
        *(scatter(a, b) for a, b in ("uv", "uy", "vy", "wy")),
    )
    return PairMoments(*(field[..., None, :] for field in fields))


def _centred(
    column: FloatArray, weights: FloatArray, count: FloatArray, rows: RowSets
) -> tuple[FloatArray, list[FloatArray]]:
    """Mean of a column within each batch, for each candidate, and the deviations from it."""
    sums = [np.einsum("ij,ij->j", weights[b], _wide(column[b], weights)) for b in rows.batches]
    mean = _over(np.stack(sums), count)
    return mean, [_wide(column[b], weights) - mean[k] for k, b in enumerate(rows.batches)]


def _wide(column: FloatArray, like: FloatArray) -> FloatArray:
    return np.broadcast_to(column, (len(column), like.shape[1]))


def _over(total: FloatArray, count: FloatArray) -> FloatArray:
    """Mean, and 0 where the count is 0."""
    return np.divide(total, count, out=np.zeros(total.shape), where=count > 0)
