"""Orders and folds that depend on what the rows and columns hold, not on where they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray, IntArray

Hashes = NDArray[np.uint64]
# Numbers that are hashed at a time: as many as the cache of a core holds.
BLOCK = 2**15


def content_order(
    columns: FloatArray, targets: FloatArray, counts: FloatArray
) -> tuple[IntArray, IntArray, Hashes]:
    """An order of the rows and one of the columns, and a hash of each row.

    Rows and columns that come in another order are put in the same one. So whatever is computed
    afterwards is equal to the last bit. Hashes of values add up to the same sum in any order; the
    hash of a row takes part in those of the columns, and these in a second one of the rows, so
    that rows with the same values in different columns are told apart.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    targets : ndarray of shape (n_samples, n_targets)
    counts : ndarray of shape (n_samples,)
        How many times each row counts. A row that counts twice has the hash of one that is there
        twice.
    """
    seed = np.zeros(len(columns), dtype=np.uint64)
    # Each target has its own place, which never changes.
    for target in targets.T:
        seed = _mixed(seed ^ _bits(target))
    nothing = np.zeros(columns.shape[1], dtype=np.uint64)
    hashes, _ = _sums(columns, seed, nothing)
    # Rows that are there several times count once, as those with a weight do.
    _, once = np.unique(hashes, return_index=True)
    is_unique = len(once) == len(hashes)
    some = (columns, hashes) if is_unique else (columns[once], hashes[once])
    _, of_columns = _sums(*some, nothing)
    rows, _ = _sums(columns, hashes, of_columns)
    return np.lexsort((counts, rows)), np.argsort(of_columns, kind="stable"), hashes


def _sums(columns: FloatArray, rows: Hashes, of_columns: Hashes) -> tuple[Hashes, Hashes]:
    """Hashes of rows and columns: sums of the hashes of their values."""
    row_sums, column_sums = rows.copy(), of_columns.copy()
    step = max(1, BLOCK // max(1, columns.shape[1]))
    for start in range(0, len(columns), step):
        part = slice(start, start + step)
        hashed = _mixed(_bits(columns[part]) ^ rows[part, None] ^ of_columns)
        row_sums[part] += hashed.sum(axis=1, dtype=np.uint64)
        column_sums += hashed.sum(axis=0, dtype=np.uint64)
    return _mixed(row_sums), _mixed(column_sums)


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
