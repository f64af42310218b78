"""Rows that come in batches become moments, and moments add."""

from coterie._data.moments._batch import Batch, NamedColumns, read_batch, read_weights
from coterie._data.moments._defer_sigint import undisturbed
from coterie._data.moments._file import write_moments
from coterie._data.moments._location import Location
from coterie._data.moments._moments import Moments, loaded, told_bytes
from coterie._data.moments._sampled_rows import KeptRows
from coterie._data.moments._targets import TargetColumn

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
