"""Convert columns of text to numbers or booleans, if all of their values are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coterie._data.tables._errors import TableError, quote
from coterie._data.tables._optional_imports import import_optional

if TYPE_CHECKING:
    import polars

# In lower case. In a column of text they are kept: NA is also Namibia.
NULL_WORDS = ("", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-", "?", ".")

SAMPLE_ROWS = 100


def infer_types(frame: polars.DataFrame, *, decimal: str | None, where: str) -> polars.DataFrame:
    """Convert columns of text that hold only numbers or booleans.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns that are not text stay as they are.
    decimal : {'.', ','} or None
        None tries decimal points and then commas for each column, and refuses a table that has
        both.
    where : str
        The table, for messages.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": ["1", "NA"], "b": ["NA", "x"], "c": ["True", "false"]})
    >>> infer_types(frame, decimal=".", where="x.csv").rows()
    [(1, 'NA', True), (None, 'x', False)]
    """
    # Numbers as names, since polars reads a name such as ^a$ as a pattern.
    names = frame.columns
    numbered = frame.clone()
    numbered.columns = [str(place) for place in range(len(names))]
    made = _infer_numbered(numbered, names, decimal=decimal, where=where)
    made.columns = names
    return made


def _infer_numbered(
    frame: polars.DataFrame, names: list[str], *, decimal: str | None, where: str
) -> polars.DataFrame:
    pl = import_optional("polars")
    texts = [series for series in frame if series.dtype == pl.String]
    points: dict[str, polars.Series] = {}
    commas: dict[str, polars.Series] = {}
    for series in texts:
        if decimal != "," and (found := _parse_with_points(series)) is not None:
            points[series.name] = found
        elif decimal != "." and (found := _parse_with_commas(series)) is not None:
            commas[series.name] = found
        elif (found := _parse_booleans(series)) is not None:
            points[series.name] = found
    if decimal is None:
        _check_one_decimal(frame, names, points, commas, where)
    return frame.with_columns([*points.values(), *commas.values()])


def _parse_with_points(text: polars.Series) -> polars.Series | None:
    """The numbers, or None if a value is not a number; text is cleaned only if needed."""
    numbers = _parse_numbers(text)
    return _parse_cleaned(text, _parse_numbers) if numbers is None else numbers


def _parse_numbers(text: polars.Series) -> polars.Series | None:
    """Integers if all values are, else floats; None if a value is not a number."""
    pl = import_optional("polars")
    floats = _cast_all(text, pl.Float64)
    if floats is None:
        return None
    is_empty = text.null_count() == len(text)
    # Few columns of floats begin with integers, so most are parsed only once.
    may_be_whole = not is_empty and _cast_all(text.head(SAMPLE_ROWS), pl.Int64) is not None
    whole = _cast_all(text, pl.Int64) if may_be_whole else None
    return floats.fill_nan(None) if whole is None else whole


def _cast_all(text: polars.Series, dtype: type[polars.DataType]) -> polars.Series | None:
    """The values as another type, or None if one cannot be converted."""
    values = text.cast(dtype, strict=False)
    return values if values.null_count() == text.null_count() else None


def _parse_cleaned(
    text: polars.Series, parse: Callable[[polars.Series], polars.Series | None]
) -> polars.Series | None:
    """Apply a parser to the values, stripped of spaces and with null words as null."""
    stripped = text.str.strip_chars()
    is_word = stripped.str.to_lowercase().is_in([*NULL_WORDS]).fill_null(value=True)
    return parse(stripped.set(is_word, None))


def _parse_with_commas(text: polars.Series) -> polars.Series | None:
    return _parse_cleaned(text, _parse_comma_numbers)


def _parse_comma_numbers(text: polars.Series) -> polars.Series | None:
    if text.str.contains(".", literal=True).any():
        return None
    return _parse_numbers(text.str.replace(",", ".", literal=True))


def _parse_booleans(text: polars.Series) -> polars.Series | None:
    return _parse_cleaned(text, _parse_clean_booleans)


def _parse_clean_booleans(text: polars.Series) -> polars.Series | None:
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
    """Raise if some columns have decimal commas and others decimal points."""
    if not commas:
        return
    comma = quote(names[int(next(iter(commas)))])
    for place in points:
        if frame[place].str.contains(r"\d\.|\.\d").any():
            raise TableError(
                f"{where} has decimal commas in column {comma} and points in column "
                f"{quote(names[int(place)])}: pass --decimal , or --decimal . to choose one."
            )
