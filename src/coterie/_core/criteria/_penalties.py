"""How many times what noise alone gives up a merge may give up.

For n samples of D columns, which are M columns in effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def aic(n: float, D: int, M: float) -> float:
    """Twice: once because noise gives it up anyway, once because fitting hides as much."""
    return 2.0


def bic(n: float, D: int, M: float) -> float:
    """Log n: as n grows, those who belong together are told apart with probability 0."""
    return math.log(n)


def ric(n: float, D: int, M: float) -> float:
    """2 log D: the largest of D independent prices of nothing but noise."""
    return 2 * math.log(D)


def auto(n: float, D: int, M: float) -> float:
    """The larger of BIC, and AIC for as many candidates as there are in effect.

    Of M independent candidates that cost nothing, the dearest costs about 2 log M times what
    noise gives up. Correlated ones are fewer in effect than their number.
    """
    return max(bic(n, D, M), aic(n, D, M) + 2 * math.log(M))


PENALTIES: dict[str, Callable[[float, int, float], float]] = {
    "auto": auto,
    "aic": aic,
    "bic": bic,
    "ric": ric,
}
