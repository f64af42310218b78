"""A sign and an order of columns that depend on what is in them, and not on how they came."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.evidence._sources import GramSource
from coterie._core.values import FloatArray, IntArray, is_sparse

# Rows that are looked at together, to tell the sign of columns.
ROWS_AT_A_TIME = 16


def canonical_signs(columns: Any) -> FloatArray:
    """1 or -1 for each column, the sign of its first entry that is not 0.

    Columns times these are the same however they came, so that where features may join with a
    minus nothing can depend on it.
    """
    if is_sparse(columns):
        return _signs_of_entries(columns)
    signs = np.zeros(columns.shape[1])
    unknown = np.arange(columns.shape[1])
    n_rows = columns.shape[0]
    for start in range(0, n_rows, ROWS_AT_A_TIME):
        if not len(unknown):
            break
        rows = np.asarray(columns[start : min(start + ROWS_AT_A_TIME, n_rows)])[:, unknown]
        signs[unknown] = _first_sign(rows)
        unknown = unknown[signs[unknown] == 0]
    return np.where(signs < 0, -1.0, 1.0)


def _first_sign(rows: FloatArray) -> FloatArray:
    """The sign of the first entry of each column that is not 0; 0 where all are."""
    first = np.argmax(rows != 0, axis=0)
    return np.sign(rows[first, np.arange(rows.shape[1])])


def _signs_of_entries(columns: Any) -> FloatArray:
    columns = _plain_entries(columns)
    signs, has_entries = np.ones(columns.shape[1]), np.diff(columns.indptr) > 0
    signs[has_entries] = np.sign(columns.data[columns.indptr[:-1][has_entries]])
    return signs


def canonical_signs_from_sums(source: GramSource, first: FloatArray) -> FloatArray:
    """The same where only the first rows and the scatters are known."""
    with_targets = source.scatters[:, : first.shape[1], first.shape[1] :].sum(axis=0)
    signs = _first_sign(np.vstack([first, with_targets.T]))
    return np.where(signs < 0, -1.0, 1.0)


def signed(columns: Any, signs: FloatArray) -> Any:
    """Columns times 1 or -1 each."""
    if (signs > 0).all():
        return columns
    signs = signs.astype(columns.dtype)
    return columns @ sparse.diags_array(signs) if is_sparse(columns) else columns * signs


def in_order(columns: Any, order: IntArray) -> Any:
    """Columns in another order, in the same layout in memory."""
    return columns[:, order] if is_sparse(columns) else np.take(columns, order, axis=1)


def order_by_content(columns: Any) -> tuple[IntArray, IntArray]:
    """An order of the columns that depends on what is in them and not on where they stand.

    Computing on columns in this order gives the same bits however they were ordered, so
    that rounding cannot decide between equals.

    Returns
    -------
    order : ndarray of shape (n_features,)
    copies : ndarray of shape (n_features,)
        In that order, the same number for columns that are copies of each other, from 1.
    """
    if is_sparse(columns):
        return _order_by_entries(columns)
    # A missing value comes last.
    first_row = np.asarray(columns[0])
    key = np.where(np.isnan(first_row), np.inf, first_row)
    order = np.argsort(key, kind="stable")
    first = key[order]
    is_new = np.append(True, first[1:] != first[:-1])
    for start, end in pairwise([*np.flatnonzero(is_new), len(order)]):
        if end - start > 1:
            tied = order[start:end]
            # Adding 0 turns -0 into 0.
            content = [(np.asarray(columns[:, int(j)]) + 0.0).tobytes() for j in tied]
            by_content = sorted(range(len(content)), key=content.__getitem__)
            order[start:end] = tied[by_content]
            is_new[start + 1 : end] = [content[a] != content[b] for a, b in pairwise(by_content)]
    return order, np.cumsum(is_new)


def _order_by_entries(columns: Any) -> tuple[IntArray, IntArray]:
    """The same for sparse columns, by where their entries are and what these are."""
    columns = _plain_entries(columns)
    entries = [slice(a, b) for a, b in pairwise(columns.indptr)]
    content = [(columns.indices[e].tobytes(), columns.data[e].tobytes()) for e in entries]
    order = sorted(range(len(content)), key=content.__getitem__)
    is_new = [True, *(content[a] != content[b] for a, b in pairwise(order))]
    return np.array(order, dtype=np.intp), np.cumsum(is_new)


def _plain_entries(columns: Any) -> sparse.csc_array:
    """A copy of sparse columns whose entries are in order, each once, and not 0."""
    columns = sparse.csc_array(columns, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns
