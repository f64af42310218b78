"""Moments of Dask and Spark tables, counted by these engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie._core.evidence import half_of_memory
from coterie._data.engines import Counting, Engine
from coterie._data.moments import Moments
from coterie._data.sources._arrays import check_y_is_given


def moments_from_engine(
    engine: Engine,
    source: Any,
    y: Any,
    columns: list[str] | None,
    sample_weight: Any,
    cv: Any,
    max_bytes: float | None,
    refused: Mapping[str, str],
) -> Moments:
    """The moments of a table, counted by its engine.

    Parameters
    ----------
    refused : mapping from str to str
        Options that engines do not support, and why.
    """
    for name, why in refused.items():
        raise ValueError(f"{name} cannot be used with Dask or Spark: {why}.")
    check_y_is_given(y)
    max_bytes = half_of_memory() if max_bytes is None else max_bytes
    counting = Counting(y, sample_weight, cv, columns, max_bytes=max_bytes)
    return engine.moments(source, counting)
