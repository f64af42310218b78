"""Compiled groups of features as weighted sums, and verdicts on candidates one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from coterie._core.compiled._jit import inlined, kernel, sum_of_products
from coterie._core.compiled._tables import HELD_OUT, IN_SAMPLE, LINEAR, PENALISED, Rule, Sums
from coterie._core.criteria.formulas import (
    bias_and_variance,
    explained_apart,
    given_up,
    in_sample_scores,
    lost_and_spared,
    split_scores,
)
from coterie._core.evidence import FROM_CONSTANTS, LARGE, SMALL, PairMoments, without_rounding
from coterie._core.values import BoolArray, FloatArray, IntArray, excess


class CompiledGroup(NamedTuple):
    """A weighted sum of columns; its arrays are updated in place as features join.

    Shapes use B batches, C columns, T sets and V targets. ``total`` depends on the source. It is
    the scatter of the sum with every column, or the sum itself and its deviations from the mean of
    each batch.
    """

    total: FloatArray  # (B, C) or (2, n_rows)
    mean: FloatArray  # (B,)
    own: FloatArray  # (B,)
    parts: FloatArray  # (B,), sum of the scatters of its members
    unit: FloatArray  # (1,), the unit of the weights
    within: FloatArray  # (T, 2 + V): mean, own scatter, scatter with each target
    gaps: FloatArray  # (T, B)
    seen: FloatArray  # (2, B), scatter with the current candidate and its contribution
    apart: FloatArray  # (B,), mean of each batch minus that of all rows, times root of count


class Log(NamedTuple):
    """The judged candidates of a group, their verdicts, and scatters with the group in batch 0."""

    candidates: IntArray
    price: FloatArray
    allowance: FloatArray
    accepted: BoolArray
    seen: FloatArray


@kernel
def alone(sums: Sums, feature: int) -> CompiledGroup:
    """The group of one feature."""
    n_sets, n_batches = sums.membership.shape
    looked_up = sums.scatters.shape[0] > 0
    shape = (n_batches, len(sums.columns)) if looked_up else (2, sums.targets.shape[1])
    weight = sums.weights[feature]
    group = CompiledGroup(
        np.zeros(shape),
        np.zeros(n_batches),
        np.zeros(n_batches),
        np.zeros(n_batches),
        np.full(1, weight if weight > 0 else sums.typical_weight),
        np.empty((n_sets, sums.columns.shape[2])),
        np.empty((n_sets, n_batches)),
        np.empty((2, n_batches)),
        np.zeros(n_batches),
    )
    join(sums, group, feature)
    return group


@kernel
def weight_in(weight: float, unit: float, units_differ: bool) -> float:
    """A weight divided by the unit of the group."""
    if not units_differ:
        return weight / unit
    return min(max(weight / unit, SMALL), LARGE) if weight > 0 else 0.0


@kernel
def join(sums: Sums, group: CompiledGroup, feature: int) -> None:
    """Add a feature to the group."""
    if sums.units_differ and sums.weights[feature] > group.unit[0]:
        rescale(group, sums.weights[feature])
    weight = weight_in(sums.weights[feature], group.unit[0], sums.units_differ)
    if sums.signs:
        look(sums, group, feature, group.seen[0])
        weight *= sign_of(group.seen[0], sums.whole, group.apart, sums.apart[feature])
    if sums.scatters.shape[0] > 0:
        for b in range(len(group.own)):
            group.own[b] += weight**2 * sums.batch_own[feature, b]
            group.own[b] += 2 * weight * group.total[b, feature]
            add_scaled(group.total[b], weight, sums.scatters[b, feature])
    else:
        if len(sums.indptr) > 1:
            add_sparse(sums, group.total[0], weight, feature)
        else:
            scale = weight * sums.scale[feature]
            add_deviations(group.total[0], scale, sums.features[feature], sums.centre[feature])
        for b in range(len(group.own)):
            batch = slice(sums.edges[b], sums.edges[b + 1])
            if len(sums.row_weights) == 0:
                group.own[b] = centred(group.total[0, batch], group.total[1, batch])
            else:
                weights = sums.row_weights[batch]
                group.own[b] = weighted(group.total[0, batch], weights, group.total[1, batch])
    for b in range(len(group.own)):
        group.mean[b] += weight * sums.batch_mean[feature, b]
        group.parts[b] += weight**2 * sums.batch_own[feature, b]
    pool(sums, group)


@kernel
def sign_of(
    seen: FloatArray, whole: FloatArray, group_apart: FloatArray, column_apart: FloatArray
) -> float:
    """Sign of a candidate: -1 if its correlation with the group over all rows is negative."""
    total = 0.0
    for b in range(len(seen)):
        total += whole[b] * seen[b] + group_apart[b] * column_apart[b]
    return -1.0 if total < 0 else 1.0


@kernel
def rescale(group: CompiledGroup, unit: float) -> None:
    """Change the unit of the weights, so that squares neither overflow nor underflow."""
    factor = group.unit[0] / unit
    for row in range(len(group.total)):
        for i in range(group.total.shape[1]):
            group.total[row, i] *= factor
    for b in range(len(group.own)):
        group.mean[b] *= factor
        group.apart[b] *= factor
        group.own[b] *= factor**2
        group.parts[b] *= factor**2
    group.unit[0] = unit


@sum_of_products
def add_scaled(total: FloatArray, weight: float, row: FloatArray) -> None:
    """Add a row multiplied by a weight."""
    for i in range(len(total)):
        total[i] += weight * row[i]


@sum_of_products
def add_deviations(total: FloatArray, weight: float, column: FloatArray, centre: float) -> None:
    """Add the deviations of a column from its centre, multiplied by a weight."""
    for i in range(len(total)):
        total[i] += weight * (column[i] - centre)


@kernel
def add_sparse(sums: Sums, total: FloatArray, weight: float, feature: int) -> None:
    """Add the deviations of a sparse column from its centre, multiplied by a weight."""
    shift = weight * sums.centre[feature]
    if shift != 0.0:
        for i in range(len(total)):
            total[i] -= shift
    for k in range(sums.indptr[feature], sums.indptr[feature + 1]):
        total[sums.indices[k]] += weight * sums.entries[k]


@kernel
def look_sparse(sums: Sums, deviations: FloatArray, column: int, out: FloatArray) -> None:
    """Write products of deviations, which sum to zero, with a sparse column to ``out``."""
    out[:] = 0.0
    b = 0
    for k in range(sums.indptr[column], sums.indptr[column + 1]):
        row = sums.indices[k]
        while row >= sums.edges[b + 1]:
            b += 1
        out[b] += deviations[row] * sums.entries[k]


@sum_of_products
def centred(values: FloatArray, out: FloatArray) -> float:
    """Sum of squared deviations from the mean; the deviations are written to ``out``."""
    mean = 0.0
    for i in range(len(values)):
        mean += values[i]
    mean /= len(values)
    total = 0.0
    for i in range(len(values)):
        out[i] = values[i] - mean
        total += out[i] * out[i]
    return total


@sum_of_products
def weighted(values: FloatArray, weights: FloatArray, out: FloatArray) -> float:
    """Weighted sum of squared deviations; weighted deviations are written to ``out``."""
    mean, count = 0.0, 0.0
    for i in range(len(values)):
        mean += weights[i] * values[i]
        count += weights[i]
    mean /= count
    total = 0.0
    for i in range(len(values)):
        out[i] = weights[i] * (values[i] - mean)
        total += out[i] * (values[i] - mean)
    return total


@sum_of_products
def product(deviations: FloatArray, column: FloatArray, centre: float) -> float:
    """Sum of products of deviations, which sum to zero, with a column minus its centre."""
    total = 0.0
    for i in range(len(deviations)):
        total += deviations[i] * (column[i] - centre)
    return total


@kernel
def pool(sums: Sums, group: CompiledGroup) -> None:
    """Compute mean, own scatter and scatter with each target of the group within each set."""
    n_sets, n_batches = sums.membership.shape
    n_targets = sums.columns.shape[2] - 2
    lengths = sums.lengths * sums.whole
    overall = (lengths * group.mean).sum() / lengths.sum()
    for b in range(n_batches):
        group.apart[b] = np.sqrt(lengths[b]) * (group.mean[b] - overall)
    for t in range(n_sets):
        mean = 0.0
        for b in range(n_batches):
            mean += sums.membership[t, b] * sums.lengths[b] * group.mean[b]
        mean /= sums.n[t]
        own, parts = 0.0, 0.0
        for b in range(n_batches):
            member = sums.membership[t, b]
            gap = member * np.sqrt(sums.lengths[b]) * (group.mean[b] - mean)
            own += member * group.own[b] + gap**2
            parts += member * group.parts[b]
            group.gaps[t, b] = gap
        group.within[t, 0] = mean
        left = FROM_CONSTANTS * sums.n[t] * mean**2
        group.within[t, 1] = without_rounding(own, parts + left)
    for v in range(n_targets):
        target = len(sums.columns) - n_targets + v
        look(sums, group, target, group.seen[0])
        for t in range(n_sets):
            group.within[t, 2 + v] = pooled(sums, group, t, target, group.seen[0])


@kernel
def look(sums: Sums, group: CompiledGroup, column: int, out: FloatArray) -> None:
    """Write the scatter of the group with a column, within each batch, to ``out``."""
    if sums.scatters.shape[0] > 0:
        for b in range(len(out)):
            out[b] = group.total[b, column]
        return
    number = column - len(sums.weights)
    if number < 0 and len(sums.indptr) > 1:
        look_sparse(sums, group.total[1], column, out)
        return
    for b in range(len(out)):
        batch = slice(sums.edges[b], sums.edges[b + 1])
        if number >= 0:
            out[b] = product(group.total[1, batch], sums.targets[number, batch], 0.0)
        else:
            values = sums.features[column, batch]
            out[b] = product(group.total[1, batch], values, sums.centre[column])
            out[b] *= sums.scale[column]


@kernel
def pooled(sums: Sums, group: CompiledGroup, t: int, column: int, seen: FloatArray) -> float:
    """Scatter of the group with a column within a set: the sum of within and between batches."""
    total = 0.0
    for b in range(len(seen)):
        total += sums.membership[t, b] * seen[b] + group.gaps[t, b] * sums.deviations[column, t, b]
    return total


@inlined
def pair_moments(
    arrays: tuple[FloatArray, ...],
    t: int,
    candidate: int,
    contributed: int,
    weight: float,
    y: int,
    v: int,
) -> PairMoments:
    """Moments of the group with a candidate and target v within set t, given ``seen``."""
    n, membership, columns, deviations, within, gaps, seen = arrays
    uv, with_contributed = 0.0, 0.0
    for b in range(membership.shape[1]):
        uv += membership[t, b] * seen[0, b] + gaps[t, b] * deviations[candidate, t, b]
        with_contributed += membership[t, b] * seen[1, b]
        with_contributed += gaps[t, b] * deviations[contributed, t, b]
    scatters = (uv, with_contributed)
    return paired(n, columns, within, scatters, t, candidate, contributed, weight, y, v)


@inlined
def paired(
    n: FloatArray,
    columns: FloatArray,
    within: FloatArray,
    scatters: tuple[float, float],
    t: int,
    candidate: int,
    contributed: int,
    weight: float,
    y: int,
    v: int,
) -> PairMoments:
    """Pair moments, from the scatters of the group with the candidate and its contribution."""
    uv, with_contributed = scatters
    # A candidate of negative sign is multiplied by -1.
    sign = -1.0 if weight < 0 else 1.0
    u, uu, uy = within[t, 0], within[t, 1], within[t, 2 + v]
    added = weight**2 * columns[contributed, t, 1]
    shift = weight * columns[contributed, t, 0]
    left = FROM_CONSTANTS * n[t] * (u**2 + shift**2)
    return PairMoments(
        n[t],
        u,
        sign * columns[candidate, t, 0],
        u + shift,
        columns[y, t, 0],
        uu,
        columns[candidate, t, 1],
        without_rounding(uu + added + 2 * weight * with_contributed, uu + added + left),
        columns[y, t, 1],
        sign * uv,
        uy,
        sign * columns[candidate, t, 2 + v],
        uy + weight * columns[contributed, t, 2 + v],
    )


def asking(several: bool) -> Callable[..., int]:
    """Compiled function that judges candidates, for one target or for several.

    For one target it is compiled without the loop over targets, which would take a third of the
    time.
    """

    def asked(
        sums: Sums,
        group: CompiledGroup,
        rule: Rule,
        candidates: IntArray,
        log: Log,
        n_asked: int,
        until_accepted: bool,
    ) -> int:
        # Tuples are unpacked once: per candidate, it would take longer than the computation.
        weights, unit, seen, total = sums.weights, group.unit[0], group.seen, group.total
        n, membership, columns, deviations = sums.n, sums.membership, sums.columns, sums.deviations
        arrays = (n, membership, columns, deviations, group.within, group.gaps, seen)
        kind, tolerance, curvature, is_general, importance = rule
        asked, prices, allowances, accepted, scatters = log
        n_splits, n_targets = len(n) // 2, len(importance) if several else 1
        first_target = len(columns) - n_targets
        looked_up = sums.scatters.shape[0] > 0
        for feature in candidates:
            weight = weight_in(weights[feature], unit, sums.units_differ)
            candidate = feature + sums.as_candidate
            if not looked_up:
                look(sums, group, feature, seen[0])
            for b in range(seen.shape[1]):
                if looked_up:
                    seen[0, b] = total[b, candidate]
                seen[1, b] = total[b, feature] if looked_up else seen[0, b]
            if sums.signs:
                weight *= sign_of(seen[0], sums.whole, group.apart, sums.apart[feature])
            worst, worst_allowance = -np.inf, 0.0
            for v in range(n_targets):
                y, allowance = first_target + v, tolerance
                if kind == HELD_OUT:
                    apart, merged = 0.0, 0.0
                    for t in range(n_splits):
                        fit = pair_moments(arrays, t, candidate, feature, weight, y, v)
                        test = pair_moments(arrays, n_splits + t, candidate, feature, weight, y, v)
                        scores = split_scores(fit, test)
                        apart += scores[0] / n_splits
                        merged += scores[1] / n_splits
                    price = given_up(apart, merged)
                else:
                    pairs = pair_moments(arrays, 0, candidate, feature, weight, y, v)
                    if kind == IN_SAMPLE:
                        apart, merged = in_sample_scores(pairs)
                        price = given_up(apart, merged)
                    elif kind == LINEAR:
                        price, allowance = bias_and_variance(pairs)
                    elif kind == PENALISED:
                        price, allowance = lost_and_spared(pairs, tolerance)
                    else:
                        price = explained_apart(pairs, curvature[v], is_general)
                price *= importance[v]
                if v == 0 or excess(price, allowance) > excess(worst, worst_allowance):
                    worst, worst_allowance = price, allowance
            asked[n_asked], accepted[n_asked] = feature, worst <= worst_allowance
            prices[n_asked], allowances[n_asked] = worst, worst_allowance
            scatters[n_asked] = seen[0, 0]
            n_asked += 1
            if until_accepted and worst <= worst_allowance:
                break
        return n_asked

    return kernel(asked)


ask_one, ask_several = asking(False), asking(True)


@kernel
def ask(
    sums: Sums,
    group: CompiledGroup,
    rule: Rule,
    candidates: IntArray,
    log: Log,
    n_asked: int,
    until_accepted: bool,
) -> int:
    """Judge candidates in turn, write verdicts to the log, and return the new end of the log.

    With several targets, the verdict is that with the largest price minus allowance.
    """
    if len(rule.importance) == 1:
        return ask_one(sums, group, rule, candidates, log, n_asked, until_accepted)
    return ask_several(sums, group, rule, candidates, log, n_asked, until_accepted)
