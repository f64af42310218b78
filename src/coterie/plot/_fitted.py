"""What pictures ask of a fitted reducer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie.estimators._base import Reducer
from coterie.fields import is_field
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
    if is_field(X):
        if reducer._layout is None:
            raise ValueError("X is an xarray field, and fit saw a table: pass X as one, too.")
        X = reducer._layout.table(X)
    table = reducer._validated_again(X)
    return reducer._columns(table, reducer._aggregation, reducer.missing == "pairwise")


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


def plain_numbers(names: Sequence[str]) -> FloatArray | None:
    """Names that are numbers, rising or falling all the way; None if they are not."""
    try:
        return _monotone([float(name) for name in names])
    except ValueError:
        return None


def numbers_within(names: Sequence[str]) -> tuple[FloatArray, str] | None:
    """The numbers in names such as ``nm_850``, and the word beside them; None if there are none.

    Examples
    --------
    >>> numbers_within(["nm_850", "nm_852.5"])
    (array([850. , 852.5]), 'nm')
    >>> numbers_within(["age", "income"])
    """
    found = [re.fullmatch(r"(\D*)(\d+(?:\.\d+)?)(\D*)", name) for name in names]
    matches = [match for match in found if match is not None]
    if len(matches) < len(names) or len({match.group(1, 3) for match in matches}) > 1:
        return None
    places = _monotone([float(match[2]) for match in matches])
    words = re.findall(r"[^\W\d_]+", matches[0][1])[-1:] or re.findall(r"[^\W\d_]+", matches[0][3])
    return None if places is None else (places, words[0] if words else "")


def _monotone(numbers: list[float]) -> FloatArray | None:
    steps = np.diff(numbers)
    return np.array(numbers) if np.all(steps > 0) or np.all(steps < 0) else None
