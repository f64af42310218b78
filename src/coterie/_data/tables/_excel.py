"""Read a sheet of an Excel workbook, and write a workbook of one sheet."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from coterie._data.tables._column_names import check_names, did_you_mean, header_names
from coterie._data.tables._errors import DAMAGED_ADVICE, TableError, as_table_error, quote
from coterie._data.tables._infer_types import infer_types
from coterie._data.tables._optional_imports import import_optional

if TYPE_CHECKING:
    import polars

MAX_EXCEL_ROWS, MAX_EXCEL_COLUMNS, MAX_EXCEL_LETTERS = 1_048_576, 16_384, 32_767
DATE_FORMATS = {"Date": "yyyy-mm-dd", "Datetime": "yyyy-mm-dd hh:mm:ss"}
# Floats hold whole numbers up to here.
LARGEST_WHOLE = 2**53
TEXT_TYPES = ("String", "Categorical", "Enum", "Time", "Duration")


def read_excel(content: bytes, sheet: str | None, where: str) -> polars.DataFrame:
    """Read a sheet, by default the first; its first row that is not blank is the header.

    Numbers that are stored as text become numbers.
    """
    fastexcel, pl = import_optional("fastexcel"), import_optional("polars")
    damaged = as_table_error(f"{where} cannot be read as an Excel workbook", DAMAGED_ADVICE)
    with _quiet_reader(), damaged:
        book = fastexcel.read_excel(content)
        name = _select_sheet(book.sheet_names, sheet, where)
        top = pl.DataFrame(book.load_sheet(name, header_row=None, n_rows=1, dtypes="string"))
        if top.is_empty():
            raise TableError(
                f"{where} has no data in sheet {quote(name)}: name another with --sheet."
            )
        below = _whole_numbers(_load_rows(book, name, top.width))
    names = header_names(top.row(0))
    keep = [j for j, cell in enumerate(top.row(0)) if cell or not _is_blank_column(below, j)]
    check_names([names[j] for j in keep], where)
    frame = below[:, keep]
    frame.columns = [names[j] for j in keep]
    return infer_types(frame, decimal=".", where=where)


def _select_sheet(names: list[str], sheet: str | None, where: str) -> str:
    if not names:
        raise TableError(f"{where} has no sheets: it holds no table.")
    if sheet is None or sheet in names:
        return sheet or names[0]
    question = did_you_mean(sheet, names) or f" Its first is {quote(names[0])}."
    raise TableError(f"{where} has no sheet {quote(sheet)}.{question}")


def _load_rows(book: Any, name: str, n_columns: int) -> polars.DataFrame:
    """The rows below the header; each column has a type that fits all rows."""
    loaded = book.load_sheet(
        name,
        header_row=None,
        skip_rows=1,
        schema_sample_rows=None,
        column_names=[str(j) for j in range(n_columns)],
    )
    return import_optional("polars").DataFrame(loaded)


def _whole_numbers(frame: polars.DataFrame) -> polars.DataFrame:
    """Integers where a column holds nothing else, as in other formats: Excel has only floats."""
    pl = import_optional("polars")
    whole = [
        series.cast(pl.Int64)
        for series in frame
        if series.dtype.is_float()
        and series.null_count() < len(series)
        and ((series == series.round()) & (series.abs() <= LARGEST_WHOLE))
        .fill_null(value=True)
        .all()
    ]
    return frame.with_columns(whole)


@contextmanager
def _quiet_reader() -> Iterator[None]:
    """No messages of the reader about columns of a type that it cannot tell."""
    logger = logging.getLogger("fastexcel")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _is_blank_column(frame: polars.DataFrame, column: int) -> bool:
    return frame.height > 0 and frame.to_series(column).null_count() == frame.height


def write_excel(frame: polars.DataFrame, file: BinaryIO) -> None:
    """Write a workbook of one sheet. Excel keeps 15 digits of a number, the file 16.

    A null is an absent cell, so that rows of nulls at the end are lost.
    """
    xlsxwriter = import_optional("xlsxwriter")
    # In memory, so that a full disk affects only the atomic write of the file.
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for column, name in enumerate(frame.columns):
            sheet.write_string(0, column, name)
        for column, series in enumerate(frame):
            _write_column(sheet, book, column, series)
    file.write(content.getvalue())


def _write_column(sheet: Any, book: Any, column: int, series: polars.Series) -> None:
    kind = series.dtype.base_type().__name__
    style = book.add_format({"num_format": DATE_FORMATS[kind]}) if kind in DATE_FORMATS else None
    write = _cell_writer(sheet, kind)
    for row, value in enumerate(_excel_values(series, kind), 1):
        if value is not None:
            write(row, column, value, style)


def _cell_writer(sheet: Any, kind: str) -> Any:
    if kind in DATE_FORMATS:
        return sheet.write_datetime
    if kind in TEXT_TYPES:
        return sheet.write_string
    return sheet.write_boolean if kind == "Boolean" else sheet.write_number


def _excel_values(series: polars.Series, kind: str) -> list[Any]:
    """The values of a column, converted for Excel."""
    if kind == "Datetime":
        return series.dt.replace_time_zone(None).to_list()
    if kind in TEXT_TYPES:
        return [None if value is None else str(value) for value in series.to_list()]
    return series.fill_nan(None).to_list() if series.dtype.is_float() else series.to_list()


def check_excel_limits(frame: polars.DataFrame) -> None:
    """Raise if a table does not fit into a sheet."""
    if frame.height + 1 > MAX_EXCEL_ROWS or frame.width > MAX_EXCEL_COLUMNS:
        raise TableError(
            f"Excel holds {MAX_EXCEL_ROWS:,} rows with the header and {MAX_EXCEL_COLUMNS:,} "
            f"columns, and this table has {frame.height:,} rows and {frame.width:,} columns: "
            "write Parquet."
        )
    for series in frame:
        kind = series.dtype.base_type().__name__
        if series.dtype.is_nested() or kind in ("Binary", "Object"):
            raise TableError(
                f"Excel cannot hold column {quote(series.name)} ({kind.lower()}): drop it, or "
                "write Parquet."
            )
        if kind == "String" and (series.alias("text").str.len_chars() > MAX_EXCEL_LETTERS).any():
            raise TableError(
                f"Excel holds {MAX_EXCEL_LETTERS:,} characters in a cell, and column "
                f"{quote(series.name)} has longer text: drop it, or write Parquet."
            )
