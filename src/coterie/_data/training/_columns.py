"""Training data with rows in memory or on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from coterie._core.aggregations import Aggregation, LinearSum, means_of_available, weighted
from coterie._core.criteria import working_target
from coterie._core.evidence import (
    ComputeOptions,
    Evidence,
    EvidenceSpec,
    RowSets,
    build_evidence,
    canonical_signs,
    effective_number,
    in_order,
    looked_at,
    order_by_content,
    residual_ss,
    scatter_among,
    signed,
    standardised,
)
from coterie._core.fit import (
    Aggregates,
    Features,
    FitSpec,
    Groupable,
    Pricing,
    Scaling,
    aggregates_of,
)
from coterie._core.must_link import MustLink
from coterie._core.search import Limits, Search
from coterie._core.values import FloatArray, IntArray, Partition
from coterie._data.parameters import checked_constraints, checked_importance
from coterie._data.training._folds import splits_of_rows
from coterie._data.training._rows import Rows, enough_rows
from coterie._data.training._table import Table, feature_names, fitted_inputs, input_columns
from coterie._data.validation import by_column, counted

# With fewer multiplications for all pairs of columns, several threads are not faster.
MAX_LIGHT_PRODUCTS = 2**28
# Some targets, of shape (n_samples, n), and the weights of the rows for them.
WeightedTargets = tuple[FloatArray, FloatArray | None]


@dataclass(frozen=True)
class SearchableColumns:
    """Columns prepared for a search; see :class:`coterie._core.fit.Searchable`."""

    columns: Any
    targets: FloatArray
    rows: RowSets
    aggregation: Aggregation
    spec: EvidenceSpec
    compute: ComputeOptions

    def scatter_among(self, columns: IntArray) -> FloatArray:
        """Scatter of some columns with each other."""
        return scatter_among(self.columns, self.rows.weights, columns)

    def merged(self, must_link: MustLink | None) -> SearchableColumns:
        """One column for each set of features that stay together."""
        return self if must_link is None else self._with(must_link.sums(self.columns))

    def canonical_signs(self) -> FloatArray:
        """1 or -1 for each column, such that multiplying the column by -1 has no effect."""
        return canonical_signs(self.columns)

    def signed(self, signs: FloatArray) -> SearchableColumns:
        """The columns multiplied by 1 or -1 each."""
        return self._with(signed(self.columns, signs))

    def order_by_content(self) -> tuple[IntArray, IntArray]:
        """An order of the columns that depends only on their values, and which are copies."""
        return order_by_content(self.columns)

    def in_order(self, order: IntArray) -> SearchableColumns:
        """The columns in another order."""
        return self._with(in_order(self.columns, order))

    def _with(self, columns: Any) -> SearchableColumns:
        return replace(self, columns=columns)

    def evidence(self, *, all_pairs: bool) -> Evidence[Any]:
        """The evidence about groups of these columns."""
        compute = self.compute.for_all_pairs() if all_pairs else self.compute
        return build_evidence(
            self.columns, self.targets, self.aggregation, self.rows, compute, self.spec
        )


@dataclass(frozen=True)
class ColumnData:
    """Inputs and targets with their rows; see :class:`coterie._core.fit.TrainingData`.

    Parameters
    ----------
    searchable : SearchableColumns
        The inputs, of shape (n_samples, n_inputs), with NaN for missing values; or sparse.
    all_together : list of WeightedTargets
        The targets, for a regression on all aggregates.
    features : Features
    limits : Limits
    must_link : MustLink or None
    importance : ndarray of shape (n_targets,)
    min_rows : ndarray or None
    classes : ndarray, list of ndarray or None
    signs : bool
        Whether features may join multiplied by -1.
    n : float
        Number of rows, or the sum of their weights.
    is_light : bool
        Whether the data are too small for several threads to be faster.
    """

    searchable: SearchableColumns
    all_together: list[WeightedTargets]
    features: Features
    limits: Limits
    must_link: MustLink | None
    importance: FloatArray
    min_rows: FloatArray | None
    classes: Any
    signs: bool
    n: float
    n_targets: int
    is_weighted: bool
    is_light: bool

    @property
    def unmergeable(self) -> str | None:
        """Why whole groups cannot be merged; None if they can."""
        if self.searchable.spec.missing:
            return "missing values"
        aggregation = self.searchable.aggregation
        return None if isinstance(aggregation, LinearSum) else f"aggregation='{aggregation.name}'"

    def groupable(self, search: Search, must_link: MustLink | None) -> Groupable:
        """The inputs, ready to be grouped."""
        return Groupable.of(self.searchable, search, self.limits, must_link, signs=self.signs)

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        """The effective number of candidates, given the relevance of each input."""
        chosen, n_columns = looked_at(relevance), int(np.count_nonzero(~np.isnan(relevance)))
        some, weights = self.searchable.columns[:, chosen], self.searchable.rows.weights
        return effective_number(some, n_columns, weights, signs=signs)

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        """Mean and standard deviation of a target."""
        target = self.searchable.targets[:, [number]]
        _, centre, spread = standardised(target, weights=self.searchable.rows.weights)
        return float(centre[0]), float(spread[0])

    def aggregates(self, groups: Sequence[IntArray], signs: FloatArray) -> Aggregates:
        """How inputs become aggregates."""
        return self._aggregates(groups, signs, missing=self.features.missing)

    def _aggregates(
        self, groups: Sequence[IntArray], signs: FloatArray, *, missing: bool
    ) -> Aggregates:
        columns, weights = self.searchable.columns, self.searchable.rows.weights
        means = means_of_available(columns, weights) if missing else None
        return aggregates_of(self.searchable.aggregation, groups, columns, signs, means)

    def residual_ss(self, partition: Partition) -> FloatArray:
        """Residual sum of squares of each target in a regression on all aggregates."""
        missing = self.searchable.spec.missing
        made = self._aggregates(partition.groups, partition.sign_of_each, missing=missing)
        values = made.values(self.searchable.columns)
        return np.concatenate([residual_ss(values, *targets) for targets in self.all_together])


def column_data(table: Table, spec: FitSpec, pricing: Pricing) -> ColumnData:
    """The training data of a table: applies inputs and scaling, and checks constraints."""
    rows = table.rows
    targets = pricing.targets.from_y(table.y)
    splits = inputs = None
    if pricing.cv is not None:
        splits = splits_of_rows(
            pricing.cv, table.X, table.y, targets, rows, needs_folds=spec.needs_folds
        )
    if spec.inputs is not None:
        inputs = fitted_inputs(spec.inputs, table.X, table.y, rows.weights)
    features = Features(table.n_features, table.names, inputs, None, table.layout, spec.missing)
    columns = input_columns(
        features, table.X, spec.aggregation, by_row=bool(pricing.row_reason), pairwise=True
    )
    missing = spec.missing and _has_missing(columns)
    if missing:
        check_values(columns, partial(feature_names, features, columns.shape[1]))
    columns, scaling = _scaled(columns, spec, rows)
    features = replace(features, scaling=scaling)
    names = partial(feature_names, features, columns.shape[1])
    limits, must_link = checked_constraints(spec, columns.shape[1], names)
    importance = checked_importance(spec.target_weights, targets.values.shape[1])
    has_a_say = importance > 0
    values, weights = _working_targets(targets.values[:, has_a_say], rows, spec, pricing)
    together = _all_together(values, rows, weights, pricing)
    sets = (
        RowSets.of_splits(splits, len(values), weights, every_row=spec.signs)
        if splits
        else RowSets.all_rows(weights)
    )
    aggregation = spec.aggregation
    if rows.weights is not None:
        aggregation = weighted(aggregation, rows.weights)
    offset = rows.offset if pricing.row_reason else None
    return ColumnData(
        SearchableColumns(
            columns,
            values,
            sets,
            aggregation,
            EvidenceSpec(bool(pricing.row_reason), spec.signs, missing, offset),
            spec.compute,
        ),
        together,
        features,
        limits,
        must_link,
        importance[has_a_say],
        enough_rows(sets, len(values)) if missing else None,
        targets.classes,
        spec.signs,
        float(len(values) if weights is None else weights.sum()),
        values.shape[1],
        weights is not None,
        bool(columns.size * columns.shape[1] < MAX_LIGHT_PRODUCTS),
    )


def _scaled(columns: Any, spec: FitSpec, rows: Rows) -> tuple[Any, Scaling | None]:
    """The columns, standardised if scale=True, and their scaling."""
    if spec.search.ignores_order and isinstance(columns, np.ndarray):
        # Sums along a column must not depend on the memory layout of the table.
        columns = np.ascontiguousarray(columns)
    if not spec.scale:
        return columns, None
    scaling = Scaling.of(columns, rows.weights)
    return scaling.applied(columns), scaling


def _working_targets(
    targets: FloatArray, rows: Rows, spec: FitSpec, pricing: Pricing
) -> WeightedTargets:
    """Targets and weights for the prices: with an offset, working targets and weights."""
    if rows.offset is None or pricing.row_reason:
        return targets, rows.weights
    if not isinstance(spec.tolerance, str) or targets.shape[1] > 1:
        what = "a tolerance that is a number" if targets.shape[1] == 1 else "several targets"
        raise ValueError(f"offset and exposure with {what} need bound='fitted'.")
    return working_target(pricing.family, targets, rows.offset[:, None], rows.weights)


def _all_together(
    targets: FloatArray, rows: Rows, weights: FloatArray | None, pricing: Pricing
) -> list[WeightedTargets]:
    """Targets and weights for a regression on all aggregates."""
    if rows.offset is None or not pricing.row_reason:
        return [(targets, weights)]
    offset = rows.offset[:, None]
    return [
        working_target(pricing.family, target[:, None], offset, weights) for target in targets.T
    ]


def _has_missing(columns: Any) -> bool:
    """Whether there is any NaN."""
    # A finite sum means that there is none. Columns are searched only if the sum is not finite.
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(columns.sum()) and bool(by_column(columns, np.isnan).any())


def check_values(columns: FloatArray, named: Callable[[], Sequence[str]]) -> None:
    """Raise if a column has only missing values."""
    empty = np.flatnonzero(np.isnan(columns).all(axis=0))
    if len(empty):
        names = named()
        which = counted("column", (names[place] for place in empty.tolist()))
        raise ValueError(f"X has no value at all in {which}. Drop it first.")
