"""Build the evidence about groups of columns: choose its kind and how it is computed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie._core.aggregations import Additive, Aggregation, Custom, LinearSum, running_form
from coterie._core.devices import OnDevice, check_room
from coterie._core.evidence._by_row import PairwiseEvidence, RowEvidence
from coterie._core.evidence._columns import LARGE, SMALL, Standardised, standardised
from coterie._core.evidence._on_demand import ColumnSource
from coterie._core.evidence._on_device import DeviceEvidence, DeviceSource, standardised_there
from coterie._core.evidence._pairs import Evidence
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._running import RunningEvidence
from coterie._core.evidence._sources import GramSource
from coterie._core.evidence._sparse_gram import gram_of_sparse
from coterie._core.evidence._sparse_source import SparseSource
from coterie._core.evidence._sums import SumEvidence
from coterie._core.evidence._targets import ManyTargets
from coterie._core.values import FloatArray, is_sparse

# With more columns than this, the matrix of all pairs costs more than most searches need.
MAX_COLUMNS_OF_GRAM = 8192


def half_of_memory() -> int:
    """Half the memory of this machine in bytes, or 4 GiB where it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30


@dataclass(frozen=True)
class ComputeOptions:
    """Options for how the evidence is computed.

    Parameters
    ----------
    covariance : {"auto", "gram", "columns"}
        "gram" computes one matrix of all scatters; "columns" computes scatters from the columns
        on demand.
    max_bytes : float or None
        Bytes that the evidence may take in addition to the data. None: half the memory of the
        machine.
    asks_all_pairs : bool, default=False
        Whether the search needs every pair of features anyway.
    """

    covariance: str = "auto"
    max_bytes: float | None = None
    asks_all_pairs: bool = False

    def for_all_pairs(self) -> ComputeOptions:
        """The same options, for a search that needs every pair of features."""
        return replace(self, asks_all_pairs=True)

    def allow_gram(self, n_samples: int, n_columns: int, rows: RowSets) -> bool:
        """Whether to compute the matrix of all scatters: if it fits and is likely to be faster."""
        # The table, and a matrix for each batch of rows.
        needed = 8 * n_columns * (n_samples + len(rows.batches) * n_columns)
        max_bytes = half_of_memory() if self.max_bytes is None else self.max_bytes
        if self.covariance == "gram" and needed > max_bytes:
            raise ValueError(
                f"covariance='gram' needs {needed:,} bytes for {n_columns - 1} columns, and "
                f"max_bytes allows {max_bytes:,.0f}. Use covariance='columns', or raise "
                "max_bytes."
            )
        is_worth_it = n_columns <= MAX_COLUMNS_OF_GRAM or self.asks_all_pairs
        fits = needed <= max_bytes
        return self.covariance == "gram" or (self.covariance == "auto" and is_worth_it and fits)


@dataclass(frozen=True)
class EvidenceSpec:
    """Requirements on the evidence, given by the criterion and the data.

    Parameters
    ----------
    by_row : bool, default=False
        Whether the criterion needs the columns themselves, and not only their moments.
    signs : bool, default=False
        Whether features may be multiplied by -1 in a sum.
    missing : bool, default=False
        Whether columns have missing values (NaN).
    offset : ndarray of shape (n_samples,) or None
        Known part of the linear predictor.
    """

    by_row: bool = False
    signs: bool = False
    missing: bool = False
    offset: FloatArray | None = None


MOMENTS = EvidenceSpec()


def build_evidence(
    columns: Any,
    targets: FloatArray,
    aggregation: Aggregation,
    rows: RowSets,
    compute: ComputeOptions,
    spec: EvidenceSpec = MOMENTS,
) -> Evidence[Any]:
    """Evidence about groups of these columns.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_features)
        May be a sparse array if the aggregation is a sum or a mean.
    targets : ndarray of shape (n_samples, n_targets)
    aggregation : Aggregation
    rows : RowSets
    compute : ComputeOptions
    spec : EvidenceSpec
    """
    if spec.by_row or spec.missing:
        views = _row_by_row(columns, targets, aggregation, rows, spec)
    elif isinstance(aggregation, Additive):
        views = _of_sums(columns, _standard(targets, rows), aggregation, rows, compute, spec.signs)
    else:
        views = _running(columns, _standard(targets, rows), aggregation, rows)
    return views[0] if len(views) == 1 else ManyTargets(views)


def evidence_from_sums(
    source: GramSource, weights: FloatArray, *, signs: bool = False
) -> Evidence[Any]:
    """Evidence about groups of columns whose scatters are known.

    Parameters
    ----------
    source : GramSource
        Scatters of the standardised columns, and of the targets.
    weights : ndarray of shape (n_columns,)
        The spread of each column.
    signs : bool, default=False
        Whether features may be multiplied by -1 in a sum.
    """
    sources = (source.aimed_at(number) for number in range(source.n_targets))
    views = [SumEvidence(each, weights, signs=signs) for each in sources]
    return views[0] if len(views) == 1 else ManyTargets(views)


def _standard(targets: FloatArray, rows: RowSets) -> list[Standardised]:
    """Each target, standardised."""
    values, centre, spread = standardised(targets, weights=rows.weights)
    each = range(targets.shape[1])
    return [Standardised(values[:, [t]], centre[[t]], spread[[t]]) for t in each]


def _of_sums(
    columns: Any,
    targets: list[Standardised],
    aggregation: Additive,
    rows: RowSets,
    compute: ComputeOptions,
    signs: bool,
) -> list[SumEvidence]:
    if isinstance(columns, OnDevice):
        return _where_they_lie(columns, targets, rows, signs)
    n_samples, n_features = columns.shape
    is_linear = isinstance(aggregation, LinearSum)
    n_columns = n_features * (1 if is_linear else 2) + len(targets)
    if compute.allow_gram(n_samples, n_columns, rows):
        gram, weights = _looked_up(columns, targets, aggregation, rows)
        sources: list[Any] = [gram.aimed_at(t) for t in range(len(targets))]
    elif is_sparse(columns):
        sparse_source = SparseSource(columns, targets[0], rows)
        weights = sparse_source.spread[:n_features]
        sources = [sparse_source, *(sparse_source.aimed_at(target) for target in targets[1:])]
    else:
        contribution = None if is_linear else aggregation.contribution
        reached = _within_reach(columns) if contribution else columns
        source = ColumnSource(reached, contribution, targets[0], rows)
        weights = source.spread[:n_features]
        sources = [source, *(source.aimed_at(target) for target in targets[1:])]
    return [SumEvidence(source, weights, signs=signs) for source in sources]


def _where_they_lie(
    columns: OnDevice, targets: list[Standardised], rows: RowSets, signs: bool
) -> list[SumEvidence]:
    """Evidence about sums of columns on a device, computed and stored there."""
    n_samples, n_columns = columns.shape[0], columns.shape[1] + len(targets)
    needed = 8 * n_columns * (len(rows.batches) * n_columns + 3 * n_samples)
    check_room(columns, needed, f"Scatters of {columns.shape[1]:,} features")
    weights = None if rows.weights is None else columns.moved(rows.weights)
    values, _, spread = standardised_there(columns, weights)
    source = DeviceSource(rows, values, np.hstack([target.values for target in targets]))
    if columns.is_compiled:
        # Each array shape would be compiled separately, and a search needs many shapes.
        at_hand = source.on_host()
        return [SumEvidence(at_hand.aimed_at(t), spread, signs=signs) for t in range(len(targets))]
    sources = (source.aimed_at(number) for number in range(len(targets)))
    return [DeviceEvidence(each, spread, signs=signs) for each in sources]


def _looked_up(
    columns: Any, targets: list[Standardised], aggregation: Additive, rows: RowSets
) -> tuple[GramSource, FloatArray]:
    """Matrix of all scatters, and the weight of each column in a sum."""
    target_values = np.hstack([target.values for target in targets])
    if is_sparse(columns):
        return gram_of_sparse(columns, target_values, rows)
    is_linear = isinstance(aggregation, LinearSum)
    if is_linear and columns.dtype == np.float64 and rows.weights is None:
        as_they_are = GramSource.of_columns(columns, target_values, rows)
        if as_they_are is not None:
            return as_they_are, np.ones(columns.shape[1])
    (n_samples, n_features), n_targets = columns.shape, len(targets)
    table = np.empty((n_samples, (1 if is_linear else 2) * n_features + n_targets))
    place = slice(table.shape[1] - n_targets - n_features, table.shape[1] - n_targets)
    contributions = standardised(columns, table[:, place], rows.weights)
    if not is_linear:
        columns = _within_reach(columns.astype(np.float64, copy=False))
        contributed = aggregation.contribution(columns)
        contributions = standardised(contributed, table[:, :n_features], rows.weights)
    table[:, -n_targets:] = target_values
    return GramSource.of_table(table, rows, n_targets), contributions.spread


def _running(
    columns: FloatArray, targets: list[Standardised], aggregation: Any, rows: RowSets
) -> list[RunningEvidence]:
    columns = columns.astype(np.float64, copy=False)
    features = standardised(columns, weights=rows.weights)
    if not isinstance(aggregation, Custom):
        columns = _within_reach(columns)
    first = RunningEvidence(aggregation, columns, features, targets[0], rows)
    return [first, *(first.aimed_at(target) for target in targets[1:])]


def _row_by_row(
    columns: FloatArray,
    targets: FloatArray,
    aggregation: Aggregation,
    rows: RowSets,
    spec: EvidenceSpec,
) -> list[Any]:
    columns = _within_reach(columns.astype(np.float64, copy=False))
    running = running_form(aggregation, rows.weights, missing=spec.missing)
    first = RowEvidence(running, columns, targets[:, 0], rows.weights, spec.offset)
    if spec.by_row:
        return [first, *(first.aimed_at(target) for target in targets.T[1:])]
    values = standardised(targets, weights=rows.weights).values
    return [PairwiseEvidence(first.aimed_at(target), rows) for target in values.T]


def _within_reach(columns: FloatArray) -> FloatArray:
    """The columns, divided by a common power of two if their squares overflow or underflow.

    No decision depends on the factor: the built-in aggregations of scaled columns are scaled
    aggregates.
    """
    highest, lowest = np.fmax.reduce(columns, axis=0), np.fmin.reduce(columns, axis=0)
    magnitude = np.maximum(highest, -lowest).astype(np.float64)
    largest, smallest = magnitude.max(), magnitude[magnitude > 0].min(initial=np.inf)
    if largest < LARGE and smallest > SMALL:
        return columns
    return columns / 2.0 ** np.floor(np.log2(largest)) if largest > 0 else columns
