"""A file becomes a table of named columns, and a table a file; what is wrong is one sentence."""

from coterie.tables._errors import TableError
from coterie.tables._formats import KNOWN_SUFFIXES
from coterie.tables._names import near
from coterie.tables._numbers import numbers_of
from coterie.tables._read import read_table
from coterie.tables._write import write_table

__all__ = ["KNOWN_SUFFIXES", "TableError", "near", "numbers_of", "read_table", "write_table"]
