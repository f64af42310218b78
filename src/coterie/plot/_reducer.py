"""What pictures ask of a fitted reducer."""

from __future__ import annotations

from typing import Any

from coterie._core.values import FloatArray
from coterie.report.inspection import check_fitted_reducer, checked_coordinates


def checked_reducer(reducer: Any) -> Any:
    """The reducer, if it is one and fitted."""
    check_fitted_reducer(reducer)
    return reducer


def input_columns(reducer: Any, X: Any) -> Any:
    """What is grouped, of data like those of fit: of shape (n_samples, n_inputs)."""
    return reducer._seen(X)


def signed_names(reducer: Any) -> list[str]:
    """The names of what is grouped, with a minus before those that are turned."""
    names = reducer._input_names(len(reducer.labels_))
    signs = zip(names, reducer.signs_, strict=True)
    return [f"-{name}" if sign < 0 else str(name) for name, sign in signs]


def checked_positions(positions: Any, n_inputs: int) -> FloatArray | None:
    """One number for each feature."""
    return checked_coordinates("positions", positions, (n_inputs,))
