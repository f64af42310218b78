"""Split a table into features, targets, weights and time, as the options say."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._data.preparation import TablePreparer
from coterie._data.tables import TableError, closest_name, columns_to_floats, read_table
from coterie.cli._frames import select_columns
from coterie.cli._options import ColumnOptions, TableOptions
from coterie.report.inspection import pluralise
from coterie.report.studies import RowTimes, Task, infer_task, times_in_column, times_of_rows

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
    weights, exposure, offset, groups : ndarray of shape (n_rows,) or None
    task : Task
    n_missing : int
        Number of missing values in the features.
    notes : list of str
        Messages about rows and columns that were left out, encoded or sorted.
    preparer : TablePreparer
        What made the features from the columns.
    times : RowTimes or None
        What tells the time of the rows, if they are arranged by it.
    """

    frame: polars.DataFrame
    X: polars.DataFrame
    y: NDArray[Any]
    weights: FloatArray | None
    task: Task
    n_missing: int
    notes: list[str]
    preparer: TablePreparer
    times: RowTimes | None
    exposure: FloatArray | None = None
    offset: FloatArray | None = None
    groups: NDArray[Any] | None = None

    @property
    def about_rows(self) -> dict[str, Any]:
        """What studies and comparisons are told about the rows."""
        return {
            "sample_weight": self.weights,
            "exposure": self.exposure,
            "offset": self.offset,
            "groups": self.groups,
        }


def rows_in_time(data: PreparedTable, columns: ColumnOptions, *, test_last: bool = False) -> Any:
    """Whether rows are in time order, or when each is: as the options or the columns say."""
    if _says_order(columns):
        return columns.time is not None or bool(columns.by_time)
    if data.times is None or test_last or columns.row_groups is not None:
        return False
    return data.times.times


def time_notes(
    data: PreparedTable, columns: ColumnOptions, *, test_last: bool = False
) -> list[str]:
    """A note that a column of dates decided how rows are split, if it did."""
    if _says_order(columns) or rows_in_time(data, columns, test_last=test_last) is False:
        return []
    return [] if data.times is None else [data.times.note("--no-by-time")]


def _says_order(columns: ColumnOptions) -> bool:
    return columns.time is not None or columns.by_time is not None


def prepare_table(source: TableOptions, columns: ColumnOptions) -> PreparedTable:
    """Read a table, and split it into features, targets and weights."""
    frame = read_source(source)
    roles = [*columns.target, *_other_roles(columns)]
    for name in roles:
        check_column(frame, name, source.data)
    if len({*roles}) < len(roles):
        raise TableError("A column can have only one role, such as --target or --weights.")
    if columns.exposure is not None and columns.offset is not None:
        raise TableError("--offset is the log of --exposure: give only one of them.")
    if columns.row_groups is not None and (columns.time is not None or columns.by_time):
        raise TableError("Rows are split by --row-groups or in time, not both.")
    if columns.time is not None and columns.by_time is False:
        raise TableError("--time puts rows in the order of time: leave out --no-by-time.")
    frame, notes = _select_rows(frame, columns)
    names = _feature_columns(frame, columns)
    if not names:
        raise TableError(
            f"There are no columns to group besides {_join_names(columns.target)}; 2 or more are "
            "needed."
        )
    y = _target_values(frame, columns)
    weights = _weight_values(frame, columns)
    about_rows = _about_rows(frame, columns)
    if columns.task is not None:
        task = Task(columns.task, "as given")  # type: ignore[arg-type]
    elif columns.exposure is None and columns.offset is None:
        task = infer_task(y)
    else:
        task = Task("counts", "with an exposure")
    _check_task(task.name, y, columns)
    if task.name == "classes" and len(columns.target) > 1:
        raise TableError("Several targets must be numeric: give only one --target for classes.")
    preparer, X = _prepare_features(select_columns(frame, names), y, columns)
    notes += preparer.notes()
    _check_features(X, columns, preparer)
    n_missing = int(np.isnan(X.to_numpy()).sum())
    others = [name for name in frame.columns if name not in roles]
    times = times_of_rows(select_columns(frame, others))
    return PreparedTable(
        frame, X, y, weights, task, n_missing, notes, preparer, times, **about_rows
    )


def _other_roles(columns: ColumnOptions) -> list[str]:
    """The columns that are neither targets nor features."""
    named = columns.weights, columns.time, columns.exposure, columns.offset, columns.row_groups
    return [one for one in named if one is not None]


def _about_rows(frame: polars.DataFrame, columns: ColumnOptions) -> dict[str, Any]:
    """Exposure, offset and groups of the rows."""
    found: dict[str, Any] = {}
    for role, name in (("exposure", columns.exposure), ("offset", columns.offset)):
        if name is not None:
            values = columns_to_floats(frame, [name], what=role).ravel()
            bad = np.isnan(values) if role == "offset" else ~(values > 0)
            if bad.any():
                kind = "numbers" if role == "offset" else "numbers above 0"
                row = int(bad.argmax())
                raise TableError(
                    f"Column {name!r} must hold {kind} as the {role}, got {values[row]:g} in row "
                    f"{row + 1}."
                )
            found[role] = values
    if columns.row_groups is not None:
        column = _unnamed_column(frame, columns.row_groups)
        if column.null_count():
            row = int(column.is_null().arg_max() or 0) + 1
            raise TableError(f"Column {columns.row_groups!r} lacks a group of rows in row {row}.")
        is_plain = _is_numeric_column(column)
        found["groups"] = np.array((column if is_plain else column.cast(str)).to_list())
    return found


def _prepare_features(
    table: polars.DataFrame, y: NDArray[Any], columns: ColumnOptions
) -> tuple[TablePreparer, polars.DataFrame]:
    """Columns of any kind as floats, and what made them."""
    if columns.text == "refuse":
        columns_to_floats(table, table.columns, what="feature")
    keep = _kept_columns(columns.keep, table.columns)
    preparer = TablePreparer(text=columns.text, keep=keep)  # type: ignore[arg-type]
    with as_table_error_of_values():
        return preparer, preparer.fit_transform(table, y)


@contextmanager
def as_table_error_of_values() -> Iterator[None]:
    """Turn what a preparer says about values into a TableError."""
    try:
        yield
    except TableError:
        raise
    except ValueError as error:
        raise TableError(str(error)) from None


def _kept_columns(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Columns that are not left out; patterns may also mean columns that are made of them."""
    words = [word for text in patterns for word in split_names(text, names)]
    return [name for name in names if any(name == w or fnmatchcase(name, w) for w in words)]


def _check_features(X: polars.DataFrame, columns: ColumnOptions, preparer: TablePreparer) -> None:
    if X.width >= 2:
        return
    why = [note[:150] for note in preparer.notes()[:1] if note.startswith("Left out")]
    few = f"{_there_are(X.width, 'column')} to group besides {_join_names(columns.target)}"
    raise TableError(" ".join([f"{few}; 2 or more are needed.", *why]))


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
        if missing.all():
            raise TableError(f"Target {_join_names(columns.target)} has no value in any row.")
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
        dates = times_in_column(time, name)
        if dates is None:
            raise TableError(
                f"--time needs numbers or dates such as 2020-01-31, and column {name!r} is other "
                "text: convert it."
            )
        time = polars.Series(dates)
    if _missing_mask(time).any():
        raise TableError(f"Column {name!r} has missing values, so rows cannot be sorted by it.")
    return np.argsort(time.to_numpy(), kind="stable")


def _feature_columns(frame: polars.DataFrame, columns: ColumnOptions) -> list[str]:
    """Names of the columns that are neither dropped nor have another role."""
    apart = {*columns.target, *_other_roles(columns)}
    names = [name for name in frame.columns if name not in apart]
    dropped = [word for text in columns.drop for word in split_names(text, names)]
    return _exclude_names(names, match_names(dropped, names, "--drop"))


def _exclude_names(names: list[str], out: Iterable[str]) -> list[str]:
    left_out = {*out}
    return [name for name in names if name not in left_out]


def _is_numeric_column(column: polars.Series) -> bool:
    import polars

    return column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Null)


def split_names(text: str, names: Sequence[str]) -> list[str]:
    """Names or patterns separated by commas; a name with a comma is meant, or in quotes.

    Examples
    --------
    >>> split_names("a, b*", ["a", "b1"])
    ['a', 'b*']
    >>> split_names("a,b", ["a,b"]), split_names('"a,b",c', ["a,b", "c"])
    (['a,b'], ['a,b', 'c'])
    """
    if text in names:
        return [text]
    try:
        words = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        # A line break in a name.
        return [text]
    return [word.strip() for word in words if word.strip()] or [text]


def match_features(patterns: Sequence[str], data: PreparedTable, flag: str) -> list[str]:
    """The features that patterns mean: by their names, or those that a column became."""
    made = {one.name: one.outputs for one in data.preparer.columns_ if one.outputs}
    names = data.X.columns
    found: list[str] = []
    for text in patterns:
        for word in split_names(text, [*made, *names]):
            if word not in made and any(fnmatchcase(name, word) for name in names):
                found += match_names([word], names, flag)
                continue
            for column in match_names([word], [*made], flag):
                found += made[column]
    return list(dict.fromkeys(found))


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
    if column.dtype.is_nested():
        raise TableError(f"Target {name!r} has type {column.dtype}: convert it to numbers or text.")
    is_text = column.dtype == str or not _is_numeric_column(column)
    if column.dtype.is_temporal() or (is_text and times_in_column(column, name) is not None):
        raise TableError(
            f"Target {name!r} holds dates: predict a number instead, such as the days since one of "
            "them, or order rows by it with --time."
        )
    if not _is_numeric_column(column):
        return np.array(column.cast(str).to_list(), dtype=object)
    if column.dtype.is_decimal():
        return columns_to_floats(frame, [name], what="target").ravel()
    values = column.to_numpy()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values))) + 1
        raise TableError(f"Target {name!r} must be finite, got {values[row - 1]} in row {row}.")
    return values
