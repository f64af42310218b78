"""Read Parquet and Feather files, and validate what Arrow reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie._data.tables._column_names import check_names
from coterie._data.tables._errors import DAMAGED_ADVICE, as_table_error
from coterie._data.tables._optional_imports import import_optional

if TYPE_CHECKING:
    import polars


def read_parquet(content: bytes, where: str) -> polars.DataFrame:
    """Read a Parquet file."""
    arrow, parquet = import_optional("pyarrow"), import_optional("pyarrow.parquet")
    with as_table_error(f"{where} cannot be read as Parquet", DAMAGED_ADVICE):
        table = parquet.ParquetFile(arrow.BufferReader(content)).read()
        return _to_polars(table, where)


def read_feather(content: bytes, where: str) -> polars.DataFrame:
    """Read an Arrow IPC file, in the file or the stream format."""
    arrow, ipc = import_optional("pyarrow"), import_optional("pyarrow.ipc")
    is_file = content.startswith(b"ARROW1")
    with as_table_error(f"{where} cannot be read as Feather", DAMAGED_ADVICE):
        reader = ipc.open_file(content) if is_file else ipc.open_stream(arrow.BufferReader(content))
        return _to_polars(reader.read_all(), where)


def _to_polars(table: Any, where: str) -> polars.DataFrame:
    # In a damaged file, the offsets of texts may point outside of it.
    table.validate(full=True)
    names = table.column_names
    check_names(names, where)
    # Without the metadata of columns, at which polars panics if it is not valid text.
    return import_optional("polars").from_arrow(
        import_optional("pyarrow").table(table.columns, names=names)
    )
