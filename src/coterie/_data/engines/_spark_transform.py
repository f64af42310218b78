"""Aggregates of a Spark frame as expressions of SQL, which Spark plans like any others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scipy import sparse

from coterie._core.values import FloatArray
from coterie._data.engines._engine import Carried
from coterie._data.engines._spark_columns import (
    as_double,
    as_list,
    check_numbers,
    check_there,
    is_vector,
    kinds_in,
    names_by_place,
    names_in_vector,
    quoted,
)
from coterie._data.validation import counted

# Terms of a sum that are written one after the other: Spark reads brackets slowly, and each
# expression that is added to another costs a call.
SHORT = 16


def transformed(X: Any, carried: Carried) -> Any:
    """The frame, its features replaced by their aggregates; nothing is computed yet."""
    weights, constants = carried.linear()
    kinds, n_features = kinds_in(X), weights.shape[1]
    vector, places = _vector_in(X, kinds, carried.names_in, n_features)
    if vector is not None:
        return _with_vector(X, vector, weights[:, places], constants, carried.names_out)
    names = _features_in(kinds, carried.names_in, n_features)
    check_numbers(names, kinds)
    made = sums(weights, constants, lambda place: as_double(names[place], kinds))
    return _with_columns(X, names, made, carried.names_out)


def _vector_in(
    X: Any, kinds: dict[str, str], names: list[str] | None, n_features: int
) -> tuple[str | None, list[int]]:
    """The column that has all features, and which one lies where; None if each has its own."""
    vectors = [name for name, kind in kinds.items() if is_vector(kind)]
    if names is None:
        return (vectors[0] if len(vectors) == 1 else None), list(range(n_features))
    if all(name in kinds for name in names):
        return None, []
    for vector in vectors:
        given = names_in_vector(X, vector) or names_by_place(vector, n_features)
        if sorted(given) == sorted(names):
            place_of = {name: place for place, name in enumerate(names)}
            return vector, [place_of[name] for name in given]
    return None, []


def _features_in(kinds: dict[str, str], names: list[str] | None, n_features: int) -> list[str]:
    if names is not None:
        check_there(names, kinds)
        return names
    if len(kinds) != n_features:
        raise ValueError(
            f"The reducer saw {n_features} features without names, and the frame has {len(kinds)} "
            "columns: fit a table with names, or select the features in their order."
        )
    return list(kinds)


def _with_columns(X: Any, features: list[str], made: list[Any], names: list[str]) -> Any:
    """The columns that are no features, then the aggregates."""
    dropped = {*features}
    kept = [name for name in X.columns if name not in dropped]
    if both := [name for name in names if name in {*kept}]:
        raise ValueError(
            f"The frame has {counted('column', both)} already, and aggregates are to be named so: "
            "rename or drop them first."
        )
    aggregates = [one.alias(name) for one, name in zip(made, names, strict=True)]
    return X.select(*map(quoted, kept), *aggregates)


def _with_vector(
    X: Any, vector: str, weights: sparse.csr_array, constants: FloatArray, names: list[str]
) -> Any:
    """The frame with vectors of aggregates in place of those of features."""
    from pyspark.sql import functions

    kind, n_features = kinds_in(X)[vector], weights.shape[1]
    # A column of its own, so that vectors are unpacked once and not for each number.
    lists = X.withColumn(vector, as_list(vector, kind).cast("array<double>"))
    made = sums(weights, constants, lambda place: f"{quoted(vector)}[{place}]")
    wrong = f"Column {vector!r} must hold {n_features} numbers in each row."
    aggregates = functions.when(
        functions.size(quoted(vector)) == n_features, functions.array(*made)
    ).otherwise(functions.raise_error(functions.lit(wrong)))
    if kind == "vector":
        aggregates = _as_vector(aggregates)
    made_of = {vector: aggregates.alias(vector, metadata=_told_names(names))}
    return lists.select(*(made_of.get(name, quoted(name)) for name in X.columns))


def _as_vector(column: Any) -> Any:
    from pyspark.ml.functions import array_to_vector

    return array_to_vector(column)


def _told_names(names: list[str]) -> dict[str, Any]:
    """Names of the numbers in a vector, as Spark knows them."""
    named = [{"idx": place, "name": name} for place, name in enumerate(names)]
    return {"ml_attr": {"attrs": {"numeric": named}, "num_attrs": len(names)}}


def sums(weights: sparse.csr_array, constants: FloatArray, column: Callable[[int], str]) -> Any:
    """Each weighted sum of columns, as a column.

    Parameters
    ----------
    weights : sparse array of shape (n_groups, n_features)
    constants : ndarray of shape (n_groups,)
        What is added to each sum.
    column : callable
        The expression of a feature in SQL, by its place, of the type double.
    """
    made = []
    for group, constant in enumerate(constants.tolist()):
        inside = slice(weights.indptr[group], weights.indptr[group + 1])
        columns = [column(place) for place in weights.indices[inside].tolist()]
        made.append(_sum(columns, weights.data[inside].tolist(), constant))
    return made


def _sum(columns: list[str], weights: list[float], constant: float) -> Any:
    from pyspark.sql import functions

    # Of a group of equal weights, which a mean is, the sum is weighed and not each column.
    common = weights[0] if len({*weights}) == 1 else 1.0
    terms = [_times(*pair, common) for pair in zip(columns, weights, strict=True)]
    texts = [" + ".join(terms[at : at + SHORT]) for at in range(0, len(terms), SHORT)]
    total = balanced([functions.expr(text) for text in texts])
    total = total if common == 1 else total * functions.lit(common)
    return total if constant == 0 else total + functions.lit(constant)


def _times(term: str, weight: float, common: float) -> str:
    return term if weight == common else f"{term} * {float(weight)!r}D"


def balanced(terms: Sequence[Any]) -> Any:
    """The sum of some terms, nested as little as possible: Spark walks down into each addition.

    Examples
    --------
    >>> balanced(["a", "b", "c", "d", "e"])
    'abcde'
    """
    if len(terms) == 1:
        return terms[0]
    half = (len(terms) + 1) // 2
    return balanced(terms[:half]) + balanced(terms[half:])
