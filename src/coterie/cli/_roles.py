"""From a table and words about its columns to features, targets and the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._data.tables import TableError, closest_name, columns_to_floats, read_table
from coterie.cli._frames import frame_from_array
from coterie.cli._options import ColumnOptions, TableOptions
from coterie.report.inspection import pluralise
from coterie.report.studies import Task, infer_task

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class PreparedTable:
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
    n_missing : int
        How many values the features lack.
    notes : list of str
        What was done to the rows and columns.
    """

    frame: polars.DataFrame
    X: polars.DataFrame
    y: NDArray[Any]
    weights: FloatArray | None
    task: Task
    n_missing: int
    notes: list[str]


def prepare_table(source: TableOptions, columns: ColumnOptions) -> PreparedTable:
    """Read a table, and tell its columns apart."""
    frame = read_source(source)
    roles = [*columns.target, *filter(None, [columns.weights, columns.time])]
    for name in roles:
        check_column(frame, name, source.data)
    if len({*roles}) < len(roles):
        raise TableError("A column cannot be target, weight and time at once, or target twice.")
    frame, notes = _select_rows(frame, columns)
    names, more = _select_features(frame, columns)
    notes += more
    values = columns_to_floats(frame, names, what="feature")
    y = _target_values(frame, columns)
    weights = _weight_values(frame, columns)
    task = infer_task(y) if columns.task is None else Task(columns.task, "as told")  # type: ignore[arg-type]
    _check_task(task.name, y, columns)
    if task.name == "classes" and len(columns.target) > 1:
        raise TableError("Several targets must be numbers: give one --target for classes.")
    return PreparedTable(
        frame, frame_from_array(values, names), y, weights, task, int(np.isnan(values).sum()), notes
    )


def _unnamed_column(frame: polars.DataFrame, name: str) -> polars.Series:
    """A column without its name, which polars may take for a pattern."""
    return frame.get_column(name).alias("column")


def _weight_values(frame: polars.DataFrame, columns: ColumnOptions) -> FloatArray | None:
    """How often each row counts."""
    if columns.weights is None:
        return None
    weights = columns_to_floats(frame, [columns.weights], what="weight").ravel()
    bad = np.flatnonzero(~(weights >= 0))
    if len(bad):
        raise TableError(
            f"Column {columns.weights!r} must hold weights of 0 or more, and does not in row "
            f"{bad[0] + 1}."
        )
    return weights


def _check_task(task: str, y: NDArray[Any], columns: ColumnOptions) -> None:
    """Raise where the target does not hold what the task asks for."""
    name = _join_names(columns.target)
    if task != "classes" and y.dtype.kind not in "iufb":
        raise TableError(f"Target {name} is text: use --task classes, or make numbers of it.")
    if task == "counts":
        bad = np.flatnonzero((y < 0) | (y != np.round(y)))
        if len(bad):
            raise TableError(f"Target {name} is no count in row {bad[0] + 1}: got {y[bad[0]]:g}.")


def read_source(source: TableOptions) -> polars.DataFrame:
    """The table."""
    return read_table(
        source.data,
        format=source.format,
        separator=source.separator,
        decimal=source.decimal,
        encoding=source.encoding,
        sheet=source.sheet,
    )


def check_column(frame: polars.DataFrame, name: str, where: str) -> None:
    """Raise where there is no such column, and name the nearest one."""
    if name in frame.columns:
        return
    similar = closest_name(name, frame.columns)
    advice = f"Did you mean {similar!r}?" if similar else f"It has {_join_names(frame.columns)}."
    raise TableError(f"{where} has no column {name!r}. {advice}")


def _join_names(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _select_rows(
    frame: polars.DataFrame, columns: ColumnOptions
) -> tuple[polars.DataFrame, list[str]]:
    """Rows that have a target, in order of time if that is known."""
    targets = [_unnamed_column(frame, name) for name in columns.target]
    missing = np.any([_missing_mask(target) for target in targets], axis=0)
    notes = []
    if missing.any() and not columns.skip_gaps:
        raise TableError(
            f"Target {_join_names(columns.target)} lacks "
            f"{pluralise(int(missing.sum()), 'value')}, the first in row "
            f"{int(missing.argmax()) + 1}: fill in, or leave such rows out with --skip-gaps."
        )
    if missing.any():
        notes.append(f"Left out: {pluralise(int(missing.sum()), 'row')} without a target.")
        frame = frame[np.flatnonzero(~missing)]
    if frame.height < 4:
        raise TableError(f"{_there_are(frame.height, 'row')} with a target; 4 or more are needed.")
    if columns.time is not None:
        frame = frame[_time_order(_unnamed_column(frame, columns.time), columns.time)]
        notes.append(f"Rows are in the order of {columns.time!r}.")
    return frame, notes


def _there_are(number: int, noun: str) -> str:
    return f"There {'is' if number == 1 else 'are'} {pluralise(number, noun)}"


def _missing_mask(column: polars.Series) -> NDArray[np.bool_]:
    """Where there is no value; NaN is none."""
    missing = column.is_null()
    if column.dtype.is_float():
        missing |= column.is_nan()
    return missing.to_numpy()


def _time_order(time: polars.Series, name: str) -> NDArray[np.intp]:
    """The order of rows in time, by numbers, dates, or text such as 2020-01-31."""
    import polars

    if time.dtype == polars.String:
        try:
            time = time.str.to_datetime(strict=True, time_unit="us")
        except polars.exceptions.PolarsError:
            raise TableError(
                f"Column {name!r} is text, and no dates such as 2020-01-31 that rows could be "
                "ordered by: write it so, or as numbers."
            ) from None
    if _missing_mask(time).any():
        raise TableError(f"Column {name!r} has gaps, so rows cannot be ordered by it.")
    return np.argsort(time.to_numpy(), kind="stable")


def _select_features(
    frame: polars.DataFrame, columns: ColumnOptions
) -> tuple[list[str], list[str]]:
    """The features, and what was left out."""
    apart = {*columns.target, columns.weights, columns.time}
    names = [name for name in frame.columns if name not in apart]
    names = _exclude_names(names, match_names(columns.drop, names, "--drop"))
    notes = []
    for is_out, note in _exclusion_rules(columns):
        out = [name for name in names if is_out(name, _unnamed_column(frame, name))]
        names = _exclude_names(names, out)
        notes += [note.format(_join_names(out))] if out else []
    if len(names) < 2:
        raise TableError(
            f"{_there_are(len(names), 'column')} to group besides {_join_names(columns.target)}; "
            "2 or more are needed."
        )
    return names, notes


def _exclude_names(names: list[str], out: Iterable[str]) -> list[str]:
    left_out = {*out}
    return [name for name in names if name not in left_out]


def _exclusion_rules(
    columns: ColumnOptions,
) -> list[tuple[Callable[[str, polars.Series], bool], str]]:
    """Which columns are no features, and what is said of them."""
    text = [(_is_text_column, "Left out, since they are text: {}.")]
    return [
        (_is_row_number_column, "Left out: the column without a name, which numbers the rows."),
        *(text if columns.drop_text else []),
        (_is_empty_column, "Left out, since they hold nothing: {}."),
    ]


def _is_row_number_column(name: str, column: polars.Series) -> bool:
    """Whether a column is the number of the row, as pandas writes it without a name."""
    if not name.startswith("unnamed_") or not column.dtype.is_integer() or column.null_count():
        return False
    return bool((column.diff().drop_nulls() == 1).all())


def _is_text_column(_: str, column: polars.Series) -> bool:
    return not _is_numeric_column(column)


def _is_empty_column(_: str, column: polars.Series) -> bool:
    return column.null_count() == len(column)


def _is_numeric_column(column: polars.Series) -> bool:
    import polars

    return column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Null)


def match_names(patterns: Sequence[str], names: Sequence[str], flag: str) -> list[str]:
    """The names that one of the patterns stands for; a name itself stands for itself alone."""
    known, found = {*names}, []
    for pattern in patterns:
        matches = [pattern] if pattern in known else [n for n in names if fnmatchcase(n, pattern)]
        if not matches:
            similar = closest_name(pattern, names)
            advice = f" Did you mean {similar!r}?" if similar else ""
            raise TableError(f"{flag} {pattern!r} is no feature, and no pattern of any.{advice}")
        found += matches
    return list(dict.fromkeys(found))


def _target_values(frame: polars.DataFrame, columns: ColumnOptions) -> NDArray[Any]:
    """The target, or several, as they are."""
    if len(columns.target) > 1:
        return columns_to_floats(frame, list(columns.target), what="target")
    (name,) = columns.target
    column = _unnamed_column(frame, name)
    if column.dtype.is_temporal() or column.dtype.is_nested():
        raise TableError(f"Target {name!r} is {column.dtype}: make numbers or text of it.")
    if not _is_numeric_column(column):
        return np.array(column.cast(str).to_list(), dtype=object)
    if column.dtype.is_decimal():
        return columns_to_floats(frame, [name], what="target").ravel()
    values = column.to_numpy()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values))) + 1
        raise TableError(f"Target {name!r} is no finite number in row {row}.")
    return values
