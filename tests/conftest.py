import os
import signal
import sys
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

os.environ.setdefault("MPLBACKEND", "agg")

settings.register_profile(
    "coterie",
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# For mutants: that it fails is all there is to know, so no time is spent on a simpler failure.
settings.register_profile(
    "first failure", settings.get_profile("coterie"), phases=[Phase.explicit, Phase.generate]
)
# Where the same tests run once more, with other versions of what they stand on.
settings.register_profile("few", settings.get_profile("coterie"), max_examples=5)
settings.load_profile("coterie")


def pytest_configure(config):
    """Give each of several workers one thread: more would wait for one another on few cores."""
    if config.getoption("numprocesses", None):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def pytest_addoption(parser):
    parser.addoption(
        "--share", type=int, default=1, metavar="N", help="run one of N of the slow tests"
    )
    parser.addoption(
        "--share-of-fast", type=int, default=1, metavar="N", help="run one of N of the other tests"
    )


def pytest_collection_modifyitems(config, items):
    """Leave out tests but for a share of them, which is the same each time."""
    share = {True: config.getoption("--share"), False: config.getoption("--share-of-fast")}

    def is_left_out(item):
        is_slow = item.get_closest_marker("slow") is not None
        return crc32(item.nodeid.encode()) % share[is_slow] > 0

    left_out = [item for item in items if is_left_out(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = {*left_out}
        items[:] = [item for item in items if item not in gone]


@pytest.fixture(autouse=True)
def _closed_figures():
    """Pictures are closed after each test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def ctrl_c_is_heard():
    """Ctrl-C, here and in processes that are started, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def ctrl_c_is_ignored():
    """No Ctrl-C, here and in processes that are started, as in a job in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


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
