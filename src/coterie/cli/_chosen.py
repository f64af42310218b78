"""From a table and words about its columns to features, targets and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.cli._options import Columns, Source
from coterie.studies import Task, task_of
from coterie.tables import TableError, near, numbers_of, read_table
from coterie.values import FloatArray

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Chosen:
    """What a table was said to hold.

    Parameters
    ----------
    frame : polars.DataFrame
        All columns, rows in the order in which they are used.
    X : polars.DataFrame
        The features, as floats.
    y : ndarray of shape (n_rows,) or (n_rows, n_targets)
    weights : ndarray of shape (n_rows,) or None
    task : Task
    gaps : int
        How many values the features lack.
    notes : list of str
        What was done to the rows and columns.
    """

    frame: polars.DataFrame
    X: polars.DataFrame
    y: NDArray[Any]
    weights: FloatArray | None
    task: Task
    gaps: int
    notes: list[str]


def chosen(source: Source, columns: Columns) -> Chosen:
    """Read a table, and tell its columns apart."""
    frame = read(source)
    for name in [*columns.target, columns.weights, columns.time]:
        if name is not None:
            check_column(frame, name, source.data)
    frame, notes = _rows(frame, columns)
    names, more = _features(frame, columns)
    notes += more
    values = numbers_of(frame, names, what="feature")
    y = _targets(frame, columns)
    weights = None
    if columns.weights is not None:
        weights = numbers_of(frame, [columns.weights], what="weight").ravel()
    task = task_of(y) if columns.task is None else Task(columns.task, "as told")  # type: ignore[arg-type]
    if task.name == "classes" and len(columns.target) > 1:
        raise TableError("Several targets must be numbers: give one --target for classes.")
    return Chosen(
        frame, _frame(values, names), y, weights, task, int(np.isnan(values).sum()), notes
    )


def read(source: Source) -> polars.DataFrame:
    """The table."""
    return read_table(
        source.data,
        format=source.format,
        separator=source.separator,
        decimal=source.decimal,
        encoding=source.encoding,
        sheet=source.sheet,
    )


def _frame(values: FloatArray, names: Sequence[str]) -> polars.DataFrame:
    import polars

    return polars.DataFrame(values, schema=list(names), orient="row")


def check_column(frame: polars.DataFrame, name: str, where: str) -> None:
    """Raise where there is no such column, and name the nearest one."""
    if name in frame.columns:
        return
    alike = near(name, frame.columns)
    advice = f"Did you mean {alike!r}?" if alike else f"It has {_listed(frame.columns)}."
    raise TableError(f"{where} has no column {name!r}. {advice}")


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _rows(frame: polars.DataFrame, columns: Columns) -> tuple[polars.DataFrame, list[str]]:
    """Rows that have a target, in order of time if that is known."""
    import polars

    missing = frame.select(
        polars.any_horizontal(polars.col(*columns.target).is_null()).alias("missing")
    )["missing"]
    notes = []
    if missing.any() and not columns.skip_gaps:
        first = missing.arg_max()
        raise TableError(
            f"Target {_listed(columns.target)} lacks {_counted(int(missing.sum()), 'value')}, the "
            f"first in row {(first or 0) + 1}: fill in, or leave such rows out with --skip-gaps."
        )
    if missing.any():
        notes.append(f"Left out: {_counted(int(missing.sum()), 'row')} without a target.")
        frame = frame.filter(~missing)
    if frame.height < 4:
        raise TableError(f"There are {frame.height} rows with a target; 4 or more are needed.")
    if columns.time is not None:
        if frame[columns.time].null_count():
            raise TableError(f"Column {columns.time!r} has gaps, so rows cannot be ordered by it.")
        frame = frame.sort(columns.time, maintain_order=True)
        notes.append(f"Rows are in the order of {columns.time!r}.")
    return frame, notes


def _features(frame: polars.DataFrame, columns: Columns) -> tuple[list[str], list[str]]:
    """The features, and what was left out."""
    apart = {*columns.target, columns.weights, columns.time}
    names = [name for name in frame.columns if name not in apart]
    dropped = matching(columns.drop, names, "--drop")
    names = [name for name in names if name not in {*dropped}]
    index = [name for name in names if _is_index(name, frame[name])]
    names = [name for name in names if name not in {*index}]
    notes = ["Left out: the column without a name, which numbers the rows."] if index else []
    if columns.drop_text:
        text = [name for name in names if not _is_number(frame[name])]
        names = [name for name in names if name not in {*text}]
        if text:
            notes.append(f"Left out, since they are text: {_listed(text)}.")
    if len(names) < 2:
        raise TableError(
            f"There are {len(names)} columns to group besides {_listed(columns.target)}; "
            "2 or more are needed."
        )
    return names, notes


def _is_index(name: str, column: polars.Series) -> bool:
    """Whether a column is the number of the row, as pandas writes it without a name."""
    if not name.startswith("unnamed_") or not column.dtype.is_integer() or column.null_count():
        return False
    return bool((column.diff().drop_nulls() == 1).all())


def _is_number(column: polars.Series) -> bool:
    import polars

    return column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Null)


def matching(patterns: Sequence[str], names: Sequence[str], flag: str) -> list[str]:
    """The names that one of the patterns stands for; a name itself stands for itself alone."""
    known, found = {*names}, []
    for pattern in patterns:
        these = [pattern] if pattern in known else [n for n in names if fnmatchcase(n, pattern)]
        if not these:
            alike = near(pattern, names)
            advice = f" Did you mean {alike!r}?" if alike else ""
            raise TableError(f"{flag} {pattern!r} is no feature, and no pattern of any.{advice}")
        found += these
    return list(dict.fromkeys(found))


def _targets(frame: polars.DataFrame, columns: Columns) -> NDArray[Any]:
    """The target, or several, as they are."""
    if len(columns.target) > 1:
        return numbers_of(frame, list(columns.target), what="target")
    (name,) = columns.target
    column = frame[name]
    if column.dtype.is_temporal() or column.dtype.is_nested():
        raise TableError(f"Target {name!r} is {column.dtype}: make numbers or text of it.")
    if column.dtype.is_numeric() and not column.dtype.is_decimal():
        values = column.to_numpy()
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmax(~np.isfinite(values))) + 1
            raise TableError(f"Target {name!r} is no finite number in row {row}.")
        return values
    if _is_number(column):
        return (
            numbers_of(frame, [name], what="target").ravel()
            if column.dtype.is_decimal()
            else column.to_numpy()
        )
    return np.array(column.cast(str).to_list(), dtype=object)
