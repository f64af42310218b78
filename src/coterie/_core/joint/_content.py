"""Orders and folds that depend on what the rows and columns hold, not on where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray, IntArray

Hashes = NDArray[np.uint64]
# Numbers that are hashed at a time: as many as the cache of a core holds.
BLOCK = 2**15
# Rows whose values tell columns apart, unless these are equal there.
N_KEY_ROWS = 16


class ContentOrder(NamedTuple):
    """An order of rows and columns by what they hold.

    Parameters
    ----------
    rows : ndarray of shape (n_samples,)
        The rows in order.
    columns : ndarray of shape (n_columns,)
        The columns in order.
    hashes : ndarray of shape (n_samples,)
        A hash of each row, before they are put in order; that of the target where no other row
        has the same target.
    """

    rows: IntArray
    columns: IntArray
    hashes: Hashes


def content_order(columns: FloatArray, targets: FloatArray, counts: FloatArray) -> ContentOrder:
    """Put rows and columns in an order that depends on what they hold, not on where they are.

    Rows and columns that come in another order are put in the same one. So whatever is computed
    afterwards is equal to the last bit. The values of a row are read only if another row has the
    same target, and those of a column only in a few rows, unless another column has the same there.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    targets : ndarray of shape (n_samples, n_targets)
    counts : ndarray of shape (n_samples,)
        How many times each row counts. A row that counts twice has the hash of one that is there
        twice.
    """
    hashes = _hashes_of_targets(targets)
    tied = _tied(hashes)
    hashes[tied] = _sums_over_columns(columns, tied, hashes, np.zeros(1, dtype=np.uint64))
    # Rows that are there several times count once, as those with a weight do.
    once = np.unique(hashes, return_index=True)[1]
    of_columns = _sums_over_rows(columns, once[:N_KEY_ROWS], slice(None), hashes)
    alike, again = _tied(of_columns), np.zeros_like(of_columns)
    again[alike] = _sums_over_rows(columns, once, alike, hashes)
    # Rows with the same values in different columns have one hash.
    equal, second = _tied(hashes), np.zeros_like(hashes)
    if len(equal):
        of_all = _sums_over_rows(columns, once, slice(None), hashes)
        second[equal] = _sums_over_columns(columns, equal, hashes, of_all)
    return ContentOrder(
        np.lexsort((counts, second, hashes)), np.lexsort((again, of_columns)), hashes
    )


def row_hashes(columns: FloatArray, targets: FloatArray) -> Hashes:
    """A hash of each row and its targets, the same whatever the order of the columns."""
    of_targets = _hashes_of_targets(targets)
    everything = np.arange(len(columns))
    return _sums_over_columns(columns, everything, of_targets, np.zeros(1, dtype=np.uint64))


def _hashes_of_targets(targets: FloatArray) -> Hashes:
    hashes = np.zeros(len(targets), dtype=np.uint64)
    # Each target has its own place, which never changes.
    for target in targets.T:
        hashes = _mixed(hashes ^ _bits(target))
    return hashes


def _tied(hashes: Hashes) -> IntArray:
    """The places of hashes that are there more than once."""
    _, number, times = np.unique(hashes, return_inverse=True, return_counts=True)
    return np.flatnonzero(times[number.ravel()] > 1)


def _sums_over_columns(
    columns: FloatArray, rows: IntArray, of_rows: Hashes, of_columns: Hashes
) -> Hashes:
    """A hash of each of some rows: the sum of those of its values, in any order."""
    sums = of_rows[rows].copy()
    for start, stop in _stretches(len(rows), columns.shape[1]):
        some = rows[start:stop]
        hashed = _mixed(_bits(columns[some]) ^ of_rows[some, None] ^ of_columns)
        sums[start:stop] += hashed.sum(axis=1, dtype=np.uint64)
    return _mixed(sums)


def _sums_over_rows(
    columns: FloatArray, rows: IntArray, chosen: IntArray | slice, of_rows: Hashes
) -> Hashes:
    """A hash of each of some columns: the sum of those of its values in some rows."""
    width = columns.shape[1] if isinstance(chosen, slice) else len(chosen)
    sums = np.zeros(width, dtype=np.uint64)
    for start, stop in _stretches(len(rows) if width else 0, width):
        some = rows[start:stop]
        sums += _mixed(_bits(columns[some][:, chosen]) ^ of_rows[some, None]).sum(
            axis=0, dtype=np.uint64
        )
    return _mixed(sums)


def _stretches(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Rows that are hashed together."""
    step = max(1, BLOCK // max(1, n_columns))
    return ((start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def _bits(values: FloatArray) -> Hashes:
    # Adding 0 turns -0.0 into 0.0.
    plain = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    return plain.view(np.uint64)


def _mixed(bits: Hashes) -> Hashes:
    """The bits, mixed by the finaliser of SplitMix64."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    shifted = np.empty_like(bits)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(bits, np.uint64(shift), out=shifted)
        np.bitwise_xor(bits, shifted, out=bits)
        np.multiply(bits, np.uint64(factor), out=bits)
    np.right_shift(bits, np.uint64(31), out=shifted)
    return np.bitwise_xor(bits, shifted, out=bits)


def content_folds(targets: FloatArray, hashes: Hashes, n_folds: int) -> IntArray:
    """Folds with like targets, the same for rows in any order; equal rows share a fold.

    Rows are sorted by the targets and dealt out, `n_folds` at a time. If all targets differ, the
    folds depend on their order and nothing else, such as the units of the columns.

    Parameters
    ----------
    targets : ndarray of shape (n_samples, n_targets)
    hashes : ndarray of shape (n_samples,)
        The hash of each row.
    """
    unique, first, number = np.unique(hashes, return_index=True, return_inverse=True)
    # The last key is the first to sort by.
    rank = np.lexsort((unique, *targets[first].T[::-1]))
    # Who of neighbours in rank gets which fold is drawn once and for all, so that the last digits
    # of the targets do not matter.
    drawn = np.random.default_rng(0).random(len(rank))
    within = np.lexsort((drawn, np.arange(len(rank)) // n_folds))
    fold = np.empty(len(rank), dtype=np.intp)
    fold[rank[within]] = np.arange(len(rank)) % n_folds
    return fold[number.ravel()]
