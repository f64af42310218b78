"""Who wants few threads of BLAS gets them, and leaves as many as there were."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
import threadpoolctl
from threadpoolctl import threadpool_info, threadpool_limits

from coterie import NonLinCFA
from coterie._core.threads import at_most


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads, whatever the machine or the test runner has set; nobody is in control."""
    before = blas_threads()
    threadpool_limits(2, user_api="blas")
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    yield
    assert blas_threads() == [2] * len(before)
    threadpool_limits(before[0], user_api="blas")


def test_whoever_leaves_last_lifts_the_limit():
    before = blas_threads()
    inside, may_leave = Event(), Event()

    def first_in_first_out():
        with at_most(1):
            inside.set()
            may_leave.wait(10)

    with ThreadPoolExecutor(1) as pool:
        task = pool.submit(first_in_first_out)
        inside.wait(10)
        with at_most(1):
            may_leave.set()
            task.result()
            assert blas_threads() == [1] * len(before)
        assert blas_threads() == before


def test_neither_has_to_be_the_main_thread():
    before = blas_threads()
    inside, may_leave = [Event(), Event()], [Event(), Event()]

    def limited(number):
        with at_most(1):
            inside[number].set()
            may_leave[number].wait(10)

    with ThreadPoolExecutor(2) as pool:
        tasks = []
        for number in (0, 1):
            tasks.append(pool.submit(limited, number))
            inside[number].wait(10)
        for number in (0, 1):
            may_leave[number].set()
            tasks[number].result()
        assert blas_threads() == before


def test_the_fewest_that_anybody_wants_hold():
    before = blas_threads()
    with at_most(2):
        with at_most(1):
            assert blas_threads() == [1] * len(before)
        assert blas_threads() == before
    assert blas_threads() == before


def test_an_error_lifts_the_limit_too():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), at_most(1):
        1 / 0  # noqa: B018
    assert blas_threads() == before


def test_fits_in_several_threads_leave_as_many_as_there_were(rng):
    before = blas_threads()
    X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    start = Barrier(4)

    def fit(seed):
        start.wait(10)
        return [NonLinCFA(0.01).fit(X, y).labels_.tolist() for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fit, range(4)))
    assert blas_threads() == before
    assert found == [found[0]] * 4
    assert found[0] == [NonLinCFA(0.01).fit(X, y).labels_.tolist()] * 10
    assert np.ptp(found[0], axis=0).max() == 0
