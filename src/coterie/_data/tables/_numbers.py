"""Columns of a table as floats, or the column, the row and the value that stand against it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coterie._core.values import FloatArray
from coterie._data.tables._column_names import did_you_mean
from coterie._data.tables._errors import TableError, shown
from coterie._data.tables._optional_imports import library

if TYPE_CHECKING:
    import polars

THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?\s*")
FEW = 3


def numbers_of(frame: polars.DataFrame, columns: Sequence[str], *, what: str) -> FloatArray:
    """Some columns of a table as floats: true is 1, false is 0, null is NaN.

    Parameters
    ----------
    frame : polars.DataFrame
    columns : sequence of str
        Their names, in the order of the result.
    what : str
        What they are, for a sentence: "feature", "target", "weight". A feature can be dropped.

    Returns
    -------
    ndarray of shape (n_samples, len(columns))

    Raises
    ------
    TableError
        Where a column is not there, is no numbers, or has an infinite value; with its row, of
        which the first below the header is 1.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"size": [1, None], "new": [True, False], "city": ["Rome", "Paris"]})
    >>> numbers_of(frame, ["size", "new"], what="feature")
    array([[ 1.,  1.],
           [nan,  0.]])
    >>> numbers_of(frame, ["city"], what="feature")
    Traceback (most recent call last):
    coterie._data.tables._errors.TableError: Feature 'city' is text (row 1: 'Rome'): \
drop it with --drop city, or make numbers of it.
    """
    _check_there(frame, columns)
    _check_kinds(frame, columns, what)
    if not columns:
        return np.empty((frame.height, 0))
    pl = library("polars")
    # By number, as expressions take a column called * or ^a$ for several.
    series = dict(zip(frame.columns, frame.get_columns(), strict=True))
    numbered = pl.DataFrame([series[name].alias(str(j)) for j, name in enumerate(columns)])
    floats = numbered.select(pl.all().cast(pl.Float64).fill_null(np.nan))
    values = np.asarray(floats.to_numpy(), dtype=np.float64)
    _check_finite(values, columns, what)
    return values


def _check_there(frame: polars.DataFrame, columns: Sequence[str]) -> None:
    there = {*frame.columns}
    for name in columns:
        if name not in there:
            question = did_you_mean(name, frame.columns)
            raise TableError(f"The table has no column {shown(name)}.{question}")


def _check_kinds(frame: polars.DataFrame, columns: Sequence[str], what: str) -> None:
    # Each look at the schema of a frame makes it anew, for all columns.
    schema = frame.schema
    odd = [name for name in columns if _kind(schema[name]) != "numbers"]
    if not odd:
        return
    series = frame.get_column(odd[0]).alias("odd")
    example, advice = _example(series), [_advice(series)]
    if what == "feature":
        advice = [_drop(odd), *advice]
    others = ", ".join(map(shown, odd[1 : 1 + FEW])) + ", ..." * (len(odd) > 1 + FEW)
    more = f", and so it is with {others}" if others else ""
    raise TableError(
        f"{what.capitalize()} {shown(odd[0])} is {_kind(series.dtype)}{example}{more}: "
        f"{', or '.join(advice)}."
    )


def _kind(dtype: polars.DataType) -> str:
    """What a column holds, in a word."""
    pl = library("polars")
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return "numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype.is_temporal():
        return "dates or times"
    return "lists" if dtype.is_nested() else "neither numbers nor text"


def _example(series: polars.Series) -> str:
    """The first value that is no number, and its row; nothing where all are null."""
    pl = library("polars")
    is_odd = series.is_not_null()
    if _kind(series.dtype) == "text":
        is_text = is_odd & series.cast(pl.String).cast(pl.Float64, strict=False).is_null()
        is_odd = is_text if is_text.any() else is_odd
    if not is_odd.any():
        return ""
    row = int(is_odd.arg_max() or 0)
    return f" (row {row + 1}: {shown(series[row])})"


def _advice(series: polars.Series) -> str:
    kind = _kind(series.dtype)
    if kind == "dates or times":
        return "make numbers of it, such as the days since some day"
    if kind == "text" and _are_thousands(series):
        return "remove what stands between its thousands"
    return "make numbers of it"


def _are_thousands(series: polars.Series) -> bool:
    some = series.drop_nulls().head(1000).cast(library("polars").String).to_list()
    return any(map(THOUSANDS.fullmatch, some)) and not any(re.search("[A-Za-z]", s) for s in some)


def _drop(names: Sequence[str]) -> str:
    if len(names) > 1:
        return "drop them with --drop"
    name = names[0]
    plain = name.isprintable() and 0 < len(name) <= 40
    return f"drop it with --drop {shlex.quote(name)}" if plain else "drop it with --drop"


def _check_finite(values: FloatArray, columns: Sequence[str], what: str) -> None:
    bad = np.isinf(values).any(axis=0)
    if not bad.any():
        return
    column = int(np.argmax(bad))
    row = int(np.argmax(np.isinf(values[:, column])))
    raise TableError(
        f"{what.capitalize()} {shown(columns[column])} is infinite in row {row + 1}: replace the "
        "value, or leave it empty."
    )
