"""Rows in time: what tells the time of each row, and whether rows are in its order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.fields import is_field, sample_dim_of
from coterie._data.frames import known_frame
from coterie._data.preparation import read_column, source_of, words_of_name

# Texts of other lengths are not dates: from "1-1-2020" to a time stamp with a zone.
DATE_LENGTHS = range(8, 36)
# Quarters and months as text: 2000Q1, Q1 2000, 2000-Q1, 2000M01, 2000-01.
PERIODS = [
    (re.compile(r"(?P<year>\d{4})[-/ ]?[QqTt](?P<part>[1-4])"), 4),
    (re.compile(r"[QqTt](?P<part>[1-4])[-/ ]?(?P<year>\d{4})"), 4),
    (re.compile(r"(?P<year>\d{4})(?:[-/]|[Mm])(?P<part>0?[1-9]|1[0-2])"), 12),
    (re.compile(r"(?P<part>0?[1-9]|1[0-2])[-/](?P<year>\d{4})"), 12),
]
# Words of names of columns in English and German.
YEARS = {"year", "years", "yr", "jahr"}
PARTS = {12: {"month", "mon", "monat"}, 4: {"quarter", "qtr", "q", "quartal"}}
CLOCKS = {"time", "date", "datetime", "timestamp", "ts", "epoch", "unix", "unixtime", "zeit"}
# Whole numbers under such a name: seconds, milliseconds, microseconds or nanoseconds since 1970.
EPOCHS = [(1e8 * unit, 5e9 * unit) for unit in (1, 1e3, 1e6, 1e9)]
YEAR_RANGE = (1500, 2200)
# A column that is mostly missing tells no order.
MIN_KNOWN = 0.8
# Steps forwards and backwards are as frequent as each other where rows are shuffled.
MIN_ONE_WAY, MIN_DEVIATIONS, MIN_SERIES_ROWS = 0.3, 5.0, 12
MIN_DIFFERENT = 10
# Neighbouring targets that are this much alike, and that many rows, are no accident.
MIN_LIKENESS, MIN_LIKE_ROWS, STRONG_LIKENESS = 0.5, 40, 0.9

IN_ORDER, LATEST_FIRST, SERIES = "in order", "latest first", "several series"
GIVEN = "given"


@dataclass(frozen=True, eq=False)
class RowTimes:
    """The time of each row, and how rows are arranged in it.

    Parameters
    ----------
    name : str
        The columns that tell the time, such as ``'day'`` or ``'year' and 'month'``.
    times : ndarray of shape (n_rows,)
        Numbers that grow with time, without missing values.
    arranged : {"in order", "latest first", "several series", "given"}
    """

    name: str
    times: FloatArray
    arranged: str

    def note(self, other_way: str = "by_time=False") -> str:
        """How rows are split, and how to shuffle them instead."""
        if self.arranged == SERIES:
            told = f"Rows are series over the same {self.name}, so they are sorted by it and split"
        else:
            latest = ", latest first" if self.arranged == LATEST_FIRST else ""
            told = f"Rows are in the order of {self.name}{latest}, so they are split"
        return f"{told} in time; {other_way} shuffles them."


def order_in_time(times: Any) -> IntArray:
    """Indices that sort rows by time; rows at the same time keep their order."""
    return np.argsort(np.asarray(times), kind="stable")


def times_of_rows(X: Any, y: Any = None) -> RowTimes | None:
    """What tells the time of the rows of a pandas or polars data frame, if they are arranged by it.

    That is a column of dates, also as text, or of seconds since 1970 that is named so; columns of
    years and of months or quarters; quarters such as 2000Q1; or the index. Rows may be in order,
    latest first, or those of several series one after the other. Rows of an xarray field are in
    order if the coordinate of their dimension is.

    Examples
    --------
    >>> import pandas
    >>> days = pandas.DataFrame({"day": ["31.1.2020", "30.1.2020"], "wind": [1.0, 2.0]})
    >>> found = times_of_rows(days)
    >>> found.name, found.arranged
    ("'day'", 'latest first')
    """
    for name, times, may_be in _candidates(X, y):
        arranged = _arrangement(times)
        if arranged in may_be:
            return RowTimes(name, _without_gaps(times), arranged)
    return None


def _unordered_note(X: Any) -> str | None:
    """A note that a table of dates has rows that are in no order of them."""
    for name, times, _ in _candidates(X, None):
        if _arrangement(times) is None:
            return (
                f"Rows have dates ({name}) and are in no order of them: if they are to be "
                "predicted from earlier ones, sort them first."
            )
    return None


def likeness_of_neighbours(y: Any) -> float:
    """The correlation of each target with the next; 0 where it says nothing.

    It says nothing for classes, few rows, and rows that were sorted by their target.
    """
    y = np.asarray(y)
    if y.ndim > 1 or y.dtype.kind not in "iuf" or len(y) < MIN_LIKE_ROWS:
        return 0.0
    steps = np.diff(y.astype(np.float64))
    if (steps >= 0).all() or (steps <= 0).all() or len(np.unique(y)) < MIN_DIFFERENT:
        return 0.0
    found = float(np.corrcoef(y[1:], y[:-1])[0, 1])
    return found if found > max(MIN_LIKENESS, MIN_DEVIATIONS / np.sqrt(len(y))) else 0.0


Candidate = tuple[str, FloatArray, tuple[str, ...]]
ANY = (IN_ORDER, LATEST_FIRST, SERIES)


def _candidates(X: Any, y: Any) -> Iterator[Candidate]:
    """Name, time of each row with NaN, and the arrangements that count for it."""
    if is_field(X):
        dim = sample_dim_of(X, y)
        times = np.asarray(X[dim])
        if times.dtype.kind == "M":
            yield repr(dim), _as_floats(times), (IN_ORDER,)
        return
    frame = known_frame(X)
    if not hasattr(frame, "iloc") and not hasattr(frame, "get_column"):
        return
    if getattr(getattr(frame, "index", None), "dtype", np.dtype(float)).kind == "M":
        yield "the index", _as_floats(np.asarray(frame.index)), ANY
    columns = dict(_read_columns(frame))
    yield from _single(columns)
    yield from _years_and_parts(columns)


def _single(columns: dict[str, Any]) -> Iterator[Candidate]:
    for name, column in columns.items():
        if column.kind == "date":
            yield repr(name), _as_floats(column.values), ANY
        elif column.kind == "text":
            times = _texts_as_times(column.values)
            if times is not None:
                yield repr(name), times, ANY
        elif column.kind == "number" and words_of_name(name) & CLOCKS:
            known = column.values[~np.isnan(column.values)]
            if len(known) and (_are_epochs(known) or _are_days(known)):
                yield repr(name), column.values, ANY
            elif len(np.unique(known)) >= MIN_DIFFERENT:
                yield repr(name), column.values, (IN_ORDER,)


def times_in_column(series: Any, name: str) -> FloatArray | None:
    """A column of dates or of text such as 2000Q1 as numbers; None for anything else."""
    import narwhals as nw

    column = read_column(nw.from_native(series, series_only=True), name)
    if column.kind == "date":
        return _as_floats(column.values)
    return _texts_as_times(column.values) if column.kind == "text" else None


def _years_and_parts(columns: dict[str, Any]) -> Iterator[Candidate]:
    years = [
        (name, one.values)
        for name, one in columns.items()
        if one.kind == "number" and words_of_name(name) & YEARS and _are_years(one.values)
    ]
    for n_parts, words in PARTS.items():
        parts = [
            (name, one.values)
            for name, one in columns.items()
            if one.kind == "number"
            and words_of_name(name) & words
            and _are_whole(one.values, 1, n_parts)
        ]
        if years and parts:
            (year, values), (part, within) = years[0], parts[0]
            yield f"{year!r} and {part!r}", n_parts * values + within, ANY
            return
    for name, values in years:
        # Rows of one year may be of anything, such as models of cars.
        if (np.diff(values) != 0).all():
            yield repr(name), values, ANY


def _read_columns(frame: Any) -> Iterator[tuple[str, Any]]:
    """The columns that are not numbers, or whose names are words for time."""
    import narwhals as nw

    times = YEARS | CLOCKS | {word for words in PARTS.values() for word in words}
    wrapped = nw.from_native(frame, pass_through=True)
    if not isinstance(wrapped, nw.DataFrame):
        return
    names = [str(name) for name in wrapped.columns]
    if len({*names}) < len(names):
        return
    for name, series in zip(names, wrapped.iter_columns(), strict=True):
        if source_of(name) != name:
            # What an unordered date became, such as year(day).
            continue
        is_number = series.dtype.is_numeric() or series.dtype == nw.Boolean
        if not is_number or words_of_name(name) & times:
            yield name, read_column(series, name)


def _texts_as_times(values: Any) -> FloatArray | None:
    """Dates in ISO format, or quarters or months, as numbers; None for other text."""
    different = {one for one in values if one is not None}
    if not different:
        return None
    for parse in (_iso_time, *(_period_parser(*one) for one in PERIODS)):
        found: dict[Any, float] = {}
        for text in different:
            time = parse(text)
            if time is None:
                break
            found[text] = time
        else:
            return np.array([found.get(one, np.nan) for one in values])
    return None


def _iso_time(text: str) -> float | None:
    if len(text) not in DATE_LENGTHS:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None).toordinal() * 86400.0
    except ValueError:
        return None


def _period_parser(pattern: re.Pattern[str], n_parts: int) -> Callable[[str], float | None]:
    def parse(text: str) -> float | None:
        found = pattern.fullmatch(text)
        if found is None or not YEAR_RANGE[0] <= int(found["year"]) <= YEAR_RANGE[1]:
            return None
        return float(n_parts * int(found["year"]) + int(found["part"]))

    return parse


def _as_floats(dates: Any) -> FloatArray:
    """Dates as microseconds since 1970, NaN where they are missing."""
    plain = np.asarray(dates).astype("datetime64[us]")
    return np.where(np.isnat(plain), np.nan, plain.astype(np.int64).astype(np.float64))


def _are_whole(values: FloatArray, low: float, high: float) -> bool:
    known = values[~np.isnan(values)]
    inside = bool(len(known)) and low <= known.min() and known.max() <= high
    return inside and bool((known == np.round(known)).all())


def _are_years(values: FloatArray) -> bool:
    return _are_whole(values, *YEAR_RANGE)


def _are_epochs(known: FloatArray) -> bool:
    return any(low <= known.min() and known.max() <= high for low, high in EPOCHS)


def _are_days(known: FloatArray) -> bool:
    """Whether numbers are dates such as 20200131."""
    months, days = known // 100 % 100, known % 100
    return (
        _are_whole(known, 15000101, 22001231)
        and _are_whole(months, 1, 12)
        and _are_whole(days, 1, 31)
    )


def _arrangement(times: FloatArray) -> str | None:
    """How rows are arranged in time; None if they are in no order."""
    known = times[~np.isnan(times)]
    if len(known) < 2 or len(known) < MIN_KNOWN * len(times):
        return None
    steps = np.diff(known)
    n_later, n_earlier = int((steps > 0).sum()), int((steps < 0).sum())
    if n_later and not n_earlier:
        return IN_ORDER
    if n_earlier and not n_later:
        return LATEST_FIRST
    n_steps, one_way = n_later + n_earlier, abs(n_later - n_earlier)
    is_surely = one_way >= MIN_DEVIATIONS * np.sqrt(n_steps / 3)
    is_series = n_steps >= MIN_SERIES_ROWS and is_surely and one_way >= MIN_ONE_WAY * n_steps
    return SERIES if is_series else None


def _without_gaps(times: FloatArray) -> FloatArray:
    """The times, where one is missing that of the row before, or of the first row that has one."""
    known = ~np.isnan(times)
    last = np.maximum.accumulate(np.where(known, np.arange(len(times)), -1))
    return times[np.where(last < 0, int(known.argmax()), last)]


def times_for(X: Any, y: Any, by_time: Any, *, is_asked: bool) -> RowTimes | None:
    """The times that a user gave, or that the table tells if nothing else is asked for."""
    if by_time is None:
        return None if is_asked else times_of_rows(X, y)
    if isinstance(by_time, RowTimes):
        return by_time
    if isinstance(by_time, bool | np.bool_):
        return None
    given = np.asarray(by_time)
    times = _as_floats(given) if given.dtype.kind == "M" else given
    if times.dtype.kind not in "iuf" or np.isnan(times).any():
        raise ValueError(
            "by_time must be True, False, None, or a number or date for each row, none missing."
        )
    return RowTimes("", times, GIVEN)


def notes_on_order(X: Any, y: Any, found: RowTimes | None) -> list[str]:
    """What was found about the order of rows, or might be the matter with shuffled ones."""
    if found is not None:
        return [found.note()] if found.name else []
    unordered = _unordered_note(X)
    likeness = likeness_of_neighbours(y)
    if likeness == 0:
        return [] if unordered is None else [unordered]
    note = (
        f"neighbouring rows have like targets (correlation {likeness:.2f}), so shuffled rows may "
        "be too easy to predict. If rows are in time, say so (by_time, --by-time); if some belong "
        "together, give their groups (groups, --row-groups)."
    )
    is_strong = likeness > STRONG_LIKENESS
    return [f"Warning: {note}" if is_strong else f"{note[:1].upper()}{note[1:]}"]
