"""A distribution of the target, by how its variance follows its mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real

import numpy as np

from coterie._core.values import BoolArray, FloatArray
from coterie.families._links import LINKS, Function, Link

# Of Gauss-Legendre quadrature: enough for ten digits along a way of so much in the predictor.
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)
NEAR = 20.0


def _finite(y: FloatArray) -> BoolArray:
    return np.isfinite(y)


@dataclass(frozen=True)
class Family:
    """A distribution of the target given the inputs, or only how its variance follows its mean.

    One of your own needs a name, a variance function and a link; see the example.

    Parameters
    ----------
    name : str
        What error messages call it.
    variance : callable
        The variance function: the variance of the target, up to a factor, for an array of means.
    link : str or Link, default="identity"
        How the mean follows from the linear predictor: one of the words of ``LINKS``, or a Link.
    takes : callable, default=numpy.isfinite
        Which values of an array the target may have.
    expects : str, default="finite numbers"
        The same in words, for error messages.
    deviance : callable or None, default=None
        Unit deviances, for an array of targets and one of means. None: the quasi-deviance, an
        integral over the variance function that is found by quadrature. That is as good, and much
        slower.
    dispersion : float or None, default=None
        The factor of the variance function, where it is known. None: estimated.
    curvature_at_zero : float or None, default=None
        b''(0), the second derivative of the cumulant function at the origin; None where it does
        not exist.
    standardises : bool, default=False
        Whether the target is measured in its own standard deviations.
    takes_labels : bool, default=False
        Whether the target has classes, with labels of any kind; each class is then one target of 0
        and 1.

    Examples
    --------
    Between counts and waiting times, such as the yearly sum of insurance claims:

    >>> import numpy as np
    >>> from coterie.families import Family
    >>> claims = Family(
    ...     "claims",
    ...     variance=lambda mean: mean**1.5,
    ...     link="log",
    ...     takes=lambda y: y >= 0,
    ...     expects="numbers of 0 or more",
    ... )
    >>> claims.unit_deviances(np.array([0.0, 4.0]), np.array([4.0, 1.0])).round(6)
    array([8., 4.])
    """

    name: str
    variance: Function = field(repr=False)
    _: KW_ONLY
    link: str | Link = "identity"
    takes: Callable[[FloatArray], BoolArray] = field(default=_finite, repr=False)
    expects: str = field(default="finite numbers", repr=False)
    deviance: Callable[[FloatArray, FloatArray], FloatArray] | None = field(
        default=None, repr=False
    )
    dispersion: float | None = None
    curvature_at_zero: float | None = field(default=None, repr=False)
    standardises: bool = field(default=False, repr=False)
    takes_labels: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        for parameter in ("variance", "takes", "deviance"):
            given = getattr(self, parameter)
            if not callable(given) and not (parameter == "deviance" and given is None):
                raise TypeError(f"{parameter} must be a function, got {given!r}.")
        if np.shape(self.variance(np.array([0.25, 0.5]))) != (2,):
            raise ValueError("variance must give one number for each of an array of means.")
        if not isinstance(self.link, Link) and self.link not in list(LINKS):
            words = ", ".join(map(repr, LINKS))
            raise ValueError(f"link must be one of {words} or a Link, got {self.link!r}.")
        for parameter in ("dispersion", "curvature_at_zero"):
            if getattr(self, parameter) is not None:
                check_positive(parameter, getattr(self, parameter))

    @property
    def resolved_link(self) -> Link:
        """The link itself, where it was given as a word."""
        return self.link if isinstance(self.link, Link) else LINKS[self.link]

    @property
    def is_canonical(self) -> bool:
        """Whether the slope of the link is the variance function: the same function."""
        return self.variance is self.resolved_link.slope

    def unit_deviances(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        """Twice the log-likelihood that each mean lacks, times the dispersion."""
        return _quasi_deviance(self, y, mean) if self.deviance is None else self.deviance(y, mean)

    def curvature(self, mean: float, spread: float, at: str | float) -> float:
        """Curvature of the cumulant function, on the scale of the standardised target.

        Parameters
        ----------
        mean, spread : float
            Mean and standard deviation of the target.
        at : {"zero", "null"} or float
            At the origin, at the mean of the target, or this number.

        Examples
        --------
        >>> from coterie.families import FAMILIES
        >>> FAMILIES["poisson"].curvature(9.0, 3.0, "null")
        3.0
        """
        # Covariances with the standardised target are divided by its spread; dividing the
        # curvature by the same number leaves their ratio, and with it the rule, unchanged.
        value = self._curvature_at(at, mean) if isinstance(at, str) else at
        return value if self.standardises else value / spread

    def _curvature_at(self, where: str, mean: float) -> float:
        if where == "null":
            return float(self.variance(np.array(0.0 if self.standardises else mean)))
        if self.curvature_at_zero is None:
            raise ValueError(
                f"family '{self.name}' has no curvature at zero; use curvature='null' or a number."
            )
        return self.curvature_at_zero


def check_positive(parameter: str, number: object) -> None:
    if not isinstance(number, Real) or isinstance(number, bool):
        raise TypeError(f"{parameter} must be a number, got {number!r}.")
    if not 0 < float(number) < np.inf:
        raise ValueError(f"{parameter} must be more than 0 and finite, got {number!r}.")


def _quasi_deviance(family: Family, y: FloatArray, mean: FloatArray) -> FloatArray:
    """Twice the integral of (y - t) / variance(t) for t from the mean to y."""
    # Along the linear predictor the integrand is smooth up to the very edge of the range. What
    # happens near the mean is lost on a long way, such as that to a count of 0.
    start = family.resolved_link.of_mean(mean)
    way = family.resolved_link.of_mean(y) - start
    near = np.clip(way, -NEAR, NEAR)
    total = _integral(family, y, start, near)
    if np.any(near != way):
        total += _integral(family, y, start + near, way - near)
    return 2.0 * total


def _integral(family: Family, y: FloatArray, start: FloatArray, way: FloatArray) -> FloatArray:
    link, total = family.resolved_link, np.zeros_like(way)
    for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
        t = link.mean(start + 0.5 * (node + 1.0) * way)
        total += 0.5 * weight * (y - t) * (link.slope(t) / family.variance(t))
    return total * way
