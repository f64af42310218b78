"""The theorems and lemmas of the paper as functions.

Expected cost and gain of a merge, from moments that the caller knows or estimates.
All columns have mean zero and models have no intercept, as in the paper. Throughout,
``covariance`` is that of the two inputs (2, 2), ``with_signal`` their covariances with the
signal f (2,), ``aggregate_variance`` the variance of h(phi_1, phi_2) and
``aggregate_with_signal`` its covariance with f. Names that begin with ``estimated`` are
the same quantities as estimated on the training rows, with n - 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import FloatArray

__all__ = [
    "Balance",
    "asymptotic_bias_increase",
    "asymptotic_variance_decrease",
    "bias_increase",
    "bivariate_bound_is_proved",
    "bivariate_deviance_bound",
    "coefficient_variance",
    "deviance_bound",
    "expected_coefficients",
    "gaussian_deviance_increase",
    "linear_correlation_threshold",
    "model_variance",
    "mse_balance",
    "squared_bias",
    "variance_decrease",
]


def coefficient_variance(
    noise_variance: float,
    n_samples: int,
    estimated_covariance: Any,
) -> FloatArray:
    """Covariance of the least-squares coefficients given the training inputs.

    Lemma 1 (Appendix A), for any number of inputs m.

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.
    estimated_covariance : array-like of shape (m, m)
        Covariance of the inputs as estimated on the training rows.

    Examples
    --------
    >>> coefficient_variance(2.0, 11, [[4.0]])
    array([[0.05]])
    """
    return noise_variance / (n_samples - 1) * np.linalg.inv(np.atleast_2d(estimated_covariance))


def expected_coefficients(estimated_covariance: Any, estimated_with_signal: Any) -> FloatArray:
    """Mean of the least-squares coefficients given the training inputs.

    Lemma 2 (Appendix A), for any number of inputs m.

    Parameters
    ----------
    estimated_covariance : array-like of shape (m, m)
        Covariance of the inputs as estimated on the training rows.
    estimated_with_signal : array-like of shape (m,)
        Their covariances with the signal as estimated on the training rows.

    Examples
    --------
    >>> expected_coefficients([[2.0, 0.0], [0.0, 1.0]], [1.0, 3.0])
    array([0.5, 3. ])
    """
    covariance = np.atleast_2d(estimated_covariance)
    return np.linalg.solve(covariance, np.atleast_1d(estimated_with_signal))


def model_variance(
    noise_variance: float, n_samples: int, covariance: Any, estimated_covariance: Any
) -> float:
    """Variance of the prediction of a new row, given the training inputs.

    Theorem 6 (Appendix A), behind the decrease of variance, for any number of inputs m.

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.
    covariance, estimated_covariance : array-like of shape (m, m)
        Covariance of the inputs, and as estimated on the training rows.

    Examples
    --------
    >>> model_variance(2.0, 11, [[1.0]], [[1.0]])
    0.2
    """
    of_coefficients = coefficient_variance(noise_variance, n_samples, estimated_covariance)
    return float(np.sum(np.atleast_2d(covariance) * of_coefficients))


def squared_bias(
    signal_variance: float,
    covariance: Any,
    with_signal: Any,
    estimated_covariance: Any,
    estimated_with_signal: Any,
) -> float:
    """Squared bias of the prediction of a new row, given the training inputs.

    Theorem 7 (Appendix A), for any number of inputs m.

    Parameters
    ----------
    signal_variance : float
        Variance of f.
    covariance, estimated_covariance : array-like of shape (m, m)
        Covariance of the inputs, and as estimated on the training rows.
    with_signal, estimated_with_signal : array-like of shape (m,)
        Their covariances with the signal, and as estimated on the training rows.

    Examples
    --------
    >>> squared_bias(1.0, [[1.0]], [0.5], [[1.0]], [0.5])
    0.75
    """
    mean = expected_coefficients(estimated_covariance, estimated_with_signal)
    explained = 2 * np.atleast_1d(with_signal) @ mean - mean @ np.atleast_2d(covariance) @ mean
    return float(signal_variance - explained)


def variance_decrease(
    noise_variance: float,
    n_samples: int,
    covariance: Any,
    estimated_covariance: Any,
    aggregate_variance: float,
    estimated_aggregate_variance: float,
) -> float:
    """Decrease of variance by a merge, in finite samples (Theorem 5, eq. 16).

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    estimated_covariance : array-like of shape (2, 2)
        The same as estimated on the training rows.
    aggregate_variance : float
        Variance of the aggregate.
    estimated_aggregate_variance : float
        The same as estimated on the training rows.

    Examples
    --------
    >>> variance_decrease(1.0, 101, np.eye(2), np.eye(2), 0.5, 0.5)
    0.01
    """
    two = model_variance(noise_variance, n_samples, covariance, estimated_covariance)
    one = model_variance(
        noise_variance, n_samples, aggregate_variance, estimated_aggregate_variance
    )
    return two - one


def asymptotic_variance_decrease(noise_variance: float, n_samples: int) -> float:
    """Asymptotic decrease of variance by a merge: the variance of one coefficient (eq. 10).

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.

    Examples
    --------
    >>> asymptotic_variance_decrease(1.0, 101)
    0.01
    """
    return noise_variance / (n_samples - 1)


def bias_increase(
    covariance: Any,
    with_signal: Any,
    estimated_covariance: Any,
    estimated_with_signal: Any,
    aggregate_variance: float,
    aggregate_with_signal: float,
    estimated_aggregate_variance: float,
    estimated_aggregate_with_signal: float,
) -> float:
    """Increase of squared bias by a merge, in finite samples (Theorem 7, Remark 10).

    Parameters
    ----------
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_signal : array-like of shape (2,)
        Covariances of the inputs with the signal.
    estimated_covariance : array-like of shape (2, 2)
        The same as estimated on the training rows.
    estimated_with_signal : array-like of shape (2,)
        The same as estimated on the training rows.
    aggregate_variance : float
        Variance of the aggregate.
    aggregate_with_signal : float
        Covariance of the aggregate with the signal.
    estimated_aggregate_variance : float
        The same as estimated on the training rows.
    estimated_aggregate_with_signal : float
        The same as estimated on the training rows.

    Examples
    --------
    >>> identity = np.eye(2)
    >>> bias_increase(identity, [1, 0], identity, [1, 0], 0.5, 0.5, 0.5, 0.5)
    0.5
    """
    # The variance of the signal is in both and cancels.
    two = squared_bias(0.0, covariance, with_signal, estimated_covariance, estimated_with_signal)
    one = squared_bias(
        0.0,
        aggregate_variance,
        aggregate_with_signal,
        estimated_aggregate_variance,
        estimated_aggregate_with_signal,
    )
    return one - two


def asymptotic_bias_increase(
    covariance: Any,
    with_signal: Any,
    aggregate_variance: float,
    aggregate_with_signal: float,
) -> float:
    """Asymptotic increase of squared bias by a merge (Theorem 2, eq. 11).

    Parameters
    ----------
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_signal : array-like of shape (2,)
        Covariances of the inputs with the signal.
    aggregate_variance : float
        Variance of the aggregate.
    aggregate_with_signal : float
        Covariance of the aggregate with the signal.

    Examples
    --------
    >>> asymptotic_bias_increase(np.eye(2), [1, 0], 0.5, 0.5)
    0.5
    """
    known = (covariance, with_signal)
    merged = (aggregate_variance, aggregate_with_signal)
    return bias_increase(*known, *known, *merged, *merged)


class Balance(NamedTuple):
    """Price and allowance of a merge, as shares of the variance of the signal.

    Parameters
    ----------
    price : float
        What the merge costs: the increase of squared bias.
    allowance : float
        What it gains: the decrease of variance.

    Examples
    --------
    >>> Balance(price=0.01, allowance=0.05).pays
    True
    """

    price: float
    allowance: float

    @property
    def pays(self) -> bool:
        """Whether the price does not exceed the allowance."""
        return self.price <= self.allowance


def mse_balance(
    noise_variance: float,
    n_samples: int,
    signal_variance: float,
    covariance: Any,
    with_signal: Any,
    aggregate_variance: float,
    aggregate_with_signal: float,
) -> Balance:
    """Loss of R2 by a merge against the decrease of variance (Theorem 3, eq. 12).

    For given training inputs and a linear f, the merge does not raise the mean squared error, as
    samples grow, if and only if it pays. (The theorem's wording has the two models the wrong way
    round; its formula and its proof do not.)

    Notes
    -----
    Where rows are random and f is not linear in the two inputs, "only if" does not hold: what a
    linear model cannot explain of f acts as noise, so that a merge may lower the error although it
    does not pay by ``noise_variance`` alone. If it pays, it lowers the error there too, for a
    linear h.

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.
    signal_variance : float
        Variance of f.
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_signal : array-like of shape (2,)
        Covariances of the inputs with the signal.
    aggregate_variance : float
        Variance of the aggregate.
    aggregate_with_signal : float
        Covariance of the aggregate with the signal.

    Examples
    --------
    >>> mse_balance(1.0, 11, 1.0, np.eye(2), [0.6, 0.6], 0.5, 0.6).pays
    True
    >>> mse_balance(1.0, 11, 1.0, np.eye(2), [0.9, 0.0], 0.5, 0.45).pays
    False
    """
    bias = asymptotic_bias_increase(
        covariance, with_signal, aggregate_variance, aggregate_with_signal
    )
    variance = asymptotic_variance_decrease(noise_variance, n_samples)
    return Balance(bias / signal_variance, variance / signal_variance)


def linear_correlation_threshold(
    noise_variance: float, n_samples: int, first: float, second: float
) -> float:
    """Smallest correlation for which the mean of two standardised inputs pays, if f is linear.

    ``f = first * x1 + second * x2`` (remark on Theorem 3; Bonetti et al. 2023).

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.
    first, second : float
        The coefficients of the two inputs.

    Examples
    --------
    >>> linear_correlation_threshold(1.0, 101, 0.75, 0.25)
    0.92
    """
    gap = (n_samples - 1) * (first - second) ** 2
    return 1.0 - float(np.divide(2 * noise_variance, gap)) if gap > 0 else -np.inf


def deviance_bound(
    covariance: Any,
    with_target: Any,
    aggregate_variance: float,
    aggregate_with_target: float,
    *,
    curvature: float,
    smallest: float,
    largest: float,
    dispersion: float = 1.0,
) -> float:
    """Bound on the deviance that a merge adds, to second order (Theorem 4, eq. 15).

    Parameters
    ----------
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_target : array-like of shape (2,)
        Covariances of the inputs with the target.
    aggregate_variance, aggregate_with_target : float
        Variance of the aggregate, and its covariance with the target.
    curvature : float
        b''(0).
    smallest, largest : float
        m and M: the smallest and the largest of the absolute values of the expected
        coefficients, of their expected squares, and of the expected product.
    dispersion : float, default=1.0
        Dispersion of the family.

    Notes
    -----
    It bounds from above where the inputs are not negatively correlated and their coefficients
    have the same sign; the proof replaces E[w1 w2] cov(phi_1, phi_2) by m cov(phi_1, phi_2),
    which is no lower bound otherwise.

    Examples
    --------
    >>> deviance_bound(np.eye(2), [1, 1], 0.5, 1.0, curvature=1.0, smallest=1.0, largest=1.0)
    0.5
    """
    of_sum = float(np.sum(covariance))
    apart = float(np.sum(np.abs(with_target)))
    linear = largest * apart - smallest * abs(aggregate_with_target)
    quadratic = smallest * of_sum - largest * aggregate_variance
    return 2 / dispersion * (linear - curvature / 2 * quadratic)


def bivariate_deviance_bound(
    covariance: Any,
    with_target: Any,
    *,
    curvature: float,
    smallest: float,
    largest: float,
    dispersion: float = 1.0,
) -> float:
    """Bound on the deviance that the mean of two inputs adds (Theorem 8, eq. 17).

    As :func:`deviance_bound`, but m and M are taken over the differences between the
    coefficients of the two inputs and what the mean gives to each, signs included:
    E[w1] - E[w]/2, E[w2] - E[w]/2, E[w1^2] - E[w^2]/4, E[w2^2] - E[w^2]/4 and
    E[w1 w2] - E[w^2]/4.

    Parameters
    ----------
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_target : array-like of shape (2,)
        Covariances of the inputs with the target.
    curvature : float
        b''(0).
    smallest, largest : float
        m and M, as above.
    dispersion : float, default=1.0
        Dispersion of the family.

    Notes
    -----
    It is a bound to second order where :func:`bivariate_bound_is_proved`; elsewhere the increase
    may be larger.

    Examples
    --------
    >>> bivariate_deviance_bound(np.eye(2), [1, 1], curvature=1.0, smallest=1.0, largest=1.0)
    2.0
    """
    apart = largest * float(np.sum(np.abs(with_target)))
    return 2 / dispersion * (apart - curvature / 2 * smallest * float(np.sum(covariance)))


def bivariate_bound_is_proved(
    covariance: Any, with_target: Any, *, smallest: float, largest: float
) -> bool:
    """Whether the proof of :func:`bivariate_deviance_bound` holds.

    It replaces cov(x, y) times a difference by ``M |cov(x, y)|``. Where cov(x, y) is negative, this
    needs M >= -m. And it replaces the difference of the products by m, which needs inputs that
    are not negatively correlated. These conditions are sufficient, not necessary.

    Parameters
    ----------
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_target : array-like of shape (2,)
        Covariances of the inputs with the target.
    smallest, largest : float
        m and M, as in :func:`bivariate_deviance_bound`.

    Examples
    --------
    >>> bivariate_bound_is_proved(np.eye(2), [1, -1], smallest=-0.5, largest=1.0)
    True
    >>> bivariate_bound_is_proved(np.eye(2), [1, -1], smallest=-0.5, largest=0.1)
    False
    """
    not_opposed = np.asarray(covariance)[0, 1] >= 0
    covers_negative = largest >= -smallest or np.all(np.asarray(with_target) >= 0)
    return bool(not_opposed and covers_negative)


def gaussian_deviance_increase(
    noise_variance: float,
    n_samples: int,
    covariance: Any,
    with_signal: Any,
    aggregate_variance: float,
    aggregate_with_signal: float,
) -> float:
    """Deviance that a merge adds for a gaussian target: its mean squared error over phi.

    Lemma 5 (Appendix C): deviance and mean squared error agree, as samples grow.

    Parameters
    ----------
    noise_variance : float
        Variance of the noise of the target.
    n_samples : int
        Number of training rows.
    covariance : array-like of shape (2, 2)
        Covariance of the two inputs.
    with_signal : array-like of shape (2,)
        Covariances of the inputs with the signal.
    aggregate_variance : float
        Variance of the aggregate.
    aggregate_with_signal : float
        Covariance of the aggregate with the signal.

    Examples
    --------
    >>> gaussian_deviance_increase(1.0, 101, np.eye(2), [1, 0], 0.5, 0.5)
    0.49
    """
    bias = asymptotic_bias_increase(
        covariance, with_signal, aggregate_variance, aggregate_with_signal
    )
    return (bias - asymptotic_variance_decrease(noise_variance, n_samples)) / noise_variance
