"""Rows in time are split in time, however their time is written and wherever the latest row is."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coterie
from coterie import NonLinCFA
from coterie.report.studies import times_of_rows
from coterie.report.studies._splits import Samples, repeated_folds

N = 180
DAYS = pd.date_range("2018-01-01", periods=N)
QUARTERS = [f"{1975 + k // 4}Q{1 + k % 4}" for k in range(N)]
MISSING = DAYS.strftime("%Y-%m-%d").to_numpy(dtype=object).copy()
MISSING[[0, 5, 6, 90]] = None
STORES = np.repeat(["A", "B", "C"], N // 3)
TABLES = {
    "German": ({"date": DAYS.strftime("%d.%m.%Y")}, "in order"),
    "American": ({"date": DAYS.strftime("%m/%d/%Y")}, "in order"),
    "latest first": ({"date": DAYS[::-1].strftime("%Y-%m-%d")}, "latest first"),
    "missing": ({"date": MISSING}, "in order"),
    "NaT": ({"date": pd.to_datetime(MISSING)}, "in order"),
    "quarters": ({"quarter": QUARTERS}, "in order"),
    "months": ({"period": [f"{1990 + k // 12}-{1 + k % 12:02d}" for k in range(N)]}, "in order"),
    "unix": ({"ts": 1_500_000_000 + 86_400 * np.arange(N)}, "in order"),
    "milliseconds": ({"event_time": 1.5e12 + 8.64e7 * np.arange(N)}, "in order"),
    "numbers of days": ({"date": DAYS.strftime("%Y%m%d").astype(int)}, "in order"),
    "year and month": (
        {"year": 1990 + np.arange(N) // 12, "month": 1 + np.arange(N) % 12},
        "in order",
    ),
    "year and quarter": (
        {"Year": 1975 + np.arange(N) // 4, "Quarter": 1 + np.arange(N) % 4},
        "in order",
    ),
    "years": ({"year": 1800 + np.arange(N)}, "in order"),
    "panel": ({"store": STORES, "date": [*DAYS[: N // 3]] * 3}, "several series"),
    "panel, latest first": ({"store": STORES, "date": [*DAYS[: N // 3][::-1]] * 3}, None),
    "panel of years": ({"store": STORES, "year": [*range(1950, 1950 + N // 3)] * 3}, None),
}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", TABLES)
def test_the_time_of_rows_is_found(kind, name):
    columns, arranged = TABLES[name]
    columns = {
        key: [None if pd.isna(one) else one for one in pd.Series(values).tolist()]
        for key, values in columns.items()
    }
    found = times_of_rows(kind(columns | {"wind": np.arange(N) % 7}))
    assert found is not None
    assert found.arranged == (arranged or "several series")
    assert np.isfinite(found.times).all()
    assert found.times.shape == (N,)


OTHERS = {
    "birthdays": {"born": np.random.default_rng(0).permutation(DAYS)},
    "cars": {"year": np.sort(np.arange(N) % 12) + 1970},
    "mostly missing": {"date": np.where(np.arange(N) < 100, None, MISSING)},
    "hours": {"time": np.random.default_rng(0).uniform(0, 24, N)},
    "one day": {"date": DAYS[:1].repeat(N)},
    "text": {"date": ["soon"] * N},
    "encoded": {"year(day)": 1990 + np.arange(N) // 12, "month(day)": 1 + np.arange(N) % 12},
    "numbers": {"size": 1_500_000_000 + np.arange(N)},
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_tell_no_time(name):
    assert times_of_rows(pd.DataFrame(OTHERS[name] | {"wind": np.arange(N) % 7})) is None


def test_an_index_of_dates_tells_the_time():
    table = pd.DataFrame({"wind": np.arange(N) % 7}, index=DAYS[::-1])
    assert times_of_rows(table).arranged == "latest first"


@pytest.fixture(scope="module")
def walk():
    """A random walk that nothing predicts, unless neighbouring rows are known."""
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(N, 4)), axis=0)
    return {f"f{k}": X[:, k] for k in range(4)}, np.cumsum(rng.normal(size=N))


WALKS = ["German", "latest first", "missing", "quarters", "unix", "year and month"]


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
@pytest.mark.parametrize("name", WALKS)
def test_a_random_walk_is_not_said_to_be_predicted(name, walk):
    columns, y = walk
    table = pd.DataFrame(TABLES[name][0] | columns)
    result = coterie.report.study(table, y, path=False)
    assert "each predicted from the rows before it" in result.verdict.splits
    assert any("so they are split in time" in note for note in result.summary.notes)
    assert result.verdict.code != "use_groups"


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_a_random_walk_without_dates_is_warned_of(walk):
    columns, y = walk
    result = coterie.report.study(pd.DataFrame(columns), y, path=False, estimator=NonLinCFA())
    assert any("neighbouring rows have like targets" in note for note in result.summary.notes)
    asked = coterie.report.study(
        pd.DataFrame(columns), y, path=False, estimator=NonLinCFA(), by_time=True
    )
    assert not any("neighbouring rows" in note for note in asked.summary.notes)


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_rows_are_sorted_by_given_times(walk):
    columns, y = walk
    table, order = pd.DataFrame(columns), np.random.default_rng(1).permutation(N)
    options = {"path": False, "estimator": NonLinCFA()}
    sorted_ = coterie.report.study(table, y, by_time=True, **options)
    for times in (DAYS[order], order):
        found = coterie.report.study(table.iloc[order], y[order], by_time=times, **options)
        assert found.summary.scores == sorted_.summary.scores
    with pytest.raises(ValueError, match="by_time must be"):
        coterie.report.study(table, y, by_time=[np.nan] * N, **options)
    with pytest.raises(ValueError, match="a time for each of 180 rows"):
        coterie.report.study(table, y, by_time=[1, 2], **options)


def test_rows_of_one_time_are_never_on_both_sides():
    days = np.repeat(np.arange(30), 5)
    rows = Samples.from_arrays(np.zeros((150, 2)), np.arange(150.0)).in_time(days[::-1])
    assert (np.diff(rows.times) >= 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        splits = repeated_folds(rows, 4, 1, classes=False, by_time=True, seed=0)
    for train, test in splits.rows:
        assert rows.times[train].max() < rows.times[test].min()
