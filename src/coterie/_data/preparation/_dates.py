"""Dates in text, and calendar parts of dates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray

CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?"
TIME = rf"(?:[T ]+(?P<time>{CLOCK})(?:\s*(?:Z|UTC|[+-]\d{{2}}:?\d{{2}}))?)?"
# Each column is in one of these orders. Day and month of 01/02/2020 are known only from a column
# that has a day above 12.
ORDERS = [
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
    r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    r"(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4})",
    r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})",
]
PATTERNS = [re.compile(order + TIME) for order in ORDERS]


def dates_in_text(text: NDArray[Any]) -> NDArray[Any] | None:
    """The dates that a column of text holds; None if one value is no date, or could be two.

    Parameters
    ----------
    text : ndarray of str or None

    Examples
    --------
    >>> dates_in_text(np.array(["31.1.2020", None], dtype=object))
    array(['2020-01-31T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    >>> dates_in_text(np.array(["01/02/2020", "03/04/2020"], dtype=object)) is None
    True
    """
    different = {one for one in text if one is not None}
    if not different:
        return None
    orders = [found for pattern in PATTERNS if (found := _in_order(pattern, different)) is not None]
    if len(orders) != 1:
        return None
    nothing = np.datetime64("NaT", "us")
    return np.array([orders[0].get(one, nothing) for one in text], dtype="datetime64[us]")


def _in_order(pattern: re.Pattern[str], different: set[str]) -> dict[str, Any] | None:
    """The date of each text, or None if one does not match the pattern."""
    found = {}
    for text in different:
        match = pattern.fullmatch(text)
        if match is None:
            return None
        year, month, day = (int(match[name]) for name in ("year", "month", "day"))
        time = (match["time"] or "0:00").replace(",", ".").zfill(5)
        if time[1] == ":":
            time = f"0{time}"
        try:
            found[text] = np.datetime64(f"{year:04d}-{month:02d}-{day:02d}T{time}", "us")
        except ValueError:
            # There is no such day, such as 30 February.
            return None
    return found


def calendar_parts(dates: NDArray[Any], origin: np.datetime64) -> dict[str, FloatArray]:
    """Parts of dates as floats, NaN for NaT: days since the origin, year, month and so on.

    Weekdays are 1 for Monday to 7 for Sunday, and hours have a fraction.

    Examples
    --------
    >>> day = np.array(["2020-02-03T12:30"], dtype="datetime64[us]")
    >>> parts = calendar_parts(day, np.datetime64("2020-02-01", "us"))
    >>> {name: values.item() for name, values in parts.items()}
    {'days': 2.0, 'year': 2020.0, 'month': 2.0, 'yearday': 34.0, 'weekday': 1.0, 'hour': 12.5}
    """
    day, month, year = (dates.astype(f"datetime64[{unit}]") for unit in "DMY")
    parts = {
        "days": (day - origin.astype("datetime64[D]")) / np.timedelta64(1, "D"),
        "year": year.astype(np.int64) + 1970,
        "month": (month - year) / np.timedelta64(1, "M") + 1,
        "yearday": (day - year) / np.timedelta64(1, "D") + 1,
        # The first day of 1970 was a Thursday.
        "weekday": (day.astype(np.int64) + 3) % 7 + 1,
        "hour": (dates - day) / np.timedelta64(1, "h"),
    }
    missing = np.isnat(dates)
    return {name: np.where(missing, np.nan, values) for name, values in parts.items()}


def useful_parts(dates: NDArray[Any], origin: np.datetime64) -> list[str]:
    """The parts that vary and that do not repeat another one."""
    parts = calendar_parts(dates[~np.isnat(dates)], origin)
    varying = [name for name, values in parts.items() if len(values) and np.ptp(values) > 0]
    # Within one year, its days are the days since the origin.
    repeated = {"yearday"} if "year" not in varying else set()
    is_monthly = np.ptp(_day_of_month(dates[~np.isnat(dates)])) == 0
    # The weekdays of firsts of months say nothing.
    repeated |= {"weekday"} if is_monthly else set()
    return [name for name in varying if name not in repeated]


def _day_of_month(dates: NDArray[Any]) -> NDArray[Any]:
    return (dates.astype("datetime64[D]") - dates.astype("datetime64[M]")).astype(np.int64)
