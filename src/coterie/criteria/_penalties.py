"""How many times what noise alone gives up a merge may give up."""

from __future__ import annotations

import math
from collections.abc import Callable

from coterie.statistics import effective_number
from coterie.values import FloatArray


def aic(columns: FloatArray) -> float:
    """Twice: once because noise gives it up anyway, once because fitting hides as much."""
    return 2.0


def bic(columns: FloatArray) -> float:
    """Log n: as n grows, whoever belongs together is told apart with probability 0."""
    return math.log(len(columns))


def ric(columns: FloatArray) -> float:
    """2 log D: the largest of D independent prices of nothing but noise."""
    return 2 * math.log(columns.shape[1])


def auto(columns: FloatArray) -> float:
    """The larger of BIC, and AIC for as many candidates as there are in effect.

    Of M independent candidates that cost nothing, the dearest costs about 2 log M times what
    noise gives up. Correlated ones are fewer in effect than their number.
    """
    return max(bic(columns), aic(columns) + 2 * math.log(effective_number(columns)))


PENALTIES: dict[str, Callable[[FloatArray], float]] = {
    "auto": auto,
    "aic": aic,
    "bic": bic,
    "ric": ric,
}
