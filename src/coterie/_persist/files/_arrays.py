"""NumPy arrays to JSON and back, without loss.

Floats are written with as many digits as needed to load the same bits. JSON has no NaN and no
infinity: these become strings.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray
from coterie._persist.files._entry import Entry

NONFINITE_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
FLOAT_DTYPES = ("float16", "float32", "float64")
INT_DTYPES = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
# Dates and durations are stored as integers; the smallest integer is NaT.
TIME_DTYPE = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]")
DTYPES_TEXT = "a type of numbers, 'bool', 'str', 'bytes' or a type of times"


def plain_numbers(values: Any) -> Any:
    """A float or an array as JSON numbers, with strings for NaN and infinity.

    Examples
    --------
    >>> plain_numbers(np.array([0.1, -np.inf, np.nan]))
    [0.1, '-Infinity', 'NaN']
    """
    values = np.asarray(values)
    numbers = values.astype(np.float64).tolist()
    if np.isfinite(values).all():
        return numbers
    return (
        [_number_or_word(number) for number in numbers] if values.ndim else _number_or_word(numbers)
    )


def _number_or_word(number: float) -> float | str:
    if np.isfinite(number):
        return number
    return "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def number_in(entry: Entry) -> float:
    """A number, possibly NaN or infinity."""
    return NONFINITE_WORDS[entry.value] if entry.value in [*NONFINITE_WORDS] else entry.number()


def plain_array(array: NDArray[Any]) -> dict[str, Any] | None:
    """An array of numbers, strings or times as a JSON object; None for other types."""
    kind, name = array.dtype.kind, array.dtype.name
    if array.ndim > 2 or (array.size == 0 and array.ndim != 1):
        return None
    if name in FLOAT_DTYPES:
        values = plain_numbers(array.ravel())
    elif name in INT_DTYPES or kind == "b":
        values = array.ravel().tolist()
    elif kind in "UT":
        # NumPy sets the width to the longest string.
        name, values = "str", [str(value) for value in array.ravel().tolist()]
    elif kind == "S":
        name, values = "bytes", [value.decode("latin-1") for value in array.ravel().tolist()]
    elif kind in "Mm" and TIME_DTYPE.fullmatch(array.dtype.name):
        values = array.ravel().astype(np.int64).tolist()
    else:
        return None
    return {"is": "array", "dtype": name, "shape": list(array.shape), "values": values}


def array_in(entry: Entry) -> NDArray[Any]:
    """The array in a JSON object, never larger than the values in the file."""
    name, values = entry["dtype"].text(), entry["values"]
    n_values = len(values.values())
    sizes = [size.whole(0, n_values) for size in entry["shape"].items()]
    if len(sizes) > 2 or int(np.prod(sizes, dtype=object)) != n_values:
        raise entry["shape"].wrong(f"the shape of {n_values} values")
    return _load_flat(name, values, entry).reshape(sizes)


def _load_flat(name: str, values: Entry, entry: Entry) -> NDArray[Any]:
    if name in FLOAT_DTYPES:
        return floats_in(values, name)
    if name in INT_DTYPES:
        bounds = np.iinfo(name)
        numbers = values.whole_numbers(least=int(bounds.min), most=int(bounds.max))
        return np.array(numbers, dtype=name)
    if name == "bool":
        return np.array(values.truths(), dtype=bool)
    if name == "str":
        return np.array(_load_texts(values), dtype=np.str_)
    if name == "bytes":
        return _load_bytes(values)
    if TIME_DTYPE.fullmatch(name):
        numbers = values.whole_numbers(least=-(2**63), most=2**63 - 1)
        return np.array(numbers, dtype=np.int64).view(name)
    raise entry["dtype"].wrong(DTYPES_TEXT)


def _load_texts(values: Entry) -> list[str]:
    """Strings of similar length: as an array they take a few times their total length at most."""
    texts = values.texts()
    longest = max(map(len, texts), default=0)
    if longest * len(texts) > max(2**20, 8 * sum(map(len, texts))):
        raise values.wrong("a list of texts of about the same length")
    return texts


def _load_bytes(values: Entry) -> NDArray[Any]:
    texts = _load_texts(values)
    try:
        return np.array([text.encode("latin-1") for text in texts], dtype=np.bytes_)
    except UnicodeEncodeError:
        raise values.wrong("a list of bytes, each as the letter of its number") from None


def floats_in(entry: Entry, dtype: str = "float64", length: int | None = None) -> FloatArray:
    """An array of numbers, possibly NaN or infinity, that the dtype represents exactly."""
    values, n_words = entry.values(length), 0
    if str in {*map(type, values)}:
        n_words = sum(isinstance(value, str) for value in values)
        values = [
            NONFINITE_WORDS.get(value, value) if isinstance(value, str) else value
            for value in values
        ]
    if not {*map(type, values)} <= {int, float}:
        raise entry.wrong("a list of numbers")
    try:
        exact = np.array(values, dtype=np.float64)
    except OverflowError:
        raise entry.wrong("a list of numbers") from None
    # A number such as 1e999 is valid JSON, but not a float.
    if np.count_nonzero(~np.isfinite(exact)) != n_words:
        raise entry.wrong("a list of numbers that floats have")
    with np.errstate(over="ignore"):
        floats = exact.astype(dtype)
    if not np.array_equal(floats, exact, equal_nan=True):
        raise entry.wrong(f"a list of numbers of type {dtype}")
    return floats
