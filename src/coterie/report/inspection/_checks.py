"""Checks of arguments that users pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._core.values import FloatArray
from coterie._model_selection.tuning import REDUCERS


def check_reducer(reducer: Any, name: str = "reducer") -> None:
    """Raise unless this is a reducer of coterie."""
    if isinstance(reducer, type):
        kind = reducer.__name__
        raise TypeError(f"{name} must be an instance, got the class {kind}: pass {kind}().")
    if not isinstance(reducer, REDUCERS):
        hint = (
            " Pass the step of the pipeline that is the reducer."
            if hasattr(reducer, "steps")
            else ""
        )
        raise TypeError(
            f"{name} must be a reducer such as NonLinCFA(), got {type(reducer).__name__}.{hint}"
        )


def check_fitted_reducer(reducer: Any) -> None:
    """Raise unless this is a fitted reducer of coterie."""
    check_reducer(reducer)
    check_is_fitted(reducer)


def checked_coordinates(name: str, values: Any, shape: tuple[int, ...]) -> FloatArray | None:
    """An array of finite numbers of this shape, or None for None."""
    if values is None:
        return None
    points = np.asarray(values, dtype=np.float64)
    if points.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {points.shape}.")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return points
