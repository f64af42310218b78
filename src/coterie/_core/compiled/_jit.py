"""Compilation with Numba: formulas of criteria without changes, and a cache on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit, typeof
from numba.extending import overload, register_jitable

from coterie._core.criteria import formulas
from coterie._core.evidence import without_rounding
from coterie._core.values import excess, where

F = TypeVar("F", bound=Callable[..., Any])

# 0 / 0 gives NaN as in NumPy, which the formulas handle.
OPTIONS = {"error_model": "numpy"}
FORMULAS = (
    formulas.ratio,
    formulas.correlation,
    formulas.in_sample_scores,
    formulas.split_scores,
    formulas.two_slopes,
    formulas.given_up,
    formulas.lost_and_spared,
    formulas.explained_apart,
    formulas.ratio_or_inf,
    formulas.bias_and_variance,
    without_rounding,
    excess,
)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition else no


overload(where, strict=False)(lambda *_: _where)
for formula in FORMULAS:
    register_jitable(**OPTIONS)(formula)


def _fingerprint() -> str:
    """Hash of all compiled source files, so that a changed formula invalidates the disk cache."""
    sources = {Path(formula.__code__.co_filename) for formula in FORMULAS}
    sources |= set(Path(__file__).parent.glob("*.py"))
    text = b"".join(path.read_bytes() for path in sorted(sources))
    return hashlib.sha256(text).hexdigest()[:12]


FINGERPRINT = _fingerprint()


def kernel(function: F) -> F:
    """Compile a function when it is first called, and keep the result on disk."""
    # The cache is looked up by name, and Numba notices changes only in the file of the function.
    function.__qualname__ += f"_{FINGERPRINT}"
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # the cache directory is not writable
        return njit(**OPTIONS)(function)


def is_compiled(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether a kernel is compiled for arguments of these types, in memory or on disk."""
    types = tuple(typeof(argument) for argument in arguments)
    if types in kernel.overloads:
        return True
    return kernel._cache.load_overload(types, kernel.targetctx) is not None


def sum_of_products(function: F) -> F:
    """Compile a function whose sums may be reordered, so that SIMD instructions can be used."""
    function.__qualname__ += f"_{FINGERPRINT}"
    return njit(fastmath={"reassoc", "contract"}, **OPTIONS)(function)


def inlined(function: F) -> F:
    """Compile a function inline in its callers: passing arrays takes longer than the sums."""
    return njit(inline="always", **OPTIONS)(function)
