"""Aggregates of a Spark frame as SQL expressions, computed lazily by Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scipy import sparse

from coterie._core.values import FloatArray
from coterie._data.engines._engine import Carried
from coterie._data.engines._spark_columns import (
    as_double,
    as_list,
    check_columns_exist,
    check_number_columns,
    column_types,
    is_vector,
    numbered_names,
    quote,
    vector_names,
)
from coterie._data.validation import counted

# Number of terms in one SQL expression: Spark parses deeply nested sums slowly, and each expression
# that is added to another costs a call.
TERMS_PER_EXPRESSION = 16


def transform_spark(X: Any, carried: Carried) -> Any:
    """The frame with its features replaced by aggregates, not computed yet."""
    weights, constants = carried.linear()
    types, n_features = column_types(X), weights.shape[1]
    vector, positions = _find_vector(X, types, carried.names_in, n_features)
    if vector is not None:
        return _replace_vector(X, vector, weights[:, positions], constants, carried.names_out)
    names = _find_features(types, carried.names_in, n_features)
    check_number_columns(names, types)
    aggregates = weighted_sums(
        weights, constants, lambda position: as_double(names[position], types)
    )
    return _replace_columns(X, names, aggregates, carried.names_out)


def _find_vector(
    X: Any, types: dict[str, str], names: list[str] | None, n_features: int
) -> tuple[str | None, list[int]]:
    """The column that holds all features, and their order in it; None if each is a column."""
    vectors = [name for name, type_name in types.items() if is_vector(type_name)]
    if names is None:
        return (vectors[0] if len(vectors) == 1 else None), list(range(n_features))
    if all(name in types for name in names):
        return None, []
    for vector in vectors:
        given = vector_names(X, vector) or numbered_names(vector, n_features)
        if sorted(given) == sorted(names):
            position_of = {name: position for position, name in enumerate(names)}
            return vector, [position_of[name] for name in given]
    return None, []


def _find_features(types: dict[str, str], names: list[str] | None, n_features: int) -> list[str]:
    if names is not None:
        check_columns_exist(names, types)
        return names
    if len(types) != n_features:
        raise ValueError(
            f"The reducer saw {n_features} features without names, and the frame has {len(types)} "
            "columns: fit a table with names, or select the features in their order."
        )
    return list(types)


def _replace_columns(X: Any, features: list[str], aggregates: list[Any], names: list[str]) -> Any:
    """The frame with the columns that are not features, followed by the aggregates."""
    dropped = {*features}
    kept = [name for name in X.columns if name not in dropped]
    if both := [name for name in names if name in {*kept}]:
        raise ValueError(
            f"The frame already has {counted('column', both)}, and aggregates have the same name: "
            "rename or drop these columns first."
        )
    named = [one.alias(name) for one, name in zip(aggregates, names, strict=True)]
    return X.select(*map(quote, kept), *named)


def _replace_vector(
    X: Any, vector: str, weights: sparse.csr_array, constants: FloatArray, names: list[str]
) -> Any:
    """The frame with the vectors of features replaced by vectors of aggregates."""
    from pyspark.sql import functions

    type_name, n_features = column_types(X)[vector], weights.shape[1]
    # A separate column, so that each vector is unpacked once and not for each number.
    lists = X.withColumn(vector, as_list(vector, type_name).cast("array<double>"))
    expressions = weighted_sums(weights, constants, lambda position: f"{quote(vector)}[{position}]")
    wrong = f"Column {vector!r} must hold {n_features} numbers in each row."
    aggregates = functions.when(
        functions.size(quote(vector)) == n_features, functions.array(*expressions)
    ).otherwise(functions.raise_error(functions.lit(wrong)))
    if type_name == "vector":
        aggregates = _as_vector(aggregates)
    replaced = {vector: aggregates.alias(vector, metadata=_vector_metadata(names))}
    return lists.select(*(replaced.get(name, quote(name)) for name in X.columns))


def _as_vector(column: Any) -> Any:
    from pyspark.ml.functions import array_to_vector

    return array_to_vector(column)


def _vector_metadata(names: list[str]) -> dict[str, Any]:
    """Names of the numbers in a vector, as Spark's column metadata."""
    named = [{"idx": position, "name": name} for position, name in enumerate(names)]
    return {"ml_attr": {"attrs": {"numeric": named}, "num_attrs": len(names)}}


def weighted_sums(
    weights: sparse.csr_array, constants: FloatArray, column: Callable[[int], str]
) -> Any:
    """The weighted sums of columns, as Spark columns.

    Parameters
    ----------
    weights : sparse array of shape (n_groups, n_features)
    constants : ndarray of shape (n_groups,)
        Constant that is added to each sum.
    column : callable
        Gives the SQL expression of a feature by its number, of type double.
    """
    aggregates = []
    for group, constant in enumerate(constants.tolist()):
        entries = slice(weights.indptr[group], weights.indptr[group + 1])
        columns = [column(position) for position in weights.indices[entries].tolist()]
        aggregates.append(_sum(columns, weights.data[entries].tolist(), constant))
    return aggregates


def _sum(columns: list[str], weights: list[float], constant: float) -> Any:
    from pyspark.sql import functions

    # If all weights are equal, as in a mean, multiply the sum and not each column.
    common = weights[0] if len({*weights}) == 1 else 1.0
    terms = [_times(*pair, common) for pair in zip(columns, weights, strict=True)]
    texts = [
        " + ".join(terms[at : at + TERMS_PER_EXPRESSION])
        for at in range(0, len(terms), TERMS_PER_EXPRESSION)
    ]
    total = balanced_sum([functions.expr(text) for text in texts])
    total = total if common == 1 else total * functions.lit(common)
    return total if constant == 0 else total + functions.lit(constant)


def _times(term: str, weight: float, common: float) -> str:
    return term if weight == common else f"{term} * {float(weight)!r}D"


def balanced_sum(terms: Sequence[Any]) -> Any:
    """The sum of terms as a balanced tree, since Spark recurses into each addition.

    Examples
    --------
    >>> balanced_sum(["a", "b", "c", "d", "e"])
    'abcde'
    """
    if len(terms) == 1:
        return terms[0]
    half = (len(terms) + 1) // 2
    return balanced_sum(terms[:half]) + balanced_sum(terms[half:])
