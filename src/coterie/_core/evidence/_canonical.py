"""Canonical sign and order of columns, which depend only on their values."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.evidence._sources import GramSource
from coterie._core.values import FloatArray, IntArray, is_sparse

# Number of rows read at a time to find the sign of columns.
ROWS_AT_A_TIME = 16


def canonical_signs(columns: Any) -> FloatArray:
    """Sign of each column, 1 or -1: the sign of its first nonzero entry.

    Columns multiplied by these signs are the same whether or not the input columns were multiplied
    by -1. So, where signs are allowed, results do not depend on the signs of the input.
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
    """Sign of the first nonzero entry of each column; 0 where all entries are 0."""
    first = np.argmax(rows != 0, axis=0)
    return np.sign(rows[first, np.arange(rows.shape[1])])


def _signs_of_entries(columns: Any) -> FloatArray:
    columns = _plain_entries(columns)
    signs, has_entries = np.ones(columns.shape[1]), np.diff(columns.indptr) > 0
    signs[has_entries] = np.sign(columns.data[columns.indptr[:-1][has_entries]])
    return signs


def canonical_signs_from_sums(source: GramSource, first: FloatArray) -> FloatArray:
    """Canonical signs where only the first rows and the scatters are known."""
    with_targets = source.scatters[:, : first.shape[1], first.shape[1] :].sum(axis=0)
    signs = _first_sign(np.vstack([first, with_targets.T]))
    return np.where(signs < 0, -1.0, 1.0)


def signed(columns: Any, signs: FloatArray) -> Any:
    """Columns, each multiplied by its sign, 1 or -1."""
    if (signs > 0).all():
        return columns
    signs = signs.astype(columns.dtype)
    return columns @ sparse.diags_array(signs) if is_sparse(columns) else columns * signs


def in_order(columns: Any, order: IntArray) -> Any:
    """Columns in another order, in C order if dense."""
    return columns[:, order] if is_sparse(columns) else np.take(columns, order, axis=1)


def order_by_content(columns: Any) -> tuple[IntArray, IntArray]:
    """Order of the columns that depends only on their values, not on their positions.

    Computations on columns in this order give the same bits for every input order. So rounding
    errors cannot decide between equal candidates.

    Returns
    -------
    order : ndarray of shape (n_features,)
    copies : ndarray of shape (n_features,)
        Numbers from 1, in that order; columns that are copies of each other have the same number.
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
    """Order of sparse columns by the positions and the values of their entries."""
    columns = _plain_entries(columns)
    entries = [slice(a, b) for a, b in pairwise(columns.indptr)]
    content = [(columns.indices[e].tobytes(), columns.data[e].tobytes()) for e in entries]
    order = sorted(range(len(content)), key=content.__getitem__)
    is_new = [True, *(content[a] != content[b] for a, b in pairwise(order))]
    return np.array(order, dtype=np.intp), np.cumsum(is_new)


def _plain_entries(columns: Any) -> sparse.csc_array:
    """Copy of sparse columns with sorted entries, without duplicates and explicit zeros."""
    columns = sparse.csc_array(columns, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns
