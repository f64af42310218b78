"""Moments of tables whose rows lie elsewhere, counted where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie._core.gathering import half_the_memory
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
    """The moments that an engine counts.

    Parameters
    ----------
    refused : mapping from str to str
        What was asked for that has no use here, and why.
    """
    for name, why in refused.items():
        raise ValueError(f"{name} has no use where rows lie elsewhere: {why}.")
    if (target is None) == (y is None):
        raise ValueError("A source needs target, the name of a column, or y; one of them.")
    allowed = half_the_memory() if memory is None else memory
    counting = Counting(y if target is None else target, weights, folds, columns, memory=allowed)
    return engine.moments(source, counting)
