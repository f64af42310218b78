"""A table becomes a file, whole or not at all."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from coterie._data.tables._errors import (
    TableError,
    is_about_the_file,
    number_of,
    place,
    reason_of,
    shown,
)
from coterie._data.tables._excel import check_limits, write_excel
from coterie._data.tables._formats import NOUNS, PACKED, checked_format, format_by_name
from coterie._data.tables._optional_imports import library
from coterie._persist.files import Opener, whole_file

if TYPE_CHECKING:
    import polars

READ_ONLY = (*PACKED, ".xls", ".xlsm")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
NO_FOLDER = (errno.ENOENT, errno.ENOTDIR)
ENDINGS = ".csv, .tsv, .parquet, .feather, .jsonl, .json or .xlsx"


def write_table(
    frame: polars.DataFrame,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    opener: Opener = whole_file,
) -> None:
    """Write a table to a file, or to standard output.

    The file is the old one or the new one, whatever happens. Numbers in CSV have the digits that
    give the same float again; JSON and Excel have no NaN, and keep null instead.

    Parameters
    ----------
    frame : polars.DataFrame
    path : str or Path
        `-` is standard output.
    format : {'csv', 'tsv', 'parquet', 'feather', 'jsonl', 'json', 'excel'}, optional
        By default what the suffix says, and CSV for standard output.
    opener : callable, optional
        One of `coterie._persist.files.whole_files`, to rename the file together with others.

    Raises
    ------
    TableError
        One sentence on why it could not be written.
    BrokenPipeError
        Where nobody listens to standard output any more.

    Examples
    --------
    >>> import polars as pl
    >>> write_table(pl.DataFrame({"a": [0.1, None]}), "-")
    a
    0.1
    NA
    """
    kind = _format(path, format)
    _check_writable(frame, kind)
    if str(path) == "-":
        with _explained("Standard output", None):
            content = io.BytesIO()
            WRITERS[kind](frame, content)
            _to_standard_output(content.getvalue())
        return
    with _explained(place(path), Path(path)), opener(path) as file:
        WRITERS[kind](frame, file)


def _format(path: str | Path, name: str | None) -> str:
    if name is not None:
        return checked_format(name)
    if str(path) == "-":
        return "csv"
    found = format_by_name(path)
    if found is None or Path(path).suffix.lower() in READ_ONLY:
        raise TableError(
            f"{place(path)} does not end in the name of a format that we write: end it in "
            f"{ENDINGS}, or pass --format."
        )
    return found


def _check_writable(frame: polars.DataFrame, kind: str) -> None:
    if frame.width == 0:
        raise TableError("The table has no columns: there is nothing to write.")
    if kind == "excel":
        check_limits(frame)
    if kind in ("excel", "json", "jsonl"):
        _check_finite(frame, kind)


def _check_finite(frame: polars.DataFrame, kind: str) -> None:
    for series in frame:
        if series.dtype.is_float() and series.alias("floats").is_infinite().any():
            raise TableError(
                f"Column {shown(series.name)} has infinite values, and {NOUNS[kind]} has none: "
                "write CSV or Parquet."
            )


@contextmanager
def _explained(where: str, path: Path | None) -> Iterator[None]:
    """Say in a sentence why something could not be written."""
    try:
        yield
    except (TableError, BrokenPipeError):
        raise
    except BaseException as error:
        if not is_about_the_file(error):
            raise
        raise TableError(_why(error, where, path)) from None


def _why(error: BaseException, where: str, path: Path | None) -> str:
    code, reason = number_of(error), reason_of(error)
    if code in NO_ROOM:
        return f"There is no room for {where} ({reason}): free some, or write elsewhere."
    if code in NOT_ALLOWED:
        return f"{where} may not be written ({reason}): name a file in a folder of yours."
    if code in NO_FOLDER and path is not None:
        return f"There is no folder {place(path.parent)}: make it first, or name another."
    if code is None and path is not None and path.exists() and not path.is_file():
        return f"{where} is no plain file: name one to write to."
    advice = "name another file" if code else "drop columns that are no numbers, or try Parquet"
    return f"{where} cannot be written ({reason}): {advice}."


def _to_standard_output(content: bytes) -> None:
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(content.decode("utf-8", "replace"))
        return
    # Past the buffer, which would try to write once more at the end what could not be written.
    raw, view = getattr(buffer, "raw", buffer), memoryview(content)
    while view:
        view = view[raw.write(view) :]


def _csv(frame: polars.DataFrame, file: BinaryIO) -> None:
    _separated(frame, file, ",")


def _tsv(frame: polars.DataFrame, file: BinaryIO) -> None:
    _separated(frame, file, "\t")


def _separated(frame: polars.DataFrame, file: BinaryIO, separator: str) -> None:
    # In a table of one column, nothing at all would be a blank line, which readers skip.
    frame.write_csv(file, separator=separator, null_value="NA" if frame.width == 1 else None)


def _parquet(frame: polars.DataFrame, file: BinaryIO) -> None:
    frame.write_parquet(file)


def _feather(frame: polars.DataFrame, file: BinaryIO) -> None:
    # Other programs know the older layout of text.
    frame.write_ipc(file, compat_level=library("polars").CompatLevel.oldest())


def _jsonl(frame: polars.DataFrame, file: BinaryIO) -> None:
    frame.write_ndjson(file)


def _json(frame: polars.DataFrame, file: BinaryIO) -> None:
    file.write(frame.write_json().encode())


Writer = Callable[["polars.DataFrame", BinaryIO], None]
WRITERS: dict[str, Writer] = {
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "feather": _feather,
    "jsonl": _jsonl,
    "json": _json,
    "excel": write_excel,
}
