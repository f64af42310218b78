"""Products of all columns of some rows, added up in place."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas

from coterie._core.values import FloatArray


# All products by the same library: numpy may bring another one, and the threads of two that wait
# for work take the time of each other.
def add_products(products: FloatArray, rows: FloatArray) -> None:
    """Add to products, on and below the diagonal, those of all columns of some rows."""
    if not rows.size:
        return
    columns, is_turned = _as_columns(rows)
    dsyrk = _dsyrk()
    if dsyrk is None:
        blas.dsyrk(1.0, columns, beta=1.0, c=products.T, trans=is_turned, overwrite_c=1)
        return
    n_rows, n, length = (_int(number) for number in (*rows.shape, len(columns)))
    one, trans = ctypes.byref(ctypes.c_double(1.0)), b"T" if is_turned else b"N"
    dsyrk(b"U", trans, n, n_rows, one, columns.ctypes.data, length, one, products.ctypes.data, n)


def products_of(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sums over rows of the products of each left column with each right one."""
    columns, is_turned = _as_columns(left)
    # The few from the left, the many from the right: the other way round takes longer.
    few = np.asfortranarray(right)
    return blas.dgemm(1.0, few, columns, trans_a=1, trans_b=1 - is_turned).T


def _as_columns(rows: FloatArray) -> tuple[FloatArray, int]:
    """Rows as BLAS knows them, columns first, or the rows turned; and whether to turn them."""
    rows = in_one_piece(rows)
    return (rows, 1) if rows.flags.f_contiguous else (rows.T, 0)


def in_one_piece(rows: FloatArray) -> FloatArray:
    """Rows without gaps in memory between them; columns stay together where they were."""
    if rows.flags.forc:
        return rows
    is_by_column = rows.strides[0] < rows.strides[1]
    return np.array(rows, order="F" if is_by_column else "C")


def _int(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


@cache
def _dsyrk() -> Callable[..., Any] | None:
    """What ``scipy.linalg.blas.dsyrk`` calls; None where it cannot be called otherwise.

    Called from there, it keeps other threads of Python waiting; called by ctypes, it does not, so
    that several threads can count rows at the same time.
    """
    from scipy.linalg import cython_blas

    capsule = getattr(cython_blas, "__pyx_capi__", {}).get("dsyrk")
    if capsule is None:
        return None
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    signature: bytes = name_of(capsule)
    # Whole numbers of another length cannot be handed over like this.
    if signature.count(b" int *") != 4:
        return None
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kinds = [ctypes.c_char_p] * 2 + [ctypes.c_void_p] * 8
    return ctypes.CFUNCTYPE(None, *kinds)(address_of(capsule, signature))
