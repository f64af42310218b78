"""Moments as a file of arrays with a header, and back without trust in it.

An uncompressed zip, as numpy writes for ``.npz``: ``header.json``, then arrays of float64. Of a
symmetric matrix only the lower triangle is there, row by row. Where the moments are those of a
source that may be gone on with, the header says under "source" how to recognise it.
"""

from __future__ import annotations

import os
import struct
import zipfile
from functools import partial
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from coterie._core.values import FloatArray
from coterie._data.moments._serialise import attributes_from_header, header_to_json, moment_arrays
from coterie._persist.files import Entry, UnreadableError, document_in, text_of, whole_file

# A header beyond this is none of ours.
MAX_HEADER_BYTES = 2**28
# What the standard library raises where a zip is damaged.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


def write_moments(
    moments: Any, path: str | os.PathLike[str], source: dict[str, Any] | None = None
) -> None:
    """Write moments to a file that is whole or not there, and of what source they are."""
    with whole_file(path) as file:
        _write(moments, file, source)


def moments_to_bytes(moments: Any) -> memoryview:
    """What such a file would hold."""
    file = BytesIO()
    _write(moments, file)
    return file.getbuffer()


def _write(moments: Any, file: IO[bytes], source: dict[str, Any] | None = None) -> None:
    header = header_to_json(moments) | {"source": source}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", text_of(header))
        for name, array in moment_arrays(moments):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def load_attributes(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Any]:
    """The attributes of the moments in a file, and of what source they are.

    Where they cannot be read, one sentence says why. What is said of the source is as it stands
    there, to be compared and not to be trusted.
    """
    with Path(path).open("rb") as file:
        return _load(file, os.fspath(path))


def attributes_from_bytes(content: Any) -> dict[str, Any]:
    """The attributes of the moments in what such a file holds."""
    return _load(BytesIO(content), "This")[0]


def _load(file: IO[bytes], name: Any) -> tuple[dict[str, Any], Any]:
    try:
        with zipfile.ZipFile(file) as archive:
            header = document_in(_member_bytes(archive, "header.json", MAX_HEADER_BYTES))
            attributes = attributes_from_header(Entry(header), partial(_load_array, archive))
            return attributes, header.get("source")
    except UnreadableError as error:
        reason = str(error)
    except RecursionError:
        reason = "its lists are nested too deeply"
    except ZIP_ERRORS:
        reason = "it is no file of moments, or not all of it"
    raise ValueError(f"{name} cannot be loaded: {reason}.")


def _member_bytes(archive: zipfile.ZipFile, name: str, max_bytes: int | None = None) -> bytes:
    """The bytes of a member that is as large as it says, and whole."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise UnreadableError(f"'{name}' is missing") from None
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise UnreadableError(f"'{name}' is compressed, which moments never are")
    if max_bytes is not None and info.file_size > max_bytes:
        raise UnreadableError(f"'{name}' is too long")
    return archive.read(name)


def _load_array(archive: zipfile.ZipFile, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """A finite array of float64 of this shape, any length where it says None."""
    content = memoryview(_member_bytes(archive, f"{name}.npy"))
    start, found = _array_header(content, name)
    fits = len(found) == len(shape)
    if not fits or any(want not in (None, got) for want, got in zip(shape, found, strict=True)):
        raise UnreadableError(f"'{name}' must have shape {shape}, got {found}")
    if len(content) - start != 8 * prod(found):
        raise UnreadableError(f"'{name}' is not as long as it says")
    array = np.frombuffer(content, dtype="<f8", offset=start).reshape(found)
    if not np.isfinite(array).all():
        raise UnreadableError(f"'{name}' has NaN or infinity")
    return array.astype(np.float64, copy=False)


def _array_header(content: memoryview, name: str) -> tuple[int, tuple[int, ...]]:
    """Where the numbers of an array begin, and its shape."""
    file = BytesIO(bytes(content[:1024]))
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except ValueError:
        raise UnreadableError(f"'{name}' is no array of numpy") from None
    if dtype != np.dtype("<f8") or (is_fortran and len(shape) > 1):
        raise UnreadableError(f"'{name}' must hold numbers of float64, row by row")
    return file.tell(), shape
