"""Exponential families: what their curvature is and which targets they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coterie.statistics import standardised
from coterie.values import FloatArray


@dataclass(frozen=True)
class Family:
    """A distribution of the target given the features.

    Parameters
    ----------
    name : str
    curvature_at_zero : float
        b''(0), the second derivative of the cumulant function at the origin.
    variance : callable
        The variance function V of the mean.
    standardises : bool, default=False
        Whether the target is measured in its own standard deviations.
    """

    name: str
    curvature_at_zero: float
    variance: Callable[[float], float]
    standardises: bool = False

    def curvature(self, target: FloatArray, at: str | float) -> float:
        """Curvature on the scale of the standardised target.

        Parameters
        ----------
        target : ndarray of shape (n_samples,)
        at : {"zero", "null"} or float
            At the origin, at the mean of the target, or this number.
        """
        # Covariances with the standardised target are divided by its spread; dividing the
        # curvature by the same number leaves their ratio, and with it the rule, unchanged.
        _, centre, spread = standardised(target[:, None])
        if isinstance(at, str):
            null_mean = 0.0 if self.standardises else float(centre[0])
            at = self.curvature_at_zero if at == "zero" else self.variance(null_mean)
        return at if self.standardises else at / float(spread[0])


FAMILIES = {
    family.name: family
    for family in (
        Family("gaussian", 1.0, lambda _: 1.0, standardises=True),
        Family("bernoulli", 0.25, lambda mean: mean * (1 - mean)),
        Family("poisson", 1.0, lambda mean: mean),
    )
}
