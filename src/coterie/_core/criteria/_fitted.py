"""GenLinCFA with fitted models: the share of the null deviance that a merge loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie._core.criteria._nonlin import given_up, two_slopes
from coterie._core.criteria._ratios import ratio
from coterie._core.evidence import ROUNDING, PairColumns, PairMoments, standardised
from coterie._core.values import BoolArray, FloatArray, Verdict, where
from coterie.families import Family

# A fit has converged if its deviance differs from the prediction of the last step by less than
# this share of the null deviance. The model of the group alone, from which the others start, has
# the stricter limit, so that duplicate columns take the same steps.
CLOSE, CLOSER = 1e-12, 1e-14
# Largest number of evaluations. Nearly all models need two or three; perfectly separated classes
# need about thirty.
EVALUATIONS = 100
# With perfectly separated classes the deviance falls without end. This share of the null deviance
# counts as 0.
PERFECT = 1e-11
# Targets that differ from their mean by less than this relative amount are constant.
SAME_DEVIANCE = 1e-14
# Relative step from the mean towards the target, for a finite difference.
NUDGE = 1e-6
# Where the likelihood is not concave, the curvature is this share of the expected curvature.
LEAST_CURVATURE = 0.01


@dataclass(frozen=True)
class Fitted:
    """Deviance of the model on w minus that of the model on u and v, over the null deviance.

    This is the exact counterpart of the bound in :class:`GenLin`. For a gaussian target it is the
    price of :class:`NonLin`. The models have an intercept and are fitted for all candidates at
    once.

    Parameters
    ----------
    family : Family
    tolerance : float
        The allowance: the share of the null deviance that a merge may lose.

    Examples
    --------
    Counts, and two candidates: a copy of the group, and the group multiplied by -1.

    >>> import numpy as np
    >>> from coterie._core.criteria import Fitted
    >>> from coterie.families import FAMILIES
    >>> from coterie._core.evidence import PairColumns
    >>> u = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> v, y = np.hstack([u, -u]), np.array([[1.0], [3.0], [5.0], [7.0]])
    >>> pairs = PairColumns(u, v, (u + v) / 2, y, weights=np.ones((4, 1)), offset=np.zeros((4, 1)))
    >>> Fitted(FAMILIES["poisson"], tolerance=0.01).verdict(pairs).price.round(3)
    array([[0.   , 0.752]])
    """

    family: Family
    tolerance: float

    def verdict(self, pairs: PairColumns) -> Verdict:
        """Price and allowance of each candidate."""
        price = share_given_up(fits(self.family, pairs))
        return Verdict(price, np.full(price.shape, self.tolerance))


@dataclass(frozen=True)
class FittedParsimony:
    """Share of the deviance that a merge loses, compared with the loss from noise alone.

    Removing a superfluous coefficient raises the deviance by the dispersion, on average. The
    allowance is a multiple of that. For a gaussian target this is :class:`Parsimony`.

    Parameters
    ----------
    family : Family
    penalty : float
        The allowance as a multiple of the average loss from noise alone: 2 for AIC, log n for
        BIC, 2 log D for RIC.
    """

    family: Family
    penalty: float

    def verdict(self, pairs: PairColumns) -> Verdict:
        """Price and allowance of each candidate."""
        found = fits(self.family, pairs)
        return Verdict(share_given_up(found), self.penalty * ratio(dispersion(found), found.null))


class Models(NamedTuple):
    """Generalised linear models of y on a constant, on u and on each of m columns v."""

    family: Family
    u: FloatArray  # (n_samples, 1)
    v: FloatArray  # (n_samples, m)
    y: FloatArray  # (n_samples, 1)
    weights: FloatArray  # (n_samples, 1) or (n_samples, m)
    offset: FloatArray  # (n_samples, 1)

    def only(self, columns: BoolArray) -> Models:
        """The models for some of the columns v."""
        weights = self.weights
        if weights.shape[1] > 1:
            weights = np.compress(columns, weights, axis=1)
        return self._replace(v=np.compress(columns, self.v, axis=1), weights=weights)


class ModelFit(NamedTuple):
    """Coefficients of the constant, of u and of v, and the deviance of each model."""

    coefficients: FloatArray  # (3, m)
    deviance: FloatArray  # (m,)

    def only(self, columns: BoolArray) -> ModelFit:
        """The fits of some of the models."""
        return ModelFit(self.coefficients[:, columns], self.deviance[columns])


class Fits(NamedTuple):
    """The fitted models that the prices of m candidates depend on."""

    models: Models  # on u and v
    apart: ModelFit  # the fits of these models
    merged: ModelFit  # the fits of the models on w
    null: FloatArray  # (m,), the null deviance


def share_given_up(found: Fits) -> FloatArray:
    """Share of the null deviance that each merge loses, of shape (1, m)."""
    apart = _explained(found.apart.deviance, found.null)
    return given_up(apart, _explained(found.merged.deviance, found.null))[None]


def _explained(deviance: FloatArray, null: FloatArray) -> FloatArray:
    left = ratio(deviance, null)
    return 1.0 - where(left > PERFECT, left, 0.0)


def dispersion(found: Fits) -> FloatArray:
    """Dispersion of each model, (1, m): fixed by the family, or estimated (Pearson)."""
    models, apart = found.models, found.apart
    if models.family.dispersion is not None:
        return np.full((1, len(found.null)), models.family.dispersion)
    with np.errstate(all="ignore"):
        mean = means(models, apart.coefficients)
        squares = (models.y - mean) ** 2 / models.family.variance(mean)
    pearson = np.einsum("ij,ij->j", models.weights, squares)
    return ratio(pearson, models.weights.sum(axis=0) - 3.0)[None]


def fits(family: Family, pairs: PairColumns) -> Fits:
    """Fit all models that the prices of m candidates depend on."""
    counts = pairs.weights.max(axis=1) > 0
    if counts.any() and not counts.all():
        pairs = PairColumns(*(column[counts] for column in pairs))
    if family.standardises:
        y, _, spread = standardised(pairs.y)
        pairs = pairs._replace(y=y, offset=pairs.offset / where(spread > 0, spread, 1.0))
    # A step that is too long may overflow, or leave the range of the mean. The deviance is then
    # infinite, and the step is shortened.
    with np.errstate(all="ignore"):
        return _fits(family, pairs)


def _fits(family: Family, pairs: PairColumns) -> Fits:
    u, v, w, y, weights, offset = pairs
    m, nothing = v.shape[1], np.zeros_like(u)
    null = null_fit(Models(family, nothing, np.zeros_like(weights), y, weights, offset))
    nulls = _for_each(null, m)
    own = Models(family, nothing, u, y, weights.mean(axis=1, keepdims=True), offset)
    alone = fit_from(own, (null if weights.shape[1] == 1 else null_fit(own)).coefficients)
    mean = means(own, alone.coefficients)

    both = Models(family, u, np.ascontiguousarray(v), y, weights, offset)
    start = _for_each(ModelFit(alone.coefficients[[0, 2, 1]], deviances(both, mean)), m)
    apart = descended(both, _better(start, nulls), step(both, start, mean), nulls.deviance)

    one = Models(family, nothing, np.ascontiguousarray(w), y, weights, offset)
    merged = descended(one, nulls, step_from_beside(one, start, u, mean), nulls.deviance)
    return Fits(both, apart, merged, nulls.deviance)


def _for_each(fit: ModelFit, m: int) -> ModelFit:
    return ModelFit(np.broadcast_to(fit.coefficients, (3, m)), np.broadcast_to(fit.deviance, m))


def _chosen(condition: BoolArray, yes: ModelFit, no: ModelFit) -> ModelFit:
    return ModelFit(*(where(condition, a, b) for a, b in zip(yes, no, strict=True)))


def _better(fit: ModelFit, other: ModelFit) -> ModelFit:
    return _chosen(other.deviance < fit.deviance, other, fit)


def null_fit(models: Models) -> ModelFit:
    """Fit the null models: intercept and offset. Their deviance is 0 if they fit y exactly."""
    family, weights = models.family, models.weights
    total = weights.sum(axis=0)
    level = ratio(np.einsum("ij,ij->j", weights, models.y), total)
    known = ratio(np.einsum("ij,ij->j", weights, models.offset), total)
    start = np.zeros((3, len(total)))
    start[0] = family.resolved_link.of_mean(level) - known
    found = fit_from(models, start)
    if not np.isfinite(found.deviance[total > 0]).all():
        raise ValueError(
            f"family '{family.name}' has no finite deviance at the mean of y: its link "
            f"'{family.resolved_link.name}' may leave the range of the mean. Try another link."
        )
    is_exact = _is_exact(models, means(models, found.coefficients), level)
    return found._replace(deviance=where(is_exact, 0.0, found.deviance))


def _is_exact(models: Models, mean: FloatArray, level: FloatArray) -> BoolArray:
    """Whether the mean equals the target in all rows of nonzero weight, as closely as possible."""
    y = models.y
    is_same = np.abs(y - mean) <= SAME_DEVIANCE * np.abs(y)
    # Targets at the edge of their range, such as all 0, need an infinite predictor.
    is_at_edge = (y == level) & (models.family.variance(y) == 0)
    return (is_same | is_at_edge | (models.weights == 0)).all(axis=0)


def fit_from(models: Models, coefficients: FloatArray) -> ModelFit:
    """Fit the models by iteratively reweighted least squares, starting at these coefficients."""
    mean = means(models, coefficients)
    start = ModelFit(coefficients, deviances(models, mean))
    return descended(models, start, step(models, start, mean), start.deviance, CLOSER)


def means(models: Models, coefficients: FloatArray) -> FloatArray:
    """Predicted mean of each row by each model."""
    known = np.hstack([np.ones_like(models.u), models.u, models.offset])
    predictor = known @ np.vstack([coefficients[:2], np.ones_like(coefficients[:1])])
    predictor += models.v * coefficients[2]
    return models.family.resolved_link.mean(predictor)


def deviances(models: Models, mean: FloatArray) -> FloatArray:
    """Deviance of each model; infinite where a mean is out of range."""
    units = models.family.unit_deviances(models.y, mean)
    total = np.einsum("ij,ij->j", models.weights, units)
    is_sound = np.isfinite(total)
    if not models.family.is_canonical:
        is_sound &= models.family.variance(mean).min(axis=0) > 0
    return where(is_sound, total, np.inf)


def descended(
    models: Models, best: ModelFit, trial: ModelFit, scale: FloatArray, close: float = CLOSE
) -> ModelFit:
    """The fits of lowest deviance, by iteratively reweighted least squares.

    Parameters
    ----------
    best : ModelFit
        The best fits so far. A step is halved until its deviance is below that of the best.
    trial : ModelFit
        The first coefficients to try, and the deviance that is predicted there.
    scale : ndarray of shape (m,)
        The null deviance.
    close : float
        Convergence limit: the difference from the predicted deviance, over the null deviance.
    """
    found = ModelFit(best.coefficients.copy(), best.deviance.copy())
    left = np.arange(models.v.shape[1])
    for evaluation in range(EVALUATIONS):
        mean = means(models, trial.coefficients)
        here = ModelFit(trial.coefficients, deviances(models, mean))
        goes_on = ~_is_found(best, trial, here, scale, close)
        falls = here.deviance < best.deviance
        best = _better(best, here)
        found.coefficients[:, left], found.deviance[left] = best
        if not goes_on.any():
            break
        if not goes_on.all():
            left, scale, falls = left[goes_on], scale[goes_on], falls[goes_on]
            models, best, here = models.only(goes_on), best.only(goes_on), here.only(goes_on)
            mean = np.compress(goes_on, mean, axis=1)
        if evaluation == 0 and not falls.all():
            # Halving may not help here: the deviance may rise all the way to the first trial.
            mean, falls = means(models, best.coefficients), np.ones_like(falls)
        trial = _chosen(falls, step(models, best, mean), _halfway(best, here))
    return found


def _is_found(
    best: ModelFit, trial: ModelFit, here: ModelFit, scale: FloatArray, close: float
) -> BoolArray:
    is_foreseen = np.abs(here.deviance - trial.deviance) <= close * scale
    is_hopeless = np.abs(best.deviance - trial.deviance) <= CLOSER * scale
    is_perfect = np.minimum(here.deviance, best.deviance) <= PERFECT * scale
    return is_foreseen | is_hopeless | is_perfect | (scale == 0)


def _halfway(best: ModelFit, here: ModelFit) -> ModelFit:
    middle = (best.coefficients + here.coefficients) / 2
    return ModelFit(middle, np.full(middle.shape[1], np.inf))


def step(models: Models, fit: ModelFit, mean: FloatArray) -> ModelFit:
    """A fit after one step of reweighted least squares, with its predicted deviance."""
    change, decrease = least_squares(models, *working(models, mean))
    return ModelFit(fit.coefficients + change, fit.deviance - decrease)


def step_from_beside(models: Models, fit: ModelFit, u: FloatArray, mean: FloatArray) -> ModelFit:
    """The same as `step`, from a fit on u, where u is not an input of these models."""
    weight, score = working(models, mean)
    of_u = u * fit.coefficients[1, :1]
    coefficients, explained = least_squares(models, weight, score + weight * of_u)
    coefficients[0] += fit.coefficients[0]
    known = np.einsum("ij,ij->j", of_u, weight * of_u + 2.0 * score)
    return ModelFit(coefficients, fit.deviance + known - explained)


def working(models: Models, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weight of each row in least squares, and the product of weight and response.

    Along the linear predictor, the weight is the curvature of the deviance and the product is its
    slope.
    """
    family, rest = models.family, models.y - mean
    if family.is_canonical:
        return models.weights * family.variance(mean), models.weights * rest
    slope, gain = _slope_and_gain(family, mean)
    # The observed curvature: with the expected curvature, 50% more steps would be needed.
    _, nearer = _slope_and_gain(family, mean + NUDGE * rest)
    observed = slope * (gain - (nearer - gain) / NUDGE)
    weight = np.maximum(observed, LEAST_CURVATURE * slope * gain)
    return models.weights * weight, models.weights * (gain * rest)


def _slope_and_gain(family: Family, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    slope = family.resolved_link.slope(mean)
    return slope, slope / family.variance(mean)


def least_squares(
    models: Models, weight: FloatArray, score: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of weighted least squares, (3, m), and the sum of squares they explain, (m,).

    Parameters
    ----------
    weight, score : ndarray of shape (n_samples, 1) or (n_samples, m)
        Weight of each row, and its product with the response.
    """
    powers = np.hstack([np.ones_like(models.u), models.u, models.u**2]).T
    weighted = weight * models.v
    n, of_u, of_uu = powers @ weight
    of_v, of_uv = powers[:2] @ weighted
    of_vv = np.einsum("ij,ij->j", weighted, models.v)
    of_y, of_uy = powers[:2] @ score
    of_vy = np.einsum("ij,ij->j", score, models.v)

    n = where(n > 0, n, np.inf)
    u, v, y = of_u / n, of_v / n, of_y / n
    uu, vv = _scatter(of_uu / n, u), _scatter(of_vv / n, v)
    uv, uy, vy = of_uv / n - u * v, of_uy / n - u * y, of_vy / n - v * y
    # There is no merged column here, and the variance of the response is not used.
    a, b = two_slopes(PairMoments(n, u, v, v, y, uu, vv, vv, y, uv, uy, vy, vy))
    coefficients = np.stack(np.broadcast_arrays(y - a * u - b * v, a, b))
    coefficients = where(np.isfinite(coefficients), coefficients, 0.0)
    return coefficients, coefficients[0] * of_y + coefficients[1] * of_uy + coefficients[2] * of_vy


def _scatter(squares: FloatArray, mean: FloatArray) -> FloatArray:
    scatter = squares - mean**2
    return where(scatter > ROUNDING * squares, scatter, 0.0)
