"""Read the bytes of a file or of standard input, and decompress them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
from collections.abc import Callable
from pathlib import Path

from coterie._data.tables._column_names import did_you_mean
from coterie._data.tables._errors import (
    DAMAGED_ADVICE,
    TableError,
    as_table_error,
    path_text,
    short_reason,
)
from coterie._data.tables._optional_imports import import_optional


def read_bytes(source: str | Path) -> bytes:
    """The content of a file, or of standard input for `-`; decompressed if compressed."""
    content = _read_stdin() if str(source) == "-" else _read_file(Path(source))
    if not content:
        raise TableError(f"{path_text(source)} is empty: it holds no table.")
    return _decompress(content, source)


def _read_stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise TableError("Standard input is closed: pipe a table into it, or name a file.")
    return sys.stdin.buffer.read()


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"There is no file {path_text(path)}.{_similar_file(path)}") from None
    except IsADirectoryError:
        raise TableError(f"{path_text(path)} is a folder: name a file in it.") from None
    except PermissionError:
        raise TableError(f"{path_text(path)} cannot be read: you have no permission.") from None
    except (OSError, ValueError) as error:
        # ValueError: the name contains a null character.
        raise TableError(
            f"{path_text(path)} cannot be read ({short_reason(error)}): "
            "check its name and its disk."
        ) from None


def _similar_file(path: Path) -> str:
    """A suggestion of a file with a similar name in the same folder."""
    try:
        if not path.parent.is_dir():
            return f" There is no folder {path_text(path.parent)}, either."
        return did_you_mean(path.name, [one.name for one in path.parent.iterdir()])
    except OSError:
        return ""


def _decompress_zstd(content: bytes) -> bytes:
    arrow = import_optional("pyarrow")
    with arrow.CompressedInputStream(arrow.BufferReader(content), "zstd") as stream:
        return stream.read()


COMPRESSIONS: dict[str, tuple[re.Pattern[bytes], Callable[[bytes], bytes]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), gzip.decompress),
    # More than the three letters BZh, which a column name may begin with.
    "bzip2": (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.decompress),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.decompress),
    "zstd": (re.compile(rb"\x28\xb5\x2f\xfd"), _decompress_zstd),
}


def _decompress(content: bytes, source: str | Path) -> bytes:
    for name, (beginning, unpack) in COMPRESSIONS.items():
        if beginning.match(content):
            with as_table_error(
                f"{path_text(source)} cannot be decompressed as {name}", DAMAGED_ADVICE
            ):
                content = unpack(content)
            if not content:
                raise TableError(
                    f"{path_text(source)} is empty after decompression: it holds no table."
                )
            return content
    return content
