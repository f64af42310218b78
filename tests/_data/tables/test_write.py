"""Writing: the same table comes back, and the old file stays until the new one is whole."""

import datetime
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from coterie._data.tables import TableError, read_table, write_table

SUFFIXES = [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".jsonl", ".json", ".xlsx"]
# What cannot be written in XML, and surrogates, which cannot be written at all.
LETTERS = st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(list(",;\t|\"'\n ="))
# No number, no word for null or for true, no spaces around: CSV has no types.
TEXTS = st.text(LETTERS, max_size=8).map(lambda text: f"x{text}x")
# Excel keeps 16 digits, so that the largest float of all would come back as infinity.
FLOATS = st.floats(-1e308, 1e308)


@st.composite
def frames(draw):
    n_rows = draw(st.integers(1, 5))
    names = draw(st.lists(TEXTS, min_size=2, max_size=4, unique=True))

    def column(values):
        return st.lists(st.none() | values, min_size=n_rows, max_size=n_rows).filter(any)

    kinds = [
        (pl.Float64, column(FLOATS.map(lambda x: x + 0.5 if x == int(x) else x))),
        (pl.Int64, column(st.integers(-(2**53), 2**53))),
        (pl.String, column(TEXTS)),
        (pl.Boolean, column(st.booleans())),
    ]
    return pl.DataFrame(
        [
            pl.Series(name, draw(values), dtype=kind)
            for name in names
            for kind, values in [draw(st.sampled_from(kinds))]
        ]
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(frame=frames())
def test_a_table_comes_back_as_it_was(suffix, frame, tmp_path):
    path = tmp_path / f"table{suffix}"
    if suffix == ".xlsx":
        # It has no rows of nulls at its end.
        frame = frame.with_columns(last=pl.Series([1] * frame.height))
    write_table(frame, path)
    read = read_table(path)
    if suffix == ".xlsx":
        # Numbers in Excel are floats of sixteen digits.
        numbers = pl.selectors.numeric().cast(pl.Float64)
        frame, read = frame.with_columns(numbers), read.with_columns(numbers)
        assert_frame_equal(read, frame, rel_tol=1e-15, abs_tol=0)
    else:
        assert_frame_equal(
            read.cast({pl.Int64: pl.Float64}), frame.cast({pl.Int64: pl.Float64}), check_exact=True
        )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".json"])
@given(values=st.lists(FLOATS, min_size=1))
def test_floats_come_back_bit_for_bit(suffix, values, tmp_path):
    path = tmp_path / f"table{suffix}"
    write_table(pl.DataFrame({"a": values}), path)
    np.testing.assert_array_equal(read_table(path)["a"].to_numpy(), values)


def test_pandas_reads_what_is_written(tmp_path):
    frame = pl.DataFrame({"a": [0.1, None], "b": ["x, y", 'z"'], "c": [True, False]})
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".feather": pd.read_feather}
    for suffix, read in {**readers, ".xlsx": pd.read_excel}.items():
        write_table(frame, tmp_path / f"table{suffix}")
        table = read(tmp_path / f"table{suffix}")
        assert table["b"].tolist() == ["x, y", 'z"']
        assert table["c"].tolist() == [True, False]
        np.testing.assert_array_equal(table["a"], [0.1, np.nan])


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_gaps_in_a_single_column_stay(suffix, tmp_path):
    write_table(pl.DataFrame({"a": [1, None, 3, None]}), tmp_path / f"t{suffix}")
    assert read_table(tmp_path / f"t{suffix}")["a"].to_list() == [1, None, 3, None]


def test_other_kinds_of_columns_in_excel(tmp_path):
    day, moment = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12, 30)
    frame = pl.DataFrame(
        {
            "day": [day],
            "moment": [moment],
            "kind": pl.Series(["x"], dtype=pl.Categorical),
            "time": [moment.time()],
            "formula": ["=1+1"],
            "link": ["http://x.org"],
            "none": [None],
            "nan": [np.nan],
        }
    )
    write_table(frame, tmp_path / "table.xlsx")
    (row,) = pd.read_excel(tmp_path / "table.xlsx").astype(object).itertuples(index=False)
    assert row[0] == pd.Timestamp(day)
    assert row[1] == pd.Timestamp(moment)
    assert list(row[2:6]) == ["x", "12:30:00", "=1+1", "http://x.org"]


# What cannot be written.


def refusal(frame, path, **options):
    with pytest.raises(TableError) as caught:
        write_table(frame, path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


ONE = pl.DataFrame({"a": [1]})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("table", "has no suffix of a known output format"),
        ("table.csv.gz", "has no suffix of a known output format"),
        ("table.xls", "has no suffix of a known output format"),
        ("nowhere/table.csv", "There is no folder"),
        ("file.csv/table.csv", "There is no folder"),
        ("folder.csv", "is not a regular file"),
        ("x" * 300 + ".csv", "cannot be written"),
        ("a\0b.csv", "cannot be written"),
    ],
)
def test_paths_that_cannot_be_written(name, words, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.csv").write_text("a\n1\n")
    assert words in refusal(ONE, tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"folder.csv", "file.csv"}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_of_another(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert "cannot be written" in refusal(ONE, tmp_path / "table.csv")


def test_a_folder_that_may_not_be_written(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "cannot be written" in refusal(ONE, tmp_path / "table.csv")


def test_what_a_format_does_not_have(tmp_path):
    endless = pl.DataFrame({"a": [np.inf]})
    for name in ("t.jsonl", "t.xlsx"):
        assert "infinite" in refusal(endless, tmp_path / name)
    lists = pl.DataFrame({"a": [[1]]})
    assert "cannot be written" in refusal(lists, tmp_path / "t.csv")
    assert "cannot hold column" in refusal(lists, tmp_path / "t.xlsx")
    assert "characters in a cell" in refusal(
        pl.DataFrame({"a": ["x" * 40_000]}), tmp_path / "t.xlsx"
    )
    assert "no columns" in refusal(pl.DataFrame(), tmp_path / "t.csv")
    many = pl.DataFrame({"a": pl.repeat(1, 1_048_576, eager=True)})
    assert "1,048,576 rows" in refusal(many, tmp_path / "t.xlsx")
    wide = pl.DataFrame(np.ones((1, 16_385)))
    assert "16,384 columns" in refusal(wide, tmp_path / "t.xlsx")
    assert not [*tmp_path.iterdir()]


# The old file or the new one.


def run(code, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], **options)


@pytest.mark.skipif(os.name != "posix", reason="needs limits")
def test_a_full_disk_leaves_the_old_file(tmp_path):
    paths = [tmp_path / f"table{suffix}" for suffix in SUFFIXES]
    for path in paths:
        write_table(ONE, path)
    code = f"""
    import resource
    import numpy as np, polars as pl
    from coterie._data.tables import TableError, write_table
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(5000, 10)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    for path in {[*map(str, paths)]}:
        try:
            write_table(frame, path)
        except TableError as error:
            print(error)
    """
    ended = run(code, capture_output=True, text=True, check=True)
    sentences = ended.stdout.splitlines()
    assert len(sentences) == len(paths)
    assert all(sentence.startswith("There is no space for") for sentence in sentences)
    assert not ended.stderr
    for path in paths:
        assert read_table(path).rows() == [(1,)]
    assert {*tmp_path.iterdir()} == {*paths}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")  # noqa: PTH110
def test_standard_output_may_be_full():
    code = """
    import polars as pl
    from coterie._data.tables import TableError, write_table
    try:
        write_table(pl.DataFrame({"a": range(100_000)}), "-")
    except TableError as error:
        raise SystemExit(str(error))
    """
    with open("/dev/full", "w") as full:  # noqa: PTH123
        ended = run(code, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 1
    assert ended.stderr.strip().startswith("There is no space for Standard output")
    assert ended.stderr.count("\n") == 1


def test_standard_output_is_csv(capfdbinary):
    write_table(pl.DataFrame({"a": [0.1], "b": ["é"]}), "-")
    assert capfdbinary.readouterr().out.decode() == "a,b\n0.1,é\n"
    write_table(ONE, "-", format="parquet")
    assert capfdbinary.readouterr().out.startswith(b"PAR1")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("moment", ["os.fsync", "shutil.copymode", "Path.replace"])
def test_a_kill_at_a_step_leaves_the_old_file(moment, tmp_path):
    path = tmp_path / "table.parquet"
    write_table(ONE, path)
    code = f"""
    import os, shutil, signal
    from pathlib import Path
    import polars as pl
    from coterie._data.tables import write_table
    {moment} = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
    write_table(pl.DataFrame({{"a": [2]}}), {str(path)!r})
    """
    assert run(code).returncode == -signal.SIGKILL
    assert read_table(path).rows() == [(1,)]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.2, 0.4])
def test_a_kill_at_any_time_leaves_a_whole_file(delay, tmp_path):
    path = tmp_path / "table.csv"
    write_table(pl.DataFrame({"a": range(10), "b": range(10)}), path)
    code = f"""
    import numpy as np, polars as pl
    from coterie._data.tables import write_table
    frame = pl.DataFrame({{"a": np.arange(2e6), "b": np.arange(2e6)}})
    print("begin", flush=True)
    while True:
        write_table(frame, {str(path)!r})
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(delay)
        process.kill()
    assert read_table(path).height in (10, 2_000_000)


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "table.csv", tmp_path / "link.csv"
    write_table(ONE, path)
    path.chmod(0o640)
    link.symlink_to(path)
    write_table(pl.DataFrame({"a": [2]}), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_table(path).rows() == [(2,)]
