import os
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "agg")

settings.register_profile(
    "coterie",
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("coterie")


def pytest_configure(config):
    """Give each of several workers one thread: more would wait for one another on few cores."""
    if config.getoption("numprocesses", None):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")


@pytest.fixture(autouse=True)
def _closed_figures():
    """Pictures are closed after each test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


def correlated(rng, n_samples=60, n_features=7, n_factors=3, noise=1.0):
    """Features that share a few factors, and a target that depends on all of them."""
    factors = rng.normal(size=(n_samples, n_factors))
    mixing = rng.normal(size=(n_factors, n_features))
    X = factors @ mixing + 0.3 * rng.normal(size=(n_samples, n_features))
    y = X @ rng.normal(size=n_features) + noise * rng.normal(size=n_samples)
    return X, y


@pytest.fixture
def problem(rng):
    return correlated(rng)
