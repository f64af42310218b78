"""The target as numbers, or one sentence that says why not."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.estimators._checks import counted
from coterie.statistics import standardised
from coterie.values import FloatArray


def numeric_target(y: Any, who: str) -> FloatArray:
    """A target of real numbers that varies."""
    y = np.asarray(y)
    text = sorted({str(value) for value in y if isinstance(value, str | bytes)})
    if text:
        raise ValueError(
            f"{who} needs a target of numbers, got text ({counted('label', text, most=3)}). For "
            "two classes use GenLinCFA(family='bernoulli')."
        )
    if y.dtype.kind not in "biufO":
        raise ValueError(f"{who} needs a target of numbers, got an array of {y.dtype}.")
    target = y.astype(np.float64)
    if not np.isfinite(target).all():
        raise ValueError(f"y has NaN, None or infinity in {_rows(~np.isfinite(target))}.")
    return _varying(target)


def _rows(bad: Any) -> str:
    return counted("row", np.flatnonzero(bad).tolist())


def _varying(target: FloatArray) -> FloatArray:
    if standardised(target[:, None]).spread[0] == 0:
        raise ValueError(f"y is constant, {target[0]:g} in every row: there is nothing to learn.")
    return target


def two_class_target(y: Any, who: str) -> FloatArray:
    """1 for the second of two classes in sorted order, 0 for the first."""
    y = np.asarray(y)
    if y.dtype.kind == "O" and any(value is None or value != value for value in y):
        raise ValueError(f"y has None or NaN in {_rows([v is None or v != v for v in y])}.")
    classes = sorted(set(y.tolist()), key=lambda label: (str(type(label)), label))
    if len(classes) != 2:
        plural = "es" if len(classes) > 1 else ""
        raise ValueError(f"{who} needs y with 2 classes, got {len(classes)} class{plural}.")
    return np.array([value == classes[1] for value in y.tolist()], dtype=np.float64)


def count_target(y: Any, who: str) -> FloatArray:
    """A target of 0 or more that varies."""
    target = numeric_target(y, who)
    if target.min() < 0:
        raise ValueError(f"{who} needs y of 0 or more, got {target.min():g}.")
    return target


TARGETS = {"gaussian": numeric_target, "bernoulli": two_class_target, "poisson": count_target}
