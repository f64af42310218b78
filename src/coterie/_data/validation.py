"""Checks of tables: numbers only, unique names, finite values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

import numpy as np

from coterie._core.devices import check_on_host
from coterie._core.values import BoolArray, is_sparse


def counted(noun: str, items: Iterable[object], most: int = 5) -> str:
    """A noun and the first few items, such as "columns 'a', 'b' and 7 more"."""
    items = list(items)
    shown = ", ".join(repr(item) for item in items[:most])
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{noun}{'s' * (len(items) > 1)} {shown}{more}"


# Libraries whose tables are not in memory, and the method that loads them.
ELSEWHERE = {
    "dask": ("Dask", "compute()"),
    "dask_expr": ("Dask", "compute()"),
    "pyspark": ("Spark", "toPandas()"),
}


def library_of(X: Any) -> str | None:
    """The library of a table that is not in memory, such as "dask"; None if it is in memory."""
    name = type(X).__module__.partition(".")[0]
    return name if name in ELSEWHERE else None


def check_table(X: Any) -> None:
    """Raise if a table has values that are not numbers, with the names of the columns."""
    if (name := library_of(X)) is not None:
        library, how = ELSEWHERE[name]
        raise TypeError(
            f"X is a table of {library}, and its rows are needed in memory here: call {how} first."
        )
    if not isinstance(X, np.ndarray):
        check_on_host(X)
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        raise ValueError("X is a masked array: fill the masked values first, or drop the columns.")
    if getattr(getattr(X, "dtype", None), "kind", "f") == "c":
        raise ValueError("Complex data not supported: X must hold real numbers.")
    if hasattr(X, "columns") and not len(X.columns):
        raise ValueError("X has no columns: give a table with 2 or more.")
    if repeated := _repeated(getattr(X, "columns", ())):
        raise ValueError(f"X has several {counted('column', repeated)}: names must be unique.")
    for kind, columns in odd_columns(X).items():
        raise ValueError(f"X has {kind} in {counted('column', columns)}. {ADVICE[kind]}")


def _repeated(names: Any) -> list[str]:
    """Names that occur more than once; an index of pandas knows whether there are any."""
    if getattr(names, "is_unique", None) is True:
        return []
    return [str(name) for name, count in Counter(names).items() if count > 1]


ADVICE = {
    "dates": "Turn them into numbers first: coterie.TablePreparer does.",
    "categories": "Encode them first, with coterie.TablePreparer, "
    "sklearn.preprocessing.OneHotEncoder or TargetEncoder.",
    "text": "Encode or drop it first, with coterie.TablePreparer, "
    "sklearn.preprocessing.OneHotEncoder or TargetEncoder.",
}


def odd_columns(X: Any) -> dict[str, list[object]]:
    """Columns of a data frame or an array that are not numeric, by kind of content."""
    if not hasattr(X, "columns"):
        return _odd_columns_of_array(X)
    dtypes = getattr(X.dtypes, "array", X.dtypes)
    if all(getattr(dtype, "kind", "O") in "biuf" for dtype in set(dtypes)):
        return {}
    odd: dict[str, list[object]] = {}
    for name, column_dtype in zip(X.columns, dtypes, strict=True):
        dtype = str(column_dtype).lower()
        if dtype.startswith(("date", "time", "period", "duration")):
            odd.setdefault("dates", []).append(name)
        elif dtype.startswith(("categor", "enum")):
            odd.setdefault("categories", []).append(name)
        elif dtype.startswith(("str", "object")) and (kind := _kind_of_objects(X[name])):
            odd.setdefault(kind, []).append(name)
    return odd


def _odd_columns_of_array(X: Any) -> dict[str, list[object]]:
    dtype = getattr(X, "dtype", None)
    if dtype is None or np.ndim(X) != 2 or getattr(dtype, "kind", "f") not in "OUSTMm":
        return {}
    if dtype.kind in "Mm":
        return {"dates": list(range(X.shape[1]))}
    text: list[object] = [j for j in range(X.shape[1]) if _holds_text(X[:, j])]
    return {"text": text} if text else {}


def _kind_of_objects(column: Any) -> str | None:
    """What a column of objects holds that is no number: text, dates, or None of both."""
    if _holds_text(column):
        return "text"
    return "dates" if any(isinstance(value, date | timedelta) for value in column) else None


def _holds_text(column: Any) -> bool:
    return any(isinstance(value, str | bytes) for value in column)


def check_finite(
    columns: Any,
    names: Callable[[], Any],
    owner: str,
    *,
    missing: bool = False,
    pairwise: bool = False,
) -> None:
    """Raise if columns have infinite or missing values, with their names or numbers.

    With `missing`, missing values are allowed. With `pairwise`, missing="pairwise" would allow
    them, which the error then says.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(columns.sum()):
            return
    is_missing = by_column(columns, np.isnan)
    is_infinite = by_column(columns, np.isinf)
    bad = np.flatnonzero(is_infinite if missing else is_infinite | is_missing)
    if not len(bad):
        return
    has_missing = is_missing[bad].any() and not missing
    kind = "NaN" if has_missing else "infinity (inf)"
    advice = "Replace it first, or drop those columns."
    if has_missing:
        # "pairwise" needs dense columns.
        may_stay = pairwise and not is_sparse(columns)
        drop = "drop those columns" if may_stay else "or drop those columns"
        stay = ", or let them be with missing='pairwise'" if may_stay else ""
        advice = (
            "Fill the missing values first, for example with sklearn.impute.SimpleImputer, "
            f"{drop}{stay}."
        )
    named = names()
    places = bad.tolist() if named is None else [named[b] for b in bad]
    raise ValueError(f"{owner} has {kind} in {counted('column', places)}. {advice}")


def by_column(columns: Any, is_bad: Any) -> BoolArray:
    """Which columns have any value for which `is_bad` is true."""
    if not is_sparse(columns):
        return np.asarray(is_bad(columns).any(axis=0))
    entries = columns.tocoo()
    bad = np.zeros(columns.shape[1], dtype=bool)
    bad[entries.col[is_bad(entries.data)]] = True
    return bad
