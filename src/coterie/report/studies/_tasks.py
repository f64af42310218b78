"""The task: regression, classes or counts."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coterie._data.parameters import checked_word
from coterie._data.training import look_like_classes
from coterie.estimators import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie.report.inspection import check_reducer

TaskName = Literal["regression", "classes", "counts"]
FAMILY_OF: dict[TaskName, str] = {
    "regression": "gaussian",
    "classes": "bernoulli",
    "counts": "poisson",
}
TASK_OF: dict[str, TaskName] = {
    "bernoulli": "classes",
    "poisson": "counts",
    "negative_binomial": "counts",
}
# scikit-learn's word for classes.
SYNONYMS = {"classification": "classes"}
# For larger counts least squares does as well, and percentages are not counts.
MAX_MEDIAN_COUNT = 20


class Task(NamedTuple):
    """The kind of target, and the reason for it."""

    name: TaskName
    reason: str


def infer_task(y: Any) -> Task:
    """Regression, classes or counts, by the values of the target.

    Text and targets with two values are classes; so are a few consecutive whole numbers from 0 or
    1, if none is rare. Other whole numbers that begin at 0 and are mostly small are counts.
    Everything else is regression.

    Examples
    --------
    >>> infer_task(["sweet", "sour", "sweet"])
    Task(name='classes', reason='text')
    >>> infer_task([0.5, 1.5, 1.0]).name
    'regression'
    >>> infer_task([0, 3, 1, 12, 0, 2]).name
    'counts'
    """
    target = _checked_target(y)
    if target.dtype.kind not in "iuf":
        return Task("classes", "true or false" if target.dtype.kind == "b" else "text")
    values = np.unique(target)
    if len(values) == 2:
        return Task("classes", "two values")
    if target.ndim > 1 or (values != np.round(values)).any() or values[0] < 0:
        return Task("regression", "numbers")
    if look_like_classes(target):
        return Task("classes", f"{len(values)} whole numbers, from {values[0]:g}, none rare")
    if values[0] > 0:
        return Task("regression", "whole numbers without 0")
    if np.median(target) > MAX_MEDIAN_COUNT:
        return Task("regression", "whole numbers, most of them large")
    return Task("counts", "whole numbers from 0")


def _checked_target(y: Any) -> NDArray[Any]:
    """The target as an array; numbers with dtype object become floats."""
    target = np.asarray(y)
    if target.size == 0:
        raise ValueError("y is empty: pass at least one row.")
    if target.dtype.kind in "mMc":
        raise ValueError(f"y must be numbers, text or booleans, got {target.dtype}.")
    if target.dtype.kind == "O" and all(isinstance(one, Real) for one in target.ravel()):
        is_truth = all(isinstance(one, bool | np.bool_) for one in target.ravel())
        target = target.astype(bool if is_truth else np.float64)
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        raise ValueError("y must be finite, got NaN or infinity.")
    return target


def reducer_for(task: TaskName, **parameters: Any) -> Any:
    """The default reducer for a task."""
    return Coterie(task, **parameters)


def reducer_with_tolerance(task: TaskName, **parameters: Any) -> Any:
    """The reducer of the paper for a task, which has a tolerance."""
    if task == "regression":
        return NonLinCFA(**parameters)
    return GenLinCFA(family=FAMILY_OF[task], **parameters)


def resolve_task(task: str | None, y: Any, estimator: Any) -> tuple[TaskName, Any]:
    """The task and the reducer; if one is not given, it follows from the other.

    Raises
    ------
    ValueError
        If they contradict each other.
    """
    if task is not None:
        checked_word("task", task, [*FAMILY_OF, *SYNONYMS], " or None")
        task = SYNONYMS.get(task, task)
    if estimator is None:
        found = infer_task(y).name if task is None else task
        return found, reducer_for(found)  # type: ignore[arg-type, return-value]
    check_reducer(estimator, "estimator")
    implied = _task_of_reducer(estimator, y)
    if isinstance(estimator, Coterie):
        return _with_task(estimator, task or implied)
    if task is None:
        return implied, estimator
    can_choose = not hasattr(estimator, "family") and not isinstance(estimator, LinCFA)
    if (task == "classes") != (implied == "classes") and not can_choose:
        raise ValueError(
            f"task={task!r} and estimator={estimator!r} contradict each other: for classes use "
            "GenLinCFA(family='bernoulli')."
        )
    return task, estimator  # type: ignore[return-value]


def _with_task(reducer: Coterie, task: Any) -> tuple[TaskName, Any]:
    """The task, and a Coterie for it; raises if it is for another."""
    if SYNONYMS.get(reducer.task, reducer.task) not in ("auto", task):
        raise ValueError(f"task={task!r} and estimator={reducer!r} contradict each other.")
    return task, clone(reducer).set_params(task=task)


def with_own_folds(reducer: Any, groups: Any, *, by_time: bool) -> Any:
    """The reducer, whose own folds keep to the order of time, or to groups of rows."""
    if not isinstance(reducer, Coterie) or not isinstance(reducer.cv, int):
        return reducer
    from sklearn.model_selection import GroupKFold, TimeSeriesSplit

    if by_time:
        return clone(reducer).set_params(cv=TimeSeriesSplit(reducer.cv))
    if groups is None:
        return reducer
    # The training rows of a split have at least half of the groups.
    most = max(2, len(np.unique(groups)) // 2)
    return clone(reducer).set_params(cv=GroupKFold(min(reducer.cv, most)))


def _task_of_reducer(reducer: Any, y: Any) -> TaskName:
    """The task that a reducer is for."""
    if isinstance(reducer, Coterie):
        given = SYNONYMS.get(reducer.task, reducer.task)
        return infer_task(y).name if given == "auto" else given  # type: ignore[return-value]
    family = getattr(reducer, "family", None)
    if family is not None:
        name = family if isinstance(family, str) else family.name.partition("(")[0]
        return TASK_OF.get(name, "regression")
    found = infer_task(y)
    if isinstance(reducer, MutualCFA) or found.reason in ("text", "true or false"):
        return found.name
    return "regression"


def needs_text_classes(task: TaskName, reducer: Any) -> bool:
    """Whether classes must be text, since the reducer has no family that says so."""
    has_words = hasattr(reducer, "family") or isinstance(reducer, Coterie)
    return task == "classes" and not has_words
