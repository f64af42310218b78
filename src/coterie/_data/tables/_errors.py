"""Errors about tables, as one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Longer values, paths and reasons are cut in messages.
MAX_VALUE_LENGTH, MAX_PATH_LENGTH, MAX_REASON_LENGTH = 40, 80, 80
DAMAGED_ADVICE = "it is damaged or truncated, get it again"


class TableError(ValueError):
    """What is wrong with a table or its file, and what to do, in one line."""


def quote(text: object) -> str:
    r"""A name or a value in quotes, on one line, cut if long.

    Examples
    --------
    >>> print(quote("two\nlines"))
    'two\nlines'
    >>> print(quote("x" * 1000))
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'
    """
    quoted = ascii(str(text)) if not str(text).isprintable() else repr(str(text))
    return (
        quoted
        if len(quoted) <= MAX_VALUE_LENGTH + 2
        else f"{quoted[: MAX_VALUE_LENGTH + 1]}...{quoted[0]}"
    )


def path_text(path: str | Path) -> str:
    """A path for messages; only its end if it is long."""
    if str(path) == "-":
        return "Standard input"
    text = str(path) if str(path).isprintable() else ascii(str(path))[1:-1]
    return text if len(text) <= MAX_PATH_LENGTH else f"...{text[-MAX_PATH_LENGTH:]}"


@contextmanager
def as_table_error(beginning: str, advice: str) -> Iterator[None]:
    """Turn an error of a library into a TableError: beginning, reason and advice.

    MemoryError and interrupts pass unchanged.
    """
    try:
        yield
    except TableError:
        raise
    except BaseException as error:
        if not is_file_error(error):
            raise
        raise TableError(f"{beginning} ({short_reason(error)}): {advice}.") from None


def is_file_error(error: BaseException) -> bool:
    """Whether an error of a library is about the file, and not about the process."""
    # A damaged file may make Arrow ask for too much memory, and a panic in compiled code is
    # not an Exception.
    if type(error).__name__ in ("ArrowMemoryError", "PanicException"):
        return True
    return isinstance(error, Exception) and not isinstance(error, MemoryError)


def short_reason(error: BaseException) -> str:
    """The first line of the message of an error, cut if long."""
    code = os_error_number(error)
    if code is not None:
        return os.strerror(code).lower()
    lines = str(error).strip().splitlines() or [""]
    line = "".join(letter if letter.isprintable() else "?" for letter in lines[0]).rstrip(" .:")
    if not line:
        return type(error).__name__
    return line if len(line) <= MAX_REASON_LENGTH else f"{line[:MAX_REASON_LENGTH]}..."


def os_error_number(error: BaseException) -> int | None:
    """The errno of an error, which some libraries only write into the message."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    found = re.search(r"\(os error (\d+)\)|\[Errno (\d+)\]", str(error))
    return int(found[1] or found[2]) if found else None
