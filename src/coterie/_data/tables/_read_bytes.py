"""The bytes of a file or of standard input, unpacked."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
from collections.abc import Callable
from pathlib import Path

from coterie._data.tables._column_names import did_you_mean
from coterie._data.tables._errors import DAMAGED, TableError, guarded, place, reason_of
from coterie._data.tables._optional_imports import library


def bytes_of(source: str | Path) -> bytes:
    """What stands in a file, or comes from standard input for `-`; unpacked where it is packed."""
    content = _standard_input() if str(source) == "-" else _file(Path(source))
    if not content:
        raise TableError(f"{place(source)} is empty: there is no table in it.")
    return _unpacked(content, source)


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise TableError("Standard input is closed: pipe a table into it, or name a file.")
    return sys.stdin.buffer.read()


def _file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"There is no file {place(path)}.{_near_file(path)}") from None
    except IsADirectoryError:
        raise TableError(f"{place(path)} is a folder: name a file in it.") from None
    except PermissionError:
        raise TableError(f"{place(path)} may not be read: ask for permission to.") from None
    except (OSError, ValueError) as error:
        # A ValueError is a name with a null in it.
        raise TableError(
            f"{place(path)} cannot be read ({reason_of(error)}): check its name and its disk."
        ) from None


def _near_file(path: Path) -> str:
    """The question whether another file in that folder was meant."""
    try:
        if not path.parent.is_dir():
            return f" There is no folder {place(path.parent)}, either."
        return did_you_mean(path.name, [one.name for one in path.parent.iterdir()])
    except OSError:
        return ""


def _unzstd(content: bytes) -> bytes:
    arrow = library("pyarrow")
    with arrow.CompressedInputStream(arrow.BufferReader(content), "zstd") as stream:
        return stream.read()


PACKINGS: dict[str, tuple[re.Pattern[bytes], Callable[[bytes], bytes]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), gzip.decompress),
    # Three letters alone may begin the name of a column.
    "bzip2": (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.decompress),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.decompress),
    "zstd": (re.compile(rb"\x28\xb5\x2f\xfd"), _unzstd),
}


def _unpacked(content: bytes, source: str | Path) -> bytes:
    for name, (beginning, unpack) in PACKINGS.items():
        if beginning.match(content):
            with guarded(f"{place(source)} cannot be unpacked as {name}", DAMAGED):
                content = unpack(content)
            if not content:
                raise TableError(f"{place(source)} is empty once unpacked: there is no table.")
            return content
    return content
