"""Tables at the door: what they may hold, and what to do where they hold something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie.aggregations import Aggregation, LinearSum, over_available
from coterie.estimators._checks import checked_word, counted
from coterie.values import BoolArray, FloatArray, is_sparse


def check_table(X: Any) -> None:
    """Raise where a table holds what is not a number, naming the columns."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame: collect() it first.")
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        raise ValueError("X is a masked array: fill the masked values first, or drop the columns.")
    if getattr(getattr(X, "dtype", None), "kind", "f") == "c":
        raise ValueError("Complex data not supported: X must hold real numbers.")
    times = Counter(getattr(X, "columns", ()))
    if repeated := [str(name) for name, count in times.items() if count > 1]:
        raise ValueError(f"X has several {counted('column', repeated)}: names must be unique.")
    for kind, columns in _odd_columns(X).items():
        raise ValueError(f"X has {kind} in {counted('column', columns)}. {ADVICE[kind]}")


ADVICE = {
    "dates": "Turn them into numbers first, such as the days since some day.",
    "categories": "Encode them first, with sklearn.preprocessing.OneHotEncoder or TargetEncoder.",
    "text": "Encode or drop it first, with sklearn.preprocessing.OneHotEncoder or TargetEncoder.",
}


def _odd_columns(X: Any) -> dict[str, list[object]]:
    """Columns of a data frame or of an array that are no numbers, by what they hold."""
    if not hasattr(X, "columns"):
        return _odd_columns_of_array(X)
    odd: dict[str, list[object]] = {}
    for name, column_dtype in zip(X.columns, X.dtypes, strict=True):
        dtype = str(column_dtype).lower()
        if dtype.startswith(("date", "time", "period", "duration")):
            odd.setdefault("dates", []).append(name)
        elif dtype.startswith(("categor", "enum")):
            odd.setdefault("categories", []).append(name)
        elif dtype.startswith(("str", "object")) and _holds_text(X[name]):
            odd.setdefault("text", []).append(name)
    return odd


def _odd_columns_of_array(X: Any) -> dict[str, list[object]]:
    dtype = getattr(X, "dtype", None)
    if dtype is None or np.ndim(X) != 2 or getattr(dtype, "kind", "f") not in "OUSTMm":
        return {}
    if dtype.kind in "Mm":
        return {"dates": list(range(X.shape[1]))}
    text: list[object] = [j for j in range(X.shape[1]) if _holds_text(X[:, j])]
    return {"text": text} if text else {}


def _holds_text(column: Any) -> bool:
    return any(isinstance(value, str | bytes) for value in column)


def has_gaps(columns: Any) -> bool:
    """Whether there is a NaN somewhere."""
    # A sum is finite only if all terms are, short of overflow: one pass in the good case.
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(columns.sum()) and bool(_by_column(columns, np.isnan).any())


def check_finite(columns: Any, names: Callable[[], Any], owner: str, *, gaps: bool = False) -> None:
    """Raise where columns have what they may not, naming or numbering them."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(columns.sum()):
            return
    is_missing = _by_column(columns, np.isnan)
    is_endless = _by_column(columns, np.isinf)
    bad = np.flatnonzero(is_endless if gaps else is_endless | is_missing)
    if not len(bad):
        return
    is_gap = is_missing[bad].any() and not gaps
    kind = "NaN" if is_gap else "infinity (inf)"
    advice = (
        "Fill the gaps first, for example with sklearn.impute.SimpleImputer, drop those columns, "
        "or let them be with missing='pairwise'."
        if is_gap
        else "Replace it first, or drop those columns."
    )
    named = names()
    places = bad.tolist() if named is None else [named[b] for b in bad]
    raise ValueError(f"{owner} has {kind} in {counted('column', places)}. {advice}")


def _by_column(columns: Any, is_bad: Any) -> BoolArray:
    """Which columns hold something bad."""
    if not is_sparse(columns):
        return is_bad(columns).any(axis=0)
    entries = columns.tocoo()
    bad = np.zeros(columns.shape[1], dtype=bool)
    bad[entries.col[is_bad(entries.data)]] = True
    return bad


def check_values(columns: FloatArray, names: Any) -> None:
    """Raise where a column has no value at all, naming it."""
    empty = np.flatnonzero(np.isnan(columns).all(axis=0))
    if len(empty):
        raise ValueError(
            f"X has no value at all in {counted('column', (names[e] for e in empty))}. "
            "Drop it first."
        )


def check_sparse(X: Any, aggregation: Aggregation, *, gaps: bool, by_row: bool) -> None:
    """Raise where sparse columns would have to be made dense."""
    if not is_sparse(X):
        return
    if not isinstance(aggregation, LinearSum):
        raise ValueError(
            f"X is sparse, and aggregation='{aggregation.name}' needs dense columns: use 'mean' or "
            "'sum', or pass X.toarray()."
        )
    if gaps or by_row:
        why = "missing='pairwise'" if gaps else "a criterion that looks at rows"
        raise ValueError(f"X is sparse, and {why} needs dense columns: pass X.toarray().")


def check_missing(missing: object, aggregation: Aggregation, signs: object, groups: object) -> bool:
    """Whether columns may have gaps, and nothing else stands against it."""
    if checked_word("missing", missing, ["error", "pairwise"]) == "error":
        return False
    if over_available(aggregation) is None:
        raise ValueError(
            f"missing='pairwise' has no aggregation='{aggregation.name}' of the members that have "
            "a value: use 'mean', 'sum', 'sum_of_squares', 'norm', 'max', 'min' or 'median'."
        )
    if signs or groups is not None:
        name = "signs" if signs else "groups"
        raise ValueError(f"missing='pairwise' goes without {name}: fill the gaps first.")
    return True
