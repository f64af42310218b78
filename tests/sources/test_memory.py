"""What is said of memory beforehand is true."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# A small file first, so that libraries are loaded: they are no memory of the data.
SCRIPT = """
import sys
from pathlib import Path
from coterie import moments_from
from coterie.sources._memory import Budget

def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

stated, checked = [], Budget.checked
Budget.checked = lambda *sizes: stated.append(checked(*sizes)) or stated[-1]
small, large, y, n_folds = *sys.argv[1:4], int(sys.argv[4])
named = {"target": "y"} if large.endswith(".parquet") else {"y": y}
moments_from(small, **{**named, "y": named.get("y") and y.replace("y.", "small_y.")})
Path("/proc/self/clear_refs").write_text("5")
before = memory("VmRSS")
moments_from(large, **named, folds=n_folds if n_folds > 1 else None)
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
