"""Training data of a joint fit: standardised features and targets, from columns or moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from coterie._core.aggregations import Aggregation, LinearSum
from coterie._core.evidence import Accumulated, location_of, scatter_within, together
from coterie._core.joint import (
    MAX_JUDGED_ROWS,
    MAX_KEPT,
    Clipped,
    JointData,
    Leaves,
    Percentiles,
    RowSums,
    Rules,
    Splits,
    content_folds,
    content_order,
    inputs_that_pay,
    max_judged_columns,
    products_of,
    sums_of_rows,
)
from coterie._core.must_link import MustLink
from coterie._core.search import ALONE, Limits
from coterie._core.values import BoolArray, FloatArray, IntArray

# Features whose standard deviations differ by at most this factor are taken to have one unit.
SAME_UNITS = 3.0


@dataclass(frozen=True)
class JointTraining:
    """Features and targets, ready for a joint fit.

    Leaves come in an order that depends on what the columns hold, not on where they are.

    Parameters
    ----------
    data : JointData
    leaf_members : tuple of ndarray
        The features of each leaf.
    signs : ndarray of shape (n_features,)
        Signs of the features within their leaf.
    centre, spread : ndarray of shape (n_features,)
        Mean and standard deviation of each feature.
    constant : ndarray of shape (n_features,)
    correlations : callable
        Correlations among some features.
    rules : Rules
    kept : ndarray of shape (n_leaves,)
        Leaves that are never left out.
    """

    data: JointData
    leaf_members: tuple[IntArray, ...]
    signs: FloatArray
    centre: FloatArray
    spread: FloatArray
    constant: BoolArray
    correlations: Callable[[IntArray], FloatArray]
    rules: Rules
    kept: BoolArray

    def is_coherent_in_units(self, members: IntArray, signs: FloatArray) -> bool:
        """Whether members meet the floor with their mean in the units given."""
        if not same_units(self.spread[members]):
            return False
        weights = signs * self.spread[members] / self.spread[members].max()
        covariance = self.correlations(members) @ weights
        spread = np.sqrt(max(float(weights @ covariance), 0.0))
        if spread <= 1e-9:
            return False
        return bool((signs * covariance / spread).min() >= self.rules.floor)


@dataclass(frozen=True)
class JointSpec:
    """What a joint fit is asked for, besides data: the floor, signs, constraints."""

    aggregation: Aggregation
    floor: float
    signs: bool
    limits: Limits
    must_link: MustLink | None
    importance: FloatArray


def training_from_columns(
    columns: FloatArray,
    targets: FloatArray,
    weights: FloatArray | None,
    splits: Splits | int,
    spec: JointSpec,
) -> JointTraining:
    """The training data of columns of shape (n_samples, n_features), with NaN where missing.

    `splits` is a number of folds, which then depend on what the rows hold, or given splits.
    """
    counts = np.ones(len(columns)) if weights is None else weights
    rows, order, hashes = content_order(columns, targets, counts)
    targets, counts = targets[rows], counts[rows]
    if isinstance(splits, int):
        splits = Splits.of_folds(content_folds(targets, hashes[rows], splits))
    else:
        splits = splits._replace(set_of_row=splits.set_of_row[rows])
    # Rounding may depend on where a column is, so all is computed in the order of the content.
    columns, place = np.ascontiguousarray(columns[rows][:, order]), np.argsort(order)
    centre, spread, constant = _location(columns, counts)
    # One row per feature; missing values are at the mean.
    scaled = np.ascontiguousarray(columns.T)
    scaled -= centre[:, None]
    scaled /= np.where(constant, np.inf, spread)[:, None]
    scaled[np.isnan(scaled)] = 0.0
    columns, scaled = columns[:, place], scaled[place]
    centre, spread, constant = centre[place], spread[place], constant[place]
    shape = _Leaves.of(spec, order[~constant[order]], len(centre))
    wanted = _standard(targets, counts) * np.sqrt(spec.importance)
    leaves = shape.sums(scaled, lambda members: _correlations(scaled, counts, members))
    n = counts.sum()
    weighted = leaves if weights is None else leaves * np.sqrt(counts * (len(counts) / n))
    covariances = products_of(weighted) if len(leaves) <= MAX_KEPT else None
    if covariances is not None:
        covariances /= len(counts)
    used = None if weights is None else counts

    def sums(chosen: sparse.csr_array) -> RowSums:
        return sums_of_rows((chosen.T @ leaves).T, wanted, used, splits)

    data = JointData(
        Leaves(shape.sizes, covariances, None if covariances is not None else weighted),
        leaves @ (counts[:, None] * wanted) / n,
        sums,
        float(n),
    )
    is_coherent = _check_of(spec, columns, counts, centre, spread, shape.members)
    return JointTraining(
        data,
        shape.members,
        shape.signs,
        centre,
        spread,
        constant,
        lambda members: _correlations(scaled, counts, members),
        shape.rules(is_coherent),
        shape.kept,
    )


def training_from_moments(parts: Sequence[Accumulated], spec: JointSpec) -> JointTraining:
    """The training data of moments, one batch of rows per fold."""
    d, n_targets = parts[0].n_features, len(parts[0].targets)
    centre, spread = location_of(parts)
    constant = spread[:d] <= 0
    if constant.all():
        raise ValueError("X is constant in all columns: there is nothing to group.")
    whole = together(tuple(parts))
    scale = np.where(spread > 0, spread, np.inf)
    scale[d:] /= np.sqrt(spec.importance)
    scatter = scatter_within(whole) / np.outer(scale[:d], scale[:d]) / whole.count
    # An order by the correlations with the targets: content, as far as moments tell.
    gap = whole.from_origin
    cross = (whole.cross - whole.count * np.outer(gap[:d], gap[d:])) / whole.count
    relevance = cross / np.outer(scale[:d], scale[d:])
    order = np.lexsort((*np.abs(relevance).T, spread[:d]))
    shape = _Leaves.of(spec, order[~constant[order]], d)

    def correlations(members: IntArray) -> FloatArray:
        return scatter[np.ix_(members, members)]

    weights = shape.weights(correlations)
    covariances = weights.T @ (weights.T @ scatter).T
    full = sparse.block_diag([weights, sparse.eye_array(n_targets)], format="csr")

    def sums(chosen: sparse.csr_array) -> RowSums:
        chosen = sparse.csr_array(sparse.block_diag([chosen, sparse.eye_array(n_targets)]))
        return _sums_of_parts(parts, centre, scale, sparse.csr_array(full @ chosen), n_targets)

    data = JointData(
        Leaves(shape.sizes, np.asarray((covariances + covariances.T) / 2)),
        weights.T @ relevance,
        sums,
        float(whole.count),
    )
    return JointTraining(
        data,
        shape.members,
        shape.signs,
        centre[:d],
        spread[:d],
        constant,
        correlations,
        shape.rules(None),
        shape.kept,
    )


def _sums_of_parts(
    parts: Sequence[Accumulated],
    centre: FloatArray,
    scale: FloatArray,
    weights: sparse.csr_array,
    n_targets: int,
) -> RowSums:
    """Sums of weighted standardised columns over each batch, and the splits by folds."""
    scaled = sparse.csr_array(sparse.diags_array(1 / scale) @ weights)
    d = parts[0].n_features
    count, total, products = [], [], []
    for part in parts:
        gap = part.mean - centre
        features = scatter_within(part)
        shift = part.from_origin
        cross = part.cross - part.count * np.outer(shift[:d], shift[d:])
        targets = part.targets - part.count * np.outer(shift[d:], shift[d:])
        scatter = np.block([[features, cross], [cross.T, targets]])
        mean = scaled.T @ gap
        within = scaled.T @ (scaled.T @ scatter).T
        count.append(part.count)
        total.append(part.count * mean)
        products.append(within + part.count * np.outer(mean, mean))
    held_out = np.eye(len(parts), dtype=bool)
    return RowSums(
        np.array(count), np.array(total), np.array(products), n_targets, ~held_out, held_out
    )


def inputs_by_content(
    columns: FloatArray, targets: FloatArray, weights: FloatArray | None
) -> Clipped | Percentiles | None:
    """Clipped columns or percentiles, if they pay, whatever the order of rows and columns."""
    counts = np.ones(len(columns)) if weights is None else weights
    rows, order, hashes = content_order(columns, targets, counts)
    # Equal rows are one, so that weights are repeated rows.
    differs = np.append(True, hashes[rows][1:] != hashes[rows][:-1])
    judged = rows[differs.cumsum() <= MAX_JUDGED_ROWS]
    some = columns[np.ix_(judged, order[: max_judged_columns(len(judged))])]
    used = None if weights is None else counts[judged]
    kind = inputs_that_pay(some, _standard(targets[judged], counts[judged]), used)
    if kind is None:
        return None
    return kind.of(columns[rows], None if weights is None else counts[rows])


def same_units(spread: FloatArray) -> bool:
    """Whether features with these standard deviations seem to have one unit."""
    return bool(spread.max() <= SAME_UNITS * spread.min())


class _Leaves:
    """Leaves of the tree: features in an order by content, or those that must stay together."""

    def __init__(self, spec: JointSpec, members: tuple[IntArray, ...], n_features: int) -> None:
        self.spec, self.members, self.n_features = spec, members, n_features
        self.sizes = np.array([len(each) for each in members], dtype=np.intp)
        self.signs = np.ones(n_features)

    @classmethod
    def of(cls, spec: JointSpec, order: IntArray, n_features: int) -> _Leaves:
        """Leaves of the features that vary, which `order` lists."""
        if spec.must_link is None:
            return cls(spec, tuple(order[:, None]), n_features)
        place = np.full(n_features, n_features)
        place[order] = np.arange(len(order))
        varying = [unit[place[unit] < n_features] for unit in spec.must_link.members]
        units = [unit[np.argsort(place[unit])] for unit in varying if len(unit)]
        return cls(spec, tuple(sorted(units, key=lambda unit: int(place[unit[0]]))), n_features)

    def weights(self, correlations: Callable[[IntArray], FloatArray]) -> sparse.csr_array:
        """Each leaf as a signed sum of features, of shape (n_features, n_leaves)."""
        if self.spec.signs:
            for members in self.members:
                if len(members) > 1:
                    among = correlations(members)
                    self.signs[members] = np.where(among[0] < 0, -1.0, 1.0)
        chosen = np.concatenate(self.members)
        number = np.repeat(np.arange(len(self.members)), self.sizes)
        shape = (self.n_features, len(self.members))
        return sparse.csr_array((self.signs[chosen], (chosen, number)), shape=shape)

    def sums(
        self, scaled: FloatArray, correlations: Callable[[IntArray], FloatArray]
    ) -> FloatArray:
        """The leaves as rows; `scaled` has one row per feature."""
        if (self.sizes == 1).all():
            return scaled[np.concatenate(self.members)]
        return np.asarray(self.weights(correlations).T @ scaled)

    @property
    def kinds(self) -> IntArray | None:
        """The kind of each leaf, as in Rules."""
        kinds = self.spec.limits.kinds
        if kinds is None:
            return None
        own = [kinds[members] for members in self.members]
        return np.array([-1 if (each == ALONE).any() else each.max() for each in own])

    @property
    def kept(self) -> BoolArray:
        """Which leaves are never left out: those that the user keeps."""
        kinds = self.kinds
        return np.zeros(len(self.members), dtype=bool) if kinds is None else kinds < 0

    def rules(self, is_coherent: Callable[[IntArray], bool] | None) -> Rules:
        """The rules for these leaves."""
        graph, spec = self.spec.limits.neighbours, self.spec
        if graph is not None:
            chosen = np.concatenate(self.members)
            number = np.repeat(np.arange(len(self.members)), self.sizes)
            shape = (self.n_features, len(self.members))
            inside = sparse.csr_array((np.ones(len(chosen)), (chosen, number)), shape=shape)
            graph = sparse.csr_array(inside.T @ graph @ inside)
        size = spec.limits.max_group_size
        return Rules(spec.floor, spec.signs, graph, size, self.kinds, is_coherent)


def _location(columns: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Mean and standard deviation of the values that are there, and which columns are constant."""
    has = ~np.isnan(columns)
    is_full = bool(has.all())
    seen = counts.sum() if is_full else counts @ has
    # Deviations from the first value, so that constants are found exactly.
    first = columns[0] if is_full else np.nanmax(columns, axis=0)
    moved = columns - first
    if not is_full:
        moved = np.where(has, moved, 0.0)
    # In units of the largest deviation, so that squares of huge or tiny numbers are numbers.
    unit = np.abs(moved).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    mean = counts @ (moved / unit) / seen * unit
    apart = (moved - mean) / unit if is_full else np.where(has, (moved - mean) / unit, 0.0)
    spread = np.sqrt(counts @ np.square(apart) / seen) * unit
    constant = (moved == 0).all(axis=0) | (spread == 0)
    return first + mean, np.where(constant, 0.0, spread), constant


def _standard(targets: FloatArray, counts: FloatArray) -> FloatArray:
    centred = targets - counts @ targets / counts.sum()
    return centred / np.sqrt(counts @ np.square(centred) / counts.sum())


def _correlations(scaled: FloatArray, counts: FloatArray, members: IntArray) -> FloatArray:
    rows = scaled[members]
    product = (rows * counts) @ rows.T / counts.sum()
    own = np.sqrt(np.maximum(product.diagonal(), 1e-300))
    return product / np.outer(own, own)


def _check_of(
    spec: JointSpec,
    columns: FloatArray,
    counts: FloatArray,
    centre: FloatArray,
    spread: FloatArray,
    leaf_members: tuple[IntArray, ...],
) -> Callable[[IntArray], bool] | None:
    """Whether leaves meet the floor, for an aggregation whose values are no mean or sum."""
    if isinstance(spec.aggregation, LinearSum):
        return None
    varying = np.concatenate(leaf_members)
    filled = np.where(np.isnan(columns), centre, columns)
    if not same_units(spread[varying]):
        filled = (filled - centre) / np.where(spread > 0, spread, 1.0)

    def is_coherent(leaves: IntArray) -> bool:
        members = np.sort(np.concatenate([leaf_members[leaf] for leaf in leaves]))
        values = np.asarray(spec.aggregation.values(filled[:, members]), dtype=np.float64)
        lowest = lowest_correlation(filled[:, members], values, counts)
        return bool(lowest >= spec.floor if spec.floor > 0 else np.isfinite(lowest))

    return is_coherent


def lowest_correlation(columns: FloatArray, aggregate: FloatArray, counts: FloatArray) -> float:
    """The smallest correlation between a column and an aggregate; -inf if it is constant."""
    apart = aggregate - counts @ aggregate / counts.sum()
    own = np.sqrt(counts @ np.square(apart))
    if not own > 1e-9 * np.abs(aggregate).max():
        return -np.inf
    centred = columns - counts @ columns / counts.sum()
    sizes = np.sqrt(counts @ np.square(centred))
    return float(((counts * apart) @ centred / (own * sizes)).min())
