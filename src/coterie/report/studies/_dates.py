"""Rows in time: a column of dates whose rows are in order."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

from coterie._data.fields import is_field, sample_dim_of

# Texts of other lengths are not dates: from "1-1-2020" to a time stamp with a zone.
DATE_LENGTHS = range(8, 36)


def ordered_dates(X: Any, y: Any = None) -> str | None:
    """The first column of dates in a pandas or polars data frame whose rows are in order.

    Dates are of a date type, or text such as 2020-01-31 in every row. Rows of an xarray field are
    in order if the coordinate of their dimension is.

    Examples
    --------
    >>> import pandas
    >>> days = pandas.DataFrame({"day": ["2020-01-30", "2020-01-31"], "wind": [1.0, 2.0]})
    >>> ordered_dates(days)
    'day'
    """
    if is_field(X):
        dim = sample_dim_of(X, y)
        times = np.asarray(X[dim])
        return dim if times.dtype.kind == "M" and _is_ordered(times) else None
    if not hasattr(X, "iloc") and not hasattr(X, "get_column"):
        return None
    for name in X.columns:
        values = as_dates(np.asarray(X[name]))
        if values is not None and _is_ordered(values):
            return str(name)
    return None


def as_dates(values: Any) -> Any:
    """An array as datetime64, or None if it does not hold dates."""
    if values.dtype.kind == "M":
        return values
    if values.dtype.kind not in "OUT" or not len(values):
        return None
    texts = values.tolist()
    if all(hasattr(one, "isoformat") for one in texts):
        texts = [one.isoformat() for one in texts]
    # Most text is no date, and the first row tells.
    if not _is_date(texts[0]) or not all(map(_is_date, texts)):
        return None
    return np.array([text.replace("Z", "")[:26] for text in texts], dtype="datetime64[us]")


def _is_date(text: Any) -> bool:
    if not isinstance(text, str) or len(text) not in DATE_LENGTHS:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_ordered(values: Any) -> bool:
    """Whether rows are in order, from the first to the last, and not all at once."""
    if np.isnat(values).any() or len(values) < 2:
        return False
    return bool((values[1:] >= values[:-1]).all() and values[0] < values[-1])
