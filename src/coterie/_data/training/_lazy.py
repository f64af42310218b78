"""Checks for rows that are not in memory."""

from __future__ import annotations

from typing import Any

from coterie._core.devices import check_on_host
from coterie._data.engines import Engine, engine_of
from coterie._data.fields import is_lazy
from coterie._data.frames import known_frame
from coterie._data.validation import library_of


def is_out_of_memory(X: Any) -> bool:
    """Whether the rows of a table or a field are not in memory."""
    return library_of(X) is not None or is_lazy(X)


def engine_for(table: Any) -> Engine:
    """The engine of a table whose rows are not in memory."""
    engine = engine_of(table)
    if engine is None:
        raise TypeError(f"X is made of {type(table).__name__}, and is not in memory: load X first.")
    return engine


def check_in_memory(X: Any, why: str) -> None:
    """Raise if rows are needed in memory and are not there."""
    if is_out_of_memory(X):
        raise ValueError(f"{why}, and those of X are not in memory: load X first.")


def rows_at_hand(X: Any, why: str) -> Any:
    """X, whose rows are needed one by one: an array, a frame of pandas or polars, or a field.

    Raises an error if the rows are not in memory, or are on a device.
    """
    check_on_host(X)
    check_in_memory(X, why)
    return known_frame(X)
