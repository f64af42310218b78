"""A transformer that turns a table of any columns into numbers, and says what it did."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from coterie._core.values import PAGE_OF_ESTIMATOR, FitWarning, FloatArray
from coterie._data.frames import known_frame
from coterie._data.preparation._columns import Column, read_column
from coterie._data.preparation._dates import calendar_parts, useful_parts
from coterie._data.preparation._levels import encode_levels, levels_to_floats
from coterie._data.preparation._numbers import any_numbers_in_text
from coterie._data.preparation._record import (
    Preparation,
    PreparedColumn,
    left_out,
    named,
    sentences,
)
from coterie._data.preparation._screen import Target, constant_reason, key_reason
from coterie._data.validation import counted, library_of, odd_columns

TEXT_WORDS = ("encode", "drop", "refuse")
KIND_WORDS = {"date": "dates", "text": "text", "other": "lists or other values"}


class TablePreparer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turns a table of numbers, categories, dates and text into numbers, and says how.

    Nothing is learned from the target, except which columns give it away. Numbers and booleans
    stay as they are. Text of few levels becomes 0/1 columns such as ``city=Rome``; text of many
    levels becomes how often each level occurs, ``count(shop)``, and 0/1 columns of the most
    frequent levels. Dates, also in text, become days since the first one and calendar parts:
    ``days(day)``, ``year(day)``, ``weekday(day)``. Text of numbers, such as ``$1,234.00`` or
    ``12.3%``, is read as numbers, and a few odd cells in it as missing. Left out are constants,
    empty columns, keys of rows, text that differs in most rows, copies of the target, and columns
    that give it away: a `FitWarning` names these.

    Parameters
    ----------
    text : {"encode", "drop", "refuse"}, default="encode"
        What to do with columns that are not numbers: encode them, leave them out, or raise an
        error that names them.
    max_levels : int, default=12
        Most levels that get a 0/1 column.
    keep : sequence of str, default=()
        Columns that are not left out as constants, as keys or because they give the target away.

    Attributes
    ----------
    columns_ : list of PreparedColumn
        What was done to each column: ``name``, ``treatment``, ``reason`` in words, ``outputs``.
    feature_names_in_ : ndarray of str objects
        Names of the columns.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    sklearn.preprocessing.TargetEncoder : Encodes levels by the target, out of fold.

    Notes
    -----
    The table is a frame of pandas or polars, or of any library that narwhals knows.

    Examples
    --------
    >>> import polars as pl
    >>> from coterie import TablePreparer
    >>> table = pl.DataFrame({
    ...     "size": [70.0, 55.0, None, 92.0],
    ...     "city": ["Rome", "Oslo", "Rome", "Paris"],
    ...     "sold": ["2024-01-30", "2024-02-01", "2024-02-01", "2024-03-05"],
    ...     "country": ["EU", "EU", "EU", "EU"],
    ... })
    >>> preparer = TablePreparer().fit(table)
    >>> preparer.get_feature_names_out()[:4].tolist()
    ['size', 'city=Oslo', 'city=Paris', 'city=Rome']
    >>> for sentence in preparer.notes():
    ...     print(sentence)
    Left out (constant): 'country'.
    Column 'city': 3 levels, as 0/1 columns 'city=Oslo', 'city=Paris', 'city=Rome'.
    Column 'sold': dates, as 'days(sold)', 'month(sold)', 'weekday(sold)'.
    >>> new = pl.DataFrame({"sold": ["2024-02-02"], "city": ["Bonn"], "size": [1]})
    >>> preparer.transform(new).row(0)
    (1.0, 0.0, 0.0, 0.0, 3.0, 2.0, 5.0)
    """

    columns_: list[PreparedColumn]
    # Read by scikit-learn for the link of the HTML representation.
    _doc_link_module = "coterie"
    _doc_link_template = PAGE_OF_ESTIMATOR

    def __init__(
        self,
        *,
        text: Literal["encode", "drop", "refuse"] = "encode",
        max_levels: int = 12,
        keep: Sequence[str] = (),
    ) -> None:
        self.text = text
        self.max_levels = max_levels
        self.keep = keep

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what to do with each column.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            The target, to find columns that give it away.

        Returns
        -------
        The preparer, fitted.
        """
        self._learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn what to do with each column, and do it.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional

        Returns
        -------
        data frame of shape (n_samples, n_columns)
        """
        frame, columns = self._learn(X, y)
        return _frame_like(frame, self._values(columns), self._names_out())

    def transform(self, X: Any) -> Any:
        """Do with new rows what was done in fit.

        Levels that fit did not see are 0 in all columns of their feature. Columns are found by
        name; others are ignored.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)

        Returns
        -------
        data frame of shape (n_samples, n_columns)
            Of polars if X is, else of pandas; all columns are floats, with NaN for missing values.
        """
        check_is_fitted(self)
        frame = _narwhals_frame(X)
        used = [one for one in self.columns_ if not one.is_left_out]
        absent = [one.name for one in used if one.name not in {*frame.columns}]
        if absent:
            raise ValueError(f"X lacks {counted('column', absent)}, which fit saw.")
        found = dict(zip(frame.columns, frame.iter_columns(), strict=True))
        columns = {one.name: _read_again(found[one.name], one) for one in used}
        return _frame_like(frame, self._values(columns), self._names_out())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns that come out.

        Parameters
        ----------
        input_features : ignored
            As in scikit-learn; the names are those of the table in fit.

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self)
        return np.array(self._names_out(), dtype=object)

    @property
    def is_needed(self) -> bool:
        """Whether a column was encoded, so that new rows need the preparer."""
        check_is_fitted(self)
        return any(one.treatment not in ("as it is", "left out") for one in self.columns_)

    def as_plain(self) -> Preparation:
        """What was learned as plain values, for files.

        Examples
        --------
        >>> import pandas as pd
        >>> preparer = TablePreparer().fit(pd.DataFrame({"city": ["Rome", "Oslo"]}))
        >>> again = TablePreparer.from_plain(preparer.as_plain())
        >>> again.transform(pd.DataFrame({"city": ["Rome", "Rome"]}))["city=Rome"].tolist()
        [1.0, 1.0]
        """
        check_is_fitted(self)
        return Preparation(self.text, self.max_levels, list(self.keep), self.columns_)

    @classmethod
    def from_plain(cls, plain: Preparation) -> TablePreparer:
        """The preparer whose ``as_plain`` gave these values."""
        preparer = cls(text=plain.text, max_levels=plain.max_levels, keep=plain.keep)  # type: ignore[arg-type]
        preparer.columns_ = plain.columns
        preparer.feature_names_in_ = np.array([one.name for one in plain.columns], dtype=object)
        preparer.n_features_in_ = len(plain.columns)
        return preparer

    def notes(self) -> list[str]:
        """What was done to columns that are not as they were, in sentences."""
        check_is_fitted(self)
        return sentences(self.columns_)

    def _names_out(self) -> list[str]:
        return [name for one in self.columns_ for name in one.outputs]

    def _learn(self, X: Any, y: Any) -> tuple[Any, dict[str, Column]]:
        if self.text not in TEXT_WORDS:
            raise ValueError(f"text must be one of {TEXT_WORDS}, got {self.text!r}.")
        frame = _narwhals_frame(X)
        targets = [] if y is None else _targets(frame, y)
        columns = {
            name: read_column(series, name)
            for name, series in zip(frame.columns, frame.iter_columns(), strict=True)
        }
        self._check_text(columns.values())
        for column in columns.values():
            _check_finite(column)
        records = [self._record(column, targets) for column in columns.values()]
        self.columns_ = _with_unique_outputs(records)
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = len(frame.columns)
        if leaking := [one.name for one in self.columns_ if one.leaks]:
            warnings.warn(
                f"Left out, since they give the target away: {named(leaking)}. If they are known "
                "before the target is, keep them (keep=, --keep).",
                FitWarning,
                stacklevel=3,
            )
        return frame, columns

    def _check_text(self, columns: Any) -> None:
        if self.text != "refuse":
            return
        for column in columns:
            if column.kind != "number":
                raise ValueError(
                    f"Column {column.name!r} holds {KIND_WORDS[column.kind]}: encode it with "
                    "text='encode', or drop it."
                )

    def _record(self, column: Column, targets: list[Target]) -> PreparedColumn:
        """What to do with a column."""
        name, kind = column.name, column.kind
        if kind != "number" and self.text == "drop" and name not in self.keep:
            return left_out(name, kind, KIND_WORDS[kind])
        if name not in self.keep:
            for target in targets:
                if (reason := target.leak_reason(column)) is not None:
                    return left_out(name, kind, reason, leaks=True)
        reason = constant_reason(column)
        if reason is not None and (name not in self.keep or kind != "number"):
            return left_out(name, kind, reason)
        if name not in self.keep and (reason := key_reason(column)) is not None:
            return left_out(name, kind, reason)
        return self._encoded(column)

    def _encoded(self, column: Column) -> PreparedColumn:
        if column.kind == "text":
            return encode_levels(column, self.max_levels)
        if column.kind == "number":
            how = "read as numbers" if column.read_as else "as it is"
            reason = column.read_as or "numbers"
            return PreparedColumn(column.name, "number", how, reason, [column.name])
        origin = np.nanmin(column.values).astype("datetime64[D]")
        parts = useful_parts(column.values, origin)
        outputs = [f"{part}({column.name})" for part in parts]
        reason = f"dates, as {named(outputs)}"
        return PreparedColumn(
            column.name, "date", "calendar", reason, outputs, parts=parts, origin=str(origin)
        )

    def _values(self, columns: dict[str, Column]) -> FloatArray:
        """The columns that come out, as floats."""
        n_rows = len(next(iter(columns.values())).values) if columns else 0
        made = [_prepared(one, columns[one.name]) for one in self.columns_ if not one.is_left_out]
        return np.hstack(made) if made else np.empty((n_rows, 0))


def prepared_if_odd(X: Any, y: Any) -> tuple[Any, TablePreparer | None]:
    """A frame that has columns of text, categories or dates as numbers, and what prepared it.

    Anything else is unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> X, preparer = prepared_if_odd(pd.DataFrame({"city": ["Rome", "Oslo"]}), [1.0, 2.0])
    >>> list(X.columns)
    ['city=Rome']
    >>> prepared_if_odd(pd.DataFrame({"size": [1.0, 2.0]}), [1.0, 2.0])[1] is None
    True
    """
    X = known_frame(X)
    if library_of(X) is not None or not hasattr(X, "columns") or not odd_columns(X):
        return X, None
    preparer = TablePreparer()
    return preparer.fit_transform(X, y), preparer


def _prepared(record: PreparedColumn, column: Column) -> FloatArray:
    """The columns that one column becomes, of shape (n_rows, n_outputs)."""
    if record.treatment in ("as it is", "read as numbers"):
        return column.values[:, None]
    if record.treatment == "calendar":
        parts = calendar_parts(column.values, np.datetime64(record.origin, "us"))
        return np.column_stack([parts[name] for name in record.parts])
    return levels_to_floats(record, column)


def _read_again(series: Any, record: PreparedColumn) -> Column:
    """A column of new rows as the kind that it had in fit."""
    import narwhals as nw

    series = series.alias("column")
    if record.kind == "text" and series.dtype.is_integer():
        # Codes that happen to be numbers in these rows.
        series = series.cast(nw.String)
    column = read_column(series, record.name, parse=record.kind == "date")
    if record.treatment == "read as numbers" and column.kind == "text":
        numbers = any_numbers_in_text(column.values)
        if numbers is not None or column.is_missing.all():
            values = np.full(len(column.values), np.nan) if numbers is None else numbers.values
            column = Column(record.name, "number", values)
    _check_finite(column)
    if column.kind == record.kind:
        return column
    if column.is_missing.all() and column.kind != "other":
        dtype: Any = {"text": object, "date": "datetime64[us]", "number": float}[record.kind]
        values = np.array([None] * len(column.values), dtype=dtype)
        return Column(record.name, record.kind, values)  # type: ignore[arg-type]
    if record.kind == "text" and column.kind == "number":
        return read_column(series.cast(nw.String), record.name, parse=False)
    expected, got = ({"number": "numbers", **KIND_WORDS}[one] for one in (record.kind, column.kind))
    row = int(np.argmin(column.is_missing)) if column.kind != "other" else 0
    raise ValueError(
        f"Column {record.name!r} held {expected} in fit, and holds {got} here (row {row + 1}): "
        "convert it."
    )


def _check_finite(column: Column) -> None:
    if column.kind == "number" and np.isinf(column.values).any():
        row = int(np.isinf(column.values).argmax())
        raise ValueError(
            f"Column {column.name!r} is infinite in row {row + 1}: replace the value, or leave it "
            "empty."
        )


def _targets(frame: Any, y: Any) -> list[Target]:
    values = np.asarray(y)
    check_consistent_length(frame.to_native(), values)
    return [Target(one) for one in np.atleast_2d(values.T)]


def _with_unique_outputs(records: list[PreparedColumn]) -> list[PreparedColumn]:
    """Outputs with a number where a name comes twice, as city=Rome may be a column of its own."""
    taken: Counter[str] = Counter()
    return [replace(one, outputs=[_unique(name, taken) for name in one.outputs]) for one in records]


def _unique(name: str, taken: Counter[str]) -> str:
    found = name
    while taken[found]:
        taken[name] += 1
        found = f"{name} ({taken[name]})"
    taken[found] += 1
    return found


def _narwhals_frame(X: Any) -> Any:
    """A frame whose columns have unique names of text."""
    try:
        import narwhals as nw
    except ImportError:
        raise ImportError(
            'Preparing tables needs an extra: pip install "coterie[tables]".'
        ) from None
    native = known_frame(X)
    names = list(getattr(native, "columns", ()))
    if repeated := [str(name) for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"X has several {counted('column', repeated)}: names must be unique.")
    if not all(isinstance(name, str) for name in names):
        raise TypeError("Names of columns must be text: use X.columns = X.columns.astype(str).")
    frame = nw.from_native(native, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"X must be a data frame, such as one of pandas or polars, got {type(X).__name__}."
        )
    return frame


def _frame_like(frame: Any, values: FloatArray, names: list[str]) -> Any:
    """A frame of the same library, with the same index if it is of pandas."""
    if frame.implementation.is_polars():
        import polars

        return polars.DataFrame(values, schema=names, orient="row") if names else polars.DataFrame()
    import pandas

    return pandas.DataFrame(values, columns=names, index=frame.to_native().index)
