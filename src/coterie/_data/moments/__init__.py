"""Moments (count, means and scatter) of rows that come in batches; moments add up."""

from coterie._data.moments._batch import Batch, NamedColumns, read_batch, read_weights
from coterie._data.moments._defer_sigint import defer_sigint
from coterie._data.moments._file import write_moments
from coterie._data.moments._location import MAX_N_ROWS, RowLocation
from coterie._data.moments._moments import Moments, format_bytes, load_moments
from coterie._data.moments._sampled_rows import SampledRows
from coterie._data.moments._targets import TargetColumn

__all__ = [
    "MAX_N_ROWS",
    "Batch",
    "Moments",
    "NamedColumns",
    "RowLocation",
    "SampledRows",
    "TargetColumn",
    "defer_sigint",
    "format_bytes",
    "load_moments",
    "read_batch",
    "read_weights",
    "write_moments",
]
