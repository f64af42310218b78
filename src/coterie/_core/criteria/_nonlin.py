"""NonLinCFA: the R2 that a merge loses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie._core.criteria._ratios import ratio
from coterie._core.evidence import COLLINEAR, ROUNDING, PairMoments
from coterie._core.values import FloatArray, Verdict, where


@dataclass(frozen=True)
class NonLin:
    """R2 of the regression on u and v minus R2 of the regression on w (eq. 12).

    Parameters
    ----------
    tolerance : float
        The allowance: the loss of R2 that a merge may cause.
    held_out : bool, default=False
        Whether R2 is scored on held-out rows and averaged over the splits, or in closed form on
        all rows. On held-out rows a price may be negative, which is a gain.
    """

    tolerance: float
    held_out: bool = False

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
        price = given_up(*(held_out_scores(pairs) if self.held_out else in_sample_scores(pairs)))
        return Verdict(price, np.full(price.shape, self.tolerance))


@dataclass(frozen=True)
class Parsimony:
    """R2 that a merge loses in-sample, compared with the loss from noise alone.

    Merging two inputs removes a coefficient from the regression. If that coefficient is
    superfluous, R2 still falls by noise / n on average. The allowance is a multiple of that:
    ``penalty * noise / (n - 3)``, where noise is the share of the target's variance that the two
    inputs do not explain. This is an F test.

    Parameters
    ----------
    penalty : float
        The allowance as a multiple of the average loss from noise alone: 2 for AIC, log n for
        BIC, 2 log D for RIC.
    held_out : bool, default=False
        Whether R2 is scored on held-out rows. There a superfluous coefficient lowers R2 by as
        much as it raises R2 on the training rows. The price of a harmless merge is therefore
        lower by twice the loss from noise, and the allowance is reduced by the same amount.
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
    """R2 that a merge loses (price), and R2 that it may lose (allowance)."""
    apart, merged = in_sample_scores(pairs)
    noise = np.maximum(1.0 - apart, 0.0)
    return given_up(apart, merged), penalty * noise / (pairs.n - 3.0)


def given_up(apart: FloatArray, merged: FloatArray) -> FloatArray:
    """One score minus the other; 0 if they differ only by rounding, as for duplicates."""
    # Scores on held-out rows can be far below 0, with fewer correct decimals.
    digits = ROUNDING * np.maximum(1.0, np.abs(apart))
    return where(np.abs(apart - merged) > digits, apart - merged, 0.0)


def in_sample_scores(pairs: PairMoments) -> tuple[FloatArray, FloatArray]:
    """R2 of the target on (u, v), and on w, on the training rows."""
    # Divisions are slow, and these two are the same for all candidates.
    per_uu, per_yy = ratio(1.0, pairs.uu), 1.0 / pairs.yy
    slope = pairs.uv * per_uu
    # v adds its residual given u, if that is more than rounding.
    rest: FloatArray = pairs.vv - slope * pairs.uv
    rest = where(rest > COLLINEAR * pairs.vv, rest, np.inf)
    with_rest = pairs.vy - slope * pairs.uy
    apart = pairs.uy**2 * per_uu + with_rest**2 / rest
    merged = ratio(pairs.wy**2, pairs.ww)
    return apart * per_yy, merged * per_yy


def held_out_scores(pairs: PairMoments) -> tuple[FloatArray, FloatArray]:
    """R2 of y on (u, v), and on w, on held-out rows: the mean over the splits."""
    apart, merged = split_scores(*pairs.split())
    return apart.mean(axis=0), merged.mean(axis=0)


def split_scores(fit: PairMoments, test: PairMoments) -> tuple[FloatArray, FloatArray]:
    """R2 of y on (u, v), and on w, on the held-out rows of each split.

    The coefficients are those of least squares with intercept on the training rows. They are
    computed in closed form from the moments.
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
    """Least-squares slopes of y on u and v; those of minimum norm if u and v are collinear."""
    determinant = fit.uu * fit.vv - fit.uv**2
    regular = determinant > COLLINEAR * fit.uu * fit.vv
    divisor = where(regular, determinant, (fit.uu + fit.vv) ** 2)
    a = where(regular, fit.vv * fit.uy - fit.uv * fit.vy, fit.uu * fit.uy + fit.uv * fit.vy)
    b = where(regular, fit.uu * fit.vy - fit.uv * fit.uy, fit.uv * fit.uy + fit.vv * fit.vy)
    return ratio(a, divisor), ratio(b, divisor)
