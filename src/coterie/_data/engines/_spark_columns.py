"""Which columns of a Spark frame are features, and which stand beside them."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple

from coterie._data.engines._engine import Counting
from coterie._data.validation import counted

# What Spark calls its kinds of numbers; a decimal has its digits in brackets behind.
WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*WHOLE, "boolean", "float", "double", "decimal")
TEXT = ("string", "char", "varchar")


class Columns(NamedTuple):
    """The columns of a frame that are counted, by name."""

    features: list[str]
    vector: str | None  # the one column that holds all features
    targets: list[str]
    weights: str | None
    folds: str | None
    names: list[str] | None  # of the features, where they are known beforehand
    kinds: dict[str, str]  # what each column holds, in the words of Spark


def columns_of(frame: Any, counting: Counting) -> Columns:
    """What is to be counted, found in a frame."""
    kinds = kinds_in(frame)
    targets = _names_of_targets(counting.y)
    weights = _name("sample_weight", counting.weights)
    folds = _name_of_folds(counting.folds)
    beside = [name for name in (*targets, weights, folds) if name is not None]
    wanted = counting.columns
    features = [name for name in kinds if name not in beside] if wanted is None else list(wanted)
    check_there([*beside, *features], kinds)
    times = Counter([*beside, *features])
    if twice := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"The {counted('column', twice)} can be a feature, a target, weights or folds, and one "
            "of these only."
        )
    vector = _vector_among(features, kinds)
    names = features if vector is None else names_in_vector(frame, vector)
    columns = Columns(features, vector, targets, weights, folds, names, kinds)
    _check_kinds(columns)
    return columns


def kinds_in(frame: Any) -> dict[str, str]:
    """What each column of a frame holds, in the words of Spark."""
    times = Counter(frame.columns)
    if repeated := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"The frame has several {counted('column', repeated)}: names must be unique."
        )
    return {field.name: _kind(field.dataType) for field in frame.schema.fields}


def _kind(data_type: Any) -> str:
    # By its name, since pyspark.ml takes long to import.
    return "vector" if type(data_type).__name__ == "VectorUDT" else data_type.simpleString()


def is_vector(kind: str) -> bool:
    """Whether a column holds all features of a row."""
    return kind == "vector" or (kind.startswith("array<") and is_number(kind[6:-1]))


def is_number(kind: str) -> bool:
    """Whether a column holds numbers."""
    return _family(kind) in NUMBERS


def _family(kind: str) -> str:
    """A kind without its digits, its length or its alphabet."""
    return kind.partition("(")[0].partition(" ")[0]


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever signs it has.

    Examples
    --------
    >>> quoted("wind speed, 10.m")
    '`wind speed, 10.m`'
    """
    return f"`{name.replace('`', '``')}`"


def as_double(name: str, kinds: dict[str, str]) -> str:
    """A column of numbers in double precision, as an expression of SQL."""
    return quoted(name) if kinds[name] == "double" else f"CAST({quoted(name)} AS DOUBLE)"


def as_list(vector: str, kind: str) -> Any:
    """A column of vectors or lists as one of lists of floats, null where there is none."""
    from pyspark.sql import functions

    column = functions.col(quoted(vector))
    if kind in ("array<double>", "array<float>"):
        return column
    if kind != "vector":
        return column.cast("array<double>")
    # Late, since it takes long to import.
    from pyspark.ml.functions import vector_to_array

    return functions.when(column.isNotNull(), vector_to_array(column))


def names_in_vector(frame: Any, vector: str) -> list[str] | None:
    """Names that a column of vectors has for its features, as VectorAssembler gives them."""
    about = frame.schema[vector].metadata.get("ml_attr", {})
    by_place = {
        one.get("idx"): one.get("name")
        for kind in about.get("attrs", {}).values()
        for one in kind
        if one.get("name")
    }
    places = range(about.get("num_attrs", 0))
    if not places or {*places} != {*by_place} or len({*by_place.values()}) < len(places):
        return None
    return [str(by_place[place]) for place in places]


def names_by_place(vector: str, n_features: int) -> list[str]:
    """Names for features that a column of vectors has no names for."""
    return [f"{vector}[{place}]" for place in range(n_features)]


def check_there(names: list[str], kinds: dict[str, str]) -> None:
    """Raise where a frame has not all of these columns."""
    if missing := [name for name in names if name not in kinds]:
        raise ValueError(f"The frame has no {counted('column', missing, most=3)}.")


def check_numbers(names: list[str], kinds: dict[str, str]) -> None:
    """Raise where features are no numbers."""
    odd = [name for name in names if not is_number(kinds[name])]
    if odd:
        held = ", ".join(dict.fromkeys(kinds[name] for name in odd[:5]))
        raise ValueError(
            f"The frame has {held} in {counted('column', odd)}, and features are numbers: encode "
            "or drop them first, or name the features with moments_from(..., columns=[...])."
        )


def _names_of_targets(y: Any) -> list[str]:
    names = [y] if isinstance(y, str) else y
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or not names:
        raise TypeError(
            "y must be the name of a column of the frame, or a list of names, got "
            f"{y if y is None or isinstance(y, list) else type(y).__name__}."
        )
    return list(names)


def _name(what: str, name: Any) -> str | None:
    if name is None or isinstance(name, str):
        return name
    raise TypeError(f"{what} must be the name of a column of the frame, got {type(name).__name__}.")


def _name_of_folds(folds: Any) -> str | None:
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


def _vector_among(features: list[str], kinds: dict[str, str]) -> str | None:
    """The column that holds all features; None where each has a column of its own."""
    if not features:
        raise ValueError("The frame has no columns that could be features.")
    vectors = [name for name in features if is_vector(kinds[name])]
    if not vectors:
        return None
    if len(features) > 1:
        raise ValueError(
            f"The {counted('column', vectors)} of the frame can hold all features, and there are "
            f"others: drop those, or name one with moments_from(..., columns=[{vectors[0]!r}])."
        )
    return vectors[0]


def _check_kinds(columns: Columns) -> None:
    kinds = columns.kinds
    if columns.vector is None:
        check_numbers(columns.features, kinds)
    for name in columns.targets:
        if not is_number(kinds[name]) and _family(kinds[name]) not in TEXT:
            raise ValueError(f"Target {name!r} must hold numbers or text, got {kinds[name]}.")
    if columns.weights is not None and not is_number(kinds[columns.weights]):
        raise ValueError(
            f"Weights {columns.weights!r} must be numbers, got {kinds[columns.weights]}."
        )
    if columns.folds is not None and kinds[columns.folds] not in WHOLE:
        raise ValueError(
            f"Folds {columns.folds!r} must be whole numbers, got {kinds[columns.folds]}."
        )
