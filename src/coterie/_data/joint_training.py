"""Training data of a joint fit: standardised features and targets, from columns or moments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from coterie._core.aggregations import Aggregation, LinearSum
from coterie._core.evidence import Accumulated, location_of, scatter_within, together
from coterie._core.joint import (
    MAX_JUDGED_ROWS,
    MAX_KEPT,
    Clipped,
    ContentOrder,
    CrossSums,
    JointData,
    Leaves,
    Percentiles,
    RowSums,
    Rules,
    Splits,
    content_folds,
    cross_sums,
    inputs_that_pay,
    max_judged_columns,
    products_of,
    standardised_sparse,
    sums_of_rows,
)
from coterie._core.must_link import MustLink
from coterie._core.search import ALONE, Limits
from coterie._core.values import BoolArray, FloatArray, IntArray

# Features whose standard deviations differ by at most this factor are taken to have one unit.
SAME_UNITS = 3.0
# Standard deviations that differ by less, relative to the largest, are equal.
ROUNDING = 1e-9
# Numbers that are put in order or standardised at a time: as many as the cache of a core holds.
BLOCK = 2**17

Shared = Callable[[IntArray, FloatArray], FloatArray]


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
    shared : callable
        Covariances of some standardised features with a weighted sum of them.
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
    shared: Shared
    rules: Rules
    kept: BoolArray

    def is_coherent_in_units(self, members: IntArray, signs: FloatArray) -> bool:
        """Whether members meet the floor with their mean in the units given."""
        own = self.spread[members]
        if np.ptp(own) <= ROUNDING * own.max():
            return True
        if not same_units(own):
            return False
        weights = signs * own / own.max()
        covariance = self.shared(members, weights)
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
    order: ContentOrder,
) -> JointTraining:
    """The training data of columns of shape (n_samples, n_features), with NaN where missing.

    `splits` is a number of folds, which then depend on what the rows hold, or given splits.
    """
    counts = np.ones(len(columns)) if weights is None else weights
    rows, place = order.rows, np.argsort(order.columns)
    targets, counts = targets[rows], counts[rows]
    splits = _splits_in_order(splits, targets, order)
    # Rounding may depend on where a column is, so all is computed in the order of the content.
    scaled = _in_order(columns, rows, place)
    centre, spread = (one[place] for one in _standardise(scaled, counts))
    constant = spread == 0
    used = None if weights is None else counts

    def shared(members: IntArray, weights: FloatArray) -> FloatArray:
        some = scaled[place[members]]
        total = weights @ some
        return np.asarray(some @ (total if used is None else used * total) / counts.sum())

    shape = _Leaves.of(spec, order.columns[~constant[order.columns]], len(centre))
    wanted = _standard(targets, counts) * np.sqrt(spec.importance)
    leaves = shape.sums(scaled, order.columns, shared)
    n = counts.sum()
    weighted = leaves if weights is None else leaves * np.sqrt(counts * (len(counts) / n))
    covariances = products_of(weighted) if len(leaves) <= MAX_KEPT else None
    if covariances is not None:
        covariances /= len(counts)

    def sums(chosen: sparse.csr_array) -> RowSums:
        return sums_of_rows((chosen.T @ leaves).T, wanted, used, splits)

    data = JointData(
        Leaves(shape.sizes, covariances, None if covariances is not None else weighted),
        leaves @ (counts[:, None] * wanted) / n,
        sums,
        lambda: cross_sums(leaves, wanted, counts, splits),
        float(n),
    )
    is_coherent = _check_of(spec, columns, rows, counts, centre, spread, shape.members)
    return _training(shape, data, centre, spread, shared, is_coherent)


def training_from_sparse(
    columns: sparse.csr_array,
    targets: FloatArray,
    weights: FloatArray | None,
    splits: Splits | int,
    spec: JointSpec,
    order: ContentOrder,
) -> JointTraining:
    """The training data of sparse columns, most of which overlap with few others."""
    rows, place = order.rows, np.argsort(order.columns)
    counts = np.ones(len(rows)) if weights is None else weights[rows]
    targets, splits = targets[rows], _splits_in_order(splits, targets[rows], order)
    scaled, centre, spread = standardised_sparse(columns[rows][:, order.columns], counts)
    centre, spread = centre[place], spread[place]
    constant = spread == 0

    def shared(members: IntArray, weights: FloatArray) -> FloatArray:
        some = scaled.some(place[members])
        total = weights @ some.matrix
        products = some.matrix @ (counts * total) / counts.sum()
        return np.asarray(products - some.shift * (weights @ some.shift))

    shape = _Leaves.of(spec, order.columns[~constant[order.columns]], len(centre))
    leaves = scaled.weighted(shape.weights(shared)[order.columns])
    wanted = _standard(targets, counts) * np.sqrt(spec.importance)
    used = None if weights is None else counts
    data = JointData(
        Leaves(shape.sizes, None, leaves),
        leaves.times(counts[:, None] * wanted) / counts.sum(),
        lambda chosen: sums_of_rows(leaves.weighted(chosen).toarray().T, wanted, used, splits),
        lambda: cross_sums(leaves, wanted, counts, splits),
        float(counts.sum()),
    )
    return _training(shape, data, centre, spread, shared)


def _training(
    shape: _Leaves,
    data: JointData,
    centre: FloatArray,
    spread: FloatArray,
    shared: Shared,
    is_coherent: Callable[[IntArray], bool] | None = None,
) -> JointTraining:
    return JointTraining(
        data,
        shape.members,
        shape.signs,
        centre,
        spread,
        spread <= 0,
        shared,
        shape.rules(is_coherent),
        shape.kept,
    )


def _splits_in_order(splits: Splits | int, targets: FloatArray, order: ContentOrder) -> Splits:
    """The splits of the rows in order of their content; a number is one of folds."""
    if not isinstance(splits, int):
        return splits._replace(set_of_row=splits.set_of_row[order.rows])
    is_shared = order.is_replicate[order.rows]
    fold = content_folds(targets, order.hashes[order.rows], is_shared, splits)
    return Splits.of_folds(fold, splits if is_shared.any() else None)


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

    def shared(members: IntArray, weights: FloatArray) -> FloatArray:
        return np.asarray(scatter[np.ix_(members, members)] @ weights)

    weights = shape.weights(shared)
    covariances = weights.T @ (weights.T @ scatter).T
    full = sparse.block_diag([weights, sparse.eye_array(n_targets)], format="csr")

    def sums(chosen: sparse.csr_array) -> RowSums:
        chosen = sparse.csr_array(sparse.block_diag([chosen, sparse.eye_array(n_targets)]))
        return _sums_of_parts(parts, centre, scale, sparse.csr_array(full @ chosen), n_targets)

    data = JointData(
        Leaves(shape.sizes, np.asarray((covariances + covariances.T) / 2)),
        weights.T @ relevance,
        sums,
        lambda: _cross_of_parts(parts, centre, scale, weights),
        float(whole.count),
    )
    return _training(shape, data, centre[:d], spread[:d], shared)


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


def _cross_of_parts(
    parts: Sequence[Accumulated], centre: FloatArray, scale: FloatArray, weights: sparse.csr_array
) -> CrossSums:
    """Sums over each batch of weighted standardised columns, and of their products with targets."""
    d = parts[0].n_features
    count, total, targets, cross = [], [], [], []
    for part in parts:
        gap, shift = (part.mean - centre) / scale, part.from_origin
        within = part.cross - part.count * np.outer(shift[:d], shift[d:])
        products = within / np.outer(scale[:d], scale[d:]) + part.count * np.outer(gap[:d], gap[d:])
        count.append(part.count)
        total.append(part.count * (weights.T @ gap[:d]))
        targets.append(part.count * gap[d:])
        cross.append(weights.T @ products)
    held_out = np.eye(len(parts), dtype=bool)
    return CrossSums(
        np.array(count), np.array(total), np.array(targets), np.array(cross), ~held_out
    )


def inputs_by_content(
    columns: FloatArray, targets: FloatArray, weights: FloatArray | None, order: ContentOrder
) -> Clipped | Percentiles | None:
    """Clipped columns or percentiles, if they pay, whatever the order of rows and columns."""
    counts = np.ones(len(columns)) if weights is None else weights
    rows, hashes = order.rows, order.hashes
    # Equal rows are one, so that weights are repeated rows.
    differs = np.append(True, hashes[rows][1:] != hashes[rows][:-1])
    judged = rows[differs.cumsum() <= MAX_JUDGED_ROWS]
    some = columns[np.ix_(judged, order.columns[: max_judged_columns(len(judged))])]
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

    def weights(self, shared: Shared) -> sparse.csr_array:
        """Each leaf as a signed sum of features, of shape (n_features, n_leaves)."""
        if self.spec.signs:
            for members in self.members:
                if len(members) > 1:
                    with_first = shared(members, np.eye(1, len(members))[0])
                    self.signs[members] = np.where(with_first < 0, -1.0, 1.0)
        chosen = np.concatenate(self.members)
        number = np.repeat(np.arange(len(self.members)), self.sizes)
        shape = (self.n_features, len(self.members))
        return sparse.csr_array((self.signs[chosen], (chosen, number)), shape=shape)

    def sums(self, scaled: FloatArray, order: IntArray, shared: Shared) -> FloatArray:
        """The leaves as rows; `scaled` has one row per feature, in this order."""
        if self.spec.must_link is not None:
            return np.asarray(self.weights(shared)[order].T @ scaled)
        # Features that vary, in order, are the leaves.
        if len(self.members) == len(order):
            return scaled
        return scaled[np.isin(order, np.concatenate(self.members))]

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


def _in_order(columns: FloatArray, rows: IntArray, place: IntArray) -> FloatArray:
    """The columns as rows, each at its place, with the samples in an order."""
    n_samples, n_columns = columns.shape
    made = np.empty((n_columns, n_samples))
    for start, stop in _stretches(n_columns, n_samples):
        made[place[start:stop]] = columns[:, start:stop].take(rows, axis=0).T
    return made


def _stretches(n_columns: int, n_samples: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK // n_samples)
    return ((start, min(start + step, n_columns)) for start in range(0, n_columns, step))


def _standardise(scaled: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standardise features, one row each, in place; missing values go to the mean, 0.

    Returns
    -------
    centre, spread : ndarray of shape (n_features,)
        Mean and standard deviation of the values that are there; 0 for a constant.
    """
    centre, spread = np.empty(len(scaled)), np.empty(len(scaled))
    for start, stop in _stretches(*scaled.shape):
        part = slice(start, stop)
        centre[part], spread[part] = _standardise_few(scaled[part], counts)
    return centre, spread


def _standardise_few(some: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    missing = np.isnan(some)
    has_missing = bool(missing.any())
    seen = ~missing @ counts if has_missing else counts.sum()
    # Deviations from the first value, so that constants are found exactly.
    first = np.nanmax(some, axis=1) if has_missing else some[:, 0].copy()
    some -= first[:, None]
    if has_missing:
        some[missing] = 0.0
    # In units of the largest deviation, so that squares of huge or tiny numbers are numbers.
    unit = np.abs(some).max(axis=1)
    is_constant = unit == 0
    unit[is_constant] = 1.0
    some /= unit[:, None]
    mean = np.einsum("ij,j->i", some, counts) / seen
    some -= mean[:, None]
    if has_missing:
        some[missing] = 0.0
    spread = np.sqrt(np.einsum("ij,ij,j->i", some, some, counts) / seen)
    some /= np.where(is_constant | (spread == 0), np.inf, spread)[:, None]
    return first + mean * unit, np.where(is_constant, 0.0, spread * unit)


def _standard(targets: FloatArray, counts: FloatArray) -> FloatArray:
    # In units of the largest, so that squares of huge or tiny numbers are numbers.
    targets = targets / np.maximum(np.abs(targets).max(axis=0), np.finfo(float).tiny)
    centred = targets - counts @ targets / counts.sum()
    return centred / np.sqrt(counts @ np.square(centred) / counts.sum())


def _check_of(
    spec: JointSpec,
    columns: FloatArray,
    rows: IntArray,
    counts: FloatArray,
    centre: FloatArray,
    spread: FloatArray,
    leaf_members: tuple[IntArray, ...],
) -> Callable[[IntArray], bool] | None:
    """Whether leaves meet the floor, for an aggregation whose values are no mean or sum."""
    if isinstance(spec.aggregation, LinearSum):
        return None
    varying = np.concatenate(leaf_members)
    columns = columns[rows]
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
