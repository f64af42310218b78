"""Which columns of a Spark frame are features, and which stand beside them."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple

from coterie._data.engines._engine import Counting
from coterie._data.validation import counted

# What Spark calls its kinds of numbers; a decimal has its digits in brackets behind.
INTEGER_TYPES = ("tinyint", "smallint", "int", "bigint")
NUMBER_TYPES = (*INTEGER_TYPES, "boolean", "float", "double", "decimal")
TEXT_TYPES = ("string", "char", "varchar")


class SparkColumns(NamedTuple):
    """The columns of a frame that are counted, by name."""

    features: list[str]
    vector: str | None  # the one column that holds all features
    targets: list[str]
    weights: str | None
    folds: str | None
    names: list[str] | None  # of the features, where they are known beforehand
    types: dict[str, str]  # what each column holds, in the words of Spark


def find_columns(frame: Any, counting: Counting) -> SparkColumns:
    """What is to be counted, found in a frame."""
    types = column_types(frame)
    targets = _target_names(counting.y)
    weights = _column_name("sample_weight", counting.weights)
    folds = _fold_column(counting.folds)
    other_columns = [name for name in (*targets, weights, folds) if name is not None]
    wanted = counting.columns
    features = (
        [name for name in types if name not in other_columns] if wanted is None else list(wanted)
    )
    check_columns_exist([*other_columns, *features], types)
    times = Counter([*other_columns, *features])
    if twice := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"The {counted('column', twice)} can be a feature, a target, weights or folds, and one "
            "of these only."
        )
    vector = _vector_column(features, types)
    names = features if vector is None else vector_names(frame, vector)
    columns = SparkColumns(features, vector, targets, weights, folds, names, types)
    _check_types(columns)
    return columns


def column_types(frame: Any) -> dict[str, str]:
    """What each column of a frame holds, in the words of Spark."""
    times = Counter(frame.columns)
    if repeated := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"The frame has several {counted('column', repeated)}: names must be unique."
        )
    return {field.name: _type_name(field.dataType) for field in frame.schema.fields}


def _type_name(data_type: Any) -> str:
    # By its name, since pyspark.ml takes long to import.
    return "vector" if type(data_type).__name__ == "VectorUDT" else data_type.simpleString()


def is_vector(type_name: str) -> bool:
    """Whether a column holds all features of a row."""
    return type_name == "vector" or (
        type_name.startswith("array<") and is_number_type(type_name[6:-1])
    )


def is_number_type(type_name: str) -> bool:
    """Whether a column holds numbers."""
    return _base_type(type_name) in NUMBER_TYPES


def _base_type(type_name: str) -> str:
    """A kind without its digits, its length or its alphabet."""
    return type_name.partition("(")[0].partition(" ")[0]


def quote(name: str) -> str:
    """A name as SQL takes it, whatever signs it has.

    Examples
    --------
    >>> quote("wind speed, 10.m")
    '`wind speed, 10.m`'
    """
    return f"`{name.replace('`', '``')}`"


def as_double(name: str, types: dict[str, str]) -> str:
    """A column of numbers in double precision, as an expression of SQL."""
    return quote(name) if types[name] == "double" else f"CAST({quote(name)} AS DOUBLE)"


def as_list(vector: str, type_name: str) -> Any:
    """A column of vectors or lists as one of lists of floats, null where there is none."""
    from pyspark.sql import functions

    column = functions.col(quote(vector))
    if type_name in ("array<double>", "array<float>"):
        return column
    if type_name != "vector":
        return column.cast("array<double>")
    # Late, since it takes long to import.
    from pyspark.ml.functions import vector_to_array

    return functions.when(column.isNotNull(), vector_to_array(column))


def vector_names(frame: Any, vector: str) -> list[str] | None:
    """Names that a column of vectors has for its features, as VectorAssembler gives them."""
    metadata = frame.schema[vector].metadata.get("ml_attr", {})
    by_place = {
        one.get("idx"): one.get("name")
        for attributes in metadata.get("attrs", {}).values()
        for one in attributes
        if one.get("name")
    }
    places = range(metadata.get("num_attrs", 0))
    if not places or {*places} != {*by_place} or len({*by_place.values()}) < len(places):
        return None
    return [str(by_place[place]) for place in places]


def numbered_names(vector: str, n_features: int) -> list[str]:
    """Names for features that a column of vectors has no names for."""
    return [f"{vector}[{place}]" for place in range(n_features)]


def check_columns_exist(names: list[str], types: dict[str, str]) -> None:
    """Raise where a frame has not all of these columns."""
    if missing := [name for name in names if name not in types]:
        raise ValueError(f"The frame has no {counted('column', missing, most=3)}.")


def check_numeric(names: list[str], types: dict[str, str]) -> None:
    """Raise where features are no numbers."""
    odd = [name for name in names if not is_number_type(types[name])]
    if odd:
        held = ", ".join(dict.fromkeys(types[name] for name in odd[:5]))
        raise ValueError(
            f"The frame has {held} in {counted('column', odd)}, and features are numbers: encode "
            "or drop them first, or name the features with moments_from(..., columns=[...])."
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


def _fold_column(folds: Any) -> str | None:
    """The column that has the folds, if one does."""
    if isinstance(folds, str):
        return folds
    if folds is None:
        return None
    if isinstance(folds, Integral) and not isinstance(folds, bool):
        if int(folds) < 2:
            raise ValueError(f"folds must be 2 or more, got {folds}.")
        return None
    raise TypeError(
        "The folds of a Spark frame are a number, or the name of a column with the fold of each "
        f"row, got {type(folds).__name__}."
    )


def _vector_column(features: list[str], types: dict[str, str]) -> str | None:
    """The column that holds all features; None where each has a column of its own."""
    if not features:
        raise ValueError("The frame has no columns that could be features.")
    vectors = [name for name in features if is_vector(types[name])]
    if not vectors:
        return None
    if len(features) > 1:
        raise ValueError(
            f"The {counted('column', vectors)} of the frame can hold all features, and there are "
            f"others: drop those, or name one with moments_from(..., columns=[{vectors[0]!r}])."
        )
    return vectors[0]


def _check_types(columns: SparkColumns) -> None:
    types = columns.types
    if columns.vector is None:
        check_numeric(columns.features, types)
    for name in columns.targets:
        if not is_number_type(types[name]) and _base_type(types[name]) not in TEXT_TYPES:
            raise ValueError(f"Target {name!r} must hold numbers or text, got {types[name]}.")
    if columns.weights is not None and not is_number_type(types[columns.weights]):
        raise ValueError(
            f"Weights {columns.weights!r} must be numbers, got {types[columns.weights]}."
        )
    if columns.folds is not None and types[columns.folds] not in INTEGER_TYPES:
        raise ValueError(
            f"Folds {columns.folds!r} must be whole numbers, got {types[columns.folds]}."
        )
