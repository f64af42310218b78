"""The task of Coterie: what it is by the values of y, and its targets as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._data.moments import Moments, TargetColumn
from coterie._data.training._targets import (
    MIN_SHARE_OF_CODE,
    Targets,
    TargetsInMoments,
    are_too_many,
    by_column,
    by_kept_column,
    check_varying,
    indicators,
    is_text,
    kept_indicators,
    kept_numbers,
    numbers_of,
    plain_columns,
    rows_text,
)
from coterie._data.validation import counted

# What to do with text where the task has numbers.
FOR_TEXT = "task='classes'"
# What to do with numbers where the task has classes, by whether they are text.
FOR_NUMBERS = {False: "use task='regression'", True: "give y as numbers, not as text"}
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
        y = np.asarray(y)
        columns = list(plain_columns(y))
        if self.task == "classes":
            some = [column.tolist()[0] for column in columns]
            check_varying(some, [bool((column != column[0]).any()) for column in columns])
            fits = [not are_too_many(len({*column.tolist()}), len(y)) for column in columns]
            _check_kinds(dict(enumerate(map(_kind_of, columns))), fits)
            return by_column(y, self._classes)
        kinds = dict(enumerate(map(_kind_of, columns)))
        _check_kinds(kinds, ["text" not in kinds.values()] * len(columns))
        numbers = numbers_of(y, f"task='{self.task}'", FOR_TEXT)
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

    def _classes(self, column: Any) -> tuple[FloatArray, Any]:
        return indicators(column, self.name, FOR_NUMBERS[is_text(column)])

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """The targets as weighted sums of the columns in moments; counts are not transformed."""
        task = task_in_moments(moments) if self.task == "auto" else self.task
        columns = moments.target_columns
        kinds = {column.name: _kind_in_moments(column) for column in columns}
        if task == "classes":
            few = [column.values or () for column in columns]
            check_varying([(values or [None])[0] for values in few], [len(v) != 1 for v in few])
            _check_kinds(kinds, [column.values is not None for column in columns])
            return by_kept_column(
                moments,
                lambda kept: kept_indicators(kept, moments, self.name, FOR_NUMBERS[kept.is_text]),
            )
        _check_kinds(kinds, ["text" not in kinds.values()] * len(columns))
        name = f"task='{task}'"
        return by_kept_column(moments, lambda kept: (kept_numbers(kept, name, FOR_TEXT), None))


def task_of(y: Any) -> str:
    """The task by the values of a target: "regression", "classes" or "counts".

    Text, booleans and two different values are classes. So are up to 20 different whole numbers,
    as scikit-learn has it, if none is rare. Other whole numbers from 0 on, mostly small, are
    counts. Everything else, and several numeric targets, is regression. Several targets are of one
    kind: numbers, or classes.

    Examples
    --------
    >>> task_of(["a", "b", "a"]), task_of([1, 5, 9, 1, 5, 9]), task_of([0.5, 1.5, 2.0])
    ('classes', 'classes', 'regression')
    >>> task_of([0] * 90 + [1] * 8 + [2, 7])
    'counts'
    """
    columns = list(plain_columns(np.asarray(y)))
    if len(columns) > 1:
        return _task_of_several(dict(enumerate(map(_kind_of, columns))), columns)
    [target] = columns
    if _kind_of(target) != "numbers":
        return "classes"
    if target.dtype.kind not in "iufO":
        return "regression"
    values, counts = np.unique(target.astype(np.float64), return_counts=True)
    if len(values) <= 2:
        return "classes" if len(values) == 2 else "regression"
    if not np.isfinite(values).all() or (values != np.round(values)).any():
        return "regression"
    if len(values) <= MAX_NUMBERED_CLASSES and counts.min() >= MIN_SHARE_OF_CODE * len(target):
        return "classes" if len(values) <= len(target) / 2 else "regression"
    is_count = values[0] == 0 and np.median(target) <= MAX_MEDIAN_COUNT
    return "counts" if is_count else "regression"


def _task_of_several(kinds: Mapping[Any, str], columns: Sequence[Any]) -> str:
    if {*kinds.values()} == {"numbers"}:
        return "regression"
    _check_kinds(kinds, [task_of(column) == "classes" for column in columns])
    return "classes"


def task_in_moments(moments: Moments) -> str:
    """The task by the target in moments: text and two values are classes, else regression."""
    columns = moments.target_columns
    kinds = {column.name: _kind_in_moments(column) for column in columns}
    has_classes = [column.is_text or len(column.values or ()) == 2 for column in columns]
    _check_kinds(kinds, has_classes)
    return "classes" if all(has_classes) else "regression"


def _kind_of(column: NDArray[Any]) -> str:
    """What a target column holds: text, booleans or numbers."""
    if is_text(column):
        return "text"
    holds_objects = column.dtype.kind == "O"
    are_booleans = holds_objects and all(isinstance(one, bool | np.bool_) for one in column)
    return "booleans" if column.dtype.kind == "b" or are_booleans else "numbers"


def _kind_in_moments(column: TargetColumn) -> str:
    if column.is_text:
        return "text"
    return "booleans" if column.dtype == "bool" else "numbers"


def _check_kinds(kinds: Mapping[Any, str], fits: Sequence[bool]) -> None:
    """Raise if there are both classes and numbers, and not all columns fit the task."""
    numbers = [name for name, kind in kinds.items() if kind == "numbers"]
    others = [name for name, kind in kinds.items() if kind != "numbers"]
    if not numbers or not others or all(fits):
        return
    kind = " and ".join(sorted({kinds[name] for name in others}))
    raise ValueError(
        f"y has {kind} in {counted('column', others)} and numbers in "
        f"{counted('column', numbers)}: its columns must all be numbers, or all classes. Give the "
        "classes as columns of 0 and 1, or fit one Coterie for each kind."
    )
