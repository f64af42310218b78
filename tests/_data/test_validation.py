"""What a table may hold, in one sentence."""

import numpy as np
import pandas as pd
import pytest

from coterie._data.validation import by_column, check_finite, check_table, counted


def test_items_are_listed_up_to_a_few():
    assert counted("column", ["a"]) == "column 'a'"
    assert counted("row", range(9), most=2) == "rows 0, 1 and 7 more"


def test_columns_that_hold_something_bad_are_told():
    assert by_column(np.array([[1, np.nan], [2, 3]]), np.isnan).tolist() == [False, True]
    with pytest.raises(ValueError, match="What came has NaN in column 1"):
        check_finite(np.array([[1, np.nan]]), lambda: None, "What came")


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pd.DataFrame({"a": ["x"]}), "text in column 'a'"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "dates in column 'a'"),
        (pd.DataFrame({"a": pd.Categorical(["x"])}), "categories in column 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "several column 'a'"),
    ],
)
def test_what_is_no_number_is_named(frame, says):
    with pytest.raises(ValueError, match=says):
        check_table(frame)
