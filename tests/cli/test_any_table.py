"""Tables with categories, dates, text and keys: fitted, said, and applied to new rows."""

import datetime
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie

COMMAND = str(Path(sys.executable).with_name("coterie"))
needs_command = pytest.mark.skipif(
    not Path(COMMAND).exists(), reason="the command is not installed"
)
N = 160


@pytest.fixture(scope="module")
def sales():
    """Prices by size, city and day; a key, a name, a constant and columns of other units."""
    rng = np.random.default_rng(0)
    size, city = rng.normal(size=N), rng.choice(["Rome", "Paris", "Oslo"], N)
    days = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=int(k)) for k in range(N)]
    return pl.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "size": 1000 * (size + 0.1 * rng.normal(size=N)),
            "rooms": 0.01 * (size + 0.1 * rng.normal(size=N)),
            "city": city,
            "sold": [days[k] for k in rng.permutation(N)],
            "owner": [f"owner {k}" for k in range(N)],
            "shop, big": rng.choice(["A", "B"], N),
            "currency": ["EUR"] * N,
            "price": size + (city == "Rome") + 0.3 * rng.normal(size=N),
        }
    )


@pytest.fixture
def file(sales, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sales.write_csv("sales.csv")
    return "sales.csv"


def answer(run, *words):
    result = run("fit", *words, "--json", "--no-path")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


ENCODED = ["city=Oslo", "city=Paris", "city=Rome"]


def test_a_table_of_all_kinds_is_fitted_and_every_column_told_of(run, file, sales):
    told = answer(run, file, "-t", "price")
    assert told["features"][:2] == ["size", "rooms"]
    assert {*ENCODED, "days(sold)", "month(sold)", "shop, big=B"} < {*told["features"]}
    by_name = {one["name"]: one for one in told["columns"]}
    assert [*by_name] == [name for name in sales.columns if name != "price"]
    assert by_name["city"]["outputs"] == ENCODED
    assert {name for name, one in by_name.items() if one["treatment"] == "left out"} == {
        "id",
        "owner",
        "currency",
    }
    said = " ".join(told["notes"])
    for name in ("'id'", "'owner'", "'currency'", "'city'", "'sold'"):
        assert name in said
    assert "'sold'" in run("fit", file, "-t", "price", "--no-path").stdout


def test_new_tables_are_encoded_as_the_first_was(run, file, sales):
    """The aggregates of new rows are those that the fit wrote, whatever else is in the table."""
    assert run("fit", file, "-t", "price", "-q").exit_code == 0
    reduced = pl.read_csv("sales-coterie/reduced.csv").drop("price")
    few = sales.drop("price", "id", "owner").reverse().head(30)
    few.write_parquet("new.parquet")
    made = run("transform", "sales-coterie/model.json", "new.parquet", "-o", "out.parquet")
    assert made.exit_code == 0, made.stderr
    found = pl.read_parquet("out.parquet")
    np.testing.assert_allclose(found.to_numpy(), reduced.reverse().head(30).to_numpy(), rtol=1e-9)
    preparer = coterie.load_preparer("sales-coterie/model.json")
    model = coterie.load("sales-coterie/model.json")
    np.testing.assert_allclose(model.transform(preparer.transform(few)), found.to_numpy())


def test_unknown_levels_are_no_error_and_missing_columns_are_named(run, file, sales):
    run("fit", file, "-t", "price", "-q")
    model = "sales-coterie/model.json"
    sales.with_columns(city=pl.lit("Bonn")).write_csv("new.csv")
    assert run("transform", model, "new.csv").exit_code == 0
    sales.rename({"city": "City"}).write_csv("new.csv")
    said = run("transform", model, "new.csv").stderr
    assert "new.csv lacks 'city', which the model needs. Did you mean to rename 'City'?" in said
    sales.with_columns(size=pl.lit("big")).write_csv("new.csv")
    ended = run("transform", model, "new.csv")
    assert ended.exit_code == 3
    assert "'size' held numbers in fit, and holds text" in ended.stderr


def test_text_is_dropped_or_refused_where_asked_for(run, file):
    assert answer(run, file, "-t", "price", "--text", "drop")["features"] == ["size", "rooms"]
    ended = run("fit", file, "-t", "price", "--text", "refuse")
    assert ended.exit_code == 3
    assert "Feature 'city' is text (row 1: " in ended.stderr


def test_a_date_of_parquet_is_not_called_text(run, sales, tmp_path):
    sales.write_parquet(tmp_path / "sales.parquet")
    words = ["--text", "drop", "-o", tmp_path / "out"]
    notes = answer(run, tmp_path / "sales.parquet", "-t", "price", *words)["notes"]
    assert "Left out (dates): 'sold'." in notes
    words = ["--text", "refuse", "--drop", "city,owner,currency,*big"]
    said = run("fit", tmp_path / "sales.parquet", "-t", "price", *words).stderr
    assert "Feature 'sold' is dates or times" in said


@pytest.mark.parametrize(
    "words",
    [
        ["--drop", "sold,city,shop*"],
        ["--drop", "sold, city", "--drop", "shop, big"],
        ["--drop", 'sold,"shop, big",city'],
    ],
)
def test_columns_are_dropped_by_a_list(run, file, words):
    told = answer(run, file, "-t", "price", *words)
    assert told["features"] == ["size", "rooms"]


def test_columns_are_carried_by_a_list(run, file):
    run("fit", file, "-t", "price", "-q")
    words = ["--with", 'id,"shop, big"', "--with", "city", "--with", "shop, big"]
    made = run("transform", "sales-coterie/model.json", file, *words)
    assert made.exit_code == 0, made.stderr
    assert pl.read_csv(made.stdout.encode()).columns[-3:] == ["id", "shop, big", "city"]


def test_columns_that_were_encoded_are_kept_and_separated_by_their_name(run, file):
    told = answer(run, file, "-t", "price", "--keep", "city", "--separate", "sold,size")
    model = coterie.load("sales-coterie/model.json")
    assert {*model.keep} == {*ENCODED}
    assert {"size", "days(sold)"} < {*model.separate[0]}
    assert told["features"].count("city=Rome") == 1


def test_keys_stay_where_they_are_kept(run, file):
    assert "id" in answer(run, file, "-t", "price", "--keep", "id")["features"]


@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
def test_what_gives_the_target_away_is_left_out(run, sales, tmp_path):
    table = sales.with_columns(tax=pl.col("price") * 0.2 + 1)
    table.write_csv(tmp_path / "sales.csv")
    told = answer(run, tmp_path / "sales.csv", "-t", "price", "-o", tmp_path / "out")
    assert "tax" not in told["features"]
    assert any("gives the target away" in note and "'tax'" in note for note in told["notes"])


UNITS = ["-t", "price", "--text", "drop"]


def test_units_need_no_word(run, file):
    """size has a spread a hundred thousand times that of rooms, and both are one group."""
    told = answer(run, file, *UNITS, "--groups", "1")
    assert told["groups"][0]["name"] == "zmean(size, rooms)"
    for method in ("nonlin", "genlin"):
        told = answer(run, file, *UNITS, "--method", method, "--groups", "1")
        assert coterie.load("sales-coterie/model.json").scale is True
        assert any("means of standardised features" in note for note in told["notes"])


@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
def test_units_are_left_alone_where_asked_for(run, file):
    told = answer(run, file, *UNITS, "--method", "nonlin", "--no-scale")
    assert coterie.load("sales-coterie/model.json").scale is False
    assert not any("standardised" in note for note in told["notes"])


@pytest.mark.slow
@needs_command
@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_the_installed_command_fits_real_files(sales, tmp_path, suffix):
    name = f"sales.{suffix}"
    write = {"csv": "write_csv", "parquet": "write_parquet", "xlsx": "write_excel"}[suffix]
    getattr(sales, write)(tmp_path / name)
    for words in (
        ["fit", name, "-t", "price", "--json"],
        ["transform", "sales-coterie/model.json", name, "-o", f"again.{suffix}", "--with", "price"],
    ):
        ended = subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, timeout=120)
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == b""
    model = coterie.load(tmp_path / "sales-coterie/model.json")
    assert {*ENCODED, "days(sold)"} < {*model.feature_names_in_}
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "xlsx": pl.read_excel}[suffix]
    first = read(tmp_path / f"sales-coterie/reduced.{suffix}")
    again = read(tmp_path / f"again.{suffix}")
    assert first.columns == again.columns
    np.testing.assert_allclose(first.to_numpy(), again.to_numpy(), rtol=1e-9)


ODD_NAMES = ["id", "y", "größe", "^a$", "*", "a,b", "日付"]
NAMES = st.text(min_size=1, max_size=5) | st.sampled_from(ODD_NAMES)
ODD_TEXT = st.sampled_from(["", " ", "a", "b", "NA", "2020-01-31"])
VALUES = {
    "number": st.none() | st.floats(width=32) | st.integers(-3, 3).map(float),
    "whole": st.none() | st.integers(-(2**40), 2**40),
    "flag": st.none() | st.booleans(),
    "text": st.none() | ODD_TEXT | st.text(max_size=4),
    "date": st.none() | st.dates(),
    "datetime": st.none() | st.datetimes(),
    "time": st.none() | st.times(),
    "span": st.none() | st.timedeltas(datetime.timedelta(-9999), datetime.timedelta(9999)),
    "missing": st.none(),
    "list": st.none() | st.lists(st.integers(0, 3), max_size=2),
}
TYPES = {
    "number": pl.Float64,
    "whole": pl.Int64,
    "flag": pl.Boolean,
    "text": pl.String,
    "date": pl.Date,
    "datetime": pl.Datetime("us"),
    "time": pl.Time,
    "span": pl.Duration("us"),
    "missing": pl.Null,
    "list": pl.List(pl.Int64),
}


@st.composite
def broken_tables(draw):
    """A table of mixed types with any names, gaps, infinite values and few rows."""
    n_rows = draw(st.sampled_from([0, 1, 3, 5, 12, 30]))
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    columns = []
    for name in dict.fromkeys([*names, "y"]):
        kind = draw(st.sampled_from([*VALUES]))
        values = draw(st.lists(VALUES[kind], min_size=n_rows, max_size=n_rows))
        columns.append(pl.Series(name, values, dtype=TYPES[kind], strict=False))
    return pl.DataFrame(columns)


def ends_in_a_sentence(code, stderr):
    assert code in (0, 2, 3), stderr
    assert "Traceback" not in stderr
    if code:
        assert stderr.count("\n") == 1
        assert len(stderr) < 500


EVERY = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
@EVERY
@given(table=broken_tables(), text=st.sampled_from(["encode", "drop", "refuse"]))
def test_a_broken_table_is_an_answer_or_a_sentence(run, tmp_path, table, text):
    file = tmp_path / "broken.parquet"
    table.write_parquet(file)
    words = ["--skip-gaps", "--text", text, "-q", "--no-path", "-o", tmp_path / "out"]
    fit = run("fit", file, "-t", "y", *words)
    ends_in_a_sentence(fit.exit_code, fit.stderr)
    if fit.exit_code == 0:
        made = run("transform", tmp_path / "out/model.json", file, "-o", tmp_path / "again.csv")
        ends_in_a_sentence(made.exit_code, made.stderr)


@pytest.mark.slow
@needs_command
@settings(EVERY, max_examples=4)
@given(table=broken_tables())
def test_a_broken_table_is_a_sentence_of_the_installed_command(tmp_path, table):
    table.write_parquet(tmp_path / "broken.parquet")
    words = ["fit", "broken.parquet", "-t", "y", "--skip-gaps", "-q", "-o", "out"]
    ended = subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, timeout=120)
    stderr = ended.stderr.decode()
    # With an answer, there may be warnings, each in a line.
    ends_in_a_sentence(ended.returncode, stderr)


def test_names_that_come_twice_are_a_sentence(run, tmp_path):
    (tmp_path / "twice.csv").write_text("a,a,city,y\n" + "1,2,Rome,3\n2,3,Oslo,5\n" * 9)
    ended = run("fit", tmp_path / "twice.csv", "-t", "y")
    ends_in_a_sentence(ended.exit_code, ended.stderr)
    assert "columns of the same name, 'a' (columns 1, 2)" in ended.stderr


def test_exposures_offsets_and_groups_of_rows_are_those_of_the_study(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, hours = rng.normal(size=(160, 4)), rng.uniform(1, 9, 160)
    people = np.repeat(np.arange(40), 4)
    counts = rng.poisson(hours * np.exp(0.5 * X[:, 0]))
    features = {f"f{k}": X[:, k] for k in range(4)}
    table = pl.DataFrame(features | {"hours": hours, "person": people, "y": counts})
    table.with_columns(pl.col("hours").log().alias("log")).write_csv("data.csv")
    twin = coterie.report.study(
        pl.DataFrame(features), counts, task="counts", exposure=hours, groups=people, path=False
    )
    words = ["fit", "data.csv", "-t", "y", "--row-groups", "person", "--no-path", "-q"]
    for more in (["--exposure", "hours", "--drop", "log"], ["--offset", "log", "--drop", "hours"]):
        told = run(*words, *more, "--json")
        assert told.exit_code == 0, told.stderr
        summary = json.loads(told.stdout)
        assert summary["task"] == "counts"
        assert set(summary["features"]) == set(features)
        score = summary["scores"][0]["score"]
        assert score == pytest.approx(twin.summary.scores[0].score)
        assert "groups of rows" in summary["verdict"]["splits"]
    refused = {
        ("--exposure", "f0"): "must hold numbers above 0",
        ("--exposure", "hours", "--offset", "log"): "give only one",
        ("--exposure", "minutes"): "no column 'minutes'",
        ("--by-time",): "not both",
    }
    for more, why in refused.items():
        answer = run(*words, *more)
        assert answer.exit_code == 3
        assert why in answer.stderr


TARGETS = {
    "nothing besides": ("y\n" + "1.5\n2.5\n" * 9, "no columns to group besides 'y'"),
    "no value": ("a,b,y\n" + "1.5,2,\n2.5,1,\n" * 9, "has no value in any row"),
    "dates": (
        "a,b,y\n" + "".join(f"{k},{k % 3},2020-01-{k:02d}\n" for k in range(1, 25)),
        "Target 'y' holds dates",
    ),
    "quarters": (
        "a,b,y\n" + "".join(f"{k},{k % 3},{1990 + k}Q1\n" for k in range(1, 25)),
        "Target 'y' holds dates",
    ),
    "huge": (
        "a,b,y\n" + "".join(f"{k % 5}e300,{k % 3},{k % 7}.5\n" for k in range(1, 25)),
        "Column 'a' has values up to 4e+300",
    ),
}


@pytest.mark.parametrize("name", TARGETS)
def test_what_cannot_be_predicted_is_said_in_a_line(run, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, why = TARGETS[name]
    (tmp_path / "data.csv").write_text(text)
    answer = run("fit", "data.csv", "-t", "y", "-q")
    assert answer.exit_code == 3
    assert why in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_dates_in_parquet_are_no_target_either(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 9), eager=True)
    frame = pl.DataFrame({"a": range(40), "b": [k % 3 for k in range(40)], "y": days})
    frame.write_parquet("data.parquet")
    answer = run("fit", "data.parquet", "-t", "y", "-q")
    assert "Target 'y' holds dates" in answer.stderr


def test_levels_and_missing_values_are_counted_apart(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    city = np.where(rng.random(90) < 0.2, None, rng.choice(["Rome", "Oslo", "Bonn"], 90))
    a = rng.normal(size=90)
    pl.DataFrame({"city": city.tolist(), "a": a, "y": a + 0.1 * rng.normal(size=90)}).write_csv(
        "data.csv"
    )
    told = json.loads(run("fit", "data.csv", "-t", "y", "--test-share", "0", "--json").stdout)
    assert any("3 levels and missing values" in note for note in told["notes"])
