"""Evidence and criterion as plain arrays and numbers, which is all that compiled code can take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie.criteria import Criterion, GenLin, Lin, NonLin, Parsimony
from coterie.statistics import ColumnSource, GramSource, SumEvidence
from coterie.values import FloatArray, IntArray

IN_SAMPLE, HELD_OUT, RATIO, LINEAR, PENALISED = range(5)


class Rule(NamedTuple):
    """A criterion in numbers."""

    kind: int
    tolerance: float
    curvature: float
    is_general: bool


class Sums(NamedTuple):
    """What sums of columns are judged by, in T sets of B batches of rows.

    The C columns of the table come first, so that all about one candidate lies together. Either
    ``scatters`` or ``features`` is empty: scatters are looked up or computed.
    """

    n: FloatArray  # (T,)
    membership: FloatArray  # (T, B)
    lengths: FloatArray  # (B,)
    columns: FloatArray  # (C, T, 3): mean, own scatter, scatter with the target
    deviations: FloatArray  # (C, T, B)
    batch_mean: FloatArray  # (C, B)
    batch_own: FloatArray  # (C, B)
    weights: FloatArray  # (F,)
    typical_weight: float
    units_differ: bool
    as_candidate: int
    signs: bool
    scatters: FloatArray  # (B, C, C)
    features: FloatArray  # (F, n_rows)
    edges: IntArray  # (B + 1,)
    target: FloatArray  # (n_rows,)
    centre: FloatArray  # (C,)
    scale: FloatArray  # (C,)


NO_COLUMNS = (np.empty((0, 0)), np.zeros(1, dtype=np.intp), *np.empty((3, 0)))


def rule_of(criterion: Criterion) -> Rule | None:
    """A criterion in numbers, if it is one of ours."""
    match criterion:
        case NonLin(tolerance, held_out):
            return Rule(HELD_OUT if held_out else IN_SAMPLE, tolerance, 0.0, False)
        case GenLin(tolerance, curvature, bound):
            return Rule(RATIO, tolerance, curvature, bound == "general")
        case Parsimony(penalty):
            return Rule(PENALISED, penalty, 0.0, False)
        case Lin():
            return Rule(LINEAR, 0.0, 0.0, False)
    return None


def sums_of(evidence: SumEvidence) -> Sums | None:
    """Evidence about sums in arrays, if its columns are at hand."""
    match evidence.source:
        case GramSource() as source:
            return Sums._make((*_about_columns(evidence), source.scatters, *NO_COLUMNS))
        case ColumnSource(is_plain=True) as source:
            target = np.ascontiguousarray(source.target)
            columns = (source.features, source.edges, target, source.centre, source.scale)
            return Sums._make((*_about_columns(evidence), np.empty((0, 0, 0)), *columns))
    return None


def _about_columns(evidence: SumEvidence) -> tuple[Any, ...]:
    """The fields of Sums that do not depend on where scatters come from."""
    source = evidence.source
    n_batches, n_columns = source.mean.shape
    columns = evidence.columns.reshape(3, -1, n_columns)
    n_sets = columns.shape[1]
    deviations = evidence.deviations.reshape(n_sets, n_batches, n_columns)
    arrays = (
        evidence.n.reshape(n_sets),
        source.rows.membership.reshape(n_sets, n_batches),
        source.count[:, 0],
        columns.T,
        np.moveaxis(deviations, -1, 0),
        source.mean.T,
        source.own.T,
        evidence.weights,
    )
    numbers = (
        evidence.typical_weight,
        evidence.units_differ,
        evidence.as_candidate,
        evidence.signs,
    )
    return *map(np.ascontiguousarray, arrays), *numbers
