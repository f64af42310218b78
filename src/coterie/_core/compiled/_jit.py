"""The compiler: formulas of criteria compiled as they stand, results kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.extending import overload, register_jitable

from coterie._core.criteria import _genlin, _lin, _nonlin, _ratios
from coterie._core.evidence import _pairs

F = TypeVar("F", bound=Callable[..., Any])

# Nothing over nothing is handled by the formulas, as in numpy.
OPTIONS = {"error_model": "numpy"}
FORMULAS = (
    _ratios.ratio,
    _ratios.correlation,
    _nonlin.in_sample_scores,
    _nonlin.split_scores,
    _nonlin.two_slopes,
    _nonlin.given_up,
    _nonlin.lost_and_spared,
    _genlin.explained_apart,
    _genlin.ratio_or_inf,
    _lin.bias_and_variance,
    _pairs.without_rounding,
)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition else no


overload(_pairs.where, strict=False)(lambda *_: _where)
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
