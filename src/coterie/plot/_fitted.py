"""What pictures ask of a fitted reducer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie.estimators._base import Reducer
from coterie.values import FloatArray


def checked_reducer(reducer: Any) -> Any:
    """The reducer, if it is one and fitted."""
    if isinstance(reducer, type):
        name = reducer.__name__
        raise TypeError(f"reducer must be fitted, got the class {name}: write {name}().fit(X, y).")
    if not isinstance(reducer, Reducer):
        hint = " Take it out of the pipeline first." if hasattr(reducer, "steps") else ""
        raise TypeError(
            f"reducer must be a fitted reducer such as NonLinCFA(), got {type(reducer).__name__}."
            f"{hint}"
        )
    check_is_fitted(reducer)
    return reducer


def columns_of(reducer: Any, X: Any) -> Any:
    """What is grouped, of data like those of fit: of shape (n_samples, n_inputs)."""
    return reducer._seen(X)


def names_of(reducer: Any) -> list[str]:
    """The names of what is grouped, with a minus before those that are turned."""
    names = reducer._input_names(len(reducer.labels_))
    signs = zip(names, reducer.signs_, strict=True)
    return [f"-{name}" if sign < 0 else str(name) for name, sign in signs]


def checked_positions(positions: Any, n_inputs: int) -> FloatArray:
    """One number for each feature."""
    places = np.asarray(positions, dtype=np.float64)
    if places.shape != (n_inputs,) or not np.isfinite(places).all():
        raise ValueError(
            f"positions must be one finite number for each of {n_inputs} features, got "
            f"{'numbers that are not finite' if places.shape == (n_inputs,) else places.shape}."
        )
    return places
