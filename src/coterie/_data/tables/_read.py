"""Read a table from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coterie._data.tables._arrow import read_feather, read_parquet
from coterie._data.tables._csv import parse_csv, prepare_csv
from coterie._data.tables._encoding import to_utf8
from coterie._data.tables._errors import TableError, path_text, quote
from coterie._data.tables._excel import read_excel
from coterie._data.tables._formats import FORMAT_NAMES, detect_format
from coterie._data.tables._infer_types import infer_types
from coterie._data.tables._json import read_json
from coterie._data.tables._optional_imports import import_optional
from coterie._data.tables._read_bytes import read_bytes

if TYPE_CHECKING:
    import polars

# The formats that each option applies to.
FORMATS_OF_OPTION = {
    "separator": ("csv", "tsv"),
    "decimal": ("csv", "tsv"),
    "encoding": ("csv", "tsv", "json", "jsonl"),
    "sheet": ("excel",),
}


def read_table(
    source: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> polars.DataFrame:
    r"""Read a table from a file or from standard input.

    Parameters
    ----------
    source : str or Path
        A CSV, TSV, Parquet, Feather (Arrow IPC), JSON lines, JSON or Excel file, possibly
        compressed with gzip, bzip2, xz or zstd; `-` is standard input.
    format : {'csv', 'tsv', 'parquet', 'feather', 'jsonl', 'json', 'excel'}, optional
        By default from the suffix, or from the first bytes if the suffix is unknown or they show
        another format.
    separator : str, optional
        Field separator of CSV; by default guessed from the first lines among comma, semicolon,
        tab, vertical bar and runs of spaces.
    decimal : {'.', ','}, optional
        By default a point; in CSV that is not separated by commas also a comma.
    encoding : str, optional
        Text encoding; by default UTF-8, or UTF-16 or UTF-32 with a byte order mark.
    sheet : str, optional
        Sheet of an Excel workbook; by default the first.

    Returns
    -------
    polars.DataFrame
        With at least one column and one row, and unique names. In CSV and Excel a column is
        numeric or boolean if all of its values are. Empty cells are null; in numeric and boolean
        columns NA, N/A, NaN, null, None, `-`, `?` and `.` are null, too. Names are stripped of
        spaces; a blank third name becomes `unnamed_3`.

    Raises
    ------
    TableError
        If the table cannot be read: one sentence on what is wrong and what to do.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "prices.csv"
    >>> _ = path.write_text("price;city\n1,5;Paris\nNA;Rome\n")
    >>> read_table(path).rows()
    [(1.5, 'Paris'), (None, 'Rome')]
    """
    import_optional("polars")
    if decimal not in (None, ".", ","):
        raise TableError(f"--decimal must be '.' or ',', got {quote(decimal)}.")
    content, where = read_bytes(source), path_text(source)
    kind = detect_format(source, content, format)
    given = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    _check_options(kind, [name for name, value in given.items() if value is not None], where)
    if kind == "parquet":
        frame = read_parquet(content, where)
    elif kind == "feather":
        frame = read_feather(content, where)
    elif kind == "excel":
        frame = read_excel(content, sheet, where)
    elif kind in ("json", "jsonl"):
        frame = read_json(to_utf8(content, encoding, where), where)
    else:
        text = to_utf8(content, encoding, where)
        frame = _read_csv(text, separator, decimal, where, is_tsv=kind == "tsv")
    return _check_not_empty(frame, where)


def _check_options(kind: str, options: list[str], where: str) -> None:
    for option in options:
        if kind not in FORMATS_OF_OPTION[option]:
            raise TableError(
                f"{where} is {FORMAT_NAMES[kind]}, for which --{option} has no effect: "
                "leave it out."
            )


def _read_csv(
    text: bytes, separator: str | None, decimal: str | None, where: str, *, is_tsv: bool
) -> polars.DataFrame:
    lines = prepare_csv(text, separator, decimal, where, is_tsv=is_tsv)
    if decimal is None and lines.separator == ",":
        decimal = "."
    return infer_types(parse_csv(lines), decimal=decimal, where=where)


def _check_not_empty(frame: polars.DataFrame, where: str) -> polars.DataFrame:
    if frame.width == 0:
        raise TableError(f"{where} has no columns: it holds no table.")
    if frame.height == 0:
        raise TableError(f"{where} has column names but no rows.")
    return frame
