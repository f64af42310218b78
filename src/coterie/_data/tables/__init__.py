"""Read tables from files, and write them; errors are one sentence."""

from coterie._data.tables._column_names import closest_name
from coterie._data.tables._errors import TableError
from coterie._data.tables._formats import KNOWN_SUFFIXES
from coterie._data.tables._numbers import columns_to_floats
from coterie._data.tables._read import read_table
from coterie._data.tables._write import write_table

__all__ = [
    "KNOWN_SUFFIXES",
    "TableError",
    "closest_name",
    "columns_to_floats",
    "read_table",
    "write_table",
]
