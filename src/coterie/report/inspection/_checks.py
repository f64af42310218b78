"""What users give, checked at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._core.values import FloatArray
from coterie.estimators._base import Reducer


def check_reducer(reducer: Any, name: str = "reducer") -> None:
    """Raise where this is no reducer of ours."""
    if isinstance(reducer, type):
        kind = reducer.__name__
        raise TypeError(f"{name} must be an instance, got the class {kind}: write {kind}().")
    if not isinstance(reducer, Reducer):
        hint = " Take it out of the pipeline first." if hasattr(reducer, "steps") else ""
        raise TypeError(
            f"{name} must be a reducer such as NonLinCFA(), got {type(reducer).__name__}.{hint}"
        )


def check_fitted_reducer(reducer: Any) -> None:
    """Raise where this is no reducer of ours, or is not fitted."""
    check_reducer(reducer)
    check_is_fitted(reducer)


def checked_coordinates(name: str, values: Any, shape: tuple[int, ...]) -> FloatArray | None:
    """Finite numbers of this shape, or None for None."""
    if values is None:
        return None
    places = np.asarray(values, dtype=np.float64)
    if places.shape != shape:
        raise ValueError(f"{name} must be of shape {shape}, got {places.shape}.")
    if not np.isfinite(places).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return places
