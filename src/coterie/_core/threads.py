"""Limits on the number of BLAS threads, safe when several callers set one at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class SharedLimit:
    """A limit on BLAS threads for the whole process, shared by all callers.

    The number of threads belongs to the process, not to the caller that sets it. If each caller
    restored the number that it found, the limit of another caller could stay in place for good. So
    the number from before the first limit is restored when the last caller leaves. OpenMP is the
    exception: there each Python thread has a number of its own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._wanted: list[int] = []
        self._before: list[int] = []

    @contextmanager
    def at_most(self, n_threads: int) -> Iterator[None]:
        """Context manager with at most ``n_threads`` threads; the lowest active limit applies."""
        own = [(pool, pool.num_threads) for pool in _pools() if _is_own(pool)]
        shared = [pool for pool in _pools() if not _is_own(pool)]
        with self._lock:
            if not self._wanted:
                self._before = [pool.num_threads for pool in shared]
            self._wanted.append(n_threads)
            self._apply(shared)
        for pool, before in own:
            pool.set_num_threads(min(n_threads, before))
        try:
            yield
        finally:
            for pool, before in own:
                pool.set_num_threads(before)
            with self._lock:
                self._wanted.remove(n_threads)
                self._apply(shared)

    def _apply(self, shared: list[Any]) -> None:
        """Set each pool to the lowest active limit, or to its number before any limit."""
        for pool, before in zip(shared, self._before, strict=True):
            # Some BLAS versions accept a number only from the thread that set one first.
            release = getattr(type(pool), "clear_controlling_thread", None)
            if release is not None:
                release(force=True)
            pool.set_num_threads(min([before, *self._wanted]))
            if release is not None:
                release(force=True)


@cache
def _pools() -> list[Any]:
    """Thread pools of BLAS in this process; cached, since the lookup is slower than a small fit."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _is_own(pool: Any) -> bool:
    """Whether each Python thread has its own number of BLAS threads."""
    return getattr(pool, "threading_layer", None) == "openmp"


_LIMIT = SharedLimit()


def at_most(n_threads: int) -> AbstractContextManager[None]:
    """Context manager that limits BLAS in this process to ``n_threads`` threads."""
    return _LIMIT.at_most(n_threads)


def few_threads(few: bool) -> AbstractContextManager[None]:
    """Context manager with one BLAS thread if ``few``; for products too small to share."""
    return at_most(1) if few else nullcontext()
