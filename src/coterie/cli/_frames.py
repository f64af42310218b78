"""Frames from arrays, and from some columns of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars


def frame_from_array(values: Any, names: Sequence[str]) -> polars.DataFrame:
    """An array as columns with names."""
    import polars

    return polars.DataFrame(values, schema=list(names), orient="row")


def select_columns(frame: polars.DataFrame, names: Sequence[str]) -> polars.DataFrame:
    """Some columns, each once, whatever signs are in their names."""
    import polars

    return polars.DataFrame([frame.get_column(name) for name in dict.fromkeys(names)])
