"""Split a table into features, targets, weights and time, as the options say."""

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
    """A table split into features, target and weights.

    Parameters
    ----------
    frame : polars.DataFrame
        All columns, with the rows in the order of use.
    X : polars.DataFrame
        The features, as floats.
    y : ndarray of shape (n_rows,) or (n_rows, n_targets)
    weights : ndarray of shape (n_rows,) or None
    task : Task
    n_missing : int
        Number of missing values in the features.
    notes : list of str
        Messages about rows and columns that were left out or sorted.
    """

    frame: polars.DataFrame
    X: polars.DataFrame
    y: NDArray[Any]
    weights: FloatArray | None
    task: Task
    n_missing: int
    notes: list[str]


def prepare_table(source: TableOptions, columns: ColumnOptions) -> PreparedTable:
    """Read a table, and split it into features, targets and weights."""
    frame = read_source(source)
    roles = [*columns.target, *filter(None, [columns.weights, columns.time])]
    for name in roles:
        check_column(frame, name, source.data)
    if len({*roles}) < len(roles):
        raise TableError("A column can have only one role: --target, --weights or --time.")
    frame, notes = _select_rows(frame, columns)
    names, more = _select_features(frame, columns)
    notes += more
    values = columns_to_floats(frame, names, what="feature")
    y = _target_values(frame, columns)
    weights = _weight_values(frame, columns)
    task = infer_task(y) if columns.task is None else Task(columns.task, "as given")  # type: ignore[arg-type]
    _check_task(task.name, y, columns)
    if task.name == "classes" and len(columns.target) > 1:
        raise TableError("Several targets must be numeric: give only one --target for classes.")
    return PreparedTable(
        frame, frame_from_array(values, names), y, weights, task, int(np.isnan(values).sum()), notes
    )


def _unnamed_column(frame: polars.DataFrame, name: str) -> polars.Series:
    """A column under a neutral name, since polars may read its own name as a pattern."""
    return frame.get_column(name).alias("column")


def _weight_values(frame: polars.DataFrame, columns: ColumnOptions) -> FloatArray | None:
    """The sample weights, or None."""
    if columns.weights is None:
        return None
    weights = columns_to_floats(frame, [columns.weights], what="weight").ravel()
    bad = np.flatnonzero(~(weights >= 0))
    if len(bad):
        raise TableError(
            f"Column {columns.weights!r} must hold weights of 0 or more, got "
            f"{weights[bad[0]]:g} in row {bad[0] + 1}."
        )
    return weights


def _check_task(task: str, y: NDArray[Any], columns: ColumnOptions) -> None:
    """Raise if the target does not fit the task."""
    name = _join_names(columns.target)
    if task != "classes" and y.dtype.kind not in "iufb":
        raise TableError(f"Target {name} is text: use --task classes, or convert it to numbers.")
    if task == "counts":
        bad = np.flatnonzero((y < 0) | (y != np.round(y)))
        if len(bad):
            raise TableError(
                f"Target {name} must be a count in row {bad[0] + 1}, got {y[bad[0]]:g}."
            )


def read_source(source: TableOptions) -> polars.DataFrame:
    """The table that the options name."""
    return read_table(
        source.data,
        format=source.format,
        separator=source.separator,
        decimal=source.decimal,
        encoding=source.encoding,
        sheet=source.sheet,
    )


def check_column(frame: polars.DataFrame, name: str, where: str) -> None:
    """Raise if there is no such column, and suggest the closest name."""
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
    """The rows that have a target, sorted by time if a time column is given."""
    targets = [_unnamed_column(frame, name) for name in columns.target]
    missing = np.any([_missing_mask(target) for target in targets], axis=0)
    notes = []
    if missing.any() and not columns.skip_gaps:
        raise TableError(
            f"Target {_join_names(columns.target)} lacks "
            f"{pluralise(int(missing.sum()), 'value')}, the first in row "
            f"{int(missing.argmax()) + 1}: fill them in, or leave these rows out with "
            "--skip-gaps."
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
    """Mask of missing values; NaN counts as missing."""
    missing = column.is_null()
    if column.dtype.is_float():
        missing |= column.is_nan()
    return missing.to_numpy()


def _time_order(time: polars.Series, name: str) -> NDArray[np.intp]:
    """Indices that sort rows by time: numbers, dates, or text such as 2020-01-31."""
    import polars

    if time.dtype == polars.String:
        try:
            time = time.str.to_datetime(strict=True, time_unit="us")
        except polars.exceptions.PolarsError:
            raise TableError(
                f"--time needs numbers or dates such as 2020-01-31, and column {name!r} is other "
                "text: convert it."
            ) from None
    if _missing_mask(time).any():
        raise TableError(f"Column {name!r} has missing values, so rows cannot be sorted by it.")
    return np.argsort(time.to_numpy(), kind="stable")


def _select_features(
    frame: polars.DataFrame, columns: ColumnOptions
) -> tuple[list[str], list[str]]:
    """Names of the features, and messages about columns left out."""
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
    """Tests for columns that are not features, each with its message."""
    text = [(_is_text_column, "Left out, since they are text: {}.")]
    return [
        (_is_row_number_column, "Left out: the column without a name that holds row numbers."),
        *(text if columns.drop_text else []),
        (_is_empty_column, "Left out, since they are empty: {}."),
    ]


def _is_row_number_column(name: str, column: polars.Series) -> bool:
    """Whether a column holds row numbers, as pandas writes its index without a name."""
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
    """The names that match one of the patterns; an exact name matches only itself."""
    known, found = {*names}, []
    for pattern in patterns:
        matches = [pattern] if pattern in known else [n for n in names if fnmatchcase(n, pattern)]
        if not matches:
            similar = closest_name(pattern, names)
            advice = f" Did you mean {similar!r}?" if similar else ""
            raise TableError(f"{flag} {pattern!r} matches no feature.{advice}")
        found += matches
    return list(dict.fromkeys(found))


def _target_values(frame: polars.DataFrame, columns: ColumnOptions) -> NDArray[Any]:
    """The values of the target, or of several targets."""
    if len(columns.target) > 1:
        return columns_to_floats(frame, list(columns.target), what="target")
    (name,) = columns.target
    column = _unnamed_column(frame, name)
    if column.dtype.is_temporal() or column.dtype.is_nested():
        raise TableError(f"Target {name!r} has type {column.dtype}: convert it to numbers or text.")
    if not _is_numeric_column(column):
        return np.array(column.cast(str).to_list(), dtype=object)
    if column.dtype.is_decimal():
        return columns_to_floats(frame, [name], what="target").ravel()
    values = column.to_numpy()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values))) + 1
        raise TableError(f"Target {name!r} must be finite, got {values[row - 1]} in row {row}.")
    return values
