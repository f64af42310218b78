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
    what it found, it would stay at what another had set meanwhile.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._wanted: list[int] = []
        self._before: Any = None

    @contextmanager
    def at_most(self, n_threads: int) -> Iterator[None]:
        """No more than so many threads while this lasts; the fewest that anybody wants."""
        with self._lock:
            self._wanted.append(n_threads)
            limiter = self._apply()
            if self._before is None:
                self._before = limiter
        try:
            yield
        finally:
            with self._lock:
                self._wanted.remove(n_threads)
                if self._wanted:
                    self._apply()
                else:
                    self._before.restore_original_limits()
                    self._before = None

    def _apply(self) -> Any:
        return _pools().limit(limits=min(self._wanted), user_api="blas")


@cache
def _pools() -> ThreadpoolController:
    """The pools of threads in this process; looking for them takes longer than a small fit."""
    return ThreadpoolController()


_LIMIT = SharedLimit()


def at_most(n_threads: int) -> AbstractContextManager[None]:
    """No more than so many threads of BLAS in this process, while this lasts."""
    return _LIMIT.at_most(n_threads)


def few_threads(few: bool) -> AbstractContextManager[None]:
    """One thread for products so small that waking others takes longer than they do."""
    return at_most(1) if few else nullcontext()
