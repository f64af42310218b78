"""Moments of Dask and Spark tables, counted by these engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie._core.evidence import half_of_memory
from coterie._data.engines import Counting, Engine
from coterie._data.moments import Moments


def moments_from_engine(
    engine: Engine,
    source: Any,
    y: Any,
    target: str | list[str] | None,
    columns: list[str] | None,
    weights: Any,
    folds: Any,
    memory: float | None,
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
    if (target is None) == (y is None):
        raise ValueError("Pass either target, the name of a column, or y.")
    allowed = half_of_memory() if memory is None else memory
    counting = Counting(y if target is None else target, weights, folds, columns, memory=allowed)
    return engine.moments(source, counting)
