"""Write a table to a file atomically, or to standard output."""

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
    is_file_error,
    os_error_number,
    path_text,
    quote,
    short_reason,
)
from coterie._data.tables._excel import check_excel_limits, write_excel
from coterie._data.tables._formats import (
    COMPRESSED_SUFFIXES,
    FORMAT_NAMES,
    checked_format,
    format_by_name,
)
from coterie._data.tables._optional_imports import import_optional
from coterie._persist.files import DISK_FULL_ERRORS, Opener, whole_file

if TYPE_CHECKING:
    import polars

READ_ONLY_SUFFIXES = (*COMPRESSED_SUFFIXES, ".xls", ".xlsm")
PERMISSION_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)
FOLDER_ERRORS = (errno.ENOENT, errno.ENOTDIR)
SUFFIXES_TEXT = ".csv, .tsv, .parquet, .feather, .jsonl, .json or .xlsx"


def write_table(
    frame: polars.DataFrame,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    opener: Opener = whole_file,
) -> None:
    """Write a table to a file, or to standard output.

    The write is atomic. Numbers in CSV have as many digits as needed to read the same float; JSON
    and Excel have no NaN, and get null instead.

    Parameters
    ----------
    frame : polars.DataFrame
    path : str or Path
        `-` is standard output.
    format : {'csv', 'tsv', 'parquet', 'feather', 'jsonl', 'json', 'excel'}, optional
        By default from the suffix, and CSV for standard output.
    opener : callable, optional
        From `coterie._persist.files.whole_files`, to rename the file together with others.

    Raises
    ------
    TableError
        If it cannot be written: one sentence on the reason.
    BrokenPipeError
        If standard output was closed by its reader.

    Examples
    --------
    >>> import polars as pl
    >>> write_table(pl.DataFrame({"a": [0.1, None]}), "-")
    a
    0.1
    NA
    """
    kind = _output_format(path, format)
    _check_writable(frame, kind)
    if str(path) == "-":
        with _explain_errors("Standard output", None):
            content = io.BytesIO()
            WRITERS[kind](frame, content)
            _write_stdout(content.getvalue())
        return
    with _explain_errors(path_text(path), Path(path)), opener(path) as file:
        WRITERS[kind](frame, file)


def _output_format(path: str | Path, name: str | None) -> str:
    if name is not None:
        return checked_format(name)
    if str(path) == "-":
        return "csv"
    found = format_by_name(path)
    if found is None or Path(path).suffix.lower() in READ_ONLY_SUFFIXES:
        raise TableError(
            f"{path_text(path)} has no suffix of a known output format: use "
            f"{SUFFIXES_TEXT}, or pass --format."
        )
    return found


def _check_writable(frame: polars.DataFrame, kind: str) -> None:
    if frame.width == 0:
        raise TableError("The table has no columns to write.")
    if kind == "excel":
        check_excel_limits(frame)
    if kind in ("excel", "json", "jsonl"):
        _check_no_infinity(frame, kind)


def _check_no_infinity(frame: polars.DataFrame, kind: str) -> None:
    for series in frame:
        if series.dtype.is_float() and series.alias("floats").is_infinite().any():
            raise TableError(
                f"Column {quote(series.name)} has infinite values, which {FORMAT_NAMES[kind]} "
                "cannot hold: write CSV or Parquet."
            )


@contextmanager
def _explain_errors(where: str, path: Path | None) -> Iterator[None]:
    """Turn errors inside the block into a TableError that says why writing failed."""
    try:
        yield
    except (TableError, BrokenPipeError):
        raise
    except BaseException as error:
        if not is_file_error(error):
            raise
        raise TableError(_write_error_message(error, where, path)) from None


def _write_error_message(error: BaseException, where: str, path: Path | None) -> str:
    code, reason = os_error_number(error), short_reason(error)
    if code in DISK_FULL_ERRORS:
        return f"There is no space for {where} ({reason}): free some, or write elsewhere."
    if code in PERMISSION_ERRORS:
        return f"{where} cannot be written ({reason}): name a file in a writable folder."
    if code in FOLDER_ERRORS and path is not None:
        return f"There is no folder {path_text(path.parent)}: create it first, or name another."
    if code is None and path is not None and path.exists() and not path.is_file():
        return f"{where} is not a regular file: name a file to write to."
    advice = "name another file" if code else "drop columns that are not numeric, or try Parquet"
    return f"{where} cannot be written ({reason}): {advice}."


def _write_stdout(content: bytes) -> None:
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(content.decode("utf-8", "replace"))
        return
    # Bypass the buffer, which would retry a failed write at exit.
    raw, view = getattr(buffer, "raw", buffer), memoryview(content)
    while view:
        view = view[raw.write(view) :]


def _write_csv(frame: polars.DataFrame, file: BinaryIO) -> None:
    _write_separated(frame, file, ",")


def _write_tsv(frame: polars.DataFrame, file: BinaryIO) -> None:
    _write_separated(frame, file, "\t")


def _write_separated(frame: polars.DataFrame, file: BinaryIO, separator: str) -> None:
    # In a table of one column, an empty field would be a blank line, which readers skip.
    frame.write_csv(file, separator=separator, null_value="NA" if frame.width == 1 else None)


def _write_parquet(frame: polars.DataFrame, file: BinaryIO) -> None:
    frame.write_parquet(file)


def _write_feather(frame: polars.DataFrame, file: BinaryIO) -> None:
    # Other programs may know only the older layout of text.
    frame.write_ipc(file, compat_level=import_optional("polars").CompatLevel.oldest())


def _write_jsonl(frame: polars.DataFrame, file: BinaryIO) -> None:
    frame.write_ndjson(file)


def _write_json(frame: polars.DataFrame, file: BinaryIO) -> None:
    file.write(frame.write_json().encode())


Writer = Callable[["polars.DataFrame", BinaryIO], None]
WRITERS: dict[str, Writer] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "feather": _write_feather,
    "jsonl": _write_jsonl,
    "json": _write_json,
    "excel": write_excel,
}
