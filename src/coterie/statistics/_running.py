"""Groups that are any function of columns: the columns themselves are needed."""

from __future__ import annotations

from itertools import accumulate, islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from coterie.statistics._columns import Standardised, standardised
from coterie.statistics._pairs import PairMoments, stacked, unless_constant
from coterie.statistics._rows import RowSets
from coterie.values import FloatArray, IntArray

# Numbers in the largest temporary table; bounds memory when samples are many.
BLOCK = 2**22


@runtime_checkable
class RunningAggregate(Protocol):
    """A function of columns that can tell its next value for many candidates at once."""

    def first(self, column: FloatArray) -> Any:
        """State of a group of one column, given with shape (n_samples,)."""

    def joined(self, state: Any, column: FloatArray) -> Any:
        """State of the group with one column more."""

    def value(self, state: Any) -> FloatArray:
        """The aggregate, of shape (n_samples,)."""

    def with_each(self, state: Any, columns: FloatArray) -> FloatArray:
        """The aggregate with each of k columns joined in turn, of shape (n_samples, k)."""


class ColumnMoments(NamedTuple):
    """Means and scatters of columns, and their scatter with the target, in each set."""

    mean: FloatArray
    own: FloatArray
    with_target: FloatArray


class RunningGroup(NamedTuple):
    """The state of an aggregate, its standardised values and their moments."""

    state: Any
    values: FloatArray
    moments: ColumnMoments


class RunningEvidence:
    """Pair moments of groups that are any function of their columns.

    Parameters
    ----------
    aggregate : RunningAggregate
    columns : ndarray of shape (n_samples, n_features)
        What the aggregate is a function of.
    features : Standardised of shape (n_samples, n_features)
        The same columns as candidates.
    target : Standardised of shape (n_samples, 1)
    rows : RowSets
    """

    def __init__(
        self,
        aggregate: RunningAggregate,
        columns: FloatArray,
        features: Standardised,
        target: Standardised,
        rows: RowSets,
    ) -> None:
        self.n_features = columns.shape[1]
        self.max_candidates = max(1, BLOCK // len(columns))
        self.foresight = 1
        self.is_light = False
        self._aggregate = aggregate
        self._columns = columns
        self._features = features.values
        self._target = target.values
        self._rows = rows
        lengths = [len(target.values[batch]) for batch in rows.batches]
        self._count = np.array(lengths, dtype=np.float64)[:, None]
        self._set_count = rows.total(self._count)
        self._target_moments = self._moments(target.values)
        self._feature_moments = self._moments(features.values)

    def _scatter(self, columns: FloatArray, vector: FloatArray) -> FloatArray:
        """Scatter of each column with a vector of shape (n_samples, 1), in each set."""
        batches = [(columns[batch], vector[batch]) for batch in self._rows.batches]
        mean = np.stack([left.mean(axis=0) for left, _ in batches])
        vector_mean = np.stack([right.mean(axis=0) for _, right in batches])
        # Centring the vector alone is enough: its deviations sum to zero.
        scatter = [
            (right - right_mean)[:, 0] @ left
            for (left, right), right_mean in zip(batches, vector_mean, strict=True)
        ]
        gaps = self._rows.deviations(self._count, mean)
        vector_gaps = self._rows.deviations(self._count, vector_mean)
        return self._rows.pooled(gaps, vector_gaps, np.stack(scatter))

    def _moments(self, columns: FloatArray) -> ColumnMoments:
        batches = [columns[batch] for batch in self._rows.batches]
        mean = np.stack([batch.mean(axis=0) for batch in batches])
        own = np.stack([np.square(b - m).sum(axis=0) for b, m in zip(batches, mean, strict=True)])
        set_mean = self._rows.total(self._count * mean) / self._set_count
        gaps = self._rows.deviations(self._count, mean)
        set_own = self._rows.pooled(gaps, gaps, own)
        return ColumnMoments(
            set_mean,
            unless_constant(set_own, self._set_count, set_mean),
            self._scatter(columns, self._target),
        )

    def _group(self, state: Any) -> RunningGroup:
        values = standardised(self._aggregate.value(state)[:, None]).values
        return RunningGroup(state, values, self._moments(values))

    def alone(self, feature: int) -> RunningGroup:
        """The group of one feature."""
        return self._group(self._aggregate.first(self._columns[:, feature]))

    def joined(self, group: RunningGroup, features: IntArray) -> RunningGroup:
        """The group with some features more."""
        state = group.state
        for feature in features:
            state = self._aggregate.joined(state, self._columns[:, feature])
        return self._group(state)

    def pairs_along(
        self, group: RunningGroup, links: IntArray, candidates: IntArray
    ) -> PairMoments:
        """Moments with each candidate, after each link of a chain has joined in turn."""
        groups = accumulate(links[:, None], self.joined, initial=group)
        return stacked([self.pairs(longer, candidates) for longer in islice(groups, 1, None)])

    def pairs_in_turn(
        self, group: RunningGroup, links: IntArray, candidates: IntArray
    ) -> PairMoments:
        """Moments with each candidate, once the links before it have joined."""
        along = self.pairs_along(group, links, candidates)
        at = (np.searchsorted(links, candidates) - 1, np.arange(len(candidates)))
        return PairMoments(*(field[..., *at][..., None, :] for field in along))

    def pairs_of_singles(self, features: IntArray, candidates: IntArray) -> PairMoments:
        """Moments of each of some features, alone, with each candidate."""
        return stacked([self.pairs(self.alone(int(f)), candidates) for f in features])

    def pairs(self, group: RunningGroup, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate."""
        merged = self._aggregate.with_each(group.state, self._columns[:, candidates])
        w = self._moments(standardised(merged).values)
        v = ColumnMoments(*(field[..., candidates] for field in self._feature_moments))
        u, y = group.moments, self._target_moments
        fields = PairMoments(
            n=self._set_count,
            u=u.mean,
            v=v.mean,
            w=w.mean,
            y=y.mean,
            uu=u.own,
            vv=v.own,
            ww=w.own,
            yy=y.own,
            uv=self._scatter(self._features[:, candidates], group.values),
            uy=u.with_target,
            vy=v.with_target,
            wy=w.with_target,
        )
        return PairMoments(*(field[..., None, :] for field in fields))
