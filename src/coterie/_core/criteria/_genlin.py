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
    """Ratio of what separate inputs explain to what their merger explains (eq. 15, Appendix B).

    All columns and the target are standardised, so that covariances with the target and variances
    of inputs can be added. Covariances divide by n - 1 and variances by n, as in the authors'
    experiments; this is needed to reproduce the tables of the paper. A duplicate of the group adds
    no deviance, so its price is 0 instead of the bound.

    Parameters
    ----------
    tolerance : float
        The allowance: the paper's epsilon, m/M in its theorem.
    curvature : float
        b''(0) of the family, on the scale of the standardised target.
    bound : {"general", "bivariate"}
        The rule of Algorithm 2 or of Appendix B.
    in_units : bool, default=False
        Whether to divide the curvature by the standard deviation of the target in the rows of
        each merge. Needed with missing values, where merges are tested on different rows.
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
    """Ratio of what two inputs explain to what their merger explains; 0 for duplicates."""
    unbiased = pairs.n / (pairs.n - 1)
    uy = unbiased * np.abs(correlation(pairs.uy, pairs.uu, pairs.yy))
    vy = unbiased * np.abs(correlation(pairs.vy, pairs.vv, pairs.yy))
    wy = unbiased * np.abs(correlation(pairs.wy, pairs.ww, pairs.yy))
    uv = correlation(pairs.uv, pairs.uu, pairs.vv)
    half = curvature / 2
    apart, merged = uy + vy, half * (1.0 * (pairs.uu > 0) + 1.0 * (pairs.vv > 0) + 2 * uv)
    if is_general:
        apart, merged = apart + half * (pairs.ww > 0), wy + merged
    # Duplicates and their aggregate have the same correlations, up to the angle between them.
    is_twin = (uv >= 1 - COLLINEAR / 2) & (np.abs(wy - uy) <= np.sqrt(COLLINEAR))
    return where(is_twin, 0.0, ratio_or_inf(apart, merged))


def ratio_or_inf(apart: FloatArray, merged: FloatArray) -> FloatArray:
    endless = where(apart > 0, np.inf, 0.0)
    return where(merged > 0, ratio(apart, merged), endless)
