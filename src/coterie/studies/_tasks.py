"""What kind of target this is."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.estimators import GenLinCFA, NonLinCFA

TaskName = Literal["regression", "classes", "counts"]
METRICS = {"regression": "R2", "classes": "accuracy", "counts": "share of deviance explained"}
# More different whole numbers than this are hardly the numbers of classes,
MOST_CODES = 10
# and a class that is rarer than this is more likely a large count.
RAREST_CODE = 0.02


class Task(NamedTuple):
    """What is asked of the target, and what told so."""

    name: TaskName
    reason: str


def task_of(y: Any) -> Task:
    """Regression, classes or counts, by the values of the target.

    Text and two values are classes; so are a few whole numbers in a row from 0 or 1, none of them
    rare. Other whole numbers that begin at 0 are counts. All else is regression.

    Examples
    --------
    >>> task_of(["sweet", "sour", "sweet"])
    Task(name='classes', reason='text')
    >>> task_of([0.5, 1.5, 1.0]).name
    'regression'
    >>> task_of([0, 3, 1, 12, 0, 2]).name
    'counts'
    """
    target = np.asarray(y)
    if target.dtype.kind not in "iuf":
        return Task("classes", "true or false" if target.dtype.kind == "b" else "text")
    values = np.unique(target)
    if len(values) == 2:
        return Task("classes", "two values")
    if target.ndim > 1 or (values != np.round(values)).any() or values[0] < 0:
        return Task("regression", "numbers")
    if _are_codes(target, values):
        return Task("classes", f"{len(values)} whole numbers, from {values[0]:g}, none rare")
    if values[0] == 0:
        return Task("counts", "whole numbers from 0")
    return Task("regression", "whole numbers without 0")


def _are_codes(target: NDArray[Any], values: NDArray[Any]) -> bool:
    """Whether whole numbers look like names of classes."""
    in_a_row = values[0] in (0, 1) and (np.diff(values) == 1).all()
    if not in_a_row or len(values) > MOST_CODES:
        return False
    shares = np.unique(target, return_counts=True)[1] / len(target)
    return bool(shares.min() >= RAREST_CODE and shares[0] < 0.9)


def reducer_for(task: TaskName, **parameters: Any) -> Any:
    """The reducer that a task calls for."""
    if task == "regression":
        return NonLinCFA(**parameters)
    family = {"classes": "bernoulli", "counts": "poisson"}[task]
    return GenLinCFA(family=family, **parameters)


def is_blind_to_classes(task: TaskName, reducer: Any) -> bool:
    """Whether the reducer has no family that tells the model behind it of classes."""
    return task == "classes" and not hasattr(reducer, "family")
