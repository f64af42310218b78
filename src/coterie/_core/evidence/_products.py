"""Sums of products of columns over rows, added in place with BLAS."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas

from coterie._core.values import FloatArray


# All products use the BLAS of SciPy. NumPy may come with another one, and the idle threads of two
# BLAS libraries slow each other down.
def add_products(products: FloatArray, rows: FloatArray) -> None:
    """Add the sums of products of all columns of ``rows``, on and below the diagonal."""
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
    # It is faster with the few columns as the left factor and the many as the right.
    few = np.asfortranarray(right)
    return blas.dgemm(1.0, few, columns, trans_a=1, trans_b=1 - is_turned).T


def _as_columns(rows: FloatArray) -> tuple[FloatArray, int]:
    """The array or its transpose in Fortran order, and whether BLAS must transpose it (1 or 0)."""
    rows = in_one_piece(rows)
    return (rows, 1) if rows.flags.f_contiguous else (rows.T, 0)


def in_one_piece(rows: FloatArray) -> FloatArray:
    """Contiguous rows, in the same memory order (C or Fortran) as the input."""
    if rows.flags.forc:
        return rows
    is_by_column = rows.strides[0] < rows.strides[1]
    return np.array(rows, order="F" if is_by_column else "C")


def _int(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


@cache
def _dsyrk() -> Callable[..., Any] | None:
    """The BLAS function behind ``scipy.linalg.blas.dsyrk``; None if ctypes cannot call it.

    The function of SciPy holds the GIL during the call. A call by ctypes releases it, so several
    Python threads can add rows at the same time.
    """
    from scipy.linalg import cython_blas

    capsule = getattr(cython_blas, "__pyx_capi__", {}).get("dsyrk")
    if capsule is None:
        return None
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    signature: bytes = name_of(capsule)
    # With 64-bit integers the signature differs, and the call would be wrong.
    if signature.count(b" int *") != 4:
        return None
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kinds = [ctypes.c_char_p] * 2 + [ctypes.c_void_p] * 8
    return ctypes.CFUNCTYPE(None, *kinds)(address_of(capsule, signature))
