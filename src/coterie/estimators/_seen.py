"""What a fit knows of its inputs and targets: columns, or their moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from coterie._core.aggregations import Aggregation, LinearSum, means_of_available
from coterie._core.evidence import (
    ROWS,
    Accumulated,
    effective_number,
    effective_number_of,
    location_of,
    looked_at,
    scatter_within,
    standardised,
    together,
)
from coterie._core.grouping import is_light
from coterie._core.values import FloatArray, IntArray, Partition
from coterie.estimators._aggregates import (
    LinearAggregates,
    PlainAggregates,
    Scaling,
    aggregates_of,
    oriented,
)
from coterie.estimators._residuals import residuals, residuals_in

# Some targets, of shape (n_samples, n), and how often each row counts for them.
Block = tuple[FloatArray, FloatArray | None]
Aggregates = LinearAggregates | PlainAggregates


class Seen(Protocol):
    """Inputs and targets, as far as a fit asks about all of them together."""

    @property
    def n(self) -> float:
        """Number of rows, as often as each counts."""

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""

    @property
    def n_targets(self) -> int:
        """Number of targets."""

    @property
    def is_weighted(self) -> bool:
        """Whether some rows count more than others."""

    @property
    def is_light(self) -> bool:
        """Whether products of all columns are too small to be worth several threads."""

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        """How many candidates there are in effect, by the relevance of each input."""

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        """Where a target lies."""

    def aggregates(
        self, groups: Sequence[IntArray], signs: FloatArray, *, gaps: bool
    ) -> Aggregates:
        """How columns become aggregates."""

    def left_by(self, partition: Partition) -> FloatArray:
        """Sum of squares that a regression on all aggregates leaves of each target."""


@dataclass(frozen=True)
class SeenColumns:
    """Inputs and targets that lie in memory.

    Parameters
    ----------
    columns : ndarray or sparse array of shape (n_samples, n_inputs)
        NaN where there are gaps.
    targets : ndarray of shape (n_samples, n_targets)
    weights : ndarray of shape (n_samples,) or None
        How many times each row counts.
    all_together : list of blocks
        The targets, for a regression on all aggregates.
    aggregation : Aggregation
    gaps : bool
        Whether the columns have some.
    """

    columns: Any
    targets: FloatArray
    weights: FloatArray | None
    all_together: list[Block]
    aggregation: Aggregation
    gaps: bool

    @property
    def n(self) -> float:
        return float(len(self.targets) if self.weights is None else self.weights.sum())

    @property
    def n_inputs(self) -> int:
        return int(self.columns.shape[1])

    @property
    def n_targets(self) -> int:
        return self.targets.shape[1]

    @property
    def is_weighted(self) -> bool:
        return self.weights is not None

    @property
    def is_light(self) -> bool:
        return is_light(self.columns)

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        chosen, n_columns = looked_at(relevance), _n_varying(relevance)
        return effective_number(self.columns[:, chosen], n_columns, self.weights, signs=signs)

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        _, centre, spread = standardised(self.targets[:, [number]], weights=self.weights)
        return float(centre[0]), float(spread[0])

    def aggregates(
        self, groups: Sequence[IntArray], signs: FloatArray, *, gaps: bool
    ) -> Aggregates:
        means = means_of_available(self.columns, self.weights) if gaps else None
        return aggregates_of(self.aggregation, groups, self.columns, signs, means)

    def left_by(self, partition: Partition) -> FloatArray:
        made = self.aggregates(partition.groups, oriented(partition), gaps=self.gaps)
        values = made.values(self.columns)
        return np.concatenate([residuals(values, *block) for block in self.all_together])


@dataclass(frozen=True)
class SeenMoments:
    """Inputs and targets of which only moments are known, for means and sums of the inputs.

    Parameters
    ----------
    parts : tuple of Accumulated
        The sums over each batch of rows.
    aggregation : LinearSum
    is_weighted : bool
    first : ndarray of shape (n_rows, n_inputs)
        The first row, and the first that is another one, as they came.
    looked_at : ndarray of shape (n_rows, n_inputs) or None
        The rows that show how correlated the inputs are, where they were kept.
    scaling : Scaling or None
        How inputs are scaled before they are grouped.
    """

    parts: tuple[Accumulated, ...]
    aggregation: LinearSum
    is_weighted: bool
    first: FloatArray
    looked_at: FloatArray | None
    scaling: Scaling | None

    @cached_property
    def whole(self) -> Accumulated:
        """The sums over all rows."""
        return together(self.parts)

    @cached_property
    def scatter(self) -> FloatArray:
        """Scatter of the inputs over all rows, in their own units."""
        return scatter_within(self.whole)

    @property
    def n(self) -> float:
        return float(sum(part.count for part in self.parts))

    @property
    def n_inputs(self) -> int:
        return self.parts[0].n_features

    @property
    def n_targets(self) -> int:
        return len(self.parts[0].targets)

    @property
    def is_light(self) -> bool:
        return True

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        chosen, n_columns = looked_at(relevance), _n_varying(relevance)
        if self.looked_at is not None and self.n > ROWS:
            some = self._scaled(self.looked_at)[:, chosen]
            return effective_number(some, n_columns, signs=signs)
        spread = location_of(self.parts).spread[: self.n_inputs]
        chosen = chosen[spread[chosen] > 0]
        scatter = self.scatter[np.ix_(chosen, chosen)]
        return effective_number_of(scatter, n_columns, self.n, signs=signs)

    def _scaled(self, rows: FloatArray) -> FloatArray:
        return rows if self.scaling is None else self.scaling.applied(rows)

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        centre, spread = location_of(self.parts)
        return float(centre[self.n_inputs + number]), float(spread[self.n_inputs + number])

    def aggregates(
        self, groups: Sequence[IntArray], signs: FloatArray, *, gaps: bool
    ) -> LinearAggregates:
        # Weights of means and sums depend on no row.
        no_rows = np.empty((0, self.n_inputs))
        return LinearAggregates.of(self.aggregation, groups, no_rows, signs)

    def left_by(self, partition: Partition) -> FloatArray:
        made = self.aggregates(partition.groups, oriented(partition), gaps=False)
        weights = made.weights
        if self.scaling is not None:
            weights = sparse.csr_array(weights @ sparse.diags_array(1 / self.scaling.spread))
        d, gap = self.n_inputs, self.whole.from_origin
        cross = self.whole.cross - self.n * np.outer(gap[:d], gap[d:])
        of_aggregates = weights @ (weights @ self.scatter).T
        with_targets = weights @ cross
        of_targets = self.whole.targets - self.n * np.outer(gap[d:], gap[d:])
        scatter = np.block([[of_aggregates, with_targets], [with_targets.T, of_targets]])
        return residuals_in(scatter, self.n_targets)


def _n_varying(relevance: FloatArray) -> int:
    """Number of inputs that are not constant."""
    return int(np.count_nonzero(~np.isnan(relevance)))
