"""Columns that are no features: constants, keys of rows, and what gives the target away."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._data.preparation._columns import Column

# Fewer rows may be a key, or give the target away, by chance.
MIN_ROWS = 10
# By chance, n rows of L levels agree with two classes with a probability of about 2 ** (L - n).
MIN_REPEATS = 20
LEAKING_CORRELATION = 0.9999
# Of two monotone functions of each other, ties and rounding aside.
LEAKING_RANK_CORRELATION = 0.99999
# Fewer missing values may be of one class by chance; more values are no classes.
MIN_MISSING, MAX_CLASSES = 10, 20
# Words of names of keys: customer_id, orderKey, Nr.
KEY_WORDS = {"id", "key", "nr", "no", "number", "index", "idx", "uuid", "guid", "rowid", "row"}
# Names of columns without a name, as pandas and we write them.
NAMELESS = re.compile(r"unnamed_\d+|Unnamed: \d+|")
# A column with more values in as few rows is taken to be continuous.
GLANCED_ROWS, MAX_GLANCED_VALUES = 100, 50


def constant_reason(column: Column) -> str | None:
    """Why a column has no information, or None."""
    present = column.values[~column.is_missing]
    if len(present) == 0:
        return "lists or other values that are no numbers" if column.kind == "other" else "empty"
    # Text that is missing in some rows says where it is present.
    has_missing = len(present) < len(column.values)
    is_constant = bool((present == present[0]).all())
    return "constant" if is_constant and not (column.kind == "text" and has_missing) else None


def key_reason(column: Column) -> str | None:
    """Why a column identifies rows, or None."""
    n_rows = len(column.values)
    if n_rows < MIN_ROWS or column.kind not in ("text", "number"):
        return None
    if column.kind == "number":
        return _number_key_reason(column) if column.is_whole else None
    present = column.values[~column.is_missing]
    is_unique = len(present) >= MIN_ROWS and len(set(present.tolist())) == len(present)
    return "text that differs in every row" if is_unique else None


def _number_key_reason(column: Column) -> str | None:
    values = column.values
    steps = np.diff(values)
    is_counting = bool((steps == 1).all())
    if is_counting and (values[0] in (0, 1) or NAMELESS.fullmatch(column.name)):
        return "row numbers"
    is_key = not KEY_WORDS.isdisjoint(words_of_name(column.name)) and not np.isnan(values).any()
    return "a key of rows" if is_key and len(np.unique(values)) == len(values) else None


def words_of_name(name: str) -> set[str]:
    """Words of a name in lower case: customerId and customer_id are customer and id."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return {word.lower() for word in re.split(r"[\W_]+", parted)}


class Target:
    """A target, to find columns that give it away."""

    def __init__(self, y: NDArray[Any]) -> None:
        self._codes = np.unique(y if y.dtype.kind != "O" else y.astype(str), return_inverse=True)[1]
        self._numbers = y.astype(np.float64) if y.dtype.kind in "biuf" else None
        self._n_values = int(self._codes.max()) + 1 if len(y) else 0

    def leak_reason(self, column: Column) -> str | None:
        """How a column gives the target away, or None."""
        if len(column.values) < MIN_ROWS or self._n_values < 2 or column.kind == "other":
            return None
        if column.kind == "number" and self._numbers is not None:
            both = ~column.is_missing
            if both.all() and np.array_equal(column.values, self._numbers):
                return "a copy of the target"
            r = _correlation(column.values[both], self._numbers[both])
            if r > LEAKING_CORRELATION:
                return "it gives the target away: their correlation is above .9999"
            if self._is_in_same_order(column.values[both], self._numbers[both]):
                return "it gives the target away: it grows or falls with it in every row"
        if self._is_known_by_missing(column):
            return "it gives the target away: where it is missing says the target"
        if self._is_known_by_level(column):
            return "it gives the target away: each value belongs to one value of the target"
        return None

    def _is_in_same_order(self, values: FloatArray, y: FloatArray) -> bool:
        """Whether a column is a monotone function of the target, which has many values."""
        if len(values) < MIN_ROWS or self._n_values < MIN_ROWS or len(np.unique(values)) < MIN_ROWS:
            return False
        from scipy.stats import rankdata

        return _correlation(rankdata(values), rankdata(y)) > LEAKING_RANK_CORRELATION

    def _is_known_by_missing(self, column: Column) -> bool:
        """Whether a value is missing in all rows of some classes, and in none of the others."""
        missing = column.is_missing
        n_missing, n_rows = int(missing.sum()), len(missing)
        if min(n_missing, n_rows - n_missing) < MIN_MISSING or self._n_values > MAX_CLASSES:
            return False
        return np.intersect1d(self._codes[missing], self._codes[~missing]).size == 0

    def _is_known_by_level(self, column: Column) -> bool:
        """Whether rows with the same value have the same target, more than by chance."""
        if column.kind == "number":
            glance = np.unique(column.values[:GLANCED_ROWS])
            if len(glance) > MAX_GLANCED_VALUES:
                return False
        present = ~column.is_missing
        values = column.values[present]
        values = values.astype(str) if column.kind == "text" else values
        levels, place = np.unique(values, return_inverse=True)
        codes = self._codes[present]
        if len(values) - len(levels) < MIN_REPEATS or len(np.unique(codes)) < self._n_values:
            return False
        lowest = np.full(len(levels), self._n_values)
        highest = np.full(len(levels), -1)
        np.minimum.at(lowest, place, codes)
        np.maximum.at(highest, place, codes)
        return bool((lowest == highest).all())


def _correlation(a: FloatArray, b: FloatArray) -> float:
    """The absolute correlation; 0 if there are few rows, or one is constant."""
    if len(a) < MIN_ROWS:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = a - a.mean(), b - b.mean()
        # Scaled first, so that squares of large numbers stay finite.
        a, b = a / max(np.abs(a).max(), 1e-300), b / max(np.abs(b).max(), 1e-300)
        scale = np.sqrt((a @ a) * (b @ b))
        r = abs(a @ b) / scale if scale > 0 else 0.0
    return float(r) if np.isfinite(r) else 0.0
