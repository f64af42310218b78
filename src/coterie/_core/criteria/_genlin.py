"""GenLinCFA: the bound on the deviance that a merge adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.criteria._ratios import correlation, ratio
from coterie._core.evidence import COLLINEAR, PairMoments
from coterie._core.values import FloatArray, Verdict, where


@dataclass(frozen=True)
class GenLin:
    """What separate inputs explain, over what their merger explains (eq. 12, Appendix B).

    All columns are standardised, the target too, so that covariances with the target and
    variances of inputs may be added. As in the authors' experiments, covariances divide by
    n - 1 and variances by n: the tables of the paper need it. A twin that leaves the
    aggregate as it was adds no deviance at all, so there the bound gives way to the truth.

    Parameters
    ----------
    tolerance : float
        The allowance: m/M of the theorem, the paper's epsilon.
    curvature : float
        b''(0) of the family, on the scale of the standardised target.
    bound : {"general", "bivariate"}
        The rule of Algorithm 2 or that of Appendix B.
    in_units : bool, default=False
        Whether the curvature is that of a target of spread 1 over all rows, where a question may be
        about some of them: there it is divided by the spread that the target has in these.
    """

    tolerance: float
    curvature: float
    bound: str = "general"
    in_units: bool = False

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
        curvature: Any = self.curvature
        if self.in_units:
            curvature = ratio(curvature, np.sqrt(pairs.yy / pairs.n))
        price = explained_apart(pairs, curvature, self.bound == "general")
        return Verdict(price, np.full(price.shape, self.tolerance))


def explained_apart(pairs: PairMoments, curvature: float, is_general: bool) -> FloatArray:
    """What two inputs explain apart, over what their merger explains; 0 for twins."""
    unbiased = pairs.n / (pairs.n - 1)
    uy = unbiased * np.abs(correlation(pairs.uy, pairs.uu, pairs.yy))
    vy = unbiased * np.abs(correlation(pairs.vy, pairs.vv, pairs.yy))
    wy = unbiased * np.abs(correlation(pairs.wy, pairs.ww, pairs.yy))
    uv = correlation(pairs.uv, pairs.uu, pairs.vv)
    half = curvature / 2
    apart, merged = uy + vy, half * (1.0 * (pairs.uu > 0) + 1.0 * (pairs.vv > 0) + 2 * uv)
    if is_general:
        apart, merged = apart + half * (pairs.ww > 0), wy + merged
    # Twins and their aggregate have the same correlations, up to the angle between them.
    is_twin = (uv >= 1 - COLLINEAR / 2) & (np.abs(wy - uy) <= np.sqrt(COLLINEAR))
    return where(is_twin, 0.0, ratio_or_inf(apart, merged))


def ratio_or_inf(apart: FloatArray, merged: FloatArray) -> FloatArray:
    endless = where(apart > 0, np.inf, 0.0)
    return where(merged > 0, ratio(apart, merged), endless)
