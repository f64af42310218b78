"""polars data frames from NumPy arrays, and with selected columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars


def frame_from_array(values: Any, names: Sequence[str]) -> polars.DataFrame:
    """A data frame with these column names from a 2-D array."""
    import polars

    return polars.DataFrame(values, schema=list(names), orient="row")


def select_columns(frame: polars.DataFrame, names: Sequence[str]) -> polars.DataFrame:
    """The named columns, each once. Names are never read as polars patterns."""
    import polars

    return polars.DataFrame([frame.get_column(name) for name in dict.fromkeys(names)])
