"""Columns as floats, or the column, the row and the value that stand against it."""

import datetime
import decimal
import time

import numpy as np
import polars as pl
import pytest

from coterie._data.tables import TableError, closest_name, columns_to_floats


def test_every_kind_of_number_becomes_floats():
    values = [0, 1, None]
    kinds = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt64, pl.Float32]
    columns = {str(kind): pl.Series(values, dtype=kind) for kind in [*kinds, pl.Float64]}
    columns["decimal"] = pl.Series([decimal.Decimal("0.0"), decimal.Decimal("1.0"), None])
    columns["bool"] = pl.Series([False, True, None])
    frame = pl.DataFrame(columns)
    numbers = columns_to_floats(frame, frame.columns, what="feature")
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, np.array([[0.0], [1.0], [np.nan]]).repeat(11, axis=1))


def test_columns_come_in_the_order_asked_for():
    frame = pl.DataFrame({"a": [1, 2], "b": [3, 4], "none": [None, None]})
    np.testing.assert_array_equal(
        columns_to_floats(frame, ["none", "b", "a"], what="feature"),
        [[np.nan, 3, 1], [np.nan, 4, 2]],
    )
    assert columns_to_floats(frame, [], what="feature").shape == (2, 0)


def test_names_are_names_and_no_patterns():
    frame = pl.DataFrame({"*": [1], "^.*$": [2], "a": [3]})
    numbers = columns_to_floats(frame, ["^.*$", "*", "a", "*"], what="feature")
    np.testing.assert_array_equal(numbers, [[2, 1, 3, 1]])


DAY = datetime.date(2024, 1, 31)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", None, "Paris"], "is text (row 3: 'Paris'): drop it with --drop 'my x', or convert"),
        (["1", "2", None], "is text (row 1: '1')"),
        (["1,234", "5", "2,000.5"], "remove its thousands separators"),
        ([None, DAY, DAY], "is dates or times (row 2: '2024-01-31')"),
        ([[1], [2], None], "is lists"),
        ([b"1", b"2", None], "is neither numbers nor text"),
        ([1.0, -np.inf, np.inf], "is infinite in row 2"),
        (["x" * 1000, "", ""], "xxx...'"),
        (["two\nlines", "", ""], r"'two\nlines'"),
    ],
)
def test_what_is_no_number_is_said_with_its_row(values, words):
    frame = pl.DataFrame({"a": [1, 2, 3], "my x": values})
    with pytest.raises(TableError) as caught:
        columns_to_floats(frame, ["a", "my x"], what="feature")
    assert words in str(caught.value)
    assert str(caught.value).startswith("Feature 'my x' ")
    assert "\n" not in str(caught.value)


def test_a_category_is_text_and_a_target_is_not_dropped():
    frame = pl.DataFrame({"y": pl.Series(["a", "b"], dtype=pl.Categorical)})
    with pytest.raises(
        TableError, match=r"^Target 'y' is text \(row 1: 'a'\): convert it to numbers"
    ):
        columns_to_floats(frame, ["y"], what="target")


def test_several_columns_of_text_are_named_together():
    frame = pl.DataFrame({f"c{j}": ["x"] for j in range(1000)})
    with pytest.raises(TableError) as caught:
        columns_to_floats(frame, frame.columns, what="feature")
    assert "'c0' is text (row 1: 'x'), and so are 'c1', 'c2', 'c3', ...:" in str(caught.value)


def test_a_column_that_is_not_there():
    with pytest.raises(TableError, match=r"no column 'prise'. Did you mean 'price'\?"):
        columns_to_floats(pl.DataFrame({"price": [1]}), ["prise"], what="target")


@pytest.mark.parametrize("shape", [(1_000_000, 10), (100, 20_000)])
def test_many_cells_take_no_time(shape):
    frame = pl.DataFrame(np.ones(shape))
    start = time.process_time()
    columns_to_floats(frame, frame.columns, what="feature")
    # Far above what it takes, far below a loop over cells.
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("name", "names", "found"),
    [
        ("", ["a"], None),
        ("a", [], None),
        ("Price ", ["price", "Price"], "price"),
        ("pirce", ["price", "prize"], "price"),
        ("zebra", ["price"], None),
    ],
)
def test_near_names(name, names, found):
    assert closest_name(name, names) == found
