"""What went wrong, as one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Enough of a text to recognise it by, and of a path, and of a reason.
SHOWN, SHOWN_PATH, SHOWN_REASON = 40, 80, 80
DAMAGED = "it is damaged or cut off, get it again"


class TableError(ValueError):
    """What is wrong with a table or its file, and what to do: one line for the person who asked."""


def shown(text: object) -> str:
    r"""A name or a value in quotes, on one line and not too long.

    Examples
    --------
    >>> print(shown("two\nlines"))
    'two\nlines'
    >>> print(shown("x" * 1000))
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'
    """
    quoted = ascii(str(text)) if not str(text).isprintable() else repr(str(text))
    return quoted if len(quoted) <= SHOWN + 2 else f"{quoted[: SHOWN + 1]}...{quoted[0]}"


def place(path: str | Path) -> str:
    """A path for a sentence: its end, where it is long."""
    if str(path) == "-":
        return "Standard input"
    text = str(path) if str(path).isprintable() else ascii(str(path))[1:-1]
    return text if len(text) <= SHOWN_PATH else f"...{text[-SHOWN_PATH:]}"


@contextmanager
def guarded(beginning: str, advice: str) -> Iterator[None]:
    """Turn what a library raises into a TableError: the beginning, its reason, the advice.

    Memory that runs out, and what people or the system do to the process, pass as they are.
    """
    try:
        yield
    except TableError:
        raise
    except BaseException as error:
        if not is_about_the_file(error):
            raise
        raise TableError(f"{beginning} ({reason_of(error)}): {advice}.") from None


def is_about_the_file(error: BaseException) -> bool:
    """Whether an error is one that a library raises over a file, and not over the process."""
    # A length in a damaged file may ask Arrow for more memory than there is in the world; and
    # a panic in compiled code is no Exception.
    if type(error).__name__ in ("ArrowMemoryError", "PanicException"):
        return True
    return isinstance(error, Exception) and not isinstance(error, MemoryError)


def reason_of(error: BaseException) -> str:
    """The first line of what a library or the system says, short and on one line."""
    code = number_of(error)
    if code is not None:
        return os.strerror(code).lower()
    lines = str(error).strip().splitlines() or [""]
    line = "".join(letter if letter.isprintable() else "?" for letter in lines[0]).rstrip(" .:")
    if not line:
        return type(error).__name__
    return line if len(line) <= SHOWN_REASON else f"{line[:SHOWN_REASON]}..."


def number_of(error: BaseException) -> int | None:
    """The system's number for an error, which some libraries only write into their text."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    found = re.search(r"\(os error (\d+)\)|\[Errno (\d+)\]", str(error))
    return int(found[1] or found[2]) if found else None
