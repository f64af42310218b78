"""The target as numbers, or one sentence that says why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._core.evidence import standardised
from coterie._core.values import FloatArray, IntArray
from coterie._data.validation import counted
from coterie.families import Family

# Fewer labels than this may all be different.
FEW_LABELS = 10
# More different whole numbers than this are hardly the numbers of classes,
MOST_CODES = 10
# and a class that is rarer than this is more likely a large count,
RAREST_CODE = 0.02
# as are all others where nearly all are 0.
COMMONEST_ZERO = 0.9


class Targets(NamedTuple):
    """Targets as numbers, of shape (n_samples, n_targets), and the classes behind them if any."""

    values: FloatArray
    classes: Any = None


def numeric_targets(y: Any, who: str) -> FloatArray:
    """Targets of real numbers, each of which varies."""
    y = np.asarray(y)
    if text := _text(y):
        raise ValueError(
            f"{who} needs a target of numbers, got text ({counted('label', text, most=3)}). For "
            "classes use GenLinCFA(family='bernoulli')."
        )
    if y.dtype.kind not in "biufO":
        raise ValueError(f"{who} needs a target of numbers, got an array of {y.dtype}.")
    targets = y.astype(np.float64).reshape(len(y), -1)
    if not np.isfinite(targets).all():
        bad = ~np.isfinite(targets).all(axis=1)
        raise ValueError(f"y has NaN, None or infinity in {_rows(bad)}.")
    return _varying(targets)


def _text(y: NDArray[Any]) -> list[str]:
    if y.dtype.kind not in "OUST":
        return []
    return sorted({str(value) for value in y.ravel() if isinstance(value, str | bytes)})


def _rows(bad: Any) -> str:
    return counted("row", np.flatnonzero(bad).tolist())


def _varying(targets: FloatArray) -> FloatArray:
    constant = np.flatnonzero(standardised(targets).spread == 0)
    if len(constant) and targets.shape[1] == 1:
        raise ValueError(
            f"y is constant, {targets[0, 0]:g} in every row: there is nothing to learn."
        )
    if len(constant):
        raise ValueError(
            f"y is constant in {counted('column', constant.tolist())}: there is nothing to learn."
        )
    return targets


def check_no_gaps(y: Any) -> None:
    """Raise where a column or a frame of pandas has gaps, whatever it takes for one."""
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna()).reshape(len(y), -1).any(axis=1)
        if missing.any():
            raise ValueError(f"y has None or NaN in {_rows(missing)}.")


def is_text(y: Any) -> bool:
    """Whether a target has labels that are text."""
    return bool(_text(np.asarray(y)))


def numbers_or_classes(y: Any, who: str) -> Targets:
    """Numbers as they are; of text, one column for each class, or one for two classes."""

    def target(column: Any) -> tuple[FloatArray, Any]:
        return indicators(column, who) if is_text(column) else (numeric_targets(column, who), None)

    return by_column(y, target) if is_text(y) else Targets(numeric_targets(y, who))


def class_targets(y: Any, who: str) -> Targets:
    """1 for a class and 0 for the rest, one column for each class.

    One column is enough for two classes: 1 for the second in sorted order. Of labels with
    several columns each is taken by itself.
    """
    return by_column(y, partial(indicators, who=who))


def by_column(y: Any, target: Callable[[Any], tuple[FloatArray, Any]]) -> Targets:
    """The targets that each column of y becomes, and its classes, if it has some."""
    y = np.asarray(y)
    columns = y.reshape(len(y), -1)
    found = [target(column) for column in _plain_columns(columns)]
    classes = [classes for _, classes in found]
    known = None if all(one is None for one in classes) else classes
    values = np.hstack([values for values, _ in found])
    return Targets(values, known[0] if known and len(known) == 1 else known)


def _plain_columns(columns: NDArray[Any]) -> Iterable[NDArray[Any]]:
    """Each column; one that has numbers, though others have text, as numbers."""
    for column in columns.T:
        is_mixed = column.dtype.kind == "O" and columns.shape[1] > 1
        numbers = is_mixed and all(isinstance(value, Real) for value in column)
        yield column.astype(np.float64) if numbers else column


def indicators(labels: NDArray[Any], who: str) -> tuple[FloatArray, NDArray[Any]]:
    """One column for each class, or one for two, and the classes."""
    numbers, classes = numbered(labels)
    if len(classes) < 2:
        raise ValueError(f"{who} needs y with 2 classes or more, got {len(classes)} class.")
    if len(classes) > len(labels) / 2 and len(labels) >= FEW_LABELS:
        raise ValueError(
            f"{who} needs y with classes, got {len(classes)} different labels in {len(labels)} "
            "rows. Are these numbers? Then use NonLinCFA, with y as numbers."
        )
    if len(classes) == 2:
        return (numbers == 1).astype(np.float64)[:, None], classes
    return (numbers[:, None] == np.arange(len(classes))).astype(np.float64), classes


def numbered(labels: NDArray[Any]) -> tuple[IntArray, NDArray[Any]]:
    """The number of the class of each label, and the classes in sorted order."""
    values = labels.tolist()
    missing = [_is_missing(value) for value in values]
    if any(missing):
        raise ValueError(f"y has None or NaN in {_rows(missing)}.")
    classes = sorted(set(values), key=lambda label: (str(type(label)), label))
    number = {label: place for place, label in enumerate(classes)}
    in_order = np.empty(len(classes), dtype=labels.dtype)
    in_order[:] = classes
    return np.array([number[value] for value in values], dtype=np.intp), in_order


def _is_missing(label: Any) -> bool:
    # Whether two labels of pandas differ may itself be missing.
    return label is None or type(label).__name__ == "NAType" or label != label


def family_targets(y: Any, family: Family) -> Targets:
    """Targets that a family takes."""
    who = f"family '{family.name}'"
    if family.name == "bernoulli":
        return class_targets(y, who)
    targets = numeric_targets(y, who)
    allowed = np.broadcast_to(np.asarray(family.takes(targets), dtype=bool), targets.shape)
    if not allowed.all():
        raise ValueError(
            f"{who} needs y to be {family.expects}, got {targets[~allowed][0]:g} in "
            f"{_rows(~allowed.all(axis=1))}."
        )
    return Targets(targets)


def look_like_classes(y: Any) -> int:
    """How many classes a target of whole numbers seems to have; 0 where they are numbers.

    Two values are classes; so are a few whole numbers in a row from 0 or 1, none of them rare.

    Examples
    --------
    >>> look_like_classes([1, 2, 3, 1, 2]), look_like_classes([3, 1, 4, 1, 5])
    (3, 0)
    """
    target = np.asarray(y)
    if target.ndim != 1 or target.dtype.kind not in "biuf" or not len(target):
        return 0
    values, counts = np.unique(target, return_counts=True)
    if len(values) == 2:
        return 2
    in_a_row = values[0] in (0, 1) and (np.diff(values) == 1).all()
    if not in_a_row or not 2 < len(values) <= MOST_CODES:
        return 0
    shares = counts / len(target)
    return len(values) if shares.min() >= RAREST_CODE and shares[0] < COMMONEST_ZERO else 0
