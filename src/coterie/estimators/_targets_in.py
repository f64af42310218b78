"""Targets of moments: which sums of what was kept they are, or one sentence that says why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from coterie._core.evidence import location_of
from coterie._core.values import FloatArray
from coterie._data.moments import Moments, TargetColumn
from coterie._data.validation import counted
from coterie.estimators._targets import FEW_LABELS, numbered
from coterie.families import Family


class TargetsIn(NamedTuple):
    """Targets as sums of what was kept, of shape (n_targets, n_kept), and the classes if any."""

    weights: FloatArray
    classes: Any = None


Target = Callable[[TargetColumn], tuple[FloatArray, Any]]


def numbers_or_classes_in(moments: Moments, who: str) -> TargetsIn:
    """Numbers as they are; of text, one indicator for each class, or one for two classes."""

    def target(column: TargetColumn) -> tuple[FloatArray, Any]:
        return (
            _indicators(column, moments, who) if column.is_text else (_numbers(column, who), None)
        )

    return _by_column(moments, target)


def numbers_in(moments: Moments, who: str) -> TargetsIn:
    """Numbers, and no text."""
    return _by_column(moments, lambda column: (_numbers(column, who), None))


def family_targets_in(moments: Moments, family: Family) -> TargetsIn:
    """Targets that a family takes."""
    who = f"family '{family.name}'"
    if family.name == "bernoulli":
        return _by_column(moments, lambda column: _indicators(column, moments, who))
    for column in moments.target_columns:
        _numbers(column, who)
        _check_taken(column, family, who)
    return numbers_in(moments, who)


def _by_column(moments: Moments, target: Target) -> TargetsIn:
    found = [target(column) for column in moments.target_columns]
    classes = [classes for _, classes in found]
    known = None if all(one is None for one in classes) else classes
    weights = np.asarray(block_diag(*(weights for weights, _ in found)), dtype=np.float64)
    _check_varying(moments, weights)
    return TargetsIn(weights, known[0] if known and len(known) == 1 else known)


def _numbers(column: TargetColumn, who: str) -> FloatArray:
    if column.is_text:
        labels = sorted(column.values or ())
        raise ValueError(
            f"{who} needs a target of numbers, got text ({counted('label', labels, most=3)}). For "
            "classes use GenLinCFA(family='bernoulli')."
        )
    values = [1.0] if column.values is None else column.values
    return np.array([values], dtype=np.float64)


def _indicators(
    column: TargetColumn, moments: Moments, who: str
) -> tuple[FloatArray, NDArray[Any]]:
    if column.values is None:
        raise ValueError(
            f"{who} needs y with classes, and these moments were told numbers of so many values "
            "that they were not told apart. Are these labels? Then pass them as text."
        )
    labels = np.empty(len(column.values), dtype=np.dtype(column.dtype))
    labels[:] = column.values
    numbers, classes = numbered(labels)
    if len(classes) < 2:
        raise ValueError(f"{who} needs y with 2 classes or more, got {len(classes)} class.")
    n = moments.n_samples_
    if len(classes) > n / 2 and n >= FEW_LABELS:
        raise ValueError(
            f"{who} needs y with classes, got {len(classes)} different labels in {n} rows. Are "
            "these numbers? Then use NonLinCFA, with y as numbers."
        )
    weights = np.zeros((len(classes), len(classes)))
    weights[numbers, np.arange(len(classes))] = 1.0
    return (weights[[1]] if len(classes) == 2 else weights), classes


def _check_taken(column: TargetColumn, family: Family, who: str) -> None:
    """Raise where a family does not take the smallest, the largest or a broken number."""
    some = [column.low, column.high, *(() if column.fraction is None else [column.fraction])]
    values = np.array(some, dtype=np.float64)[:, None]
    allowed = np.broadcast_to(np.asarray(family.takes(values), dtype=bool), values.shape)
    if not allowed.all():
        raise ValueError(f"{who} needs y to be {family.expects}, got {values[~allowed][0]:g}.")


def _check_varying(moments: Moments, weights: FloatArray) -> None:
    parts = [part.with_targets(weights) for part in moments.accumulated]
    centre, spread = location_of(parts)
    d = moments.n_features_in_
    constant = np.flatnonzero(spread[d:] == 0).tolist()
    if constant and len(weights) == 1:
        raise ValueError(f"y is constant, {centre[d]:g} in every row: there is nothing to learn.")
    if constant:
        raise ValueError(
            f"y is constant in {counted('column', constant)}: there is nothing to learn."
        )


def check_scorable(parts: Sequence[Any]) -> None:
    """Raise where a target is constant within each fold."""
    d = parts[0].n_features
    if not np.any([part.own[d:] > 0 for part in parts], axis=0).all():
        raise ValueError(
            f"R2 cannot be scored: y is constant within each of the {len(parts)} folds of the "
            "moments. Use fewer or shuffled folds, or cv=None to score in-sample."
        )
