"""Penalties: the allowance of a merge as a multiple of the average loss from noise alone.

For n samples of D columns, with an effective number M of columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def aic(n: float, D: int, M: float) -> float:
    """2: one for the average loss from noise, one for the optimism of the in-sample score."""
    return 2.0


def bic(n: float, D: int, M: float) -> float:
    """Log n: as n grows, the probability to separate features that belong together goes to 0."""
    return math.log(n)


def ric(n: float, D: int, M: float) -> float:
    """2 log D: the expected maximum of D independent prices that are only noise."""
    return 2 * math.log(D)


def auto(n: float, D: int, M: float) -> float:
    """The larger of BIC, and AIC plus 2 log M for the effective number M of candidates.

    Of M independent candidates that lose nothing, the most expensive one costs about 2 log M times
    the average loss from noise. Correlated candidates have a smaller effective number.
    """
    return max(bic(n, D, M), aic(n, D, M) + 2 * math.log(M))


PENALTIES: dict[str, Callable[[float, int, float], float]] = {
    "auto": auto,
    "aic": aic,
    "bic": bic,
    "ric": ric,
}
