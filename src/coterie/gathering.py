"""Which evidence to gather, and by what means."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.aggregations import Additive, Aggregation, Custom, LinearSum
from coterie.statistics import (
    LARGE,
    SMALL,
    ColumnSource,
    Evidence,
    GramSource,
    RowSets,
    RunningEvidence,
    Standardised,
    SumEvidence,
    gram_bytes,
    standardised,
)
from coterie.values import FloatArray

# Beyond so many columns, a matrix of all pairs takes longer than most searches ask for.
WIDE = 8192


def half_the_memory() -> int:
    """Half the memory of this machine in bytes, or 4 GiB where it cannot be told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30


@dataclass(frozen=True)
class Means:
    """How evidence may be gathered.

    Parameters
    ----------
    engine : {"auto", "gram", "columns"}
        One matrix of all scatters, or scatters from the columns when they are asked for.
    memory : float
        Bytes that the evidence may take beside the data.
    asks_all_pairs : bool, default=False
        Whether the search asks about every pair of features anyway.
    """

    engine: str = "auto"
    memory: float = 2**34
    asks_all_pairs: bool = False

    def for_all_pairs(self) -> Means:
        """The same means, for a search that asks about every pair of features."""
        return replace(self, asks_all_pairs=True)

    def allow_gram(self, n_samples: int, n_columns: int, rows: RowSets) -> bool:
        """Whether to form the matrix: where it fits and is likely to be worth it."""
        needed = gram_bytes(n_samples, n_columns, rows)
        if self.engine == "gram" and needed > self.memory:
            raise ValueError(
                f"engine='gram' needs {needed:,} bytes for {n_columns - 1} columns, and memory "
                f"allows {self.memory:,.0f}. Use engine='columns', or raise memory."
            )
        is_worth_it = n_columns <= WIDE or self.asks_all_pairs
        fits = needed <= self.memory
        return self.engine == "gram" or (self.engine == "auto" and is_worth_it and fits)


def gathered(
    columns: FloatArray,
    target: FloatArray,
    aggregation: Aggregation,
    rows: RowSets,
    means: Means,
    *,
    signs: bool = False,
) -> Evidence[Any]:
    """Evidence about groups of these columns.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_features)
    target : ndarray of shape (n_samples,)
    aggregation : Aggregation
    rows : RowSets
    means : Means
    signs : bool, default=False
        Whether features may join a sum with a minus.
    """
    standard_target = standardised(target[:, None])
    if not isinstance(aggregation, Additive):
        return _running(columns, standard_target, aggregation, rows)
    n_features = columns.shape[1]
    n_columns = n_features * (1 if isinstance(aggregation, LinearSum) else 2) + 1
    if means.allow_gram(len(columns), n_columns, rows):
        return _looked_up(columns, standard_target, aggregation, rows, signs)
    contribution = None if isinstance(aggregation, LinearSum) else aggregation.contribution
    source = ColumnSource(
        _within_reach(columns) if contribution else columns, contribution, standard_target, rows
    )
    return SumEvidence(source, source.spread[:n_features], signs=signs)


def _looked_up(
    columns: FloatArray, target: Standardised, aggregation: Additive, rows: RowSets, signs: bool
) -> SumEvidence:
    if isinstance(aggregation, LinearSum) and columns.dtype == np.float64:
        as_they_are = GramSource.of_columns(columns, target.values[:, 0], rows)
        if as_they_are is not None:
            return SumEvidence(as_they_are, np.ones(columns.shape[1]), signs=signs)
    n_samples, n_features = columns.shape
    layers = 1 if isinstance(aggregation, LinearSum) else 2
    table = np.empty((n_samples, layers * n_features + 1))
    contributions = standardised(columns, out=table[:, -n_features - 1 : -1])
    if layers == 2:
        columns = _within_reach(columns.astype(np.float64, copy=False))
        contributed = aggregation.contribution(columns)
        contributions = standardised(contributed, out=table[:, :n_features])
    table[:, -1:] = target.values
    return SumEvidence(GramSource.of_table(table, rows), contributions.spread, signs=signs)


def _running(
    columns: FloatArray, target: Standardised, aggregation: Any, rows: RowSets
) -> RunningEvidence:
    columns = columns.astype(np.float64, copy=False)
    features = standardised(columns)
    if not isinstance(aggregation, Custom):
        columns = _within_reach(columns)
    return RunningEvidence(aggregation, columns, features, target, rows)


def _within_reach(columns: FloatArray) -> FloatArray:
    """The columns in a common unit, if in their own their squares would leave the floats.

    No decision depends on it: our aggregations of scaled columns are scaled aggregates.
    """
    magnitude = np.maximum(columns.max(axis=0), -columns.min(axis=0)).astype(np.float64)
    largest, smallest = magnitude.max(), magnitude[magnitude > 0].min(initial=np.inf)
    if largest < LARGE and smallest > SMALL:
        return columns
    return columns / 2.0 ** np.floor(np.log2(largest)) if largest > 0 else columns
