"""The target as numbers, or one sentence that says why not."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.values import FloatArray


def numeric_target(y: Any, who: str) -> FloatArray:
    """A target of real numbers that varies."""
    y = np.asarray(y)
    if y.dtype.kind in "USTO" and any(isinstance(value, str | bytes) for value in y):
        some = ", ".join(map(repr, np.unique(y)[:3].tolist()))
        raise ValueError(
            f"{who} needs a target of numbers, got text ({some}, ...). For two classes use "
            "GenLinCFA(family='bernoulli')."
        )
    target = y.astype(np.float64)
    if np.ptp(target) == 0:
        raise ValueError(f"y is constant, {target[0]:g} in every row: there is nothing to learn.")
    return target


def two_class_target(y: Any, who: str) -> FloatArray:
    """1 for the second of two classes in sorted order, 0 for the first."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        plural = "es" if len(classes) > 1 else ""
        raise ValueError(f"{who} needs y with 2 classes, got {len(classes)} class{plural}.")
    return codes.astype(np.float64)


def count_target(y: Any, who: str) -> FloatArray:
    """A target of 0 or more that varies."""
    target = numeric_target(y, who)
    if target.min() < 0:
        raise ValueError(f"{who} needs y of 0 or more, got {target.min():g}.")
    return target


TARGETS = {"gaussian": numeric_target, "bernoulli": two_class_target, "poisson": count_target}
