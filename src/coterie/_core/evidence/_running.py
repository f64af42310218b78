"""Evidence for aggregates that are any function of the columns, computed from the columns."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from coterie._core.evidence._columns import Standardised, means, standardised
from coterie._core.evidence._pairs import BREADTH, RESTARTS, PairMoments
from coterie._core.evidence._rows import RowSets, unless_constant
from coterie._core.values import FloatArray, IntArray

# Numbers in the largest temporary table; limits memory if there are many samples.
MAX_TEMPORARY = 2**22


@runtime_checkable
class RunningAggregate(Protocol):
    """Interface of an aggregate that keeps a state and can evaluate many candidates at once.

    An aggregation with these methods, besides ``name`` and ``values``, keeps a state of each
    group. Without them, the aggregate with each candidate is computed from all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> class Range:
    ...     name, keeps_single = "range", False
    ...
    ...     def values(self, columns):
    ...         return columns.max(axis=1) - columns.min(axis=1)
    ...
    ...     def first(self, column):
    ...         return column, column
    ...
    ...     def joined(self, state, column):
    ...         return np.minimum(state[0], column), np.maximum(state[1], column)
    ...
    ...     def value(self, state):
    ...         return state[1] - state[0]
    ...
    ...     def with_each(self, state, columns):
    ...         low, high = (side[:, None] for side in state)
    ...         return np.maximum(high, columns) - np.minimum(low, columns)
    >>> X, y, _ = make_groups(300, 6, 2, noise=3.0, random_state=0)
    >>> NonLinCFA(0.3, aggregation=Range()).fit(X, y).get_feature_names_out()[0]
    'range(x0, x1, x2, x3, x4, x5)'
    """

    def first(self, column: FloatArray) -> Any:
        """State of a group of one column, given with shape (n_samples,)."""

    def joined(self, state: Any, column: FloatArray) -> Any:
        """State of the group after a column has joined."""

    def value(self, state: Any) -> FloatArray:
        """The aggregate, of shape (n_samples,)."""

    def with_each(self, state: Any, columns: FloatArray) -> FloatArray:
        """Aggregates of the group with each of k columns alone added, of shape (n_samples, k)."""


class ColumnMoments(NamedTuple):
    """Means and scatters of columns in each set."""

    mean: FloatArray
    own: FloatArray


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
        The input of the aggregate.
    features : Standardised of shape (n_samples, n_features)
        The same columns, standardised, as candidates.
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
        self.max_candidates = max(1, MAX_TEMPORARY // len(columns))
        self.foresight, self.restarts, self.breadth = 1, RESTARTS, BREADTH
        self.foresees = False
        self.is_light = False
        self._aggregate = aggregate
        self._columns = columns
        self._features = features.values
        self.spread = features.spread
        self._rows = rows
        self._count = rows.counts(len(columns))
        self._set_count = rows.total(self._count)
        self._feature_moments = self._moments(features.values)
        self._look_at(target)

    def _look_at(self, target: Standardised) -> None:
        self._target = target.values
        self._target_moments = self._moments(target.values)
        self._with_target = self._scatter(self._features, target.values)

    def aimed_at(self, target: Standardised) -> RunningEvidence:
        """The same evidence about another target."""
        aimed = copy(self)
        aimed._look_at(target)
        return aimed

    @property
    def relevance(self) -> FloatArray:
        """Squared correlation of each feature with the target over all rows; NaN for constants."""
        r = means(self._features * self._target, self._rows.weights)
        return np.where(self.spread > 0, np.square(r), np.nan)

    def _scatter(self, columns: FloatArray, vector: FloatArray) -> FloatArray:
        """Scatter of each column with a vector of shape (n_samples, 1), in each set."""
        mean, vector_mean, scatter = [], [], []
        for batch in self._rows.batches:
            left, right, weights = columns[batch], vector[batch], self._rows.weights_of(batch)
            mean.append(means(left, weights))
            vector_mean.append(means(right, weights))
            # Only the vector is centred: its deviations sum to zero, so that is enough.
            deviations = (right - vector_mean[-1])[:, 0]
            scatter.append((deviations if weights is None else weights * deviations) @ left)
        gaps = self._rows.deviations(self._count, np.stack(mean))
        vector_gaps = self._rows.deviations(self._count, np.stack(vector_mean))
        return self._rows.pooled(gaps, vector_gaps, np.stack(scatter))

    def _moments(self, columns: FloatArray) -> ColumnMoments:
        batch_mean, batch_own = [], []
        for batch in self._rows.batches:
            part, weights = columns[batch], self._rows.weights_of(batch)
            batch_mean.append(means(part, weights))
            squares = np.square(part - batch_mean[-1])
            batch_own.append(squares.sum(axis=0) if weights is None else weights @ squares)
        mean, own = np.stack(batch_mean), np.stack(batch_own)
        set_mean = self._rows.total(self._count * mean) / self._set_count
        gaps = self._rows.deviations(self._count, mean)
        set_own = self._rows.pooled(gaps, gaps, own)
        return ColumnMoments(set_mean, unless_constant(set_own, self._set_count, set_mean))

    def _group(self, state: Any) -> RunningGroup:
        value = self._aggregate.value(state)[:, None]
        values = standardised(value, weights=self._rows.weights).values
        return RunningGroup(state, values, self._moments(values))

    def alone(self, feature: int) -> RunningGroup:
        """The group of one feature."""
        return self._group(self._aggregate.first(self._columns[:, feature]))

    def joined(self, group: RunningGroup, features: IntArray) -> RunningGroup:
        """The group after some features have joined."""
        state = group.state
        for feature in features:
            state = self._aggregate.joined(state, self._columns[:, feature])
        return self._group(state)

    def pairs(self, group: RunningGroup, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate."""
        merged = self._aggregate.with_each(group.state, self._columns[:, candidates])
        merged = standardised(merged, weights=self._rows.weights).values
        w, u, y = self._moments(merged), group.moments, self._target_moments
        v = ColumnMoments(*(field[..., candidates] for field in self._feature_moments))
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
            uy=self._scatter(group.values, self._target),
            vy=self._with_target[..., candidates],
            wy=self._scatter(merged, self._target),
        )
        return PairMoments(*(field[..., None, :] for field in fields))
