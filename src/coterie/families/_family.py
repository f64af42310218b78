"""Family: the distribution of the target, defined by its variance function and its link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real

import numpy as np

from coterie._core.values import BoolArray, FloatArray
from coterie.families._links import LINKS, Function, Link

# Gauss-Legendre quadrature: 40 nodes give ten digits for a range of NEAR in the predictor.
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)
NEAR = 20.0


def _finite(y: FloatArray) -> BoolArray:
    return np.isfinite(y)


@dataclass(frozen=True)
class Family:
    """Distribution of the target given the inputs, or only its variance function.

    A family of your own needs a name, a variance function and a link; see the example.

    Parameters
    ----------
    name : str
        Name of the family, for error messages.
    variance : callable
        The variance function: takes an array of means and returns the variances of the target, up
        to a constant factor.
    link : str or Link, default="identity"
        The link function: a key of ``LINKS``, or a Link.
    takes : callable, default=numpy.isfinite
        Takes an array of targets and returns which values are allowed.
    expects : str, default="finite numbers"
        The allowed values in words, for error messages.
    deviance : callable or None, default=None
        Takes an array of targets and an array of means, and returns unit deviances. None: the
        quasi-deviance, an integral over the variance function that is computed by quadrature. The
        result is the same, and much slower.
    dispersion : float or None, default=None
        The constant factor of the variance, if it is known. None: estimated from the data.
    curvature_at_zero : float or None, default=None
        b''(0), the second derivative of the cumulant function at zero; None if it does not exist.
    standardises : bool, default=False
        Whether the target is standardised.
    takes_labels : bool, default=False
        Whether the target consists of class labels of any kind. Each class is then one target of
        zeros and ones.

    Examples
    --------
    A distribution between Poisson and gamma, for yearly sums of insurance claims:

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
        """The link as a Link, also if it was given as a string."""
        return self.link if isinstance(self.link, Link) else LINKS[self.link]

    @property
    def is_canonical(self) -> bool:
        """Whether the link is canonical: its slope and the variance are the same function."""
        return self.variance is self.resolved_link.slope

    def unit_deviances(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        """Unit deviances of targets, given their means."""
        return _quasi_deviance(self, y, mean) if self.deviance is None else self.deviance(y, mean)

    def curvature(self, mean: float, spread: float, at: str | float) -> float:
        """Second derivative of the cumulant function, on the scale of the standardised target.

        Parameters
        ----------
        mean, spread : float
            Mean and standard deviation of the target.
        at : {"zero", "null"} or float
            Where the derivative is taken: at zero or at the mean of the target. A number is the
            derivative itself.

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
    # The integrand is smooth along the linear predictor, up to the edge of the range. A long
    # range, such as that to a count of 0, is split: one quadrature would be inaccurate near the
    # mean.
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
