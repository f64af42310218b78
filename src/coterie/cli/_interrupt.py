"""Ctrl-C stops a command, wherever it is."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Seconds after which a stop is asked for again.
RETRY_SECONDS = 0.3
INTERRUPTED = 130
COMPILERS = ("numba", "llvmlite")


@contextmanager
def interruptible() -> Iterator[None]:
    """Ask again and again to stop: compilers must end first, and others may not have heard.

    Where whoever started the command had Ctrl-C ignored, as scripts do for jobs in the
    background, it stays ignored.
    """
    has_alarms = hasattr(signal, "setitimer")
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    is_main = threading.current_thread() is threading.main_thread()
    if not has_alarms or is_ignored or not is_main:
        yield
        return
    handler = _InterruptHandler()
    before = {one: signal.signal(one, handler) for one in (signal.SIGINT, signal.SIGALRM)}
    hook, sys.unraisablehook = sys.unraisablehook, _hide_interrupts
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        for one, previous in before.items():
            signal.signal(one, previous)


class _InterruptHandler:
    """What happens at Ctrl-C: a stop, once no compiler is at work; a second one does not wait."""

    def __init__(self) -> None:
        self.n_pressed = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.n_pressed += number == signal.SIGINT
        signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
        if not _is_compiling(frame):
            raise KeyboardInterrupt
        if self.n_pressed > 1:
            os.write(2, b"coterie: stopped.\n")
            os._exit(INTERRUPTED)


def _is_compiling(frame: FrameType | None) -> bool:
    """Whether a compiler is at work, which does not survive what is raised inside its calls."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in COMPILERS:
            return True
        frame = frame.f_back
    return False


def _hide_interrupts(unraisable: Any) -> None:
    """What was raised where nobody can catch it, but for a stop, which will come again."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
