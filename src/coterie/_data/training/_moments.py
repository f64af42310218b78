"""Training data that consist of moments, computed by update or by an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.aggregations import LinearSum
from coterie._core.evidence import (
    ROWS,
    Accumulated,
    Evidence,
    GramSource,
    Location,
    RowSets,
    SummedColumns,
    canonical_signs_from_sums,
    effective_number,
    effective_number_of,
    evidence_from_sums,
    gram_in_order,
    gram_signed,
    location_of,
    looked_at,
    order_by_sums,
    residual_ss_from_scatter,
    scatter_within,
    together,
)
from coterie._core.fit import (
    Features,
    FitSpec,
    Groupable,
    LinearAggregates,
    Pricing,
    Scaling,
)
from coterie._core.must_link import MustLink
from coterie._core.search import Limits, Search
from coterie._core.values import FloatArray, IntArray, Partition
from coterie._data.engines import Counting
from coterie._data.moments import Moments
from coterie._data.parameters import checked_constraints, checked_importance
from coterie._data.training._folds import check_scorable, folds_in_moments, n_contiguous_folds
from coterie._data.training._lazy import engine_for
from coterie._data.training._rows import Given
from coterie._data.training._table import feature_names, reason_for_rows


@dataclass(frozen=True)
class SearchableSums:
    """Columns known only by their moments; see :class:`coterie._core.fit.Searchable`."""

    columns: SummedColumns
    rows: RowSets
    signs: bool

    def scatter_among(self, columns: IntArray) -> FloatArray:
        """Scatter of some columns with each other."""
        return self.columns.scatter_among(columns)

    def merged(self, must_link: MustLink | None) -> SearchableGram:
        """The scatter matrix with one column for each set of features that stay together."""
        columns = self.columns
        if must_link is not None and len(must_link.members) < columns.n_columns:
            columns = columns.summed(must_link.weights(columns.n_columns))
        source, location = columns.gram(self.rows)
        return SearchableGram(source, location, columns.first, self.signs)


@dataclass(frozen=True)
class SearchableGram:
    """The scatter matrix of all columns, prepared for a search."""

    source: GramSource
    location: Location
    first: FloatArray
    signs: bool

    def canonical_signs(self) -> FloatArray:
        """1 or -1 for each column, such that multiplying the column by -1 has no effect."""
        return canonical_signs_from_sums(self.source, self.first)

    def signed(self, signs: FloatArray) -> SearchableGram:
        """The columns multiplied by 1 or -1 each."""
        return replace(self, source=gram_signed(self.source, signs), first=self.first * signs)

    def order_by_content(self) -> tuple[IntArray, IntArray]:
        """An order of the columns that depends only on their values, and which are copies."""
        return order_by_sums(self.source, self.location, self.first)

    def in_order(self, order: IntArray) -> SearchableGram:
        """The columns in another order."""
        n_columns = self.first.shape[1]
        spread = self.location.spread[:n_columns][order]
        location = Location(self.location.centre, spread)
        source = gram_in_order(self.source, order)
        return replace(self, source=source, location=location, first=self.first[:, order])

    def evidence(self, *, all_pairs: bool) -> Evidence[Any]:
        """The evidence about groups of these columns."""
        spread = self.location.spread[: self.first.shape[1]]
        return evidence_from_sums(self.source, spread, signs=self.signs)


@dataclass(frozen=True)
class MomentData:
    """Inputs and targets known only by their moments, for the aggregations "mean" and "sum".

    See :class:`coterie._core.fit.TrainingData`.

    Parameters
    ----------
    parts : tuple of Accumulated
        The sums over each batch of rows.
    aggregation : LinearSum
    is_weighted : bool
    first : ndarray of shape (n_rows, n_inputs)
        The first row, and the first row that differs from it.
    sampled : ndarray of shape (n_rows, n_inputs) or None
        Sampled rows, from which the effective number of inputs is estimated; None if none were
        kept.
    n_folds : int or None
        Number of folds to score prices on; None: score on all rows.
    features, limits, must_link, importance, classes, signs
        As in :class:`ColumnData`.
    """

    parts: tuple[Accumulated, ...]
    aggregation: LinearSum
    is_weighted: bool
    first: FloatArray
    sampled: FloatArray | None
    n_folds: int | None
    features: Features
    limits: Limits
    must_link: MustLink | None
    importance: FloatArray
    classes: Any
    signs: bool
    min_rows: FloatArray | None = None
    unmergeable: str | None = None
    is_light: bool = True

    @cached_property
    def whole(self) -> Accumulated:
        """The sums over all rows."""
        return together(self.parts)

    @cached_property
    def scatter(self) -> FloatArray:
        """Scatter matrix of the inputs over all rows, before scaling."""
        return scatter_within(self.whole)

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(sum(part.count for part in self.parts))

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.parts[0].n_features

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.parts[0].targets)

    def groupable(self, search: Search, must_link: MustLink | None) -> Groupable:
        """The inputs, ready to be grouped."""
        parts = (self.whole,) if self.n_folds is None else self.parts
        rows = RowSets.all_rows() if self.n_folds is None else RowSets.of_folds(self.n_folds)
        columns, scaling = SummedColumns(parts, self.first), self.features.scaling
        if scaling is not None:
            columns = columns.scaled(scaling.centre, scaling.spread)
        searchable = SearchableSums(columns, rows, self.signs)
        return Groupable.of(searchable, search, self.limits, must_link, signs=self.signs)

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        """The effective number of candidates, given the relevance of each input."""
        chosen, n_columns = looked_at(relevance), int(np.count_nonzero(~np.isnan(relevance)))
        if self.sampled is not None and self.n > ROWS:
            scaling = self.features.scaling
            some = self.sampled if scaling is None else scaling.applied(self.sampled)
            return effective_number(some[:, chosen], n_columns, signs=signs)
        spread = location_of(self.parts).spread[: self.n_inputs]
        chosen = chosen[spread[chosen] > 0]
        scatter = self.scatter[np.ix_(chosen, chosen)]
        return effective_number_of(scatter, n_columns, self.n, signs=signs)

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        """Mean and standard deviation of a target."""
        centre, spread = location_of(self.parts)
        return float(centre[self.n_inputs + number]), float(spread[self.n_inputs + number])

    def aggregates(self, groups: Sequence[IntArray], signs: FloatArray) -> LinearAggregates:
        """How inputs become aggregates."""
        # The weights of means and sums do not depend on the rows.
        no_rows = np.empty((0, self.n_inputs))
        return LinearAggregates.of(self.aggregation, groups, no_rows, signs)

    def residual_ss(self, partition: Partition) -> FloatArray:
        """Residual sum of squares of each target in a regression on all aggregates."""
        weights = self.aggregates(partition.groups, partition.sign_of_each).weights
        if (scaling := self.features.scaling) is not None:
            weights = sparse.csr_array(weights @ sparse.diags_array(1 / scaling.spread))
        d, gap = self.n_inputs, self.whole.from_origin
        cross = self.whole.cross - self.n * np.outer(gap[:d], gap[d:])
        of_aggregates = weights @ (weights @ self.scatter).T
        with_targets = weights @ cross
        of_targets = self.whole.targets - self.n * np.outer(gap[d:], gap[d:])
        scatter = np.block([[of_aggregates, with_targets], [with_targets.T, of_targets]])
        return residual_ss_from_scatter(scatter, self.n_targets)


def moment_data(
    moments: Moments, spec: FitSpec, pricing: Pricing, *, names: Any = None, layout: Any = None
) -> MomentData:
    """The training data of moments: reads targets, computes scaling, checks constraints.

    `names` are the names of the features, and `layout` says how a field became columns.
    """
    aggregation = check_moments_suffice(spec, pricing)
    _check_size(moments)
    n_inputs = moments.n_features_in_
    targets = pricing.targets.from_moments(moments)
    importance = checked_importance(spec.target_weights, len(targets.weights))
    has_a_say = importance > 0
    parts = tuple(part.with_targets(targets.weights[has_a_say]) for part in moments.accumulated)
    kept = moments.kept
    scaling = _scaling_of(parts, kept.first) if spec.scale else None
    features = Features(n_inputs, names, None, scaling, layout, spec.missing)
    limits, must_link = checked_constraints(
        spec, n_inputs, partial(feature_names, features, n_inputs)
    )
    n_folds = folds_in_moments(
        pricing.cv, moments, is_default=pricing.cv_is_default, needs_folds=spec.needs_folds
    )
    if n_folds is not None:
        check_scorable(parts, needs_folds=spec.needs_folds)
    return MomentData(
        parts,
        aggregation,
        moments.is_weighted,
        kept.first,
        kept.looked_at(moments.count),
        n_folds,
        features,
        limits,
        must_link,
        importance[has_a_say],
        targets.classes,
        spec.signs,
    )


def lazy_data(
    X: Any, y: Any, given: Given, spec: FitSpec, pricing: Pricing, layout: Any = None
) -> MomentData:
    """The training data of rows out of memory, whose moments an engine such as Dask computes."""
    check_moments_suffice(spec, pricing, ", and those of X are not in memory: load X first.")
    for name in ("groups", "offset", "exposure"):
        if getattr(given, name) is not None:
            raise ValueError(f"{name} needs the rows in memory: load X first.")
    counting = Counting(
        y,
        given.sample_weight,
        n_contiguous_folds(pricing.cv),
        stratified=True,
        spread=spec.is_auto,
        names=None if layout is None else layout.names,
        max_bytes=spec.compute.max_bytes,
    )
    moments = engine_for(X).moments(X, counting)
    names = names_in_moments(moments) if layout is None else np.array(layout.names, dtype=object)
    return moment_data(moments, spec, pricing, names=names, layout=layout)


def names_in_moments(moments: Moments) -> Any:
    """The feature names in moments; None if there are none."""
    return getattr(moments, "feature_names_in_", None)


def check_moments_suffice(
    spec: FitSpec, pricing: Pricing, rest: str = ": moments are not enough. Use fit."
) -> LinearSum:
    """The aggregation, if moments are enough for the fit; raises if rows are needed."""
    reason = pricing.row_reason or reason_for_rows(
        spec.aggregation, spec.inputs, missing=spec.missing
    )
    if reason or not isinstance(spec.aggregation, LinearSum):
        raise ValueError(f"{reason}{rest}")
    return spec.aggregation


def _check_size(moments: Moments) -> None:
    if moments.n_samples_ < 2:
        raise ValueError(f"moments must be of 2 rows or more, got {moments.n_samples_}.")
    if moments.n_features_in_ < 2:
        raise ValueError("moments must be of 2 features or more, got 1.")


def _scaling_of(parts: tuple[Accumulated, ...], first: FloatArray) -> Scaling:
    d = parts[0].n_features
    centre, spread = (each[:d] for each in location_of(parts))
    # A mean has a rounding error, and constant columns must become exactly 0.
    return Scaling(np.where(spread > 0, centre, first[0]), np.where(spread > 0, spread, 1.0))
