"""Save moments to a file, and load them with full validation of its content.

The file is an uncompressed zip, as NumPy writes for ``.npz``: ``header.json``, then arrays of
float64. Symmetric matrices are stored as their lower triangle, row by row. In a checkpoint, the
header entry "source" describes the data that have been counted.
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

# A longer header was not written by coterie.
MAX_HEADER_BYTES = 2**28
# What the standard library raises if a zip is damaged.
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
    """Write moments, and a description of their source, to a file that is complete or absent."""
    with whole_file(path) as file:
        _write(moments, file, source)


def moments_to_bytes(moments: Any) -> memoryview:
    """Moments as the bytes of such a file."""
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
    """The attributes of the moments in a file, and the description of their source.

    The description is not validated: compare it, do not trust it.

    Raises
    ------
    ValueError
        If the file cannot be loaded.
    """
    with Path(path).open("rb") as file:
        return _load_from(file, os.fspath(path))


def attributes_from_bytes(content: Any) -> dict[str, Any]:
    """The attributes of the moments in the bytes of such a file."""
    return _load_from(BytesIO(content), "This")[0]


def _load_from(file: IO[bytes], name: Any) -> tuple[dict[str, Any], Any]:
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
        reason = "it is not a moments file, or it is truncated"
    raise ValueError(f"{name} cannot be loaded: {reason}.")


def _member_bytes(archive: zipfile.ZipFile, name: str, max_bytes: int | None = None) -> bytes:
    """The bytes of an uncompressed member of the archive."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise UnreadableError(f"'{name}' is missing") from None
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise UnreadableError(f"'{name}' is compressed, and moments files never are")
    if max_bytes is not None and info.file_size > max_bytes:
        raise UnreadableError(f"'{name}' is too long")
    return archive.read(name)


def _load_array(archive: zipfile.ZipFile, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """A finite array of float64 of the given shape; None stands for any length."""
    content = memoryview(_member_bytes(archive, f"{name}.npy"))
    start, found = _array_header(content, name)
    fits = len(found) == len(shape)
    if not fits or any(want not in (None, got) for want, got in zip(shape, found, strict=True)):
        raise UnreadableError(f"'{name}' must have shape {shape}, got {found}")
    if len(content) - start != 8 * prod(found):
        raise UnreadableError(f"'{name}' does not have the length its header states")
    array = np.frombuffer(content, dtype="<f8", offset=start).reshape(found)
    if not np.isfinite(array).all():
        raise UnreadableError(f"'{name}' has NaN or infinity")
    return array.astype(np.float64, copy=False)


def _array_header(content: memoryview, name: str) -> tuple[int, tuple[int, ...]]:
    """The offset of the first number of an array in its member, and its shape."""
    file = BytesIO(bytes(content[:1024]))
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except ValueError:
        raise UnreadableError(f"'{name}' is not a NumPy array") from None
    if dtype != np.dtype("<f8") or (is_fortran and len(shape) > 1):
        raise UnreadableError(f"'{name}' must hold float64 numbers in C order")
    return file.tell(), shape
