"""Every number comes back with all its bits, and nothing else comes back at all."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from coterie._persist.files import (
    Entry,
    NotPlainError,
    UnreadableError,
    array_in,
    floats_in,
    plain_array,
    plain_numbers,
    plain_value,
    read_document,
    text_of,
    value_in,
)

DTYPES = st.one_of(
    npst.floating_dtypes(sizes=(16, 32, 64)),
    npst.integer_dtypes(),
    npst.unsigned_integer_dtypes(),
    npst.boolean_dtypes(),
    npst.datetime64_dtypes(max_period="Y", min_period="ns"),
    npst.timedelta64_dtypes(max_period="Y", min_period="ns"),
)


def written_and_read(value):
    return json.loads(text_of(value))


def same_bits(these, those):
    np.testing.assert_array_equal(these, those, strict=True)
    if these.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(these), np.signbit(those))


@given(array=npst.arrays(DTYPES, npst.array_shapes(max_dims=2, max_side=5)))
def test_arrays_come_back(array):
    array = array.astype(array.dtype.newbyteorder("="))
    back = array_in(Entry(written_and_read(plain_array(array))))
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    same_bits(back, array)


@given(bits=st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_floats_of_any_bits_come_back(bits):
    numbers = np.array(bits, dtype=np.uint64).view(np.float64)
    numbers = np.where(np.isnan(numbers), np.nan, numbers)
    same_bits(floats_in(Entry(written_and_read(plain_numbers(numbers)))), numbers)


@given(texts=st.lists(st.text(st.characters(exclude_characters="\0"))))
def test_texts_come_back(texts):
    assert (
        array_in(Entry(written_and_read(plain_array(np.array(texts, dtype=str))))).tolist() == texts
    )


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple),
)


@given(value=PLAIN)
def test_plain_values_come_back(value):
    back = value_in(Entry(written_and_read(plain_value(value))))
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value", [range(2, 9, 3), {1, "a"}, np.float32(0.1), np.str_("a"), np.int8(-3), np.bool_(True)]
)
def test_what_json_lacks_comes_back(value):
    back = value_in(Entry(written_and_read(plain_value(value))))
    assert type(back) is type(value)
    assert back == value


@pytest.mark.parametrize(
    "value", [1j, object(), {1: 2}, b"a", np.ones((2, 2, 2)), np.ones(2, complex), np.empty((0, 2))]
)
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(NotPlainError):
        plain_value([value])


@pytest.mark.parametrize(
    ("dtype", "shape", "values"),
    [
        ("float32", [1], [0.1]),
        ("float32", [1], [1e300]),
        ("float64", [1], [True]),
        ("float64", [1], ["inf"]),
        ("float64", [2], [1.0]),
        ("float64", [1, 1, 1], [1.0]),
        ("float64", [-1], [1.0]),
        ("float64", [0, 10**12], []),
        ("int8", [1], [128]),
        ("int8", [1], [1.0]),
        ("uint8", [1], [-1]),
        ("int64", [1], [2**63]),
        ("bool", [1], [1]),
        ("str", [1], [1]),
        ("bytes", [1], ["\u20ac"]),
        ("object", [1], ["os"]),
        ("datetime64[25s]", [1], [1]),
        ("complex128", [1], [1.0]),
    ],
)
def test_arrays_that_are_not_what_they_say_are_refused(dtype, shape, values):
    with pytest.raises(UnreadableError):
        array_in(Entry({"is": "array", "dtype": dtype, "shape": shape, "values": values}))


def test_numbers_that_are_no_floats_are_refused(tmp_path):
    path = tmp_path / "numbers.json"
    path.write_text("[1e999]")
    with pytest.raises(UnreadableError, match="must be a list of numbers that floats have"):
        floats_in(Entry(read_document(path)))
    with pytest.raises(UnreadableError, match="must be a number"):
        value_in(Entry(read_document(path)))


def test_entries_say_where_they_stand():
    entry = Entry({"a": [{"b": "x" * 100}], "n": 3})
    (first,) = entry["a"].items()
    with pytest.raises(
        UnreadableError, match=r"^'a\[0\].b' must be true or false, got 'xxx"
    ) as error:
        first["b"].truth()
    assert len(str(error.value)) < 100
    with pytest.raises(UnreadableError, match=r"^'a\[0\].c' is missing$"):
        first["c"]
    with pytest.raises(UnreadableError, match=r"^'n' must be an object, got 3$"):
        entry["n"]["m"]
    with pytest.raises(UnreadableError, match=r"^'n' must be a whole number from 0 to 2, got 3$"):
        entry["n"].whole(0, 2)
    with pytest.raises(UnreadableError, match=r"^'a' must have 2 items, got 1$"):
        entry["a"].values(2)
