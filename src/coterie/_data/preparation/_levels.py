"""Text as numbers: a 0/1 column for each of few levels, and how often each of many occurs."""

from __future__ import annotations

from collections import Counter

import numpy as np

from coterie._core.values import FloatArray
from coterie._data.preparation._columns import Column
from coterie._data.preparation._record import PreparedColumn, left_out, named

# Of many levels, those below this number of rows have no 0/1 column.
MIN_ROWS_OF_LEVEL = 10
# A level becomes a part of a name.
MAX_LEVEL_LENGTH = 40


def encode_levels(column: Column, max_levels: int) -> PreparedColumn:
    """How to encode a column of text, learned from its rows."""
    counts = Counter(one for one in column.values if one is not None)
    n_present = sum(counts.values())
    if len(counts) > max_levels and 2 * len(counts) > n_present:
        return left_out(column.name, "text", "text that differs in most rows")
    has_missing = n_present < len(column.values)
    if len(counts) <= max_levels:
        return _one_hot(column.name, sorted(counts), has_missing=has_missing)
    return _counted(column.name, counts, max_levels, has_missing=has_missing)


def _one_hot(name: str, levels: list[str], *, has_missing: bool) -> PreparedColumn:
    """One 0/1 column per level; of two levels, one column says all."""
    words = f"{len(levels)} levels"
    if has_missing:
        words += " and missing values"
    if len(levels) == 1:
        words, has_missing = "one level, or missing", False
    elif len(levels) == 2 and not has_missing:
        levels = levels[1:]
    outputs = [*(_level_name(name, level) for level in levels), *_missing_name(name, has_missing)]
    reason = f"{words}, as {_columns_text(outputs)}"
    return PreparedColumn(
        name, "text", "one-hot", reason, outputs, levels, flags_missing=has_missing
    )


def _counted(
    name: str, counts: Counter[str], max_levels: int, *, has_missing: bool
) -> PreparedColumn:
    """How often the level of each row occurs, and 0/1 columns of the most frequent levels."""
    # Sorted by name where counts are equal, so that the order of rows does not matter.
    ordered = sorted(counts, key=lambda level: (-counts[level], level))
    flagged = [one for one in ordered[:max_levels] if counts[one] >= MIN_ROWS_OF_LEVEL]
    flags = [*(_level_name(name, level) for level in flagged), *_missing_name(name, has_missing)]
    reason = f"{len(counts):,} levels, as how often each occurs, count({name})"
    if flags:
        reason += f", and the most frequent as {_columns_text(flags)}"
    return PreparedColumn(
        name,
        "text",
        "counts",
        reason,
        [f"count({name})", *flags],
        ordered,
        [counts[one] for one in ordered],
        flags_missing=has_missing,
    )


def _columns_text(names: list[str]) -> str:
    plural = "s" if len(names) > 1 else ""
    return f"0/1 column{plural} {named(names)}"


def _level_name(name: str, level: str) -> str:
    plain = " ".join(level.split())
    return f"{name}={plain[:MAX_LEVEL_LENGTH]}{'...' * (len(plain) > MAX_LEVEL_LENGTH)}"


def _missing_name(name: str, has_missing: bool) -> list[str]:
    return [f"{name}=missing"] if has_missing else []


def levels_to_floats(record: PreparedColumn, column: Column) -> FloatArray:
    """The columns that a column of text becomes; unknown levels are 0 in all of them."""
    n_flagged = record.n_flags - record.flags_missing
    place = {level: number for number, level in enumerate(record.levels)}
    codes = np.array([place.get(one, -1) for one in column.values], dtype=np.intp)
    flags = codes[:, None] == np.arange(n_flagged)
    columns = [flags, column.is_missing[:, None]] if record.flags_missing else [flags]
    if record.treatment == "counts":
        columns.insert(0, np.append(record.counts, 0)[codes][:, None])
    return np.hstack(columns).astype(np.float64)
