"""Warnings about a fit: constant columns, too many groups, mixed units, integer classes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coterie._core.fit import Fit, n_varying_groups
from coterie._core.values import FitWarning, FloatArray, IntArray
from coterie._data.training import look_like_classes
from coterie._data.validation import counted

# A model with more coefficients than this share of the number of rows overfits.
MAX_GROUPS_PER_ROW = 1 / 3
# Columns whose standard deviations differ by more than this factor hardly share a unit.
MAX_SPREAD_RATIO = 1e3


def warn(message: str) -> None:
    """Issue a FitWarning at the line of user code that called the package."""
    frame, level = sys._getframe(1), 2
    # scikit-learn calls fit in fit_transform and for callbacks.
    while frame.f_back is not None and _is_library(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FitWarning, stacklevel=level)


def _is_library(module: str) -> bool:
    return module.startswith(("coterie.", "sklearn."))


def warn_of_constants(constant: IntArray, names: Callable[[], Sequence[str]]) -> None:
    """Warn about constant inputs, which share no group with the others."""
    if len(constant):
        named = names()
        which = counted("column", (named[place] for place in constant))
        verb, subject = ("is", "It stays") if len(constant) == 1 else ("are", "They stay")
        warn(
            f"X is constant in {which}, which {verb} of no use to a model. {subject} apart from "
            "columns that vary."
        )


def warn_of_crowd(n_groups: int, n: float) -> None:
    """Warn if there are too many groups for the number of rows."""
    if n_groups > MAX_GROUPS_PER_ROW * n:
        than = "rows" if n_groups > n else "a third of the rows"
        warn(
            f"There are {n_groups} groups for {n:g} rows, more than {than}: a plain model of them "
            "will overfit. Set n_groups to fewer, raise the tolerance, or put a penalised model "
            "such as ridge behind them."
        )


def warn_of_units(
    groups: Sequence[IntArray], spread: FloatArray, names: Callable[[], Sequence[str]]
) -> None:
    """Warn if members of a group have very different standard deviations."""
    mixed = [pair for group in groups if (pair := _far_apart(group, spread)) is not None]
    if not mixed:
        return
    least, most = max(mixed, key=lambda pair: float(spread[pair[1]] / spread[pair[0]]))
    named = names()
    others = f" So do columns of {len(mixed) - 1} other groups." if len(mixed) > 1 else ""
    warn(
        f"Columns {named[least]!r} and {named[most]!r} share a group, and their spreads, "
        f"{spread[least]:.3g} and {spread[most]:.3g}, differ by more than "
        f"{MAX_SPREAD_RATIO:,.0f} times: the one drowns the other.{others} scale=True "
        "standardises columns first."
    )


def _far_apart(group: IntArray, spread: FloatArray) -> tuple[int, int] | None:
    """The members with the smallest and largest spread, if these differ too much; else None."""
    varying = group[spread[group] > 0]
    if len(varying) < 2:
        return None
    least = varying[np.argmin(spread[varying])]
    most = varying[np.argmax(spread[varying])]
    return (int(least), int(most)) if spread[most] > MAX_SPREAD_RATIO * spread[least] else None


def warn_of_classes(y: Any, name: str) -> None:
    """Warn if integer targets look like classes and are treated as numbers."""
    target = np.asarray(y)
    n_classes = look_like_classes(target) if target.dtype.kind in "biu" else 0
    if not n_classes:
        return
    warn(
        f"y has {n_classes} whole numbers that look like classes, and {name} takes them as "
        "numbers. If they are classes, use GenLinCFA(family='bernoulli'), or give y as text: "
        "y.astype(str)."
    )


def warn_of_fit(fit: Fit, names: Callable[[], Sequence[str]], *, is_sized: bool) -> None:
    """Issue all warnings about a fit.

    The number of groups is not checked if the user has set it (`is_sized`).
    """
    assert fit.constant is not None
    assert fit.spread is not None
    assert fit.n_samples is not None
    warn_of_constants(np.flatnonzero(fit.constant), names)
    warn_of_units(fit.groups, fit.spread, names)
    if not is_sized:
        warn_of_crowd(n_varying_groups(fit.groups, fit.constant), fit.n_samples)
