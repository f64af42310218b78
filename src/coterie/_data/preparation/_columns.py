"""Read a column of a data frame as numbers, dates or text."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import BoolArray
from coterie._data.preparation._dates import dates_in_text
from coterie._data.preparation._numbers import numbers_in_text

Kind = Literal["number", "date", "text", "other"]
SECONDS_PER_HOUR, MICROSECONDS_PER_DAY = 3600, 86_400_000_000


@dataclass(frozen=True)
class Column:
    """One column, read.

    Parameters
    ----------
    name : str
    kind : {"number", "date", "text", "other"}
    values : ndarray of shape (n_rows,)
        Floats, with NaN where a value is missing; datetime64, with NaT; or str, with None.
    is_whole : bool
        Whether the column is of integers, so that it may be a key.
    read_as : str
        How numbers were read from text, in words; else empty.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    is_whole: bool = False
    read_as: str = ""

    @property
    def is_missing(self) -> BoolArray:
        """Mask of missing values."""
        if self.kind == "text":
            return np.array([one is None for one in self.values], dtype=bool)
        return np.isnat(self.values) if self.kind == "date" else np.isnan(self.values)


def read_column(series: Any, name: str, *, parse: bool = True) -> Column:
    """A narwhals series as numbers, dates or text.

    With `parse`, text that holds nothing but dates is read as dates, and text of numbers with units
    or a few odd cells as numbers.
    """
    import narwhals as nw

    # A neutral name, since polars reads names such as * or ^a$ as patterns.
    series = series.alias("column")
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _numbers(series.cast(nw.Float64), name, is_whole=dtype.is_integer())
    if dtype in (nw.Datetime, nw.Date):
        return Column(name, "date", _dates(series))
    if dtype == nw.Duration:
        return Column(name, "number", _from_list(series, _days))
    if dtype == nw.Time:
        return Column(name, "number", _from_list(series, _hours))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _text(series.cast(nw.String).to_list(), name, parse=parse)
    if dtype.is_nested() or dtype == nw.Binary:
        return Column(name, "other", np.full(len(series), np.nan))
    # Objects of pandas, or a type that narwhals does not know, such as one of nothing but nulls.
    return _objects(series.to_list(), name, parse=parse)


def _numbers(series: Any, name: str, *, is_whole: bool) -> Column:
    values = np.asarray(series.to_numpy(), dtype=np.float64)
    if series.null_count():
        values = np.where(series.is_null().to_numpy(), np.nan, values)
    return Column(name, "number", values, is_whole)


def _dates(series: Any) -> NDArray[Any]:
    """Dates and times of day as shown, whatever their time zone."""
    import narwhals as nw

    if series.dtype == nw.Datetime and series.dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    return np.asarray(series.cast(nw.Datetime("us")).to_numpy(), dtype="datetime64[us]")


def _from_list(series: Any, number: Callable[[Any], float]) -> NDArray[Any]:
    return np.array([np.nan if _is_gone(one) else number(one) for one in series.to_list()], float)


def _days(span: datetime.timedelta) -> float:
    return span / datetime.timedelta(microseconds=MICROSECONDS_PER_DAY)


def _hours(time: datetime.time) -> float:
    seconds = time.hour * SECONDS_PER_HOUR + time.minute * 60 + time.second
    return (seconds + time.microsecond / 1e6) / SECONDS_PER_HOUR


def _is_gone(value: Any) -> bool:
    # NaN, NaT and NA do not equal themselves; the comparison with NA is NA.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _objects(values: list[Any], name: str, *, parse: bool) -> Column:
    """Values of Python: all numbers, all dates, or else text."""
    if any(isinstance(one, list | dict | tuple | set | np.ndarray) for one in values):
        return Column(name, "other", np.full(len(values), np.nan))
    present = [None if _is_gone(one) else one for one in values]
    kinds = {type(one) for one in present if one is not None}
    if all(issubclass(kind, int | float | Decimal | np.number | np.bool_) for kind in kinds):
        numbers = np.array([np.nan if one is None else float(one) for one in present])
        is_whole = bool(kinds) and all(issubclass(kind, int | np.integer) for kind in kinds)
        return Column(name, "number", numbers, is_whole and bool not in kinds)
    if all(issubclass(kind, datetime.date) for kind in kinds):
        plain = [one if one is None else np.datetime64(_without_zone(one)) for one in present]
        return Column(name, "date", np.array(plain, dtype="datetime64[us]"))
    return _text([one if one is None else str(one) for one in present], name, parse=parse)


def _without_zone(day: Any) -> Any:
    return day.replace(tzinfo=None) if isinstance(day, datetime.datetime) else day


def _text(values: list[Any], name: str, *, parse: bool) -> Column:
    """Text without spaces around it; an empty one is missing. Or dates or numbers, if it is."""
    stripped = [None if _is_gone(one) else one.strip() or None for one in values]
    text = np.empty(len(stripped), dtype=object)
    text[:] = stripped
    if not parse:
        return Column(name, "text", text)
    found = dates_in_text(text)
    if found is not None:
        return Column(name, "date", found)
    numbers = numbers_in_text(text)
    if numbers is not None:
        return Column(name, "number", numbers.values, read_as=numbers.reason)
    return Column(name, "text", text)
