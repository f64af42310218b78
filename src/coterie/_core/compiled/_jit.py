"""The compiler: formulas of criteria compiled as they stand, results kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.extending import overload, register_jitable

from coterie._core.criteria import formulas
from coterie._core.evidence import without_rounding
from coterie._core.values import excess, where

F = TypeVar("F", bound=Callable[..., Any])

# Nothing over nothing is handled by the formulas, as in numpy.
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
    """Of all that is compiled: what is kept on disk must not outlive a change of a formula."""
    sources = {Path(formula.__code__.co_filename) for formula in FORMULAS}
    sources |= set(Path(__file__).parent.glob("*.py"))
    text = b"".join(path.read_bytes() for path in sorted(sources))
    return hashlib.sha256(text).hexdigest()[:12]


FINGERPRINT = _fingerprint()


def kernel(function: F) -> F:
    """Compile a function when it is first called, and keep the result on disk."""
    # The compiler looks for it by name, and only notices changes in one file.
    function.__qualname__ += f"_{FINGERPRINT}"
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # there is no place to keep it
        return njit(**OPTIONS)(function)


def sum_of_products(function: F) -> F:
    """Compile a function whose sums may be taken in any order, so as to use wide registers."""
    function.__qualname__ += f"_{FINGERPRINT}"
    return njit(fastmath={"reassoc", "contract"}, **OPTIONS)(function)


def inlined(function: F) -> F:
    """Compile a function into those that call it: handing over arrays takes longer than sums."""
    return njit(inline="always", **OPTIONS)(function)
