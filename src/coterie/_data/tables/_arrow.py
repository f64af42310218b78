"""Parquet and Feather, with suspicion: what Arrow reads is checked before anyone uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie._data.tables._column_names import check_names
from coterie._data.tables._errors import DAMAGED, guarded
from coterie._data.tables._optional_imports import library

if TYPE_CHECKING:
    import polars


def parquet_table(content: bytes, where: str) -> polars.DataFrame:
    """The columns of a Parquet file."""
    arrow, parquet = library("pyarrow"), library("pyarrow.parquet")
    with guarded(f"{where} cannot be read as Parquet", DAMAGED):
        table = parquet.ParquetFile(arrow.BufferReader(content)).read()
        return _frame(table, where)


def feather_table(content: bytes, where: str) -> polars.DataFrame:
    """The columns of an Arrow IPC file, with its table of contents or as a stream."""
    arrow, ipc = library("pyarrow"), library("pyarrow.ipc")
    is_file = content.startswith(b"ARROW1")
    with guarded(f"{where} cannot be read as Feather", DAMAGED):
        reader = ipc.open_file(content) if is_file else ipc.open_stream(arrow.BufferReader(content))
        return _frame(reader.read_all(), where)


def _frame(table: Any, where: str) -> polars.DataFrame:
    # A damaged file can have texts that end outside of it.
    table.validate(full=True)
    names = table.column_names
    check_names(names, where)
    # Made anew without notes on the columns, which may be no text, and at which polars panics.
    return library("polars").from_arrow(library("pyarrow").table(table.columns, names=names))
