"""Description of the targets: numbers or classes, from the values seen so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from coterie._core.values import FloatArray
from coterie._data.validation import counted

# Integers may be classes while there are no more different ones than this.
MAX_NUMBER_CLASSES = 100
# Each text label has an indicator column; more labels than this are an error.
MAX_LABELS = 1000


@dataclass(frozen=True)
class TargetColumn:
    """One target: a single column of numbers, or one indicator column for each distinct value.

    The indicator of a new value is 0 in all earlier rows, so a new value only adds a column.
    Integers may be numbers or classes. Their moments follow from the indicators of all values, so
    the choice can be made after the rows have been counted.

    Parameters
    ----------
    name : str
    is_text : bool
    values : tuple or None
        The distinct values, in order of appearance; None for a single column of numbers.
    low, high : float
        The smallest and the largest number; NaN for text.
    fraction : float or None
        A number that is not an integer, if there was one.
    dtype : str
        The NumPy dtype of the values.
    """

    name: str
    is_text: bool
    values: tuple[Any, ...] | None
    low: float = np.nan
    high: float = np.nan
    fraction: float | None = None
    dtype: str = "float64"

    @classmethod
    def of(cls, name: str, column: NDArray[Any]) -> TargetColumn:
        """The target that a column of finite numbers, or of text, describes."""
        if _is_text(column):
            values = tuple(dict.fromkeys(column.tolist()))
            return cls(name, True, values, dtype=column.dtype.str)._limit_values()
        numbers = column.astype(np.float64)
        fractional = numbers[numbers % 1 != 0]
        low, high = float(numbers.min()), float(numbers.max())
        fraction = float(fractional[0]) if len(fractional) else None
        distinct = None if len(fractional) else tuple(dict.fromkeys(column.tolist()))
        return cls(name, False, distinct, low, high, fraction, column.dtype.name)._limit_values()

    @property
    def n_columns(self) -> int:
        """Number of columns that encode the target."""
        return 1 if self.values is None else len(self.values)

    def combine(self, other: TargetColumn) -> TargetColumn:
        """The target after the values of both have been seen."""
        if self.values is None or other.values is None:
            values = None
        else:
            values = tuple(dict.fromkeys([*self.values, *other.values]))
        return replace(
            self,
            values=values,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            fraction=other.fraction if self.fraction is None else self.fraction,
            dtype=_common_dtype(self.dtype, other.dtype),
        )._limit_values()

    def _limit_values(self) -> TargetColumn:
        """Raise for too many labels; treat too many different integers as numbers."""
        if self.values is None:
            return self
        if self.is_text and len(self.values) > MAX_LABELS:
            raise ValueError(
                f"{self.name} has more than {MAX_LABELS:,} different labels "
                f"({counted('label', self.values, most=3)}). Are these numbers, or names of rows?"
            )
        if not self.is_text and len(self.values) > MAX_NUMBER_CLASSES:
            return replace(self, values=None)
        return self

    def columns(self, column: NDArray[Any]) -> FloatArray:
        """The encoding of a column of this target, of shape (n_rows, n_columns)."""
        if self.values is None:
            return column.astype(np.float64)[:, None]
        position_of = {value: position for position, value in enumerate(self.values)}
        positions = np.array([position_of[value] for value in column.tolist()], dtype=np.intp)
        return (positions[:, None] == np.arange(len(self.values))).astype(np.float64)

    def recode_from(self, earlier: TargetColumn) -> FloatArray:
        """Weights from an earlier encoding to this one, of shape (n_columns, n_earlier)."""
        if earlier.values is None:
            return np.ones((1, 1))
        if self.values is None:
            return np.array([earlier.values], dtype=np.float64)
        return np.equal.outer(
            np.array(self.values, dtype=object), np.array(earlier.values, dtype=object)
        ).astype(np.float64)


def check_same_targets(
    before: Sequence[TargetColumn], now: Sequence[TargetColumn], location: object
) -> None:
    """Raise if targets differ from those of earlier batches."""
    if len(before) != len(now):
        raise ValueError(
            f"y has {_n_targets_text(now)} in {location}, and {_n_targets_text(before)} before."
        )
    names, others = ([target.name for target in each] for each in (before, now))
    unnamed = [f"y{position}" for position in range(len(before))]
    if len(before) > 1 and names != others and unnamed not in (names, others):
        raise ValueError(
            f"y has {counted('target', others, most=3)} in {location}, and before "
            f"{counted('target', names, most=3)}: give the same targets in the same order."
        )
    for one, other in zip(before, now, strict=True):
        if one.is_text != other.is_text:
            kind = ("numbers", "text")
            raise ValueError(
                f"{one.name} has {kind[other.is_text]} in {location}, and {kind[one.is_text]} "
                "before."
            )


def _n_targets_text(targets: Sequence[TargetColumn]) -> str:
    return f"{len(targets)} target{'s' * (len(targets) != 1)}"


def recoding_weights(
    now: Iterable[TargetColumn], earlier: Iterable[TargetColumn]
) -> FloatArray | None:
    """Weights from the earlier encoding of all targets to the current one; None if unchanged."""
    blocks = [one.recode_from(other) for one, other in zip(now, earlier, strict=True)]
    weights = np.asarray(block_diag(*blocks), dtype=np.float64)
    is_same = weights.shape[0] == weights.shape[1] and (weights == np.eye(len(weights))).all()
    return None if is_same else weights


def _is_text(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "OU"


def _common_dtype(one: str, other: str) -> str:
    if one == other:
        return one
    return str(np.result_type(np.dtype(one), np.dtype(other)))
