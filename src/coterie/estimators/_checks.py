"""What is checked at the door: what was expected, what came, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from coterie.aggregations import AGGREGATIONS, Aggregation, Custom
from coterie.gathering import Means, half_the_memory
from coterie.search import Limits
from coterie.values import FloatArray, IntArray


def counted(noun: str, items: Iterable[object], most: int = 5) -> str:
    """A noun and the first few items, such as "columns 'a', 'b' and 7 more"."""
    items = list(items)
    shown = ", ".join(repr(item) for item in items[:most])
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{noun}{'s' * (len(items) > 1)} {shown}{more}"


def checked_word(parameter: str, word: object, words: Iterable[str], also: str = "") -> str:
    """A word that is one of some words, else an error that names the nearest."""
    words = list(words)
    if isinstance(word, str) and word in words:
        return word
    near = get_close_matches(str(word), words, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    options = ", ".join(map(repr, words))
    raise ValueError(f"{parameter} must be one of {options}{also}, got {word!r}.{hint}")


def checked_number(parameter: str, number: object, *, positive: bool = False) -> float:
    """A number of 0 or more (or more than 0); infinity is one."""
    if not isinstance(number, Real) or isinstance(number, bool | np.bool_):
        raise TypeError(f"{parameter} must be a number, got {number!r}.")
    number = float(number)
    least = "more than 0" if positive else "0 or more"
    if not (number > 0 or (number == 0 and not positive)):
        raise ValueError(f"{parameter} must be {least}, got {number!r}.")
    return number


def checked_aggregation(aggregation: object) -> Aggregation:
    """The aggregation that a word names, or that a function is."""
    if callable(aggregation):
        return Custom(aggregation)
    word = checked_word("aggregation", aggregation, AGGREGATIONS, also=" or a function")
    return AGGREGATIONS[word]


def checked_limits(connectivity: Any, max_group_size: object, n_features: int) -> Limits:
    """Who may be asked at all."""
    size = None
    if max_group_size is not None:
        if not isinstance(max_group_size, Integral) or isinstance(max_group_size, bool):
            raise TypeError(f"max_group_size must be None or an int, got {max_group_size!r}.")
        if (size := int(max_group_size)) < 1:
            raise ValueError(f"max_group_size must be 1 or more, got {size}.")
    return Limits(_checked_graph(connectivity, n_features), size)


def checked_means(engine: object, memory: object) -> Means:
    """How evidence may be gathered."""
    word = checked_word("engine", engine, ["auto", "gram", "columns"])
    if memory is None:
        return Means(word, half_the_memory())
    return Means(word, checked_number("memory", memory))


def _checked_graph(connectivity: Any, n_features: int) -> sparse.csr_array | None:
    if connectivity is None:
        return None
    shape = np.shape(connectivity)
    if shape != (n_features, n_features):
        raise ValueError(
            "connectivity must have one row and one column per input, that is shape "
            f"({n_features}, {n_features}), got {shape}."
        )
    graph = check_array(connectivity, accept_sparse="csr", input_name="connectivity")
    graph = sparse.csr_array(graph, dtype=np.float64)
    touching = abs(graph) + abs(graph.T)
    touching.eliminate_zeros()
    return sparse.csr_array(touching)


def check_finite(columns: FloatArray, names: Any, owner: str) -> None:
    """Raise where a column has gaps, naming it."""
    # A sum is finite only if all terms are, short of overflow: one pass in the good case.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(columns.sum()):
            return
    bad = np.flatnonzero(~np.isfinite(columns).all(axis=0))
    if not len(bad):
        return
    kind = "NaN" if np.isnan(columns[:, bad]).any() else "infinity (inf)"
    raise ValueError(
        f"{owner} has {kind} in {counted('column', (names[b] for b in bad))}. Fill the gaps "
        "first, for example with sklearn.impute.SimpleImputer, or drop those columns."
    )


def checked_names(given: Any, seen: Any, n_features: int) -> list[str]:
    """Names of features: as seen in fit, else as given, else x0, x1, ..."""
    if given is None:
        return list(seen) if seen is not None else [f"x{j}" for j in range(n_features)]
    given = np.array([str(name) for name in given], dtype=object)
    if seen is not None and not np.array_equal(given, seen):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(given) != n_features:
        raise ValueError(
            f"input_features should have length equal to {n_features}, got {len(given)}."
        )
    return list(given)


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


def checked_cv(cv: Any) -> Any:
    """A splitter, from whatever scikit-learn takes for one."""
    if isinstance(cv, type):
        raise TypeError(f"cv must be an instance, got a class: write {cv.__name__}().")
    if isinstance(cv, list | tuple):
        for split in cv:
            if not isinstance(split, tuple | list) or len(split) != 2:
                raise ValueError(f"cv must give pairs of (train, test) rows, got {split!r}.")
    # Imported late: it brings in a good part of scikit-learn.
    from sklearn.model_selection import check_cv

    return check_cv(cv)


def checked_splits(
    splits: Iterable[tuple[Any, Any]], target: FloatArray
) -> list[tuple[IntArray, IntArray]]:
    """Pairs of training and held-out rows on which R2 can be scored."""
    checked = [(_checked_rows(a, len(target)), _checked_rows(b, len(target))) for a, b in splits]
    if not checked:
        raise ValueError("cv must give at least one pair of (train, test) rows, got none.")
    if not any(np.ptp(target[test]) > 0 for _, test in checked):
        raise ValueError(
            f"R2 cannot be scored: y is constant within each of the {len(checked)} test folds of "
            "cv. Use fewer or shuffled folds, or cv=None to score in-sample."
        )
    return checked


def _checked_rows(rows: Any, n_samples: int) -> IntArray:
    rows = np.asarray(rows)
    if rows.ndim != 1 or len(rows) == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(
            f"cv must give non-empty lists of row numbers, got {rows.dtype} of shape {rows.shape}."
        )
    if rows.min() < 0 or rows.max() >= n_samples:
        raise ValueError(
            f"cv gives row {rows.max() if rows.min() >= 0 else rows.min()}, but X has rows 0 to "
            f"{n_samples - 1}."
        )
    return rows.astype(np.intp)
