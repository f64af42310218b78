"""Reads targets as numbers, from y or from moments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from sklearn.utils.validation import column_or_1d

from coterie._core.criteria import CLASSES
from coterie._core.evidence import location_of, standardised
from coterie._core.values import BoolArray, FloatArray, IntArray
from coterie._data.moments import Moments, TargetColumn
from coterie._data.validation import counted
from coterie.families import Family

# With fewer rows than this, all labels may be different.
FEW_LABELS = 10
# Integers look like class codes if there are at most this many distinct values,
MAX_CODES = 10
# if each value has at least this share of the rows (rare values are more likely counts),
MIN_SHARE_OF_CODE = 0.02
# and if the first value has less than this share (mostly 0 is more likely counts).
MAX_SHARE_OF_ZERO = 0.9


class Targets(NamedTuple):
    """Targets as numbers, of shape (n_samples, n_targets), and their class labels, if any."""

    values: FloatArray
    classes: Any = None


class TargetsInMoments(NamedTuple):
    """Targets as weighted sums of the columns in moments, and their class labels, if any.

    The weights have shape (n_targets, n_kept).
    """

    weights: FloatArray
    classes: Any = None


class TargetReader(Protocol):
    """Reads targets, from y or from moments."""

    def from_y(self, y: Any) -> Targets:
        """The targets of each row."""

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """The targets as weighted sums of the columns in moments."""


@dataclass(frozen=True)
class NumbersOrClasses:
    """Reads numbers as they are, and text as one target per class (one for two classes)."""

    name: str  # of the reducer, for error messages

    def from_y(self, y: Any) -> Targets:
        """The targets of each row."""
        if not is_text(y):
            return Targets(numbers_of(y, self.name))
        return by_column(y, self._column)

    def _column(self, column: Any) -> tuple[FloatArray, Any]:
        if is_text(column):
            return indicators(column, self.name)
        return numbers_of(column, self.name), None

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """The targets as weighted sums of the columns in moments."""

        def column(kept: TargetColumn) -> tuple[FloatArray, Any]:
            if kept.is_text:
                return kept_indicators(kept, moments, self.name)
            return kept_numbers(kept, self.name), None

        return by_kept_column(moments, column)


@dataclass(frozen=True)
class OneNumber:
    """Reads one numeric target."""

    name: str

    def from_y(self, y: Any) -> Targets:
        """The target of each row."""
        return Targets(numbers_of(column_or_1d(y, warn=True), self.name))

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """The target as a weighted sum of the columns in moments."""
        if (n_targets := len(moments.target_columns)) > 1:
            raise ValueError(
                f"{self.name} takes one target, and the moments have {n_targets}. Use NonLinCFA "
                "instead."
            )
        return by_kept_column(moments, lambda kept: (kept_numbers(kept, self.name), None))


@dataclass(frozen=True)
class FamilyTargets:
    """Reads the targets that a family accepts: numbers, or class labels as one target each."""

    family: Family

    @property
    def name(self) -> str:
        """Name of the family, for error messages."""
        return f"family '{self.family.name}'"

    def from_y(self, y: Any) -> Targets:
        """The targets of each row."""
        if self.family.takes_labels:
            return by_column(y, lambda column: indicators(column, self.name))
        targets = numbers_of(y, self.name)
        allowed = self._allowed(targets)
        if not allowed.all():
            raise ValueError(
                f"{self.name} needs y to be {self.family.expects}, got {targets[~allowed][0]:g} in "
                f"{rows_text(~allowed.all(axis=1))}."
            )
        return Targets(targets)

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """The targets as weighted sums of the columns in moments."""
        if self.family.takes_labels:
            return by_kept_column(moments, lambda kept: kept_indicators(kept, moments, self.name))
        for kept in moments.target_columns:
            kept_numbers(kept, self.name)
            self._check_kept(kept)
        return by_kept_column(moments, lambda kept: (kept_numbers(kept, self.name), None))

    def _check_kept(self, kept: TargetColumn) -> None:
        """Raise if the family does not accept the smallest, the largest or a fractional value."""
        some = [kept.low, kept.high, *(() if kept.fraction is None else [kept.fraction])]
        values = np.array(some, dtype=np.float64)[:, None]
        allowed = self._allowed(values)
        if not allowed.all():
            raise ValueError(
                f"{self.name} needs y to be {self.family.expects}, got {values[~allowed][0]:g}."
            )

    def _allowed(self, targets: FloatArray) -> Any:
        return np.broadcast_to(np.asarray(self.family.takes(targets), dtype=bool), targets.shape)


@dataclass(frozen=True)
class NumbersOrCodes:
    """Reads numbers as they are, and text as class numbers. For criteria that count rows."""

    name: str

    def from_y(self, y: Any) -> Targets:
        """The targets of each row."""
        return by_column(y, self._column)

    def _column(self, column: Any) -> tuple[FloatArray, Any]:
        if not is_text(column):
            return numbers_of(column, self.name), None
        numbers, classes = numbered(column)
        if len(classes) > CLASSES:
            raise ValueError(
                f"{self.name} takes up to {CLASSES} classes, got {len(classes)}: more have no "
                "order to group them by. Use GenLinCFA(family='bernoulli')."
            )
        return numbers_of(numbers, self.name), classes

    def from_moments(self, moments: Moments) -> TargetsInMoments:
        """Raise, because rows are needed."""
        raise ValueError(f"{self.name} counts rows: moments are not enough. Use fit.")


# What to do with classes where numbers are expected, and the other way round.
FOR_CLASSES = "GenLinCFA(family='bernoulli')"
FOR_NUMBERS = "use NonLinCFA, with y as numbers"


def _no_numbers(name: str, labels: list[str], for_classes: str) -> ValueError:
    return ValueError(
        f"{name} needs a target of numbers, got text ({counted('label', labels, most=3)}). For "
        f"classes use {for_classes}."
    )


def numbers_of(y: Any, name: str, for_classes: str = FOR_CLASSES) -> FloatArray:
    """Targets as finite numbers, checked not to be constant."""
    y = np.asarray(y)
    if labels := _labels(y):
        raise _no_numbers(name, labels, for_classes)
    if y.dtype.kind not in "biufO":
        raise ValueError(f"{name} needs a target of numbers, got an array of {y.dtype}.")
    targets = y.astype(np.float64).reshape(len(y), -1)
    if not np.isfinite(targets).all():
        bad = ~np.isfinite(targets).all(axis=1)
        raise ValueError(f"y has NaN, None or infinity in {rows_text(bad)}.")
    check_varying(targets[0].tolist(), standardised(targets).spread > 0)
    return targets


def kept_numbers(kept: TargetColumn, name: str, for_classes: str = FOR_CLASSES) -> FloatArray:
    """The weights of a target column in moments that make it a number."""
    if kept.is_text:
        raise _no_numbers(name, sorted(kept.values or ()), for_classes)
    values = [1.0] if kept.values is None else kept.values
    return np.array([values], dtype=np.float64)


def check_varying(values: Sequence[Any], varies: Sequence[bool] | BoolArray) -> None:
    """Raise if a target is constant, given one value of each target and whether it varies."""
    constant = np.flatnonzero(~np.asarray(varies)).tolist()
    if constant and len(values) == 1:
        value = f"{values[0]:g}" if isinstance(values[0], float) else repr(values[0])
        raise ValueError(f"y is constant, {value} in every row: there is nothing to learn.")
    if constant:
        raise ValueError(
            f"y is constant in {counted('column', constant)}: there is nothing to learn."
        )


def _labels(y: NDArray[Any]) -> list[str]:
    """The distinct text labels, sorted."""
    if y.dtype.kind not in "OUST":
        return []
    return sorted({str(value) for value in y.ravel() if isinstance(value, str | bytes)})


def is_text(y: Any) -> bool:
    """Whether a target has text labels."""
    return bool(_labels(np.asarray(y)))


def rows_text(bad: Any) -> str:
    return counted("row", np.flatnonzero(bad).tolist())


def by_column(y: Any, target: Callable[[Any], tuple[FloatArray, Any]]) -> Targets:
    """The targets of all columns of y, and their class labels, if any."""
    y = np.asarray(y)
    found = [target(column) for column in plain_columns(y)]
    values = np.hstack([values for values, _ in found])
    return Targets(values, _known_classes([classes for _, classes in found]))


def by_kept_column(
    moments: Moments, target: Callable[[TargetColumn], tuple[FloatArray, Any]]
) -> TargetsInMoments:
    """The same for the target columns in moments."""
    found = [target(kept) for kept in moments.target_columns]
    weights = np.asarray(block_diag(*(weights for weights, _ in found)), dtype=np.float64)
    parts = [part.with_targets(weights) for part in moments.accumulated]
    centre, spread = (each[moments.n_features_in_ :] for each in location_of(parts))
    check_varying(centre.tolist(), spread > 0)
    return TargetsInMoments(weights, _known_classes([classes for _, classes in found]))


def _known_classes(classes: list[Any]) -> Any:
    """The class labels of the only target, or a list for several; None if all are numeric."""
    if all(one is None for one in classes):
        return None
    return classes[0] if len(classes) == 1 else classes


def plain_columns(y: NDArray[Any]) -> Iterable[NDArray[Any]]:
    """Each column; numbers and booleans as such, also if other columns have text."""
    columns = y.reshape(len(y), -1)
    for column in columns.T:
        is_mixed = column.dtype.kind == "O" and columns.shape[1] > 1
        if is_mixed and all(isinstance(value, bool | np.bool_) for value in column):
            yield column.astype(bool)
        elif is_mixed and all(isinstance(value, Real) for value in column):
            yield column.astype(np.float64)
        else:
            yield column


def are_too_many(n_classes: int, n_rows: int) -> bool:
    """Whether so many different values are hardly class labels."""
    return n_classes > n_rows / 2 and n_rows >= FEW_LABELS


def _check_classes(name: str, n_classes: int, n_rows: int, for_numbers: str) -> None:
    if n_classes < 2:
        raise ValueError(f"{name} needs y with 2 classes or more, got {n_classes} class.")
    if are_too_many(n_classes, n_rows):
        raise ValueError(
            f"{name} needs y with classes, got {n_classes} different labels in {n_rows} rows. Are "
            f"these numbers? Then {for_numbers}."
        )


def indicators(
    labels: NDArray[Any], name: str, for_numbers: str = FOR_NUMBERS
) -> tuple[FloatArray, NDArray[Any]]:
    """One 0/1 column per class, or one for two classes (1 for the second), and the classes."""
    numbers, classes = numbered(labels)
    _check_classes(name, len(classes), len(labels), for_numbers)
    if len(classes) == 2:
        return (numbers == 1).astype(np.float64)[:, None], classes
    return (numbers[:, None] == np.arange(len(classes))).astype(np.float64), classes


def kept_indicators(
    kept: TargetColumn, moments: Moments, name: str, for_numbers: str = FOR_NUMBERS
) -> tuple[FloatArray, NDArray[Any]]:
    """The same for a target column in moments."""
    if kept.values is None:
        raise ValueError(
            f"{name} needs y with classes, and these moments were told numbers of so many values "
            "that they were not told apart. Are these labels? Then pass them as text."
        )
    labels = np.empty(len(kept.values), dtype=np.dtype(kept.dtype))
    labels[:] = kept.values
    numbers, classes = numbered(labels)
    _check_classes(name, len(classes), moments.n_samples_, for_numbers)
    weights = np.zeros((len(classes), len(classes)))
    weights[numbers, np.arange(len(classes))] = 1.0
    return (weights[[1]] if len(classes) == 2 else weights), classes


def numbered(labels: NDArray[Any]) -> tuple[IntArray, NDArray[Any]]:
    """The class number of each label, and the classes in sorted order."""
    values = labels.tolist()
    missing = [_is_missing(value) for value in values]
    if any(missing):
        raise ValueError(f"y has None or NaN in {rows_text(missing)}.")
    classes = sorted(set(values), key=lambda label: (str(type(label)), label))
    number = {label: place for place, label in enumerate(classes)}
    in_order = np.empty(len(classes), dtype=labels.dtype)
    in_order[:] = classes
    return np.array([number[value] for value in values], dtype=np.intp), in_order


def _is_missing(label: Any) -> bool:
    # Comparing pandas.NA gives NA again, so it is recognised by the name of its type.
    return label is None or type(label).__name__ == "NAType" or label != label


def look_like_classes(y: Any) -> int:
    """Number of classes that an integer target seems to have; 0 if it looks like numbers.

    Two distinct values are classes. So are a few consecutive integers from 0 or 1 on, if none of
    them is rare.

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
    if not in_a_row or not 2 < len(values) <= MAX_CODES:
        return 0
    shares = counts / len(target)
    is_plain = shares.min() >= MIN_SHARE_OF_CODE and shares[0] < MAX_SHARE_OF_ZERO
    return len(values) if is_plain else 0
