"""Rows that come in batches become moments, and moments add."""

from coterie.accumulating._batch import NamedColumns, read_weights
from coterie.accumulating._kept import KeptRows
from coterie.accumulating._moments import Moments, told_bytes
from coterie.accumulating._targets import TargetColumn

__all__ = ["KeptRows", "Moments", "NamedColumns", "TargetColumn", "read_weights", "told_bytes"]
