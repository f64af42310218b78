"""The working target of a model with an offset, for criteria that use only covariances."""

from __future__ import annotations

import numpy as np

from coterie._core.criteria._fitted import Models, means, null_fit
from coterie._core.values import FloatArray
from coterie.families import Family


def working_target(
    family: Family, target: FloatArray, offset: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Working residual of the null model, and the working weight of each row.

    This is one step of iteratively reweighted least squares from the null model with offset.
    Weighted regressions on this target approximate the generalised linear model.

    Parameters
    ----------
    family : Family
    target, offset : ndarray of shape (n_samples, 1)
    weights : ndarray of shape (n_samples,) or None

    Returns
    -------
    residual : ndarray of shape (n_samples, 1)
    weights : ndarray of shape (n_samples,)
        Their sum is the number of rows, or the sum of the weights that were given.

    Examples
    --------
    Numbers of deaths, with the log of the population as offset:

    >>> import numpy as np
    >>> from coterie.families import FAMILIES
    >>> deaths, people = np.array([[1.0], [4.0], [9.0]]), np.array([[2.0], [4.0], [8.0]])
    >>> residual, weights = working_target(FAMILIES["poisson"], deaths, np.log(people))
    >>> (residual[:, 0] + 1).round(3), weights.round(3)
    (array([0.5  , 1.   , 1.125]), array([0.429, 0.857, 1.714]))
    """
    counts = np.ones(len(target)) if weights is None else weights
    nothing = np.zeros(target.shape)
    models = Models(family, nothing, nothing, target, counts[:, None], offset)
    with np.errstate(all="ignore"):
        mean = means(models, null_fit(models).coefficients)
        slope = family.resolved_link.slope(mean)
        information = counts * (slope**2 / family.variance(mean))[:, 0]
    if not (np.isfinite(information).all() and information.max() > 0):
        raise ValueError(
            f"family '{family.name}' has no finite mean with this offset: its link "
            f"'{family.resolved_link.name}' may leave the range of the mean. Try another link."
        )
    return (target - mean) / slope, information * (counts.sum() / information.sum())
