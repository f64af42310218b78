"""The task of Coterie: what it is by the values of y, and its targets as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.values import FloatArray
from coterie._data.moments import Moments
from coterie._data.training._targets import (
    MIN_SHARE_OF_CODE,
    Targets,
    TargetsInMoments,
    by_column,
    by_kept_column,
    indicators,
    is_text,
    kept_indicators,
    kept_numbers,
    numbers_of,
    rows_text,
)

# More different whole numbers than this are numbers, not class labels.
MAX_NUMBERED_CLASSES = 20
# For larger counts least squares does as well.
MAX_MEDIAN_COUNT = 20


@dataclass(frozen=True)
class TargetsOfTask:
    """Reads the targets of a task: numbers, classes as one target each, or square roots of counts.

    The square root of a count has about the same variance whatever its mean. Counts with an
    exposure become rates: the mean of a small count's square root depends on the exposure, and
    that of a rate does not.
    """

    task: str
    name: str

    def from_y(self, y: Any, exposure: FloatArray | None = None) -> Targets:
        """The targets of each row, per unit of the exposure if there is one."""
        if self.task == "classes":
            return by_column(y, lambda column: indicators(column, self.name))
        numbers = numbers_of(y, self.name)
        if self.task != "counts":
            return Targets(numbers)
        if numbers.min() < 0:
            raise ValueError(
                f"task='counts' needs y to be 0 or more, got {numbers.min():g} in "
                f"{rows_text((numbers < 0).any(axis=1))}."
            )
        if exposure is None:
            return Targets(np.sqrt(numbers + 3 / 8))
        return Targets(numbers_of(numbers / exposure[:, None], self.name))

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """The targets as weighted sums of the columns in moments; counts are not transformed."""
        task = task_in_moments(moments) if self.task == "auto" else self.task
        if task == "classes":
            return by_kept_column(moments, lambda kept: kept_indicators(kept, moments, self.name))
        return by_kept_column(moments, lambda kept: (kept_numbers(kept, self.name), None))


def task_of(y: Any) -> str:
    """The task by the values of a target: "regression", "classes" or "counts".

    Text, booleans and two different values are classes. So are up to 20 different whole numbers,
    as scikit-learn has it, if none is rare. Other whole numbers from 0 on, mostly small, are
    counts. Everything else, and several numeric targets, is regression.

    Examples
    --------
    >>> task_of(["a", "b", "a"]), task_of([1, 5, 9, 1, 5, 9]), task_of([0.5, 1.5, 2.0])
    ('classes', 'classes', 'regression')
    >>> task_of([0] * 90 + [1] * 8 + [2, 7])
    'counts'
    """
    target = np.asarray(y)
    if is_text(target) or target.dtype.kind == "b":
        return "classes"
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.dtype.kind not in "iufO" or target.ndim > 1:
        return "regression"
    values, counts = np.unique(target.astype(np.float64), return_counts=True)
    if len(values) == 2:
        return "classes"
    if not np.isfinite(values).all() or (values != np.round(values)).any():
        return "regression"
    if len(values) <= MAX_NUMBERED_CLASSES and counts.min() >= MIN_SHARE_OF_CODE * len(target):
        return "classes" if len(values) <= len(target) / 2 else "regression"
    is_count = values[0] == 0 and np.median(target) <= MAX_MEDIAN_COUNT
    return "counts" if is_count else "regression"


def task_in_moments(moments: Moments) -> str:
    """The task by the target in moments: text and two values are classes, else regression."""
    columns = moments.target_columns
    has_classes = [column.is_text or len(column.values or ()) == 2 for column in columns]
    return "classes" if all(has_classes) else "regression"
