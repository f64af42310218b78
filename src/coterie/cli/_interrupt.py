"""Ctrl-C stops a command, also while code is being compiled."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from coterie._core.interrupts import INTERRUPTED

# Seconds until the interrupt is raised again.
RETRY_SECONDS = 0.3
COMPILERS = ("numba", "llvmlite")


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, repeatedly until the command stops.

    It is not raised inside a compiler, which would not survive it, and it is repeated because
    compiled code may swallow it. If the process was started with Ctrl-C ignored, as scripts do for
    background jobs, it stays ignored.
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
    """Signal handler: interrupt once no compiler is running; a second Ctrl-C does not wait."""

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
    """Whether a compiler is running, which an exception raised inside it would break."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in COMPILERS:
            return True
        frame = frame.f_back
    return False


def _hide_interrupts(unraisable: Any) -> None:
    """Report unraisable exceptions, except for interrupts, which are raised again later."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
