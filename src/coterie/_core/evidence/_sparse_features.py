"""Sparse features in units of their spread, converted to dense arrays only in small blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.evidence._columns import LARGE, SMALL, standardised
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._sources import NEAR_ZERO
from coterie._core.values import BoolArray, FloatArray, IntArray

Sparse = sparse.csr_array | sparse.csc_array | sparse.csr_matrix | sparse.csc_matrix

# Numbers in the largest dense block.
ENTRIES_PER_DENSE_BLOCK = 2**21
# Columns with a larger share of nonzero entries are multiplied faster as dense arrays.
DENSE = 1 / 32


class SparseFeatures(NamedTuple):
    """Features in units of their spread, one per row.

    ``values - offset`` has mean 0 and spread 1. Features far from zero are centred already, with
    offset 0. ``centre`` and ``spread`` are in the original units, as in Standardised.
    """

    values: sparse.csr_array  # (n_features, n_rows)
    offset: FloatArray
    centre: FloatArray
    spread: FloatArray


def counting_rows(rows: RowSets, n_samples: int) -> list[IntArray]:
    """Rows of each batch with positive weight."""
    batches = [np.arange(n_samples)[batch] for batch in rows.batches]
    if rows.weights is None:
        return batches
    return [batch[rows.weights[batch] > 0] for batch in batches]


def standard_features(columns: Sparse, chosen: IntArray, weights: FloatArray) -> SparseFeatures:
    """Features over the chosen rows, in units of their spread."""
    # A copy, since entries are sorted in place.
    values = over_rows(sparse.csr_array(columns.T, copy=True), chosen)
    values = values.astype(np.float64, copy=False)
    values.sum_duplicates()
    values.eliminate_zeros()
    unit = _units(values)
    _divide(values, unit)
    mean, scatter = feature_moments(values, weights)
    spread = np.sqrt(scatter / weights.sum())
    far = np.square(mean) > NEAR_ZERO * np.square(spread)
    _divide(values, np.where(far | (spread == 0), 1.0, spread))
    offset = np.divide(mean, spread, out=np.zeros(len(far)), where=~far & (spread > 0))
    if far.any():
        values, mean[far], spread[far] = _centred(values, far, weights)
    return SparseFeatures(values, offset, mean * unit, spread * unit)


def over_rows(values: sparse.csr_array, chosen: IntArray) -> sparse.csr_array:
    """Features over the chosen rows only; not copied if these are all rows."""
    is_all = np.array_equal(chosen, np.arange(values.shape[1]))
    return values if is_all else values[:, chosen]


def _parts(values: sparse.csr_array) -> Iterator[tuple[slice, sparse.csr_array]]:
    """Consecutive features with about one block of stored values at a time, as views."""
    edges = np.searchsorted(
        values.indptr, np.arange(ENTRIES_PER_DENSE_BLOCK, values.nnz, ENTRIES_PER_DENSE_BLOCK)
    )
    for first, end in pairwise(np.unique([0, *edges, values.shape[0]]).tolist()):
        yield slice(first, end), feature_range(values, first, end)


def _divide(values: sparse.csr_array, divisor: FloatArray) -> None:
    """Divide each feature by its divisor, in place."""
    for place, part in _parts(values):
        part.data /= np.repeat(divisor[place], np.diff(part.indptr))


def _units(values: sparse.csr_array) -> FloatArray:
    """Divisors for features whose squares would overflow or underflow; 1 for all others."""
    largest = np.ones(values.shape[0])
    for place, part in _parts(values):
        has_values = np.diff(part.indptr) > 0
        starts = part.indptr[:-1][has_values]
        largest[place][has_values] = np.maximum.reduceat(np.abs(part.data), starts)
    extreme = (largest < SMALL) | (largest > LARGE)
    # Division by a power of two is exact.
    return np.where(extreme, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def feature_moments(values: sparse.csr_array, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and scatter of each feature."""
    mean, scatter = np.empty((2, values.shape[0]))
    for place, part in _parts(values):
        mean[place], scatter[place] = _moments_of_part(part, weights)
    return mean, scatter


def _moments_of_part(
    values: sparse.csr_array, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    count, stored = weights.sum() or 1.0, np.diff(values.indptr)
    # For features without zeros, the difference of sums would be a rounding error.
    zeros = np.maximum(count - _with_data(values, np.ones(values.nnz)) @ weights, 0.0)
    zeros[stored == values.shape[1]] = 0.0
    mean = values @ weights / count
    gaps = values.data - np.repeat(mean, stored)
    # The first mean of a feature far from zero has a rounding error; it is corrected here.
    drift = (_with_data(values, gaps) @ weights - zeros * mean) / count
    mean += drift
    gaps -= np.repeat(drift, stored)
    return mean, _with_data(values, gaps**2) @ weights + zeros * mean**2


def _with_data(values: sparse.csr_array, data: FloatArray) -> sparse.csr_array:
    return sparse.csr_array((data, values.indices, values.indptr), shape=values.shape)


def _centred(
    values: sparse.csr_array, far: BoolArray, weights: FloatArray
) -> tuple[sparse.csr_array, FloatArray, FloatArray]:
    """Features with those far from zero standardised, and the centre and spread of the latter.

    Features far from zero have few zeros: otherwise their variance would not be small relative to
    the square of their mean. So storing all their values takes little more memory than before.
    """
    n_rows, stored = values.shape[1], np.diff(values.indptr)
    indptr = np.concatenate([[0], np.cumsum(np.where(far, n_rows, stored))])
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=values.indices.dtype)
    is_near, was_near = np.repeat(~far, np.diff(indptr)), np.repeat(~far, stored)
    data[is_near], indices[is_near] = values.data[was_near], values.indices[was_near]
    features = np.flatnonzero(far)
    centre, spread = np.empty((2, len(features)))
    for block in blocks(len(features), n_rows):
        dense = standardised(values[features[block]].toarray().T, weights=weights)
        centre[block], spread[block] = dense.centre, dense.spread
        for feature, column in zip(features[block], dense.values.T, strict=True):
            data[indptr[feature] : indptr[feature + 1]] = column
            indices[indptr[feature] : indptr[feature + 1]] = np.arange(n_rows)
    centred = sparse.csr_array((data, indices, indptr), shape=values.shape)
    centred.eliminate_zeros()
    return centred, centre, spread


def blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of n vectors of length ``width``, each about one block of numbers."""
    step = max(1, ENTRIES_PER_DENSE_BLOCK // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def are_consecutive(features: IntArray) -> bool:
    return bool((np.diff(features) == 1).all())


def some_features(values: sparse.csr_array, features: IntArray) -> sparse.csr_array:
    """Some features; views of the stored entries where they are consecutive."""
    if len(features) and are_consecutive(features):
        return feature_range(values, int(features[0]), int(features[-1]) + 1)
    return values[features]


def feature_range(values: sparse.csr_array, first: int, end: int) -> sparse.csr_array:
    """Consecutive features, as views of the stored entries."""
    if end - first == values.shape[0]:
        return values
    indptr = values.indptr[first : end + 1]
    entries = slice(indptr[0], indptr[-1])
    some = sparse.csr_array((end - first, values.shape[1]))
    # The constructor would check the arrays, and copy them if they are short.
    some.data, some.indices = values.data[entries], values.indices[entries]
    some.indptr = indptr - indptr[0]
    return some
