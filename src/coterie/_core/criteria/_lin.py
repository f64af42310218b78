"""LinCFA: bias against variance in a linear model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie._core.criteria._nonlin import in_sample_scores
from coterie._core.criteria._ratios import correlation, ratio
from coterie._core.evidence import COLLINEAR, ROUNDING, PairMoments
from coterie._core.values import FloatArray, Verdict, where


@dataclass(frozen=True)
class Lin:
    """Added bias against saved variance, in a linear model of standardised columns.

    Merge if ``corr(u, v) >= 1 - 2 s2 / ((n - 1) (w1 - w2)^2)`` with w1, w2 the two
    coefficients and s2 the residual variance (Bonetti et al. 2023). On standardised
    columns ``w1 - w2 = (r_uy - r_vy) / (1 - r_uv)``, so equal coefficients and duplicates
    cost 0 and need no special case.
    """

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
        return Verdict(*bias_and_variance(pairs))


def bias_and_variance(pairs: PairMoments) -> tuple[FloatArray, FloatArray]:
    """The bias that a merge adds (price), and the variance that it saves (allowance)."""
    n = pairs.n
    apart, _ = in_sample_scores(pairs)
    residual_variance = n * np.maximum(1.0 - apart, 0.0) / (n - 3)
    gap: FloatArray = correlation(pairs.uy, pairs.uu, pairs.yy) - correlation(
        pairs.vy, pairs.vv, pairs.yy
    )
    unlike: FloatArray = 1.0 - correlation(pairs.uv, pairs.uu, pairs.vv)
    unlike = where(unlike > COLLINEAR / 2, unlike, 0.0)
    # Coefficients that differ only by rounding are equal.
    gap = where(np.abs(gap) > ROUNDING, gap, 0.0)
    return ratio(gap**2, unlike), 2 * residual_variance / (n - 1)
