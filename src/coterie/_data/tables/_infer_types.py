"""Columns of text become numbers, or true and false, where every one of their values is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coterie._data.tables._errors import TableError, shown
from coterie._data.tables._optional_imports import library

if TYPE_CHECKING:
    import polars

# In small letters. In a column of text they stay what they are: NA is Namibia, too.
NULL_WORDS = ("", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-", "?", ".")

FIRST = 100


def typed(frame: polars.DataFrame, *, decimal: str | None, where: str) -> polars.DataFrame:
    """The same columns, those of text that hold only numbers as numbers.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of text are looked at; others stay as they are.
    decimal : {'.', ','} or None
        None looks for decimal commas in columns that are no numbers with points, and refuses a
        table that has both.
    where : str
        The table, for a sentence.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": ["1", "NA"], "b": ["NA", "x"], "c": ["True", "false"]})
    >>> typed(frame, decimal=".", where="x.csv").rows()
    [(1, 'NA', True), (None, 'x', False)]
    """
    # By number, as polars takes a name such as ^a$ for a pattern.
    names = frame.columns
    numbered = frame.clone()
    numbered.columns = [str(place) for place in range(len(names))]
    made = _typed(numbered, names, decimal=decimal, where=where)
    made.columns = names
    return made


def _typed(
    frame: polars.DataFrame, names: list[str], *, decimal: str | None, where: str
) -> polars.DataFrame:
    pl = library("polars")
    texts = [series for series in frame if series.dtype == pl.String]
    points: dict[str, polars.Series] = {}
    commas: dict[str, polars.Series] = {}
    for series in texts:
        if decimal != "," and (found := _with_points(series)) is not None:
            points[series.name] = found
        elif decimal != "." and (found := _with_commas(series)) is not None:
            commas[series.name] = found
        elif (found := _truths(series)) is not None:
            points[series.name] = found
    if decimal is None:
        _check_one_decimal(frame, names, points, commas, where)
    return frame.with_columns([*points.values(), *commas.values()])


def _with_points(text: polars.Series) -> polars.Series | None:
    """Numbers, where all values are; without a copy of the text where none needs cleaning."""
    numbers = _numbers(text)
    return _cleaned(text, _numbers) if numbers is None else numbers


def _numbers(text: polars.Series) -> polars.Series | None:
    """Whole numbers if all are, else floats; None if one of them is no number."""
    pl = library("polars")
    floats = _all_as(text, pl.Float64)
    if floats is None:
        return None
    is_empty = text.null_count() == len(text)
    # Few columns of floats begin with whole numbers, so that most are read once.
    may_be_whole = not is_empty and _all_as(text.head(FIRST), pl.Int64) is not None
    whole = _all_as(text, pl.Int64) if may_be_whole else None
    return floats.fill_nan(None) if whole is None else whole


def _all_as(text: polars.Series, dtype: type[polars.DataType]) -> polars.Series | None:
    """The values as another type, or None if one of them cannot be."""
    values = text.cast(dtype, strict=False)
    return values if values.null_count() == text.null_count() else None


def _cleaned(
    text: polars.Series, reading: Callable[[polars.Series], polars.Series | None]
) -> polars.Series | None:
    """What a reading makes of values without spaces around them and without null words."""
    stripped = text.str.strip_chars()
    is_word = stripped.str.to_lowercase().is_in([*NULL_WORDS]).fill_null(value=True)
    return reading(stripped.set(is_word, None))


def _with_commas(text: polars.Series) -> polars.Series | None:
    return _cleaned(text, _comma_numbers)


def _comma_numbers(text: polars.Series) -> polars.Series | None:
    if text.str.contains(".", literal=True).any():
        return None
    return _numbers(text.str.replace(",", ".", literal=True))


def _truths(text: polars.Series) -> polars.Series | None:
    return _cleaned(text, _true_or_false)


def _true_or_false(text: polars.Series) -> polars.Series | None:
    words = text.str.to_lowercase().drop_nulls()
    if not words.is_in(["true", "false"]).all():
        return None
    return text.str.to_lowercase() == "true"


def _check_one_decimal(
    frame: polars.DataFrame,
    names: list[str],
    points: dict[str, polars.Series],
    commas: dict[str, polars.Series],
    where: str,
) -> None:
    """Raise where some columns have decimal commas and others decimal points."""
    if not commas:
        return
    comma = shown(names[int(next(iter(commas)))])
    for place in points:
        if frame[place].str.contains(r"\d\.|\.\d").any():
            raise TableError(
                f"{where} has decimal commas in column {comma} and points in column "
                f"{shown(names[int(place)])}: pass --decimal , or --decimal . to say which are "
                "numbers."
            )
