"""Evidence and criterion as arrays and numbers, the only input that compiled code supports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.criteria import Criterion, ForAll, GenLin, Lin, NonLin, Parsimony
from coterie._core.evidence import (
    ColumnSource,
    Evidence,
    GramSource,
    ManyTargets,
    SparseSource,
    SumEvidence,
)
from coterie._core.values import FloatArray, IntArray

IN_SAMPLE, HELD_OUT, RATIO, LINEAR, PENALISED = range(5)
OURS = {NonLin, GenLin, Parsimony, Lin, ForAll}


class Rule(NamedTuple):
    """A criterion as numbers, for V targets that must all accept a merge."""

    kind: int
    tolerance: float
    curvature: FloatArray  # (V,)
    is_general: bool
    importance: FloatArray  # (V,)


class Sums(NamedTuple):
    """Evidence about sums of F features as arrays, for T sets of rows made of B batches.

    The table has C columns, and the last V of them are targets. Columns are the first axis, so that
    the data of one candidate are contiguous. Scatters are either looked up in ``scatters`` or
    computed from ``features`` or, of sparse columns, from ``entries``; other arrays are empty.
    """

    n: FloatArray  # (T,)
    membership: FloatArray  # (T, B)
    lengths: FloatArray  # (B,)
    whole: FloatArray  # (B,), 1 for the batches that together hold every row once
    columns: FloatArray  # (C, T, 2 + V): mean, own scatter, scatter with each target
    deviations: FloatArray  # (C, T, B)
    batch_mean: FloatArray  # (C, B)
    batch_own: FloatArray  # (C, B)
    apart: FloatArray  # (C, B), mean of each batch minus that of all rows, times root of count
    weights: FloatArray  # (F,)
    typical_weight: float
    units_differ: bool
    as_candidate: int
    signs: bool
    scatters: FloatArray  # (B, C, C)
    features: FloatArray  # (F, n_rows)
    edges: IntArray  # (B + 1,)
    targets: FloatArray  # (V, n_rows)
    row_weights: FloatArray  # (n_rows,), or empty if all weights are 1
    centre: FloatArray  # (C,)
    scale: FloatArray  # (C,)
    indptr: IntArray  # (F + 1,)
    indices: IntArray  # (n_entries,)
    entries: FloatArray  # (n_entries,)


NO_SCATTERS = np.empty((0, 0, 0))
NO_COLUMNS = (
    np.empty((0, 0)),
    np.zeros(1, dtype=np.intp),
    np.empty((0, 0)),
    np.empty(0),
    np.empty(0),
    np.empty(0),
)
NO_ENTRIES = (np.zeros(1, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))


def rule_of(criterion: Criterion) -> Rule | None:
    """A criterion as numbers; None unless it is a built-in class, and not a subclass."""
    if type(criterion) not in OURS:
        return None
    match criterion:
        case NonLin(tolerance, held_out):
            return _rule(HELD_OUT if held_out else IN_SAMPLE, tolerance)
        case GenLin(tolerance, curvature, bound, in_units=False):
            return _rule(RATIO, tolerance, curvature, bound == "general")
        case Parsimony(penalty, held_out=False):
            return _rule(PENALISED, penalty)
        case Lin():
            return _rule(LINEAR, 0.0)
        case ForAll(criteria, importance):
            return _rule_for_all([rule_of(one) for one in criteria], importance)
    return None


def _rule(kind: int, tolerance: float, curvature: float = 0.0, is_general: bool = False) -> Rule:
    return Rule(kind, tolerance, np.array([curvature]), is_general, np.ones(1))


def _rule_for_all(rules: Sequence[Rule | None], importance: FloatArray) -> Rule | None:
    """One rule for all targets; None if their rules differ in more than the curvature."""
    first = rules[0]
    if first is None:
        return None
    known = [rule for rule in rules if rule is not None]
    if len(known) < len(rules) or len({(r.kind, r.tolerance, r.is_general) for r in known}) > 1:
        return None
    curvature = np.concatenate([rule.curvature for rule in known])
    return first._replace(curvature=curvature, importance=importance)


def views_of(evidence: Evidence[Any]) -> list[SumEvidence]:
    """Evidence about sums, one per target; empty if the evidence is of another kind."""
    views = evidence.views if isinstance(evidence, ManyTargets) else [evidence]
    at_hand = (GramSource, ColumnSource, SparseSource)
    return [v for v in views if isinstance(v, SumEvidence) and isinstance(v.source, at_hand)]


def sums_of(views: Sequence[SumEvidence]) -> Sums | None:
    """Evidence about sums as arrays; None if the source is not supported."""
    source = views[0].source
    if isinstance(source, GramSource):
        return Sums._make((*about_columns(views), source.scatters, *NO_COLUMNS, *NO_ENTRIES))
    if not isinstance(source, (ColumnSource, SparseSource)) or not source.is_plain:
        return None
    aimed = [view.source for view in views if isinstance(view.source, type(source))]
    targets = np.stack([one.target for one in aimed])
    weights = np.empty(0) if source.weights is None else source.weights
    rows = (source.edges, targets, weights)
    columns: tuple[Any, ...]
    if isinstance(source, ColumnSource):
        columns = (source.features, *rows, source.centre, source.scale, *NO_ENTRIES)
    else:
        columns = (np.empty((0, 0)), *rows, source.offset, np.empty(0), *_entries(source))
    return Sums._make((*about_columns(views), NO_SCATTERS, *columns))


def _entries(source: SparseSource) -> tuple[IntArray, IntArray, FloatArray]:
    """The stored values of sparse features, the rows of all batches side by side."""
    values = sparse.csr_array(sparse.hstack(source.features, format="csr"))
    values.sort_indices()
    places = (values.indptr, values.indices)
    indptr, indices = (place.astype(np.intp, copy=False) for place in places)
    return indptr, indices, values.data


def about_columns(views: Sequence[SumEvidence]) -> tuple[Any, ...]:
    """The fields of Sums that do not depend on where scatters come from."""
    first = views[0]
    source = first.source
    n_batches = len(source.count)
    n_plain = source.own.shape[1] - source.n_targets

    def with_targets(about: Callable[[SumEvidence], FloatArray]) -> FloatArray:
        """Values of each column; the target of each view comes last."""
        plain = about(first)[..., :n_plain]
        return np.concatenate(
            [plain, *(about(view)[..., [view.source.target_column]] for view in views)], axis=-1
        )

    mean_and_own = with_targets(
        lambda view: view.columns[:2].reshape(2, -1, view.columns.shape[-1])
    )
    n_sets, n_columns = mean_and_own.shape[1:]
    columns = np.zeros((2 + len(views), n_sets, n_columns))
    columns[:2] = mean_and_own
    for number, view in enumerate(views):
        scatter = view.columns[2].reshape(n_sets, -1)
        columns[2 + number, :, :n_plain] = scatter[:, :n_plain]
    deviations = with_targets(
        lambda view: view.deviations.reshape(n_sets, n_batches, view.columns.shape[-1])
    )
    arrays = (
        first.n.reshape(n_sets),
        source.rows.membership.reshape(n_sets, n_batches),
        source.count[:, 0],
        np.ones(n_batches) if source.rows.whole is None else source.rows.whole,
        columns.T,
        np.moveaxis(deviations, -1, 0),
        with_targets(lambda view: view.source.mean).T,
        with_targets(lambda view: view.source.own).T,
        with_targets(lambda view: view.apart).T,
        first.weights,
    )
    numbers = (first.typical_weight, first.units_differ, first.as_candidate, first.signs)
    return *map(np.ascontiguousarray, arrays), *numbers
