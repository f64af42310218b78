"""Matrix of all scatters of sparse columns."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from coterie._core.evidence._moments import take_out_means
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._sources import NEAR_ZERO, GramSource
from coterie._core.evidence._sparse_features import (
    DENSE,
    Sparse,
    blocks,
    counting_rows,
    feature_moments,
    over_rows,
    some_features,
    standard_features,
)
from coterie._core.values import BoolArray, FloatArray, IntArray


def gram_of_sparse(
    columns: Sparse, targets: FloatArray, rows: RowSets
) -> tuple[GramSource, FloatArray]:
    """Scatters of standardised sparse columns and of targets, and the spreads of the columns.

    Equal to ``GramSource.of_table`` of the same columns as a dense array. In addition to the
    matrices, it takes a few times the memory of the sparse columns.

    Parameters
    ----------
    columns : sparse array of shape (n_samples, n_features)
    targets : ndarray of shape (n_samples, n_targets)
        Standardised; they become the last columns of the table.
    rows : RowSets
    """
    n_samples = columns.shape[0]
    weights = np.ones(n_samples) if rows.weights is None else rows.weights
    counting = np.flatnonzero(weights > 0)
    values, offset, _, spread = standard_features(columns, counting, weights[counting])
    values = sparse.csr_array(sparse.vstack([values, sparse.csr_array(targets[counting].T)]))
    scatters = np.empty((len(rows.batches), values.shape[0], values.shape[0]))
    mean = np.empty(scatters.shape[:2])
    for number, batch in enumerate(counting_rows(rows, n_samples)):
        within = over_rows(values, np.searchsorted(counting, batch))
        mean[number] = _fill(scatters[number], within, weights[batch])
    mean[:, : len(offset)] -= offset
    return GramSource(rows, rows.counts(n_samples), mean, scatters, targets.shape[1]), spread


def _fill(scatter: FloatArray, values: sparse.csr_array, weights: FloatArray) -> FloatArray:
    """Write the scatters of columns within one batch to ``scatter``, and return their means.

    ``values`` has one column per row. Columns with many nonzero entries, or far from zero, are
    *heavy*: they are converted to dense arrays and centred, some rows at a time. The others are
    *light*: they are multiplied as sparse arrays, and their means are taken out afterwards.
    """
    mean, own = feature_moments(values, weights)
    count, roots = weights.sum(), np.sqrt(weights)
    heavy = (np.diff(values.indptr) > DENSE * len(weights)) | (count * mean**2 > NEAR_ZERO * own)
    # If most columns are heavy, all are treated so.
    heavy |= heavy.mean() > 0.5
    light = _without(values, heavy)
    light.data *= roots[light.indices]
    light_rows = sparse.csr_array(light.T)
    for block in blocks(len(heavy), len(heavy)):
        (light[block] @ light_rows).toarray(out=scatter[block])
    take_out_means(scatter, 1, np.where(heavy, 0.0, np.sqrt(count) * mean))
    places = np.flatnonzero(heavy)
    heavy_rows = sparse.csr_array(some_features(values, places).T)
    for block in blocks(len(weights), len(places)):
        dense = heavy_rows[block].toarray()
        dense -= mean[places]
        dense *= roots[block, None]
        _add_products(scatter, places, dense, light_rows[block])
    for block in blocks(len(places), len(heavy)):
        _mirror(scatter, places[block])
    return mean


def _mirror(scatter: FloatArray, places: IntArray) -> None:
    """Copy these rows to the columns of the same numbers, so that the matrix is symmetric."""
    rows = scatter[places]
    # Two sums of the same products may differ in their last bits, by the order of addition.
    among = np.triu(rows[:, places])
    rows[:, places] = among + np.triu(among, 1).T
    scatter[places], scatter[:, places] = rows, rows.T


def _without(values: sparse.csr_array, heavy: BoolArray) -> sparse.csr_array:
    """Copy in which heavy columns are empty."""
    stored = np.diff(values.indptr)
    kept = np.repeat(~heavy, stored)
    indptr = np.concatenate([[0], np.cumsum(np.where(heavy, 0, stored))])
    return sparse.csr_array((values.data[kept], values.indices[kept], indptr), shape=values.shape)


def _add_products(
    scatter: FloatArray, places: IntArray, dense: FloatArray, light: sparse.csr_array
) -> None:
    """Add products over some rows of the dense columns with each other and with light columns.

    A product of two dense columns is added only to the row of the first.
    """
    for block in blocks(len(places), len(scatter)):
        left, later = dense[:, block], slice(block.start, None)
        products = left.T @ dense[:, later]
        if len(places) == len(scatter):
            scatter[block, later] += products
        else:
            scatter[np.ix_(places[block], places[later])] += products
            scatter[places[block]] += (light.T @ left).T
