"""Monte Carlo tests of the theorems: each compares a formula with a simulation of its claim."""

import numpy as np
import pytest

from coterie import theory

COVARIANCE = np.array([[1.0, 0.5], [0.5, 2.0]])
NOISE = 1.5  # variance
MEAN = np.array([0.5, 0.5])


def signal(X):
    """Not linear, mean zero."""
    return X[:, 0] + 0.4 * X[:, 1] + 0.3 * X[:, 0] ** 3


def draw(rng, n):
    return rng.multivariate_normal([0, 0], COVARIANCE, size=n)


@pytest.fixture
def population(rng):
    """Moments of the population, from a very large sample."""
    X = draw(rng, 2_000_000)
    f, h = signal(X), X @ MEAN
    return {
        "with_signal": X.T @ f / len(f),
        "signal_variance": f @ f / len(f),
        "aggregate_variance": h @ h / len(h),
        "aggregate_with_signal": h @ f / len(f),
    }


@pytest.fixture
def training(rng):
    """One training set and its estimates, with n - 1 and means known to be zero."""
    X = draw(rng, 40)
    f, h = signal(X), X @ MEAN
    estimates = {
        "estimated_covariance": X.T @ X / 39,
        "estimated_with_signal": X.T @ f / 39,
        "estimated_aggregate_variance": h @ h / 39,
        "estimated_aggregate_with_signal": h @ f / 39,
    }
    return X, estimates


def coefficients(Z, f, rng, repeats=20_000):
    """Least squares without intercept on many targets that differ in their noise."""
    y = f[:, None] + np.sqrt(NOISE) * rng.normal(size=(len(f), repeats))
    return np.linalg.lstsq(Z, y, rcond=None)[0]


def test_coefficients_have_the_mean_and_variance_of_the_lemmas(rng, training):
    X, estimates = training
    for Z, covariance, with_signal in (
        (X, estimates["estimated_covariance"], estimates["estimated_with_signal"]),
        (
            X @ MEAN[:, None],
            estimates["estimated_aggregate_variance"],
            estimates["estimated_aggregate_with_signal"],
        ),
    ):
        simulated = coefficients(Z, signal(X), rng)
        expected = theory.expected_coefficients(covariance, with_signal)
        np.testing.assert_allclose(simulated.mean(axis=1), expected, atol=0.01)
        variance = theory.coefficient_variance(NOISE, 40, covariance)
        np.testing.assert_allclose(np.cov(simulated), np.squeeze(variance), rtol=0.05, atol=1e-3)


def simulated_parts(rng, X):
    """Variance and squared bias on fresh rows of the predictions of both models."""
    fresh = draw(rng, 1_000_000)
    parts = []
    for train_inputs, inputs in ((X, fresh), (X @ MEAN[:, None], fresh @ MEAN[:, None])):
        w = coefficients(train_inputs, signal(X), rng)
        variance = np.sum(np.cov(w) * (inputs.T @ inputs / len(inputs)))
        bias = inputs @ w.mean(axis=1) - signal(fresh)
        parts.append((variance, np.mean(bias**2)))
    return parts


def test_finite_sample_variance_decrease_and_bias_increase(rng, training, population):
    X, estimates = training
    (variance_two, bias_two), (variance_one, bias_one) = simulated_parts(rng, X)
    decrease = theory.variance_decrease(
        NOISE,
        40,
        COVARIANCE,
        estimates["estimated_covariance"],
        population["aggregate_variance"],
        estimates["estimated_aggregate_variance"],
    )
    np.testing.assert_allclose(variance_two - variance_one, decrease, rtol=0.05)
    increase = theory.bias_increase(
        COVARIANCE,
        population["with_signal"],
        estimates["estimated_covariance"],
        estimates["estimated_with_signal"],
        population["aggregate_variance"],
        population["aggregate_with_signal"],
        estimates["estimated_aggregate_variance"],
        estimates["estimated_aggregate_with_signal"],
    )
    np.testing.assert_allclose(bias_one - bias_two, increase, atol=0.02)
    two = theory.squared_bias(
        population["signal_variance"],
        COVARIANCE,
        population["with_signal"],
        estimates["estimated_covariance"],
        estimates["estimated_with_signal"],
    )
    np.testing.assert_allclose(bias_two, two, rtol=0.05)


def test_asymptotics_are_the_limit_of_finite_samples(population):
    aggregate = population["aggregate_variance"]
    finite = theory.variance_decrease(NOISE, 500, COVARIANCE, COVARIANCE, aggregate, aggregate)
    np.testing.assert_allclose(finite, theory.asymptotic_variance_decrease(NOISE, 500))
    explained = population["with_signal"] @ np.linalg.solve(COVARIANCE, population["with_signal"])
    merged = population["aggregate_with_signal"] ** 2 / aggregate
    increase = theory.asymptotic_bias_increase(
        COVARIANCE, population["with_signal"], aggregate, population["aggregate_with_signal"]
    )
    np.testing.assert_allclose(increase, explained - merged)


@pytest.mark.parametrize(("gap", "pays"), [(0.05, True), (0.8, False)])
def test_a_merge_that_pays_lowers_the_error(rng, gap, pays):
    """Theorem 3, by the mean squared error of both models on fresh rows."""
    n, repeats, noise = 100, 3000, 2.0
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    w = np.array([0.5 + gap / 2, 0.5 - gap / 2])
    aggregate = MEAN @ covariance @ MEAN
    balance = theory.mse_balance(
        noise,
        n,
        w @ covariance @ w,
        covariance,
        covariance @ w,
        aggregate,
        MEAN @ covariance @ w,
    )
    assert balance.pays == pays
    root = np.linalg.cholesky(covariance)
    excess = np.empty((repeats, 2))
    for r in range(repeats):
        X = rng.normal(size=(n, 2)) @ root.T
        y = X @ w + np.sqrt(noise) * rng.normal(size=n)
        two = np.linalg.lstsq(X, y, rcond=None)[0] - w
        one = MEAN * np.linalg.lstsq(X @ MEAN[:, None], y, rcond=None)[0] - w
        excess[r] = two @ covariance @ two, one @ covariance @ one
    two, one = excess.mean(axis=0)
    assert (one <= two) == pays
    threshold = theory.linear_correlation_threshold(noise, n, *w)
    assert (covariance[0, 1] >= threshold) == pays


def test_equal_coefficients_always_merge():
    assert theory.linear_correlation_threshold(1.0, 10, 0.3, 0.3) == -np.inf


def test_gaussian_deviance_is_mean_squared_error_over_the_noise(rng):
    """Lemma 5 (Appendix C): simulate the deviance 2 E[...] itself."""
    n, noise = 200, 2.0
    covariance, w = np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([1.0, 0.2])
    root = np.linalg.cholesky(covariance)
    deviance = []
    for _ in range(4000):
        X = rng.normal(size=(n, 2)) @ root.T
        y = X @ w + np.sqrt(noise) * rng.normal(size=n)
        two = np.linalg.lstsq(X, y, rcond=None)[0]
        one = MEAN * np.linalg.lstsq(X @ MEAN[:, None], y, rcond=None)[0]
        # E[y theta - b(theta)] with b(theta) = theta^2 / 2, over fresh rows.
        fits = [2 / noise * (t @ covariance @ w - t @ covariance @ t / 2) for t in (two, one)]
        deviance.append(fits[0] - fits[1])
    expected = theory.gaussian_deviance_increase(
        noise, n, covariance, covariance @ w, MEAN @ covariance @ MEAN, MEAN @ covariance @ w
    )
    standard_error = np.std(deviance) / np.sqrt(len(deviance))
    assert abs(np.mean(deviance) - expected) < 5 * standard_error + 1e-4


def logistic_coefficients(Z, y, steps=25):
    """Newton's method, without intercept."""
    w = np.zeros(Z.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-Z @ w))
        w += np.linalg.solve((Z.T * (p * (1 - p))) @ Z, Z.T @ (y - p))
    return w


@pytest.fixture
def logistic(rng):
    """Expected coefficients of both models and the true second-order increase of deviance."""
    covariance, w = np.array([[1.0, 0.6], [0.6, 1.0]]), np.array([0.6, 0.3])
    root = np.linalg.cholesky(covariance)
    twos, ones = [], []
    for _ in range(400):
        X = rng.normal(size=(300, 2)) @ root.T
        y = (rng.uniform(size=300) < 1 / (1 + np.exp(-X @ w))).astype(float)
        twos.append(logistic_coefficients(X, y))
        ones.append(logistic_coefficients(X @ MEAN[:, None], y)[0])
    X = rng.normal(size=(400_000, 2)) @ root.T
    y = 1 / (1 + np.exp(-X @ w)) - 0.5
    return {
        "covariance": covariance,
        "with_target": X.T @ y / len(y),
        "two": np.array(twos),
        "one": np.array(ones),
    }


def second_order_increase(moments, curvature=0.25):
    """The increase of deviance with b expanded to second order: what both theorems bound."""
    C, c = moments["covariance"], moments["with_target"]
    two, one = moments["two"], moments["one"]
    linear = two.mean(axis=0) @ c - one.mean() * (MEAN @ c)
    quadratic = np.mean(np.einsum("ri,ij,rj->r", two, C, two) - one**2 * (MEAN @ C @ MEAN))
    return 2 * (linear - curvature / 2 * quadratic)


def test_the_general_bound_bounds(logistic):
    C, c, two, one = (logistic[k] for k in ("covariance", "with_target", "two", "one"))
    squares = [(two[:, 0] ** 2).mean(), (two[:, 1] ** 2).mean(), (two[:, 0] * two[:, 1]).mean()]
    terms = np.abs([*two.mean(axis=0), one.mean(), *squares, (one**2).mean()])
    bound = theory.deviance_bound(
        C, c, MEAN @ C @ MEAN, MEAN @ c, curvature=0.25, smallest=terms.min(), largest=terms.max()
    )
    assert second_order_increase(logistic) <= bound
    # The bound is an equality for the smallest ratio that the theorem allows, m = M.
    equal = {"curvature": 0.25, "smallest": 1.0, "largest": 1.0}
    assert theory.deviance_bound(C, c, MEAN @ C @ MEAN, MEAN @ c, **equal) < bound


def test_the_bivariate_bound_bounds(logistic):
    C, c, two, one = (logistic[k] for k in ("covariance", "with_target", "two", "one"))
    half, quarter = one.mean() / 2, (one**2).mean() / 4
    terms = [
        two[:, 0].mean() - half,
        two[:, 1].mean() - half,
        (two[:, 0] ** 2).mean() - quarter,
        (two[:, 1] ** 2).mean() - quarter,
        (two[:, 0] * two[:, 1]).mean() - quarter,
    ]
    bound = theory.bivariate_deviance_bound(
        C, c, curvature=0.25, smallest=min(terms), largest=max(terms)
    )
    assert second_order_increase(logistic) <= bound


def increase_and_bound(C, w):
    """Of a gaussian target with noise that is negligible: both coefficients are known."""
    c = C @ w
    one = (MEAN @ c) / (MEAN @ C @ MEAN)
    terms = [*(w - one / 2), *(w**2 - one**2 / 4), w[0] * w[1] - one**2 / 4]
    moments = {"covariance": C, "with_target": c, "two": w[None], "one": np.array([one])}
    given = {"smallest": min(terms), "largest": max(terms)}
    bound = theory.bivariate_deviance_bound(C, c, curvature=1.0, **given)
    is_proved = theory.bivariate_bound_is_proved(C, c, **given)
    return second_order_increase(moments, curvature=1.0), bound, is_proved


def test_the_bivariate_bound_holds_where_it_says_so_and_not_everywhere(rng):
    found = []
    for _ in range(4000):
        spread, r = rng.uniform(0.1, 2, size=2), rng.uniform(-1, 1)
        C = np.array([[1, r], [r, 1]]) * np.outer(spread, spread)
        found.append(increase_and_bound(C, rng.normal(size=2)))
    increase, bound, proved = np.array(found).T
    is_violated = increase > bound + 1e-9
    assert not is_violated[proved == 1].any()
    assert 0.3 < proved.mean() < 0.5
    assert 0.01 < is_violated.mean() < 0.04


def test_what_is_not_linear_is_noise_for_random_rows(rng):
    """A merge that does not pay by the noise alone lowers the error, for f with a square."""
    n, repeats, w = 30, 4000, np.array([0.65, 0.35])
    covariance = np.array([[1.0, 0.9], [0.9, 1.0]])
    root = np.linalg.cholesky(covariance)
    balance = theory.mse_balance(
        0.01, n, w @ covariance @ w + 18, covariance, covariance @ w, 0.95, MEAN @ covariance @ w
    )
    assert not balance.pays
    excess = np.empty((repeats, 2))
    for r in range(repeats):
        X = rng.normal(size=(n, 2)) @ root.T
        y = X @ w + 3 * (X[:, 0] ** 2 - 1) + 0.1 * rng.normal(size=n)
        two = np.linalg.lstsq(X, y, rcond=None)[0] - w
        one = MEAN * np.linalg.lstsq(X @ MEAN[:, None], y, rcond=None)[0] - w
        excess[r] = two @ covariance @ two, one @ covariance @ one
    assert excess[:, 1].mean() < excess[:, 0].mean()
