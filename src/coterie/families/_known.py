"""The built-in families."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from coterie._core.values import BoolArray, FloatArray
from coterie.families._family import Family, check_positive
from coterie.families._links import NEXT_TO_ONE, itself, one, spread_of_a_proportion


def _log_one_more(excess: FloatArray) -> FloatArray:
    """Log of 1 + excess, but finite if that is 0; the result is then multiplied by 0."""
    return np.log1p(np.maximum(excess, NEXT_TO_ONE - 1.0))


def _of_a_gaussian(y: FloatArray, mean: FloatArray) -> FloatArray:
    return (y - mean) ** 2


def _of_a_class(y: FloatArray, mean: FloatArray) -> FloatArray:
    return -2.0 * np.log(1.0 - np.abs(y - mean))


def _of_a_proportion(y: FloatArray, mean: FloatArray) -> FloatArray:
    rest = y - mean
    return 2.0 * (y * _log_one_more(rest / mean) + (1.0 - y) * _log_one_more(-rest / (1.0 - mean)))


def _of_a_count(y: FloatArray, mean: FloatArray) -> FloatArray:
    # log(y / mean) would lose nearly all digits for a large y.
    rest = y - mean
    return 2.0 * (y * _log_one_more(rest / mean) - rest)


def _of_a_gamma(y: FloatArray, mean: FloatArray) -> FloatArray:
    # Rounding, which depends on the processor, must not make it negative.
    return np.maximum(2.0 * ((y - mean) / mean - np.log(y / mean)), 0.0)


def _of_an_inverse_gaussian(y: FloatArray, mean: FloatArray) -> FloatArray:
    return ((y - mean) / mean) ** 2 / y


def _of_a_negative_binomial(y: FloatArray, mean: FloatArray, *, dispersion: float) -> FloatArray:
    # Separate terms for the counts and the rates would nearly cancel for large counts.
    rest, size = y - mean, 1.0 / dispersion
    excess = rest / (mean + size)
    of_rate = np.where(excess > -0.5, _log_one_more(excess), np.log((y + size) / (mean + size)))
    return 2.0 * (y * _log_one_more(size * rest / (mean * (y + size))) - size * of_rate)


def _square(mean: FloatArray) -> FloatArray:
    return mean**2


def _cube(mean: FloatArray) -> FloatArray:
    return mean**3


def _overdispersed(mean: FloatArray, *, dispersion: float) -> FloatArray:
    return mean * (1.0 + dispersion * mean)


def _zero_or_one(y: FloatArray) -> BoolArray:
    return (y == 0) | (y == 1)


def _zero_to_one(y: FloatArray) -> BoolArray:
    return (y >= 0) & (y <= 1)


def _zero_or_more(y: FloatArray) -> BoolArray:
    return (y >= 0) & np.isfinite(y)


def _above_zero(y: FloatArray) -> BoolArray:
    return (y > 0) & np.isfinite(y)


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "gaussian",
            one,
            deviance=_of_a_gaussian,
            curvature_at_zero=1.0,
            standardises=True,
        ),
        Family(
            "bernoulli",
            spread_of_a_proportion,
            link="logit",
            takes=_zero_or_one,
            expects="0 or 1",
            deviance=_of_a_class,
            dispersion=1.0,
            curvature_at_zero=0.25,
            takes_labels=True,
        ),
        Family(
            "binomial",
            spread_of_a_proportion,
            link="logit",
            takes=_zero_to_one,
            expects="proportions from 0 to 1, with the numbers of trials as sample weights",
            deviance=_of_a_proportion,
            dispersion=1.0,
            curvature_at_zero=0.25,
        ),
        Family(
            "poisson",
            itself,
            link="log",
            takes=_zero_or_more,
            expects="numbers of 0 or more",
            deviance=_of_a_count,
            curvature_at_zero=1.0,
        ),
        Family(
            "gamma",
            _square,
            link="log",
            takes=_above_zero,
            expects="numbers above 0",
            deviance=_of_a_gamma,
        ),
        Family(
            "inverse_gaussian",
            _cube,
            link="log",
            takes=_above_zero,
            expects="numbers above 0",
            deviance=_of_an_inverse_gaussian,
        ),
    )
}


def negative_binomial(dispersion: float) -> Family:
    """Family for overdispersed counts, with variance mean + dispersion * mean^2.

    Parameters
    ----------
    dispersion : float
        More than 0. As it goes to 0, the family becomes Poisson.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.families import negative_binomial
    >>> visits = negative_binomial(0.5)
    >>> visits
    Family(name='negative_binomial(0.5)', link='log', dispersion=None)
    >>> visits.variance(np.array([1.0, 10.0]))
    array([ 1.5, 60. ])
    """
    check_positive("dispersion", dispersion)
    return Family(
        f"negative_binomial({dispersion:g})",
        partial(_overdispersed, dispersion=float(dispersion)),
        link="log",
        takes=_zero_or_more,
        expects="numbers of 0 or more",
        deviance=partial(_of_a_negative_binomial, dispersion=float(dispersion)),
    )


# Families that need a number, by the string that a user might try as `family`.
NUMBERED_FAMILIES = {"negative_binomial": negative_binomial}


def dispersion_of(family: Family) -> float | None:
    """The dispersion of a family made by :func:`negative_binomial`; None for any other family.

    Parameters
    ----------
    family : Family
        Any family.

    Returns
    -------
    float or None
        The dispersion.

    Examples
    --------
    >>> from coterie.families import negative_binomial
    >>> dispersion_of(negative_binomial(0.5))
    0.5
    """
    if not isinstance(family.variance, partial):
        return None
    dispersion = family.variance.keywords.get("dispersion")
    if family.variance.func is not _overdispersed or dispersion is None:
        return None
    # Partial functions are equal only to themselves, so they are left out of the comparison.
    made = negative_binomial(dispersion)
    is_same = replace(family, variance=made.variance, deviance=made.deviance) == made
    same_deviance = getattr(family.deviance, "func", None) is _of_a_negative_binomial
    return dispersion if is_same and same_deviance else None
