"""Link functions: the relation of the mean of the target and the linear predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from coterie._core.values import FloatArray

Function = Callable[[FloatArray], FloatArray]

# Means are clipped to this range, so that their squares and cubes neither overflow nor underflow.
SMALL, LARGE = 1e-100, 1e100
NEXT_TO_ONE = float(np.finfo(np.float64).eps)
LOGITS, PROBITS = 36.0, 8.1


@dataclass(frozen=True)
class Link:
    """A link function: relates the mean of the target to the linear predictor.

    Parameters
    ----------
    name : str
        The name, for messages.
    of_mean : callable
        The link: the linear predictor as a function of the mean.
    mean : callable
        The inverse link: the mean as a function of the linear predictor. It must be finite and
        inside the range of the mean for any finite predictor.
    slope : callable
        Derivative of the mean with respect to the linear predictor, as a function of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.families import LINKS
    >>> logit = LINKS["logit"]
    >>> logit.mean(np.array([-1e9, 0.0, 1e9])) < 1
    array([ True,  True,  True])
    >>> logit.slope(np.array([0.5]))
    array([0.25])
    """

    name: str
    of_mean: Function = field(repr=False)
    mean: Function = field(repr=False)
    slope: Function = field(repr=False)


def _inside(values: FloatArray, low: float = SMALL, high: float = LARGE) -> FloatArray:
    return np.clip(values, low, high)


def _proportion(values: FloatArray) -> FloatArray:
    return _inside(values, NEXT_TO_ONE, 1 - NEXT_TO_ONE)


def itself(mean: FloatArray) -> FloatArray:
    return mean


def one(mean: FloatArray) -> FloatArray:
    return np.ones_like(mean)


def _exponential(predictor: FloatArray) -> FloatArray:
    return np.exp(_inside(predictor, np.log(SMALL), np.log(LARGE)))


def _logarithm(mean: FloatArray) -> FloatArray:
    return np.log(_inside(mean))


def _logistic(predictor: FloatArray) -> FloatArray:
    # Several times faster than scipy.special.expit.
    return 1.0 / (1.0 + np.exp(-_inside(predictor, -LOGITS, LOGITS)))


def _logit(mean: FloatArray) -> FloatArray:
    inside = _proportion(mean)
    return np.log(inside) - np.log1p(-inside)


def spread_of_a_proportion(mean: FloatArray) -> FloatArray:
    return mean * (1.0 - mean)


def _normal(predictor: FloatArray) -> FloatArray:
    return ndtr(_inside(predictor, -PROBITS, PROBITS))


def _probit(mean: FloatArray) -> FloatArray:
    return ndtri(_proportion(mean))


def _normal_slope(mean: FloatArray) -> FloatArray:
    return np.exp(-0.5 * _probit(mean) ** 2) / np.sqrt(2 * np.pi)


def _gompertz(predictor: FloatArray) -> FloatArray:
    return _proportion(-np.expm1(-np.exp(_inside(predictor, -LOGITS, LOGITS))))


def _cloglog(mean: FloatArray) -> FloatArray:
    return np.log(-np.log1p(-_proportion(mean)))


def _gompertz_slope(mean: FloatArray) -> FloatArray:
    return -(1.0 - mean) * np.log1p(-mean)


def _inverse(values: FloatArray) -> FloatArray:
    return 1.0 / _inside(values)


def _inverse_slope(mean: FloatArray) -> FloatArray:
    return -(mean**2)


def _inverse_squared(mean: FloatArray) -> FloatArray:
    return 1.0 / _inside(mean) ** 2


def _inverse_root(predictor: FloatArray) -> FloatArray:
    return 1.0 / np.sqrt(_inside(predictor, SMALL**2, LARGE**2))


def _inverse_root_slope(mean: FloatArray) -> FloatArray:
    return -0.5 * mean**3


LINKS = {
    link.name: link
    for link in (
        Link("identity", itself, itself, one),
        Link("log", _logarithm, _exponential, itself),
        Link("logit", _logit, _logistic, spread_of_a_proportion),
        Link("probit", _probit, _normal, _normal_slope),
        Link("cloglog", _cloglog, _gompertz, _gompertz_slope),
        Link("inverse", _inverse, _inverse, _inverse_slope),
        Link("inverse_squared", _inverse_squared, _inverse_root, _inverse_root_slope),
    )
}
