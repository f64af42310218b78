"""Rows that come in batches become moments, and moments add."""

from coterie.accumulating._batch import Batch, NamedColumns, read_batch, read_weights
from coterie.accumulating._file import write_moments
from coterie.accumulating._kept import KeptRows
from coterie.accumulating._location import Location
from coterie.accumulating._moments import Moments, loaded, told_bytes
from coterie.accumulating._targets import TargetColumn
from coterie.accumulating._undisturbed import undisturbed

__all__ = [
    "Batch",
    "KeptRows",
    "Location",
    "Moments",
    "NamedColumns",
    "TargetColumn",
    "loaded",
    "read_batch",
    "read_weights",
    "told_bytes",
    "undisturbed",
    "write_moments",
]
