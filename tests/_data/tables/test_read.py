"""Reading: the values that stand there, or one sentence."""

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coterie._data.tables import TableError, read_table
from coterie._data.tables._errors import as_table_error


@pytest.fixture
def reading(tmp_path):
    def read(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return read


@pytest.fixture
def refusal(reading):
    def refuse(content, name="table.csv", **options):
        with pytest.raises(TableError) as caught:
            reading(content, name, **options)
        return str(caught.value)

    return refuse


# Oracles.


def test_numbers_are_those_that_pandas_wrote(rng, reading):
    table = pd.DataFrame(rng.normal(size=(200, 5)) * 10.0 ** rng.integers(-300, 300, size=5))
    table.columns = [*"abcde"]
    table.iloc[3, 2] = np.nan
    read = reading(table.to_csv(index=False))
    assert read.columns == [*"abcde"]
    np.testing.assert_array_equal(read.fill_null(np.nan).to_numpy(), table.to_numpy())


def test_text_is_what_the_csv_module_reads(reading):
    text = 'a,b\r\n"x, ""y""\n",5" pipe\r\n  z ,"1,234"\r\n'
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    read = reading(text)
    assert read.columns == header
    assert read.rows() == [tuple(row) for row in rows]


# What a column is.


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "2"], [1, 2]),
        (["1", "2.5", ""], [1.0, 2.5, None]),
        (["1", "NA", "n/a", "NaN", "null", "None", "-", "?", "."], [1, *[None] * 8]),
        (["NA", "Rome"], ["NA", "Rome"]),
        (["True", "false", "NA"], [True, False, None]),
        ([" 1", "2 "], [1, 2]),
        (["+1", "-.5", "1e3"], [1.0, -0.5, 1000.0]),
        (["1", "0x10"], ["1", "0x10"]),
        (["12345678901234567890", "1"], [12345678901234567890.0, 1.0]),
        (["NA", "?"], [None, None]),
        (['""', "1"], [None, 1]),
        (['""', "x"], ["", "x"]),
        (["2024-01-31", ""], ["2024-01-31", None]),
        (['"1,234"', "5"], ["1,234", "5"]),
    ],
)
def test_a_column_is_what_all_of_its_values_are(cells, values, reading):
    read = reading("x,row\n" + "".join(f"{cell},{row}\n" for row, cell in enumerate(cells)))
    assert read["x"].to_list() == values


def test_types_are_decided_by_all_rows(reading):
    cells = [*["1"] * 50_000, "one", "2"]
    read = reading("x,y\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read.schema == {"x": pl.String, "y": pl.Int64}
    assert read["x"].to_list() == cells


def test_a_column_of_null_words_is_empty_numbers(reading):
    assert reading("x,y\nNA,1\n,2\n").schema["x"] == pl.Float64


# Separators and decimals.


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_separators_are_guessed(separator, end, last, reading):
    lines = [separator.join(fields) for fields in (["a", "b c" if separator != " " else "b", "d"],)]
    lines += [separator.join(["1", "2.5", "x"]), separator.join(["3", "4.5", "y"])]
    read = reading(end.join(lines) + end * last)
    assert read.rows() == [(1, 2.5, "x"), (3, 4.5, "y")]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b\n1,5;2\n", [(1.5, 2)]),
        ("a\tb\n1,5\t-2,25\n", [(1.5, -2.25)]),
        ("a,b;c,d\n1,5;2,5\n", [(1.5, 2.5)]),
        ("city, country;t\nParis, France;3\n", [("Paris, France", 3)]),
        ("sep=;\na;b\n1;2\n", [(1, 2)]),
        ('"a;b",c\n1,2\n', [(1, 2)]),
        ("a;b\n1.234,5;x\n", [("1.234,5", "x")]),
        ("height   weight\n 180.5    71\n  1       2\n", [(180.5, 71), (1.0, 2)]),
        ("first name\nJohn Smith\n", [("John Smith",)]),
        ("a,b\n\n1,2\n\n\n   \n", [(1, 2)]),
        ("a,b,\n1,2,\n3,4,\n", [(1, 2), (3, 4)]),
    ],
)
def test_real_life_is_read(text, rows, reading):
    assert reading(text).rows() == rows


def test_options_come_before_guesses(reading, refusal):
    assert reading("a;b\n1,5;2,5\n", decimal=".").rows() == [("1,5", "2,5")]
    assert reading('a,b\n"1,5",2\n', decimal=",", separator=",").rows() == [(1.5, 2)]
    assert reading("a:b\n1:2\n", separator=":").rows() == [(1, 2)]
    assert reading("a\tb\n1\t2\n", separator="\\t").rows() == [(1, 2)]
    assert reading("a;b\n1,5;2.5\n", decimal=",").rows() == [(1.5, "2.5")]
    assert "--decimal" in refusal("a;b\n1,5;2.5\n")
    assert "one ASCII character" in refusal("a;b\n1;2\n", separator=";;")
    assert "--decimal must be" in refusal("a;b\n1;2\n", decimal=";")
    assert "no effect" in refusal("a;b\n1;2\n", sheet="x")


# Names.


def test_names_are_stripped_and_blank_ones_numbered(reading):
    assert reading(" a ,,b\n1,2,3\n").columns == ["a", "unnamed_2", "b"]


def test_pandas_index_is_the_first_unnamed_column(reading):
    read = reading(pd.DataFrame({"a": [3, 4]}).to_csv())
    assert read.to_dict(as_series=False) == {"unnamed_1": [0, 1], "a": [3, 4]}


def test_names_that_stand_twice_are_refused_with_their_places(refusal):
    assert "'a' (columns 1, 3)" in refusal("a,b, a\n1,2,3\n")
    assert "header?" in refusal("5.1,3,5.1\n1,2,3\n")


# Encodings.


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marks_tell_the_encoding(encoding, reading):
    assert reading("é,b\n1,ü\n".encode(encoding)).to_dict(as_series=False) == {"é": [1], "b": ["ü"]}


def test_other_encodings_are_asked_for(reading, refusal):
    content = "name,b\nx,1\né,2\n".encode("latin-1")
    assert "line 3, byte 12 is 0xe9" in refusal(content)
    assert "--encoding latin-1" in refusal(content)
    assert reading(content, encoding="latin-1")["name"].to_list() == ["x", "é"]
    assert "such as utf-8" in refusal(content, encoding="klingon")
    assert "is not in ascii" in refusal(content, encoding="ascii")
    assert "utf-16-le" in refusal("a,b\n1,2\n".encode("utf-16-le"))
    assert reading("a,b\n1,2\n".encode("utf-16-le"), encoding="utf-16-le").rows() == [(1, 2)]


def test_a_letter_across_blocks_is_still_a_letter(reading, monkeypatch):
    monkeypatch.setattr("coterie._data.tables._encoding.DECODE_CHUNK_BYTES", 7)
    assert reading("aaaaéé,b\n1,ü€𝄞\n").rows() == [(1, "ü€𝄞")]


def test_the_place_of_a_bad_byte_does_not_depend_on_blocks(refusal, monkeypatch):
    for block in [1, 2, 3, 7, 100]:
        monkeypatch.setattr("coterie._data.tables._encoding.DECODE_CHUNK_BYTES", block)
        assert "line 2, byte 12 is 0xe2" in refusal("aé€,b\n1,€".encode()[:-1])
        assert "line 2, byte 10 is 0xff" in refusal("aé€,b\n".encode() + b"\xff1\n")


# What is wrong with CSV.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n", "blank lines"),
        ("a,b\n", "no rows"),
        ("a,b", "no rows"),
        ("a,b\n1,2\n1,2,3\n", "3 fields in line 3 where the header has 2"),
        ('a,b\n"x\ny",2\n1\n', "1 field in line 4 where the header has 2"),
        ("\n\na,b\n\n1\n", "1 field in line 5"),
        ("a,b\n" + "1,2\n" * 1000 + "1;2;3\n", "1 field in line 1002"),
        ("x\n1,5\n", "2 fields in line 2"),
        ('a,b\n1,"x\n2,y\n', "quote in line 2 that is never closed"),
        ('a,b\n1,"x\n' + "2,y\n" * 50_000, "quote"),
        ('a,b\n"1,x\n' + "2,y\n" * 50 + '3",1,5\n', "is a quote not closed there?"),
        ('a,b\n1,"x\n2,y\n3,"z\n', "misplaced or unclosed quote in line 2"),
        ("a,b\n1,\0\n", "null bytes"),
        ('"' + "x" * 10**6, "CSV"),
    ],
)
def test_broken_text_is_refused_with_its_line(text, words, refusal):
    assert words in refusal(text)


def test_a_long_cell_is_read_as_it_is(reading):
    assert reading(f"a,b\n{'x' * 3_000_000},1\n")["a"].str.len_bytes().to_list() == [3_000_000]


# Formats.


def test_the_beginning_wins_over_the_suffix(reading, refusal):
    table = pa.table({"a": [1]})
    sink = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_parquet(sink)
    assert reading(sink.getvalue(), "table.csv").rows() == [(1,)]
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    assert reading(stream.getvalue(), "table.csv").rows() == [(1,)]
    assert reading('{"a": 1}\n', "table.csv").rows() == [(1,)]
    assert "--format csv" in refusal("a,b\n1,2\n", "table.parquet")
    assert reading("a,b\n1,2\n", "table.parquet", format="csv").rows() == [(1, 2)]
    assert reading("a,b\n1,2\n", "table.what").rows() == [(1, 2)]
    assert "Did you mean 'parquet'" in refusal("a\n1\n", format="parket")


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress, lambda c: pa.compress(c, "zstd", asbytes=True)],
    ids=["gz", "bz2", "xz", "zst"],
)
def test_packed_text_is_unpacked(pack, reading, refusal):
    text = b"a,b\n1,2\n" * 1
    assert reading(pack(text), "table.csv.gz").rows() == [(1, 2)]
    assert reading(pack(text), "table.csv").rows() == [(1, 2)]
    assert "cannot be decompressed" in refusal(pack(text * 100)[:-5], "table.csv.gz")


def test_a_column_may_be_called_like_a_packing(reading):
    assert reading("BZh,[mm]\n1,2\n").columns == ["BZh", "[mm]"]
    assert reading("[mm],BZh\n1,2\n").columns == ["[mm]", "BZh"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('{"a": 1, "b": "x"}\n\n{"a": 2.5}\n', {"a": [1, 2.5], "b": ["x", None]}),
        ('{"a": 1}\n{"a": NaN}\n{"a": Infinity}\n', {"a": [1, np.nan, np.inf]}),
        ('[{"a": 1}, {"b": 2}]', {"a": [1, None], "b": [None, 2]}),
        ('{"a": 1}\n{"a": "x"}\n', {"a": ["1", "x"]}),
    ],
)
@pytest.mark.parametrize("name", ["table.json", "table.jsonl"])
def test_json_has_rows(text, columns, name, reading):
    read = reading(text, name).to_dict(as_series=False)
    assert {*read} == {*columns}
    for column, values in columns.items():
        assert [str(v) for v in read[column]] == [str(v) for v in pl.Series(values, strict=False)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1}\n[2]\n', "no JSON object in line 2"),
        ('{"a": 1}\n{"a": \n', "invalid JSON in line 2"),
        ("[1, 2]", "not a table"),
        ('[{"a": 1}', "not JSON"),
        ('{"a":' * 10_000, "invalid JSON in line 1"),
        ("[" * 10_000, "not JSON"),
        ("[]", "no columns"),
        ('{"a": ' + "9" * 5000 + "}", "JSON in line 1"),
    ],
)
def test_broken_json_is_refused(text, words, refusal):
    assert words in refusal(text, "table.json")


def test_excel_is_read_by_sheet(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        pd.DataFrame({"a": [1.5, None], "b": ["1", "NA"], 900: ["x", "y"]}).to_excel(
            book, sheet_name="one", index=False
        )
        pd.DataFrame([["a", "a"], [1, 2]]).to_excel(
            book, sheet_name="two", index=False, header=False
        )
        pd.DataFrame().to_excel(book, sheet_name="none")
        pd.DataFrame({"a": [], "b": []}).to_excel(book, sheet_name="header", index=False)
    read = read_table(path)
    assert read.to_dict(as_series=False) == {"a": [1.5, None], "b": [1, None], "900": ["x", "y"]}
    for sheet, words in [
        ("two", "'a' (columns 1, 2)"),
        ("none", "no data"),
        ("header", "no rows"),
        ("on", "mean 'one'"),
    ]:
        with pytest.raises(TableError) as caught:
            read_table(path, sheet=sheet)
        assert words in str(caught.value)


def test_excel_has_the_types_of_other_formats_and_reads_in_silence(tmp_path, caplog):
    path = tmp_path / "book.xlsx"
    table = {"nr": [1, 2, 3], "size": [1.0, 2.5, None], "gap": [None] * 3, "all": [2, None, 4]}
    pd.DataFrame(table).to_excel(path, index=False)
    read = read_table(path)
    assert read["nr"].dtype == read["all"].dtype == pl.Int64
    assert read["size"].dtype == pl.Float64
    assert read["gap"].null_count() == 3
    assert not caplog.records


def test_parquet_with_a_name_twice_is_refused(tmp_path):
    path = tmp_path / "twice.parquet"
    pa.parquet.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(TableError, match=r"'a' \(columns 1, 2\)"):
        read_table(path)


# Sources.


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "prices.csv").write_text("a\n1\n")
    for path, words in [
        (tmp_path / "price.csv", "Did you mean 'prices.csv'?"),
        (tmp_path / "nowhere" / "x.csv", "There is no folder"),
        (tmp_path, "is a folder"),
        ("a\0b", "cannot be read"),
        (tmp_path / ("x" * 300), "cannot be read"),
        (tmp_path / "prices.csv" / "x", "cannot be read"),
    ]:
        with pytest.raises(TableError) as caught:
            read_table(path)
        assert words in str(caught.value)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(TableError, match="you have no permission"):
        read_table(tmp_path / "x.csv")


def test_standard_input_is_read_by_its_content(monkeypatch):
    parquet = io.BytesIO()
    pl.DataFrame({"a": [1], "b": [2]}).write_parquet(parquet)
    for content in [b"a;b\n1;2\n", parquet.getvalue(), gzip.compress(b'{"a":1,"b":2}')]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert read_table("-").rows() == [(1, 2)]
    for nothing, words in [(io.TextIOWrapper(io.BytesIO()), "is empty"), (None, "is closed")]:
        monkeypatch.setattr("sys.stdin", nothing)
        with pytest.raises(TableError, match=words):
            read_table("-")


def test_a_pipe_is_read():
    code = "from coterie._data.tables import read_table; print(read_table('-').rows())"
    run = subprocess.run([sys.executable, "-c", code], input=b"a;b\n1;2\n", capture_output=True)
    assert run.stdout.decode().strip() == "[(1, 2)]", run.stderr


def test_memory_that_runs_out_is_no_fault_of_the_file(tmp_path, monkeypatch):
    def run_out(*args, **options):
        raise MemoryError

    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", run_out)
    with pytest.raises(MemoryError):
        read_table(path)


def _failing(error):
    with as_table_error("It cannot be read", "get it again"):
        raise error


@pytest.mark.parametrize(
    "error", [pa.ArrowMemoryError("malloc\nfailed"), type("PanicException", (BaseException,), {})()]
)
def test_what_libraries_do_over_a_damaged_file_is_a_sentence(error):
    with pytest.raises(TableError, match=r"^It cannot be read \(\w+\): get it again.$"):
        _failing(error)


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), SystemExit(3)])
def test_what_happens_to_the_process_passes(error):
    with pytest.raises(type(error)):
        _failing(error)


def test_a_missing_library_is_named_by_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(TableError, match=r'pip install "coterie\[cli\]"'):
        read_table(tmp_path / "x.csv")


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_columns_of_json_keep_their_order(tmp_path, suffix):
    names = [f"column_{k}" for k in range(200)]
    rows = [dict.fromkeys(names, k) for k in range(3)] + [{"last": 1.5}]
    text = json.dumps(rows) if suffix == "json" else "\n".join(map(json.dumps, rows))
    (tmp_path / f"data.{suffix}").write_text(text)
    assert read_table(tmp_path / f"data.{suffix}").columns == [*names, "last"]
