"""How many threads BLAS may use, whoever asks for few at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class SharedLimit:
    """A limit for the whole process, which the last who wanted one lifts again.

    The number of threads belongs to the process and not to who sets it: restored by each from
    what it found, it would stay at what another had set meanwhile. Only where threads come from
    OpenMP does each thread of Python have a number of its own.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._wanted: list[int] = []
        self._before: list[int] = []

    @contextmanager
    def at_most(self, n_threads: int) -> Iterator[None]:
        """No more than so many threads while this lasts; the fewest that anybody wants."""
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
        """Give each pool as many threads as everybody agrees to."""
        for pool, before in zip(shared, self._before, strict=True):
            # Some versions listen only to the thread that has set a number first.
            release = getattr(type(pool), "clear_controlling_thread", None)
            if release is not None:
                release(force=True)
            pool.set_num_threads(min([before, *self._wanted]))
            if release is not None:
                release(force=True)


@cache
def _pools() -> list[Any]:
    """The pools of BLAS in this process; looking for them takes longer than a small fit."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _is_own(pool: Any) -> bool:
    """Whether each thread of Python has a number of threads of its own."""
    return getattr(pool, "threading_layer", None) == "openmp"


_LIMIT = SharedLimit()


def at_most(n_threads: int) -> AbstractContextManager[None]:
    """No more than so many threads of BLAS in this process, while this lasts."""
    return _LIMIT.at_most(n_threads)


def few_threads(few: bool) -> AbstractContextManager[None]:
    """One thread for products so small that waking others takes longer than they do."""
    return at_most(1) if few else nullcontext()
