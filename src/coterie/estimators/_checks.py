"""What is checked at the door: what was expected, what came, what to do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from coterie.aggregations import AGGREGATIONS, Aggregation, Custom, LinearSum
from coterie.criteria import PENALTIES
from coterie.gathering import Means, half_the_memory
from coterie.search import ALONE, Limits
from coterie.statistics import effective_number
from coterie.units import Units
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
    options = ", ".join(map(repr, words))
    hint = _hint(str(word), words)
    raise ValueError(f"{parameter} must be one of {options}{also}, got {word!r}.{hint}")


def _hint(word: str, words: Sequence[str]) -> str:
    """The nearest of some words, as a question, if one is near."""
    near = get_close_matches(word, words, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def checked_number(parameter: str, number: object, *, positive: bool = False) -> float:
    """A number of 0 or more (or more than 0); infinity is one."""
    if not isinstance(number, Real) or isinstance(number, bool | np.bool_):
        raise TypeError(f"{parameter} must be a number, got {number!r}.")
    number = float(number)
    least = "more than 0" if positive else "0 or more"
    if not (number > 0 or (number == 0 and not positive)):
        raise ValueError(f"{parameter} must be {least}, got {number!r}.")
    return number


def checked_penalty(word: str, columns: FloatArray) -> float:
    """How many times what noise alone gives up a merge may give up, as a word asks."""
    penalty = PENALTIES[checked_word("tolerance", word, PENALTIES, also=" or a number")]
    if len(columns) < 4:
        raise ValueError(
            f"tolerance={word!r} estimates noise with n_samples - 3 degrees of freedom and got "
            f"{len(columns)} samples. Give a number instead."
        )
    n_effective = effective_number(columns) if word == "auto" else math.nan
    return penalty(len(columns), columns.shape[1], n_effective)


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


def checked_size(n_groups: object, tolerance: object) -> int:
    """A number of groups, asked for without a tolerance."""
    if not isinstance(n_groups, Integral) or isinstance(n_groups, bool):
        raise TypeError(f"n_groups must be None or an int, got {n_groups!r}.")
    if int(n_groups) < 1:
        raise ValueError(f"n_groups must be 1 or more, got {n_groups}.")
    if not isinstance(tolerance, str) or tolerance != "auto":
        raise ValueError(
            f"n_groups={n_groups} finds the tolerance itself: leave tolerance='auto', got "
            f"{tolerance!r}."
        )
    return int(n_groups)


def checked_signs(signs: object, aggregation: Aggregation) -> bool:
    """Whether features may join with a minus, which only sums can tell from a plus."""
    if not isinstance(signs, bool | np.bool_):
        raise TypeError(f"signs must be True or False, got {signs!r}.")
    if signs and not isinstance(aggregation, LinearSum):
        raise ValueError(f"signs=True needs aggregation='mean' or 'sum', got '{aggregation.name}'.")
    return bool(signs)


def _checked_columns(parameter: str, given: object, place_of: dict[str, int]) -> IntArray:
    """The places of columns that are given by name or by place."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{parameter} must list columns, got {given!r}.")
    places = [_checked_place(parameter, column, place_of) for column in given]
    return np.array(places, dtype=np.intp)


def _checked_place(parameter: str, column: object, place_of: dict[str, int]) -> int:
    if isinstance(column, Integral) and 0 <= int(column) < len(place_of):
        return int(column)
    if not isinstance(column, str):
        raise ValueError(
            f"{parameter} must name columns, or number them from 0 to {len(place_of) - 1}, "
            f"got {column!r}."
        )
    if column not in place_of:
        hint = _hint(column, list(place_of))
        raise ValueError(f"{parameter} names {column!r}, which is no column.{hint}")
    return place_of[column]


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _checked_sets(parameter: str, given: object, names: Sequence[str]) -> list[IntArray]:
    """Lists of columns of which each stands in one list only."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{parameter} must be a list of lists of columns, got {given!r}.")
    place_of = _places(names)
    sets = [_checked_columns(parameter, columns, place_of) for columns in given]
    counts = Counter(place for places in sets for place in places.tolist())
    twice = [names[place] for place, times in counts.items() if times > 1]
    if twice:
        raise ValueError(f"{parameter} has {counted('column', twice)} more than once.")
    return sets


def checked_units(groups: object, names: Sequence[str], aggregation: Aggregation) -> Units | None:
    """The groups to begin with."""
    if groups is None:
        return None
    if not isinstance(aggregation, LinearSum):
        raise ValueError(f"groups needs aggregation='mean' or 'sum', got '{aggregation.name}'.")
    sets = _checked_sets("groups", groups, names)
    return Units.of([places for places in sets if len(places)], len(names))


def checked_kinds(
    keep: object, separate: object, names: Sequence[str], units: Units | None
) -> IntArray | None:
    """Who goes with whom: the kind of each column, as limits have it."""
    if keep is None and separate is None:
        return None
    kinds = np.zeros(len(names), dtype=np.intp)
    if separate is not None:
        for number, places in enumerate(_checked_sets("separate", separate, names), start=1):
            kinds[places] = number
    if keep is not None:
        kinds[_checked_columns("keep", keep, _places(names))] = ALONE
    for unit in units.members if units else ():
        kept = kinds[unit] == ALONE
        if len(unit) > 1 and kept.any():
            raise ValueError(
                f"keep and groups both have {counted('column', _named(unit[kept], names))}."
            )
        if len({*kinds[unit].tolist()} - {0}) > 1:
            raise ValueError(
                f"groups puts {counted('column', _named(unit, names))} together, which separate "
                "keeps apart."
            )
    return kinds


def _named(places: IntArray, names: Sequence[str]) -> list[str]:
    return [names[place] for place in places]


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
