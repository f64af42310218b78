"""The memory stated before counting is not exceeded."""

import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import moments_from

# A small file first, so that libraries are loaded: they are no memory of the data.
SCRIPT = """
import sys
from pathlib import Path
from coterie import moments_from
from coterie._data.sources._memory import MemoryBudget

def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

stated, check = [], MemoryBudget.check
MemoryBudget.check = lambda *sizes: stated.append(check(*sizes)) or stated[-1]
small, large, y, n_folds = *sys.argv[1:4], int(sys.argv[4])
is_parquet = large.endswith(".parquet")
moments_from(small, "y" if is_parquet else y.replace("y.", "small_y."))
Path("/proc/self/clear_refs").write_text("5")
before = memory("VmRSS")
moments_from(large, "y" if is_parquet else y, cv=n_folds if n_folds > 1 else None)
print((memory("VmHWM") - before) / max(stated))
"""


def write(folder, name, kind, n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_features, n_rows), dtype=np.float32).astype(float) + 9
    if kind == "npy":
        np.save(folder / f"{name}.npy", X.T.copy())
        np.save(folder / ("y.npy" if name == "X" else "small_y.npy"), X[0])
    else:
        table = pa.table([*X, X[0]], names=[*(f"x{j}" for j in range(n_features)), "y"])
        path = folder / f"{name}.parquet"
        pq.write_table(table, path, row_group_size=n_rows // 3, use_dictionary=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("kind", "n_rows", "n_features", "n_folds"),
    [("npy", 5000, 4000, 1), ("parquet", 24_000, 1000, 5)],
)
def test_the_peak_stays_below_what_is_stated(tmp_path, kind, n_rows, n_features, n_folds):
    write(tmp_path, "small", kind, 300, 5)
    write(tmp_path, "X", kind, n_rows, n_features)
    files = [str(tmp_path / f"{name}.{kind}") for name in ("small", "X")]
    command = [sys.executable, "-c", SCRIPT, *files, str(tmp_path / "y.npy"), str(n_folds)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert 0.3 < float(run.stdout) < 1


@pytest.fixture
def folder(tmp_path):
    """Files of 3,000 rows in row groups of 100; the largest group is in the middle file."""
    rng = np.random.default_rng(0)
    for name, groups in {"a": [100] * 30, "b": [500, 2000, 500], "c": [100] * 30}.items():
        X = rng.standard_normal((9, 3000))
        table = pa.table([*X], names=[*(f"x{j}" for j in range(8)), "y"])
        with pq.ParquetWriter(
            tmp_path / f"{name}.parquet", table.schema, use_dictionary=False
        ) as writer:
            for start, n_rows in zip(np.cumsum([0, *groups[:-1]]), groups, strict=True):
                writer.write_table(table.slice(start, n_rows))
    return tmp_path


def refusal(source, **options):
    with pytest.raises(ValueError, match=r"take .* max_bytes allows") as caught:
        moments_from(source, **options)
    return str(caught.value)


def test_the_error_names_the_row_group_that_is_too_large(folder):
    """2,000 rows of 9 numbers of 8 bytes are 144 kB, and reading them takes 3 times as much."""
    for chunk_rows in (None, 100, 1):
        said = refusal(folder, y="y", max_bytes=4e5, chunk_rows=chunk_rows)
        assert re.search(
            r"43\d kB to read row group 1 of b\.parquet \(2,000 rows, 14\d kB\)\. ", said
        )
        assert "chunk_rows=" not in said
        assert "smaller row groups (rewrite the file, " in said
    table = pq.read_table(folder / "b.parquet")
    pq.write_table(table, folder / "b.parquet", row_group_size=100, use_dictionary=False)
    assert moments_from(folder, y="y", max_bytes=4e5, chunk_rows=100).n_samples_ == 9000


def test_the_error_names_the_folder_of_a_hive_partition(folder):
    (folder / "year=2001").mkdir()
    (folder / "b.parquet").rename(folder / "year=2001" / "rows.parquet")
    for name in "ac":
        (folder / f"{name}.parquet").unlink()
    said = refusal(folder, y="y", max_bytes=4e5, chunk_rows=100)
    assert "row group 1 of year=2001/rows.parquet (2,000 rows, " in said.replace(os.sep, "/")


def test_the_error_suggests_chunk_rows_that_fit(folder):
    for max_bytes in (6e5, 8e5, 1.5e6, 4e6):
        said = refusal(folder, y="y", max_bytes=max_bytes)
        assert "row groups (" not in said
        n_rows = int(re.search(r"Use chunk_rows=(\d+), or", said)[1])
        assert moments_from(folder, y="y", max_bytes=max_bytes, chunk_rows=n_rows).count == 9000
        refusal(folder, y="y", max_bytes=max_bytes, chunk_rows=n_rows + 1)


def test_the_error_suggests_a_number_of_folds_that_fits(rng):
    X, y = rng.standard_normal((600, 100)), rng.standard_normal(600)
    options = {"chunk_rows": 1, "max_bytes": 2e6}
    said = refusal(X, y=y, cv=50, **options)
    n_folds = int(re.search(r"Use (\d+) folds, or fewer columns, or raise max_bytes\.$", said)[1])
    assert moments_from(X, y, cv=n_folds, **options).n_folds == n_folds
    refusal(X, y=y, cv=n_folds + 1, **options)


def test_the_error_suggests_a_combination_if_one_change_is_not_enough(folder):
    """No single change is enough; in the end only fewer columns or more memory are."""
    options = {"y": "y", "cv": 2000, "chunk_rows": 5000}
    said = refusal(folder, max_bytes=1e5, **options)
    assert "Use a smaller chunk_rows with fewer folds with smaller row groups (" in said
    assert refusal(folder, max_bytes=2e4, **options).endswith(
        "Use fewer columns, or raise max_bytes."
    )


def test_the_error_suggests_smaller_batches_for_iterables(rng):
    X, y = rng.standard_normal((500, 8)), rng.standard_normal(500)
    said = refusal([(X, y)], max_bytes=1e5)
    n_rows = int(re.search(r"Use batches of (\d+) rows, or fewer columns, or raise", said)[1])
    assert moments_from([(X[:n_rows], y[:n_rows])], max_bytes=1e5).n_samples_ == n_rows
    refusal([(X[: n_rows + 1], y[: n_rows + 1])], max_bytes=1e5)
