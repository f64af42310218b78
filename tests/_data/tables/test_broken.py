"""Thousands of broken files: a table or one sentence, and nothing else."""

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from coterie._data.tables import TableError, read_table, write_table
from coterie._data.tables._csv import parse_csv, prepare_csv
from coterie._data.tables._encoding import to_utf8

SUFFIXES = [".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".json", ".xlsx", ".csv.gz", ".what"]
PIECES = [b",", b";", b"\t", b"|", b" ", b'"', b'""', b"\0", b"\n", b"\r", b"\r\n", b"\xff", b"-"]
PIECES += [b"NA", b"1e999", b"{", b"[", b"PK\x03\x04", b"PAR1", b"\xff\xfe", b"\xef\xbb\xbf"]
TEXTS = [
    b'a,b,c\n1,2.5,"x, y"\n3,NA,z\n-1e5,,"q""r"\n',
    b"a;b;c\r\n1,5;2;x\r\n;3,25;y\r\n",
    b"a\tb\n1\t2\n3\t4\n",
    b"height weight\n180  71\n175  60\n",
    b'{"a": 1, "b": "x"}\n{"a": null, "b": [1]}\n',
    b'[{"a": 1.5, "b": true}, {"a": 2, "b": null}]',
]


def told(path):
    """What reading gives: the table, or the sentence in which it is refused."""
    try:
        frame = read_table(path)
    except TableError as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert "\r" not in sentence
        assert len(sentence) <= 300, sentence
        assert sentence[-1] in ".?", sentence
        return sentence
    assert frame.width > 0
    assert frame.height > 0
    assert len({*frame.columns}) == frame.width
    # Nothing in it points outside of it.
    frame.rows()
    return frame


def mutated(content, rng):
    """The same bytes with a few flipped, cut out, doubled or put in."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(0, len(content) + 1))
        kind = rng.integers(0, 5)
        if kind == 0 and place < len(content):
            content[place] = rng.integers(0, 256)
        elif kind == 1:
            del content[place : place + int(rng.integers(1, 20))]
        elif kind == 2:
            content[place:place] = PIECES[rng.integers(0, len(PIECES))]
        elif kind == 3:
            content[place:place] = content[place : place + int(rng.integers(1, 30))]
        else:
            content = content[: max(place, 1)]
    return bytes(content)


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Whole files of all formats, by suffix."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": rng.normal(size=50),
            "b": [None, *["text", "é"] * 24, "x" * 100],
            "c": rng.integers(0, 9, size=50),
            "d": rng.integers(0, 2, size=50).astype(bool),
            "e": pl.Series(["p", "q"] * 25, dtype=pl.Categorical),
        }
    )
    folder, contents = tmp_path_factory.mktemp("samples"), {}
    for suffix in [".parquet", ".feather", ".jsonl", ".json", ".xlsx", ".csv"]:
        write_table(frame, folder / f"table{suffix}")
        contents[suffix] = (folder / f"table{suffix}").read_bytes()
    stream = io.BytesIO()
    table = frame.to_arrow()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    contents[".arrow"] = stream.getvalue()
    for suffix, pack in [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]:
        contents[f".csv{suffix}"] = pack(contents[".csv"])
    contents[".csv.zst"] = pa.compress(contents[".csv"], "zstd", asbytes=True)
    return contents


ALL = [".parquet", ".feather", ".arrow", ".xlsx", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst"]


@pytest.mark.parametrize("text", TEXTS, ids=["comma", "semicolon", "tab", "space", "lines", "json"])
def test_changed_text_is_read_or_refused(text, tmp_path, rng):
    path, outcomes = tmp_path / "table.csv", set()
    for _ in range(700):
        path.write_bytes(mutated(text, rng))
        outcomes.add(type(told(path)))
    assert outcomes == {str, pl.DataFrame}


@pytest.mark.parametrize("text", TEXTS[:3], ids=["comma", "semicolon", "tab"])
def test_what_is_read_of_changed_text_is_what_the_csv_module_reads(text, rng):
    n_read = 0
    for _ in range(700):
        content = mutated(text, rng)
        try:
            lines = prepare_csv(to_utf8(content, None, "It"), None, None, "It", is_tsv=False)
            frame = parse_csv(lines)
        except TableError:
            continue
        reader = csv.reader(
            io.StringIO(lines.content.decode(), newline=""), delimiter=lines.separator
        )
        header, *rows = filter(None, reader)
        kept = [j for j, name in enumerate(header) if name.strip() or any(r[j] for r in rows)]
        cells = [tuple(row[j] for j in kept) for row in rows]
        assert [tuple(cell or "" for cell in row) for row in frame.rows()] == cells, content
        n_read += 1
    assert n_read > 100


@pytest.mark.parametrize("suffix", ALL)
def test_changed_files_are_read_or_refused(suffix, samples, tmp_path, rng):
    path = tmp_path / f"table{suffix}"
    for _ in range(150):
        path.write_bytes(mutated(samples[suffix], rng))
        told(path)


@pytest.mark.parametrize("suffix", ALL)
def test_cut_files_are_refused(suffix, samples, tmp_path):
    path, content = tmp_path / f"table{suffix}", samples[suffix]
    assert isinstance(told_of(path, content), pl.DataFrame)
    for size in np.linspace(1, len(content) - 1, 60).astype(int):
        outcome = told_of(path, content[:size])
        # Only a stream may go without its last bytes, which say that nothing follows.
        assert isinstance(outcome, str) or (suffix == ".arrow" and outcome.height == 50), size


def told_of(path, content):
    path.write_bytes(content)
    return told(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_random_bytes_are_refused(suffix, tmp_path, rng):
    path = tmp_path / f"table{suffix}"
    for size in range(1, 200):
        told_of(path, rng.bytes(size))
        told_of(path, PIECES[size % len(PIECES)] + rng.bytes(size))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_soups_of_separators_are_read_or_refused(suffix, tmp_path, rng):
    path = tmp_path / f"table{suffix}"
    for _ in range(150):
        chosen = rng.integers(0, len(PIECES), size=rng.integers(1, 40))
        told_of(path, b"".join(PIECES[c] + b"a1"[: c % 3] for c in chosen))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ALL)
def test_many_more_changed_files(suffix, samples, tmp_path):
    rng, path = np.random.default_rng(1), tmp_path / f"table{suffix}"
    for _ in range(3000):
        path.write_bytes(mutated(samples[suffix], rng))
        told(path)
