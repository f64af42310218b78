"""NonLinCFA: the share of the target's variance that a merge gives up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie._core.criteria._ratios import ratio
from coterie._core.evidence import COLLINEAR, ROUNDING, PairMoments
from coterie._core.values import FloatArray, Verdict, where


@dataclass(frozen=True)
class NonLin:
    """R2 of the two-input regression less R2 of the one-input regression (eq. 9).

    Parameters
    ----------
    tolerance : float
        The allowance: how much R2 a merge may give up.
    held_out : bool, default=False
        Whether R2 is scored on held-out rows and averaged over the splits (then a price
        may be negative: a gain), or in closed form on all rows.
    """

    tolerance: float
    held_out: bool = False

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
        price = given_up(*(held_out_scores(pairs) if self.held_out else in_sample_scores(pairs)))
        return Verdict(price, np.full(price.shape, self.tolerance))


@dataclass(frozen=True)
class Parsimony:
    """R2 that a merge gives up in-sample, against what noise alone would give up.

    Merging two inputs into one takes a coefficient out of the regression. If nothing is lost by
    it, R2 still falls by noise / n on average. So the allowance is a multiple of that,
    ``penalty * noise / (n - 3)``, where noise is the share of the target's variance that the two
    inputs leave unexplained: an F test.

    Parameters
    ----------
    penalty : float
        How many times what noise alone gives up: 2 for AIC, log n for BIC, 2 log D for RIC.
    held_out : bool, default=False
        Whether R2 is scored on held-out rows. There a coefficient too many costs what it
        pretends to win on the rows of the fit, so that a harmless merge gives up twice what noise
        gives up less, and so much less is the allowance.
    """

    penalty: float
    held_out: bool = False

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
        if not self.held_out:
            return Verdict(*lost_and_spared(pairs, self.penalty))
        fit, test = pairs.split()
        apart, merged = split_scores(fit, test)
        noise = np.maximum(1.0 - apart, 0.0) / (fit.n + test.n - 3.0)
        price = given_up(apart.mean(axis=0), merged.mean(axis=0))
        return Verdict(price, (self.penalty - 2.0) * noise.mean(axis=0))


def lost_and_spared(pairs: PairMoments, penalty: float) -> tuple[FloatArray, FloatArray]:
    """R2 that a merge gives up, and what it may give up."""
    apart, merged = in_sample_scores(pairs)
    noise = np.maximum(1.0 - apart, 0.0)
    return given_up(apart, merged), penalty * noise / (pairs.n - 3.0)


def given_up(apart: FloatArray, merged: FloatArray) -> FloatArray:
    """One score less the other, as far as that is more than rounding: twins cost nothing."""
    # Only scores on held-out rows can be far below 0, and have fewer digits then.
    digits = ROUNDING * np.maximum(1.0, np.abs(apart))
    return where(np.abs(apart - merged) > digits, apart - merged, 0.0)


def in_sample_scores(pairs: PairMoments) -> tuple[FloatArray, FloatArray]:
    """R2 of the target on (u, v), and on w, over the rows of the fit."""
    # Divisions are slow, and these two are the same for all candidates.
    per_uu, per_yy = ratio(1.0, pairs.uu), 1.0 / pairs.yy
    slope = pairs.uv * per_uu
    # What v adds is what is left of it beside u, as far as that is more than rounding.
    rest: FloatArray = pairs.vv - slope * pairs.uv
    rest = where(rest > COLLINEAR * pairs.vv, rest, np.inf)
    with_rest = pairs.vy - slope * pairs.uy
    apart = pairs.uy**2 * per_uu + with_rest**2 / rest
    merged = ratio(pairs.wy**2, pairs.ww)
    return apart * per_yy, merged * per_yy


def held_out_scores(pairs: PairMoments) -> tuple[FloatArray, FloatArray]:
    """Mean over the splits of R2 on held-out rows: of y on (u, v), and on w."""
    apart, merged = split_scores(*pairs.split())
    return apart.mean(axis=0), merged.mean(axis=0)


def split_scores(fit: PairMoments, test: PairMoments) -> tuple[FloatArray, FloatArray]:
    """R2 on the held-out rows of each split: of y on (u, v), and on w.

    The coefficients come from its training rows, least squares with intercept; no
    regression is run.
    """
    shift = test.y - fit.y
    a, b = two_slopes(fit)
    missed = shift - a * (test.u - fit.u) - b * (test.v - fit.v)
    explained = a * (2 * test.uy - a * test.uu - 2 * b * test.uv) + b * (2 * test.vy - b * test.vv)
    apart = explained - test.n * missed**2
    slope = ratio(fit.wy, fit.ww)
    missed = shift - slope * (test.w - fit.w)
    merged = slope * (2 * test.wy - slope * test.ww) - test.n * missed**2
    # A fold whose target is constant scores 0, as in scikit-learn's r2_score.
    return ratio(apart, test.yy), ratio(merged, test.yy)


def two_slopes(fit: PairMoments) -> tuple[FloatArray, FloatArray]:
    """Least-squares slopes of y on u and v; the shortest ones where these are collinear."""
    determinant = fit.uu * fit.vv - fit.uv**2
    regular = determinant > COLLINEAR * fit.uu * fit.vv
    divisor = where(regular, determinant, (fit.uu + fit.vv) ** 2)
    a = where(regular, fit.vv * fit.uy - fit.uv * fit.vy, fit.uu * fit.uy + fit.uv * fit.vy)
    b = where(regular, fit.uu * fit.vy - fit.uv * fit.uy, fit.uv * fit.uy + fit.vv * fit.vy)
    return ratio(a, divisor), ratio(b, divisor)
