"""Ctrl-C while the command is still being imported: one line, and no traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

INTERRUPTED = 130


def is_command(words: list[str], whole: list[str]) -> bool:
    """Whether this process is the command ``coterie``, or ``python -m coterie``.

    Parameters
    ----------
    words, whole : list of str
        ``sys.argv`` and ``sys.orig_argv``.

    Examples
    --------
    >>> is_command(["/bin/coterie", "fit"], []), is_command(["-m"], ["python", "-m", "coterie"])
    (True, True)
    >>> is_command(["pytest"], []), is_command([""], [])
    (False, False)
    """
    name = Path(words[0]).name if words else ""
    if name == "-m":
        return whole[whole.index("-m") + 1 : whole.index("-m") + 2] == ["coterie"]
    return name.removesuffix(".exe") == "coterie"


def stop(*_: Any) -> None:
    """End the process at once."""
    os.write(2, b"coterie: stopped.\n")
    os._exit(INTERRUPTED)


def watch() -> bool:
    """Stop at Ctrl-C, if this is the command and nothing else handles it; whether it does."""
    is_free = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_free and is_main and is_command(sys.argv, sys.orig_argv)):
        return False
    signal.signal(signal.SIGINT, stop)
    return True


def raise_interrupts() -> None:
    """Raise KeyboardInterrupt at Ctrl-C again, once all is imported."""
    if signal.getsignal(signal.SIGINT) is stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# When this is first imported: all that takes long is imported after it.
WATCHES = watch()
