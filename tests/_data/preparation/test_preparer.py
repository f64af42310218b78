"""Columns of any kind become numbers, new rows in the same way, and nothing is done in silence."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import coterie
from coterie import FitWarning, TablePreparer

N = 200
RNG = np.random.default_rng(0)
CITIES = RNG.choice(["Rome", "Paris", "Oslo"], N)
SHOPS = RNG.choice([f"shop {k}" for k in range(60)], N, p=np.arange(60, 0, -1) / 1830)
DAYS = pd.Timestamp("2019-11-20 06:30") + pd.to_timedelta(RNG.integers(0, 20_000, N), "h")
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "new": RNG.random(N) > 0.5,
        "city": CITIES,
        "shop": SHOPS,
        "day": DAYS,
        "name": [f"row {k}" for k in range(N)],
        "id": np.arange(1, N + 1),
        "year": 2020,
    }
)
Y = RNG.normal(size=N)

FRAMES = {
    "pandas": lambda: TABLE,
    "pandas object": lambda: TABLE.astype({"city": object, "shop": "category", "day": object}),
    "pandas arrow": lambda: TABLE.convert_dtypes(dtype_backend="pyarrow"),
    "dates in text": lambda: TABLE.assign(day=TABLE["day"].dt.strftime("%Y-%m-%d %H:%M")),
    "polars": lambda: pl.from_pandas(TABLE),
    "polars lazy": lambda: pl.from_pandas(TABLE).lazy(),
    "polars enum": lambda: pl.from_pandas(TABLE).with_columns(
        pl.col("city").cast(pl.Enum(["Oslo", "Paris", "Rome"]))
    ),
    "arrow": lambda: pl.from_pandas(TABLE).to_arrow(),
}


def prepared(frame, y=None, **parameters):
    preparer = TablePreparer(**parameters)
    return preparer, preparer.fit_transform(frame, y)


def column(frame, name):
    return np.asarray(frame[name], dtype=float)


def treatments(preparer):
    return {one.name: one.treatment for one in preparer.columns_}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_what_pandas_gives(kind):
    """The oracle: get_dummies, value_counts and the calendar of pandas."""
    frame = FRAMES[kind]()
    preparer, made = prepared(frame, Y)
    assert isinstance(made, pd.DataFrame if kind.startswith(("pandas", "dates")) else pl.DataFrame)
    dummies = pd.get_dummies(TABLE["city"], prefix="city", prefix_sep="=", dtype=float)
    for name in dummies:
        np.testing.assert_array_equal(column(made, name), dummies[name])
    counts = TABLE["shop"].map(TABLE["shop"].value_counts())
    np.testing.assert_array_equal(column(made, "count(shop)"), counts)
    day = TABLE["day"].dt
    expected = {
        "days": (day.normalize() - TABLE["day"].min().normalize()).dt.days,
        "year": day.year,
        "month": day.month,
        "yearday": day.day_of_year,
        "weekday": day.day_of_week + 1,
        "hour": day.hour + day.minute / 60,
    }
    for part, values in expected.items():
        np.testing.assert_allclose(column(made, f"{part}(day)"), values, rtol=1e-12)
    np.testing.assert_array_equal(column(made, "size"), TABLE["size"])
    np.testing.assert_array_equal(column(made, "new"), TABLE["new"])
    assert treatments(preparer) == {
        "size": "as it is",
        "new": "as it is",
        "city": "one-hot",
        "shop": "counts",
        "day": "calendar",
        "name": "left out",
        "id": "left out",
        "year": "left out",
    }
    assert list(made.columns) == preparer.get_feature_names_out().tolist()


@pytest.mark.parametrize("kind", FRAMES)
def test_rows_are_prepared_alone_as_together(kind):
    """Transforming new rows one by one gives the rows of the whole table."""
    frame = FRAMES[kind]()
    preparer, made = prepared(frame, Y)
    again = preparer.transform(frame)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(made))
    for row in (0, 7):
        few = TABLE[["day", "shop", "city", "new", "size"]].iloc[[row]]
        np.testing.assert_array_equal(np.asarray(preparer.transform(few))[0], np.asarray(made)[row])


def test_the_order_of_rows_does_not_matter():
    names = TablePreparer().fit(TABLE).get_feature_names_out().tolist()
    order = np.random.default_rng(1).permutation(N)
    mixed = TablePreparer(keep=[]).fit(TABLE.drop(columns="id").iloc[order])
    assert mixed.get_feature_names_out().tolist() == names


def test_unknown_levels_and_missing_values_are_zeros_and_nan():
    preparer = TablePreparer().fit(TABLE)
    new = TABLE.head(2).assign(city=["Bonn", None], shop=None, day=pd.NaT, size=np.nan)
    made = preparer.transform(new)
    assert (made.filter(like="city=") == 0).all(axis=None)
    assert (made.filter(like="shop") == 0).all(axis=None)
    assert made.filter(like="(day)").isna().all(axis=None)
    assert made["size"].isna().all()


def test_missing_levels_have_a_column_where_fit_saw_some():
    table = pl.DataFrame({"city": ["a", "", None, "b"] * 5, "flag": ["x", None] * 10})
    preparer, made = prepared(table)
    assert made.columns == ["city=a", "city=b", "city=missing", "flag=x"]
    assert made.head(4).rows() == [(1, 0, 0, 1), (0, 0, 1, 0), (0, 0, 1, 1), (0, 1, 0, 0)]


def test_two_levels_are_one_column():
    _, made = prepared(pl.DataFrame({"smoker": ["yes", "no", "no"]}))
    assert made.columns == ["smoker=yes"]
    assert made["smoker=yes"].to_list() == [1, 0, 0]


KEYS = {
    "row numbers": pd.Series(np.arange(1, N + 1)),
    "customer_id": pd.Series(RNG.permutation(N) + 7_000),
    "orderKey": pd.Series(np.cumsum(RNG.integers(1, 9, N))),
    "Unnamed: 0": pd.Series(np.arange(500, 500 + N)),
    "serial": pd.Series([f"A{k:05d}" for k in range(N)]),
    "comment": pd.Series([f"text {min(k, 150)}" for k in range(N)]),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_rows_are_left_out(name):
    preparer = TablePreparer().fit(pd.DataFrame({name: KEYS[name], "x": Y}))
    assert treatments(preparer) == {name: "left out", "x": "as it is"}
    assert name in preparer.notes()[0]


NO_KEYS = {
    "years": np.arange(1820, 1820 + N),
    "idle": RNG.permutation(N),
    "temperature": np.cumsum(RNG.integers(1, 9, N)),
    "id of shop": RNG.integers(0, 20, N),
    "floats": np.arange(N) + 0.5,
}


@pytest.mark.parametrize("name", NO_KEYS)
def test_numbers_that_are_no_keys_stay(name):
    preparer = TablePreparer().fit(pd.DataFrame({name: NO_KEYS[name], "x": Y}))
    assert treatments(preparer)[name] == "as it is"


GRADES = np.array(["low", "mid", "high"])[np.digitize(Y, [-0.5, 0.5])]
LEAKS = {
    "a copy": (Y.copy(), Y),
    "other units": (3 - 1.8 * Y, Y),
    "with a few gaps": (np.where(np.arange(N) % 50 == 0, np.nan, 2 * Y), Y),
    "codes of classes": (np.digitize(Y, [-0.5, 0.5]), GRADES),
    "parts of classes": (np.char.add(GRADES.astype("<U9"), RNG.choice(["A", "B"], N)), GRADES),
    "text for numbers": (np.where(Y > 0, "yes", "no"), (Y > 0).astype(int)),
    "a monotone function": (np.exp(-Y), Y),
    "missing for one class": (np.where(Y > 0, np.nan, RNG.normal(size=N)), Y > 0),
    "a date for one class": (
        DAYS.where(Y > 0),
        Y > 0,
    ),
    "text for one class": (np.where(Y > 0, "fraud", None), np.where(Y > 0, "yes", "no")),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_gives_the_target_away_is_left_out_and_warned_of(name):
    values, y = LEAKS[name]
    frame = pd.DataFrame({"leak": values, "x": RNG.normal(size=N)})
    with pytest.warns(FitWarning, match="give the target away: 'leak'"):
        preparer = TablePreparer().fit(frame, y)
    assert treatments(preparer) == {"leak": "left out", "x": "as it is"}
    assert treatments(TablePreparer(keep=["leak"]).fit(frame, y))["leak"] != "left out"


def test_one_of_several_targets_may_be_given_away():
    frame = pd.DataFrame({"leak": 2 * Y, "x": RNG.normal(size=N)})
    with pytest.warns(FitWarning, match="'leak'"):
        TablePreparer().fit(frame, np.column_stack([RNG.normal(size=N), Y]))


INNOCENT = {
    "strong": (Y + 0.05 * RNG.normal(size=N), Y),
    "continuous and separating": (Y, (Y > 0).astype(int)),
    "one level mixed": (np.where(np.arange(N) == 3, "low", GRADES), GRADES),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_good_predictors_stay(name):
    values, y = INNOCENT[name]
    preparer = TablePreparer().fit(pd.DataFrame({"good": values, "x": RNG.normal(size=N)}), y)
    assert treatments(preparer)["good"] != "left out"


def test_few_rows_give_nothing_away():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "y"]})
    assert not any(one.leaks for one in TablePreparer().fit(frame, [0, 1, 1]).columns_)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (["31.12.2020", "1.2.2021"], ["2020-12-31", "2021-02-01"]),
        (["31/12/2020", "01/02/2021"], ["2020-12-31", "2021-02-01"]),
        (["12/31/2020", "02/01/2021"], ["2020-12-31", "2021-02-01"]),
        (["2020/12/31", "2021/2/1"], ["2020-12-31", "2021-02-01"]),
        (["2020-12-31T23:59:59Z", "2021-02-01 7:00"], ["2020-12-31T23:59:59", "2021-02-01T07:00"]),
    ],
)
def test_dates_in_text_are_dates(text, expected):
    made = TablePreparer().fit_transform(pd.DataFrame({"day": text}))
    _, oracle = prepared(pd.DataFrame({"day": pd.to_datetime(expected, format="ISO8601")}))
    pd.testing.assert_frame_equal(made, oracle)


@pytest.mark.parametrize("text", [["01/02/2020", "03/04/2020"], ["2020-02-30", "2020-02-28"]])
def test_what_may_be_two_dates_or_none_stays_text(text):
    preparer = TablePreparer().fit(pd.DataFrame({"day": text}))
    assert preparer.columns_[0].kind == "text"


def test_times_spans_and_zones_are_numbers():
    table = pl.DataFrame(
        {
            "span": [datetime.timedelta(hours=12), None],
            "time": [datetime.time(6, 30), datetime.time(18)],
            "zoned": pl.Series([0, 86_400_000_000], dtype=pl.Datetime("us", "Asia/Tokyo")),
            "day": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
        }
    )
    _, made = prepared(table, keep=["span"])
    assert made["span"].to_list()[0] == 0.5
    assert np.isnan(made["span"].to_list()[1])
    assert made["time"].to_list() == [6.5, 18]
    assert made["days(zoned)"].to_list() == made["days(day)"].to_list() == [0, 1]


def test_text_is_dropped_or_refused_where_asked_for():
    _, made = prepared(TABLE, text="drop")
    assert list(made.columns) == ["size", "new"]
    with pytest.raises(ValueError, match="Column 'city' holds text: encode it"):
        TablePreparer(text="refuse").fit(TABLE)
    with pytest.raises(ValueError, match="text must be one of"):
        TablePreparer(text="no").fit(TABLE)


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "several column 'a'"),
        (pd.DataFrame([[1, 2]]), "Names of columns must be text"),
        (np.ones((2, 2)), "must be a data frame"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "Column 'a' is infinite in row 2"),
    ],
)
def test_tables_that_cannot_be_prepared_are_one_sentence(frame, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence) as error:
        TablePreparer().fit(frame)
    assert "\n" not in str(error.value)


def test_new_tables_of_other_kinds_are_one_sentence():
    preparer = TablePreparer().fit(TABLE)
    with pytest.raises(ValueError, match="X lacks columns 'size', 'city'"):
        preparer.transform(TABLE.drop(columns=["size", "city"]))
    with pytest.raises(ValueError, match="'size' held numbers in fit, and holds text"):
        preparer.transform(TABLE.assign(size="big"))
    with pytest.raises(ValueError, match="'day' held dates in fit, and holds numbers"):
        preparer.transform(TABLE.assign(day=3.0))


def test_codes_that_look_like_numbers_are_still_levels():
    codes = ["01", "2", "x", "2"] * 5
    preparer = TablePreparer().fit(pl.DataFrame({"code": codes}))
    made = preparer.transform(pl.DataFrame({"code": [2, 3]}))
    assert made.rows() == [(0, 1, 0), (0, 0, 0)]


def test_names_are_never_twice():
    table = pl.DataFrame({"a=x": [1.0, 2.0, 3.0], "a": ["x", "y", "z"]})
    _, made = prepared(table)
    assert made.columns == ["a=x", "a=x (2)", "a=y", "a=z"]


def test_lists_are_left_out():
    preparer = TablePreparer().fit(pl.DataFrame({"tags": [[1], [2]], "x": [1.0, 2.0]}))
    assert preparer.columns_[0].is_left_out


def test_many_columns_are_told_of_by_their_number():
    levels = {f"c{k}": ["x", "y", "y"] for k in range(20)}
    table = pl.DataFrame(levels | {f"k{k}": 1 for k in "abcdefgh"})
    told = TablePreparer().fit(table).notes()
    assert told[0] == "Left out (constant): 'ka', 'kb', 'kc', 'kd', 'ke', 'kf' and 2 more."
    assert told[-1] == "8 more columns were encoded likewise."
    assert len(told) == 14


def test_it_is_a_step_of_a_pipeline():
    y = (CITIES == "Rome") + Y
    model = make_pipeline(TablePreparer(), coterie.Coterie(), Ridge()).fit(TABLE, y)
    assert model.score(TABLE, y) > 0.1
    assert "city=Rome" in " ".join(model[1].feature_names_in_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(TABLE), model.predict(TABLE))
    assert clone(model[0]).get_params() == TablePreparer().get_params()


def written(cells, odd):
    """A column of text: some cells that are no numbers, after 100 that are."""
    return np.array([*cells, *odd, *cells[: N - len(cells) - len(odd)]], dtype=object)


VALUES = np.round(RNG.normal(1000, 400, 100), 2)
WRITTEN = {
    "one odd cell": (
        [f"{one:.2f}" for one in VALUES],
        ["n.a."],
        "numbers except in 1 row ('n.a.')",
    ),
    "odd cells": ([f"{one}" for one in VALUES], ["n/a?", "-"], "in 2 rows ('-', 'n/a?')"),
    "dollars": ([f"${one:,.2f}" for one in VALUES], [], "read as numbers"),
    "euros": ([f"{one:.2f} \N{EURO SIGN}" for one in VALUES], ["?"], "except in 1 row ('?')"),
    "per cent": ([f"{one:.2f}%" for one in VALUES], [], "read as numbers"),
    "thousands": ([f"{one:,.2f}" for one in VALUES], ["none"], "except in 1 row ('none')"),
    "German": (
        [f"{one:,.2f}".translate(str.maketrans(",.", ".,")) for one in VALUES],
        ["k.A."],
        "except in 1 row ('k.A.')",
    ),
}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_with_units_and_odd_cells_are_read(kind, name):
    cells, odd, told = WRITTEN[name]
    column = written(cells, odd).tolist()
    preparer = TablePreparer()
    found = preparer.fit_transform(kind({"mixed": column, "x": Y}))
    expected = np.array([np.nan if one in odd else VALUES[cells.index(one)] for one in column])
    np.testing.assert_array_equal(np.asarray(found["mixed"]), expected)
    assert any("'mixed'" in note and told in note for note in preparer.notes())
    assert preparer.is_needed
    new = kind({"mixed": [cells[3], "what?"], "x": [1.0, 2.0]})
    values = np.asarray(preparer.transform(new)["mixed"])
    np.testing.assert_array_equal(values, [VALUES[3], np.nan])
    again = TablePreparer.from_plain(preparer.as_plain())
    np.testing.assert_array_equal(np.asarray(again.transform(new)["mixed"]), values)


NO_NUMBERS = {
    "codes": [*["1", "2", "3"] * 60, "unknown"],
    "zip codes": [f"{k:05d}" for k in range(180)] + ["-"],
    "names": [f"{k} street" for k in range(180)],
    "hashes": [f"e{k:09d}" for k in range(90)] * 2,
    "diagnoses": [*map(str, range(250, 400)), *[f"V{k}" for k in range(10)]],
    "plain": [str(k / 8) for k in range(180)],
}


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_codes_are_not_read_as_numbers(name):
    cells = np.array(NO_NUMBERS[name], dtype=object)
    found = TablePreparer().fit(pd.DataFrame({"code": cells, "x": RNG.normal(size=len(cells))}))
    assert treatments(found)["code"] not in ("read as numbers", "as it is")


def test_a_score_of_one_and_columns_that_give_the_target_away_are_warned_of():
    X = RNG.normal(size=(N, 3))
    y = X[:, 0] + 0.1 * RNG.normal(size=N)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "cubed": y**3})
    result = coterie.report.study(table, y, path=False, estimator=coterie.NonLinCFA())
    warned = [note for note in result.summary.notes if note.startswith("Warning")]
    assert "'cubed'" in warned[0]
    assert warned[0] in repr(result)
    classes = coterie.report.study(table, y > 0, path=False, estimator=coterie.GenLinCFA())
    assert any("'cubed' (without an error" in note for note in classes.summary.notes)
    exact = coterie.report.study(table[["a", "b"]], X[:, 0] + X[:, 1], path=False)
    assert any("is 1.000 on held-out rows" in note for note in exact.summary.notes)
    honest = coterie.report.study(table[["a", "b"]], y, path=False, estimator=coterie.NonLinCFA())
    assert not any(note.startswith("Warning") for note in honest.summary.notes)


@pytest.mark.parametrize(
    ("form", "sign"),
    [("\N{MINUS SIGN}{}.5", -1), ("({}.5)", -1), ("{}\N{NARROW NO-BREAK SPACE}000.5", 1000)],
)
def test_signs_and_spaces_of_print_are_read_as_numbers(form, sign):
    cells = [form.format(k) for k in range(1, 30)]
    frame = pd.DataFrame({"a": cells, "b": np.arange(29.0)})
    made = TablePreparer().fit_transform(frame, np.arange(29.0) ** 2 % 7)
    expected = [sign * k - 0.5 if sign < 0 else sign * k + 0.5 for k in range(1, 30)]
    assert np.asarray(made["a"], dtype=float).tolist() == expected
