"""Columns, names and positions of a fitted reducer."""

from __future__ import annotations

from typing import Any

from coterie._core.values import FloatArray
from coterie.estimators import input_names_of, inputs_of
from coterie.report.inspection import check_fitted_reducer, checked_coordinates


def checked_reducer(reducer: Any) -> Any:
    """The reducer; raise unless it is a fitted reducer."""
    check_fitted_reducer(reducer)
    return reducer


def input_columns(reducer: Any, X: Any) -> Any:
    """The input columns of new data, of shape (n_samples, n_inputs)."""
    return inputs_of(reducer, X)


def signed_names(reducer: Any) -> list[str]:
    """The names of the inputs, with a minus before those of sign -1."""
    names = input_names_of(reducer)
    signs = zip(names, reducer.signs_, strict=True)
    return [f"-{name}" if sign < 0 else str(name) for name, sign in signs]


def checked_positions(positions: Any, n_inputs: int) -> FloatArray | None:
    """The positions as an array of shape (n_inputs,), or None."""
    return checked_coordinates("positions", positions, (n_inputs,))
