"""Orders and folds that depend on what the rows and columns hold, not on where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import BoolArray, FloatArray, IntArray, is_sparse

Hashes = NDArray[np.uint64]
# Numbers that are hashed at a time: as many as the cache of a core holds.
BLOCK = 2**15
# Rows whose values tell columns apart, unless these are equal there.
N_KEY_ROWS = 16
# So often one of several rows that nothing tells apart is picked.
MOST_PICKED = 20


class ContentOrder(NamedTuple):
    """An order of rows and columns by what they hold.

    Parameters
    ----------
    rows : ndarray of shape (n_samples,)
        The rows in order.
    columns : ndarray of shape (n_columns,)
        The columns in order.
    hashes : ndarray of shape (n_samples,)
        A hash of each row, before they are put in order. Rows that are equal, targets included,
        have the same.
    is_replicate : ndarray of shape (n_samples,)
        Rows of a table of few different rows, each of them there many times.
    """

    rows: IntArray
    columns: IntArray
    hashes: Hashes
    is_replicate: BoolArray


def content_order(
    columns: Any, targets: FloatArray, counts: FloatArray, n_folds: int = 5
) -> ContentOrder:
    """Put rows and columns in an order that depends on what they hold, not on where they are.

    Rows and columns that come in another order are put in the same one. So whatever is computed
    afterwards is equal to the last bit. Rows are told apart by their targets, and where these are
    equal by their values, each together with the hash of its column; columns by their values, each
    together with the hash of its row. Where this leaves ties between different rows, as in
    symmetric tables, one of them is picked, and the others follow.

    Parameters
    ----------
    columns : ndarray or csr_array of shape (n_samples, n_columns)
        The order is the same for both.
    targets : ndarray of shape (n_samples, n_targets)
    counts : ndarray of shape (n_samples,)
        How many times each row counts. A row that counts twice has the hash of one that is there
        twice.
    n_folds : int
        Rows that are there at least so many times may be replicates.
    """
    of_targets = _hashes_of_targets(targets)
    number, once = _different_rows(columns, of_targets)
    # Rounded, since the order of a sum changes its last digits.
    times = np.bincount(number, counts, len(once)).astype(np.float64).round(6)
    hashes = _told_apart(columns, once, _mixed(of_targets[once] ^ _bits(times)))
    order = _order_of_columns(columns, once, hashes)
    is_replicate = _are_replicates(columns, once, times, n_folds)[number]
    return ContentOrder(np.lexsort((counts, hashes[number])), order, hashes[number], is_replicate)


def _different_rows(columns: Any, of_targets: Hashes) -> tuple[IntArray, IntArray]:
    """Which of the different rows each row is, and where each is first."""
    exact, tied = of_targets.copy(), _tied(of_targets)
    places = _mixed(np.arange(columns.shape[1], dtype=np.uint64))
    exact[tied] = _mixed(exact[tied] + _sums_over_columns(columns, tied, places))
    _, once, number = np.unique(exact, return_index=True, return_inverse=True)
    return number.ravel(), once


def _told_apart(columns: Any, once: IntArray, hashes: Hashes) -> Hashes:
    """A hash of each different row that does not depend on the order of the columns."""
    n_picked = 0
    while len(tied := _tied(hashes)):
        of_columns = _mixed(_sums_over_rows(columns, once, slice(None), hashes))
        n_before, refined = len(np.unique(hashes)), hashes.copy()
        refined[tied] = _mixed(hashes[tied] + _sums_over_columns(columns, once[tied], of_columns))
        if len(np.unique(refined)) == n_before:
            if n_picked == MOST_PICKED:
                return refined
            n_picked += 1
            refined[tied[refined[tied].argmin()]] += np.uint64(1)
        hashes = refined
    return hashes


def _order_of_columns(columns: Any, once: IntArray, hashes: Hashes) -> IntArray:
    """An order of the columns by the values in a few rows, and where these are equal in all."""
    rank = np.argsort(hashes, kind="stable")
    few = rank[:N_KEY_ROWS]
    first = _mixed(_sums_over_rows(columns, once[few], slice(None), hashes[few]))
    second, tied = np.zeros_like(first), _tied(first)
    second[tied] = _mixed(_sums_over_rows(columns, once, tied, hashes))
    return np.lexsort((second, first))


def _are_replicates(columns: Any, once: IntArray, times: FloatArray, n_folds: int) -> BoolArray:
    """Which of the different rows are replicates.

    A weight is a row that is there several times, so many equal rows may be one row with a
    weight. They are taken to be replicates if the table as a whole has few different ones: most
    of its rows have values that are there with another target too, or there are less than four
    different rows for each fold.
    """
    often = times >= n_folds
    if not often.any():
        return often
    places = _mixed(np.arange(columns.shape[1], dtype=np.uint64))
    values = np.unique(_sums_over_columns(columns, once, places), return_inverse=True)[1].ravel()
    has_others = np.bincount(values)[values] > 1
    are_most = bool(times[often & has_others].sum() > times.sum() / 2)
    are_few = len(once) < 4 * n_folds and bool(times.sum() >= 2 * n_folds * len(once))
    return often if are_most or are_few else np.zeros_like(often)


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


def _sums_over_columns(columns: Any, rows: IntArray, of_columns: Hashes) -> Hashes:
    """For each of some rows, the sum of the hashes of its values, each with that of its column."""
    if is_sparse(columns):
        some = columns[rows]
        plain = _mixed(of_columns)
        extra = _mixed(_bits(some.data) ^ of_columns[some.indices]) - plain[some.indices]
        running = np.append(np.uint64(0), extra.cumsum(dtype=np.uint64))
        return running[some.indptr[1:]] - running[some.indptr[:-1]] + plain.sum(dtype=np.uint64)
    sums = np.empty(len(rows), dtype=np.uint64)
    for start, stop in _stretches(len(rows), columns.shape[1]):
        hashed = _mixed(_bits(columns[rows[start:stop]]) ^ of_columns)
        sums[start:stop] = hashed.sum(axis=1, dtype=np.uint64)
    return sums


def _sums_over_rows(
    columns: Any, rows: IntArray, chosen: IntArray | slice, of_rows: Hashes
) -> Hashes:
    """For each of some columns, the sum of the hashes of its values, each with that of its row."""
    if is_sparse(columns):
        some, plain = columns[rows], _mixed(of_rows)
        each = np.repeat(np.arange(len(rows)), np.diff(some.indptr))
        every = np.full(columns.shape[1], plain.sum(dtype=np.uint64))
        np.add.at(every, some.indices, _mixed(_bits(some.data) ^ of_rows[each]) - plain[each])
        return every[chosen]
    width = columns.shape[1] if isinstance(chosen, slice) else len(chosen)
    sums = np.zeros(width, dtype=np.uint64)
    for start, stop in _stretches(len(rows) if width else 0, width):
        some = columns[rows[start:stop]][:, chosen]
        hashed = _mixed(_bits(some) ^ of_rows[start:stop, None])
        sums += hashed.sum(axis=0, dtype=np.uint64)
    return sums


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


def content_folds(
    targets: FloatArray, hashes: Hashes, is_replicate: BoolArray, n_folds: int
) -> IntArray:
    """Folds with like targets, the same for rows in any order; equal rows share a fold.

    Rows are sorted by the targets and dealt out, `n_folds` at a time. If all targets differ, the
    folds depend on their order and nothing else, such as the units of the columns. Replicates have
    no fold, -1: each fold has an equal share of them. There are fewer folds where there are fewer
    different rows.

    Parameters
    ----------
    targets : ndarray of shape (n_samples, n_targets)
    hashes : ndarray of shape (n_samples,)
        The hash of each row.
    is_replicate : ndarray of shape (n_samples,)
    """
    fold = np.full(len(targets), -1, dtype=np.intp)
    dealt = np.flatnonzero(~is_replicate)
    _, first, number = np.unique(hashes[dealt], return_index=True, return_inverse=True)
    n_folds = n_folds if is_replicate.any() else min(n_folds, len(first))
    # The last key is the first to sort by.
    rank = np.lexsort((hashes[dealt[first]], *targets[dealt[first]].T[::-1]))
    # Who of neighbours in rank gets which fold is drawn once and for all, so that the last digits
    # of the targets do not matter.
    drawn = np.random.default_rng(0).random(len(rank))
    within = np.lexsort((drawn, np.arange(len(rank)) // n_folds))
    of_each = np.empty(len(rank), dtype=np.intp)
    of_each[rank[within]] = np.arange(len(rank)) % n_folds
    fold[dealt] = of_each[number.ravel()]
    return fold
