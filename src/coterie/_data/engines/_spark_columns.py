"""Columns of a Spark frame: features, targets, weights and folds, and their types."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple

from coterie._data.engines._engine import Counting
from coterie._data.validation import counted

# Spark's names of types; a decimal is followed by its digits in parentheses.
INTEGER_TYPES = ("tinyint", "smallint", "int", "bigint")
NUMBER_TYPES = (*INTEGER_TYPES, "boolean", "float", "double", "decimal")
TEXT_TYPES = ("string", "char", "varchar")


class SparkColumns(NamedTuple):
    """Names of the columns to count, by role."""

    features: list[str]
    vector: str | None  # the one column that holds all features
    targets: list[str]
    weights: str | None
    folds: str | None
    names: list[str] | None  # of the features, if known before rows are read
    types: dict[str, str]  # Spark's name for the type of each column


def find_columns(frame: Any, counting: Counting) -> SparkColumns:
    """The columns of a frame to count, with their names and types checked."""
    types = column_types(frame)
    targets = _target_names(counting.y)
    weights = _column_name("sample_weight", counting.sample_weight)
    folds = _fold_column(counting.cv)
    other_columns = [name for name in (*targets, weights, folds) if name is not None]
    wanted = counting.columns
    features = (
        [name for name in types if name not in other_columns] if wanted is None else list(wanted)
    )
    check_columns_exist([*other_columns, *features], types)
    times = Counter([*other_columns, *features])
    if twice := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"{counted('Column', twice)} can be only one of feature, target, weights and folds."
        )
    vector = _vector_column(features, types)
    names = features if vector is None else vector_names(frame, vector)
    columns = SparkColumns(features, vector, targets, weights, folds, names, types)
    _check_column_types(columns)
    return columns


def column_types(frame: Any) -> dict[str, str]:
    """Spark's name for the type of each column of a frame."""
    times = Counter(frame.columns)
    if repeated := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"The frame has several {counted('column', repeated)}: names must be unique."
        )
    return {field.name: _type_name(field.dataType) for field in frame.schema.fields}


def _type_name(data_type: Any) -> str:
    # By the name of its class, since pyspark.ml takes long to import.
    return "vector" if type(data_type).__name__ == "VectorUDT" else data_type.simpleString()


def is_vector(type_name: str) -> bool:
    """Whether a column of this type can hold all features of a row."""
    return type_name == "vector" or (
        type_name.startswith("array<") and is_number_type(type_name[6:-1])
    )


def is_number_type(type_name: str) -> bool:
    """Whether a column of this type holds numbers."""
    return _base_type(type_name) in NUMBER_TYPES


def _base_type(type_name: str) -> str:
    """A type without its digits, length or collation."""
    return type_name.partition("(")[0].partition(" ")[0]


def quote(name: str) -> str:
    """A name in backticks for SQL, whatever characters it has.

    Examples
    --------
    >>> quote("wind speed, 10.m")
    '`wind speed, 10.m`'
    """
    return f"`{name.replace('`', '``')}`"


def as_double(name: str, types: dict[str, str]) -> str:
    """The SQL expression of a column of numbers in double precision."""
    return quote(name) if types[name] == "double" else f"CAST({quote(name)} AS DOUBLE)"


def as_list(vector: str, type_name: str) -> Any:
    """A column of vectors or lists as lists of floats; null stays null."""
    from pyspark.sql import functions

    column = functions.col(quote(vector))
    if type_name in ("array<double>", "array<float>"):
        return column
    if type_name != "vector":
        return column.cast("array<double>")
    # Imported here, since it takes long.
    from pyspark.ml.functions import vector_to_array

    return functions.when(column.isNotNull(), vector_to_array(column))


def vector_names(frame: Any, vector: str) -> list[str] | None:
    """Names of the features in a vector column, as VectorAssembler stores them; None if absent."""
    metadata = frame.schema[vector].metadata.get("ml_attr", {})
    by_position = {
        one.get("idx"): one.get("name")
        for attributes in metadata.get("attrs", {}).values()
        for one in attributes
        if one.get("name")
    }
    positions = range(metadata.get("num_attrs", 0))
    if (
        not positions
        or {*positions} != {*by_position}
        or len({*by_position.values()}) < len(positions)
    ):
        return None
    return [str(by_position[position]) for position in positions]


def numbered_names(vector: str, n_features: int) -> list[str]:
    """Default names of the features in a vector column, by their positions."""
    return [f"{vector}[{position}]" for position in range(n_features)]


def check_columns_exist(names: list[str], types: dict[str, str]) -> None:
    """Raise if a frame lacks one of these columns."""
    if missing := [name for name in names if name not in types]:
        raise ValueError(f"The frame has no {counted('column', missing, most=3)}.")


def check_number_columns(names: list[str], types: dict[str, str]) -> None:
    """Raise if features are not numbers."""
    odd = [name for name in names if not is_number_type(types[name])]
    if odd:
        held = ", ".join(dict.fromkeys(types[name] for name in odd[:5]))
        raise ValueError(
            f"The frame has {held} in {counted('column', odd)}, and features must be numbers: "
            "encode or drop these columns, or name the features with moments_from(..., "
            "columns=[...])."
        )


def _target_names(y: Any) -> list[str]:
    names = [y] if isinstance(y, str) else y
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or not names:
        raise TypeError(
            "y must be the name of a column of the frame, or a list of names, got "
            f"{y if y is None or isinstance(y, list) else type(y).__name__}."
        )
    return list(names)


def _column_name(what: str, name: Any) -> str | None:
    if name is None or isinstance(name, str):
        return name
    raise TypeError(f"{what} must be the name of a column of the frame, got {type(name).__name__}.")


def _fold_column(cv: Any) -> str | None:
    """The name of the column with the folds; None if folds are not a column."""
    if isinstance(cv, str):
        return cv
    if cv is None:
        return None
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if int(cv) < 2:
            raise ValueError(f"cv must be 2 or more, got {cv}.")
        return None
    raise TypeError(
        "cv must be a number of folds, or the name of a column of the frame with the fold of each "
        f"row, got {type(cv).__name__}."
    )


def _vector_column(features: list[str], types: dict[str, str]) -> str | None:
    """The column that holds all features; None if each feature is a column."""
    if not features:
        raise ValueError("The frame has no columns that can be features.")
    vectors = [name for name in features if is_vector(types[name])]
    if not vectors:
        return None
    if len(features) > 1:
        raise ValueError(
            f"The {counted('column', vectors)} of the frame can hold all features, and there are "
            f"others: drop those, or name one with moments_from(..., columns=[{vectors[0]!r}])."
        )
    return vectors[0]


def _check_column_types(columns: SparkColumns) -> None:
    types = columns.types
    if columns.vector is None:
        check_number_columns(columns.features, types)
    for name in columns.targets:
        if not is_number_type(types[name]) and _base_type(types[name]) not in TEXT_TYPES:
            raise ValueError(f"Target {name!r} must hold numbers or text, got {types[name]}.")
    if columns.weights is not None and not is_number_type(types[columns.weights]):
        raise ValueError(
            f"sample_weight must name a column of numbers, got {columns.weights!r}, which is "
            f"{types[columns.weights]}."
        )
    if columns.folds is not None and types[columns.folds] not in INTEGER_TYPES:
        raise ValueError(
            f"cv must name a column of whole numbers, got {columns.folds!r}, which is "
            f"{types[columns.folds]}."
        )
