"""Columns of a table as floats; errors name the column, the row and the value."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coterie._core.values import FloatArray
from coterie._data.tables._column_names import did_you_mean
from coterie._data.tables._errors import TableError, quote
from coterie._data.tables._optional_imports import import_optional

if TYPE_CHECKING:
    import polars

THOUSANDS_PATTERN = re.compile(r"\s*[+-]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?\s*")
MAX_LISTED_COLUMNS = 3


def columns_to_floats(frame: polars.DataFrame, columns: Sequence[str], *, what: str) -> FloatArray:
    """Columns of a table as a float array: true is 1, false is 0, null is NaN.

    Parameters
    ----------
    frame : polars.DataFrame
    columns : sequence of str
        Names of the columns, in the order of the result.
    what : str
        Their role, for messages: "feature", "target" or "weight". A feature can be dropped.

    Returns
    -------
    ndarray of shape (n_samples, len(columns))

    Raises
    ------
    TableError
        If a column is missing, is not numeric, or has an infinite value. Rows are counted from 1
        below the header.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"size": [1, None], "new": [True, False], "city": ["Rome", "Paris"]})
    >>> columns_to_floats(frame, ["size", "new"], what="feature")
    array([[ 1.,  1.],
           [nan,  0.]])
    >>> columns_to_floats(frame, ["city"], what="feature")
    Traceback (most recent call last):
    coterie._data.tables._errors.TableError: Feature 'city' is text (row 1: 'Rome'): \
drop it with --drop city, or convert it to numbers.
    """
    _check_columns_exist(frame, columns)
    _check_numeric(frame, columns, what)
    if not columns:
        return np.empty((frame.height, 0))
    pl = import_optional("polars")
    # Numbers as names, since polars reads names such as * or ^a$ as patterns.
    series = dict(zip(frame.columns, frame.get_columns(), strict=True))
    numbered = pl.DataFrame([series[name].alias(str(j)) for j, name in enumerate(columns)])
    floats = numbered.select(pl.all().cast(pl.Float64).fill_null(np.nan))
    values = np.asarray(floats.to_numpy(), dtype=np.float64)
    _check_not_infinite(values, columns, what)
    return values


def _check_columns_exist(frame: polars.DataFrame, columns: Sequence[str]) -> None:
    there = {*frame.columns}
    for name in columns:
        if name not in there:
            question = did_you_mean(name, frame.columns)
            raise TableError(f"The table has no column {quote(name)}.{question}")


def _check_numeric(frame: polars.DataFrame, columns: Sequence[str], what: str) -> None:
    # Once, since each access builds the schema of all columns.
    schema = frame.schema
    odd = [name for name in columns if _dtype_text(schema[name]) != "numbers"]
    if not odd:
        return
    series = frame.get_column(odd[0]).alias("odd")
    example, advice = _first_example(series), [_conversion_advice(series)]
    if what == "feature":
        advice = [_drop_advice(odd), *advice]
    others = ", ".join(map(quote, odd[1 : 1 + MAX_LISTED_COLUMNS])) + ", ..." * (
        len(odd) > 1 + MAX_LISTED_COLUMNS
    )
    more = f", and so are {others}" if others else ""
    raise TableError(
        f"{what.capitalize()} {quote(odd[0])} is {_dtype_text(series.dtype)}{example}{more}: "
        f"{', or '.join(advice)}."
    )


def _dtype_text(dtype: polars.DataType) -> str:
    """What a column holds, for messages."""
    pl = import_optional("polars")
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return "numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype.is_temporal():
        return "dates or times"
    return "lists" if dtype.is_nested() else "neither numbers nor text"


def _first_example(series: polars.Series) -> str:
    """The first value that is not a number, with its row; empty if all are null."""
    pl = import_optional("polars")
    is_odd = series.is_not_null()
    if _dtype_text(series.dtype) == "text":
        is_text = is_odd & series.cast(pl.String).cast(pl.Float64, strict=False).is_null()
        is_odd = is_text if is_text.any() else is_odd
    if not is_odd.any():
        return ""
    row = int(is_odd.arg_max() or 0)
    return f" (row {row + 1}: {quote(series[row])})"


def _conversion_advice(series: polars.Series) -> str:
    kind = _dtype_text(series.dtype)
    if kind == "dates or times":
        return "convert it to numbers, such as days since a date"
    if kind == "text" and _have_thousands_separators(series):
        return "remove its thousands separators"
    return "convert it to numbers"


def _have_thousands_separators(series: polars.Series) -> bool:
    some = series.drop_nulls().head(1000).cast(import_optional("polars").String).to_list()
    return any(map(THOUSANDS_PATTERN.fullmatch, some)) and not any(
        re.search("[A-Za-z]", s) for s in some
    )


def _drop_advice(names: Sequence[str]) -> str:
    if len(names) > 1:
        return "drop them with --drop"
    name = names[0]
    plain = name.isprintable() and 0 < len(name) <= 40
    return f"drop it with --drop {shlex.quote(name)}" if plain else "drop it with --drop"


def _check_not_infinite(values: FloatArray, columns: Sequence[str], what: str) -> None:
    bad = np.isinf(values).any(axis=0)
    if not bad.any():
        return
    column = int(np.argmax(bad))
    row = int(np.argmax(np.isinf(values[:, column])))
    raise TableError(
        f"{what.capitalize()} {quote(columns[column])} is infinite in row {row + 1}: replace the "
        "value, or leave it empty."
    )
