"""Ctrl-C stops a command, wherever it is."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

# Seconds after which a stop is asked for again.
AGAIN = 0.3


@contextmanager
def stoppable() -> Iterator[None]:
    """Ask again and again to stop, since compilers swallow what is raised inside a call-back."""
    has_alarms = hasattr(signal, "setitimer")
    if not has_alarms or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, _stop) for one in (signal.SIGINT, signal.SIGALRM)}
    hook, sys.unraisablehook = sys.unraisablehook, _unless_stopped
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        for one, handler in before.items():
            signal.signal(one, handler)


def _stop(*_: Any) -> NoReturn:
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
    raise KeyboardInterrupt


def _unless_stopped(swallowed: Any) -> None:
    """What was raised where nobody can catch it, but for a stop, which will come again."""
    if not issubclass(swallowed.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(swallowed)
