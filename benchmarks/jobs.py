"""Jobs that run in a process of their own; each prints one line of JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from measure import seconds, wide_data


def memory_mb(field: str) -> float:
    """Memory of this process: "VmRSS" now, "VmHWM" at most since the last forget_peak."""
    # Not getrusage: its peak is inherited from the process that started this one.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def forget_peak() -> float:
    """Start to watch the peak anew; the memory taken now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_mb("VmRSS")


def make_wide(path: str, n_samples: int, n_features: int, n_groups: int) -> dict[str, float]:
    """Write data to a file, so that making them is no part of another job's peak."""
    return write(path, *wide_data(n_samples, n_features, n_groups))


def make_paper(path: str, n_samples: int, n_features: int) -> dict[str, float]:
    from coterie.datasets import make_paper_data

    return write(path, *make_paper_data(n_features, noise=n_features / 10, n_samples=n_samples))


def write(path: str, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    np.save(Path(path) / "X.npy", X)
    np.save(Path(path) / "y.npy", y)
    return {}


def fit_wide(path: str, tolerance: float) -> dict[str, float]:
    """Fit forward on such data: passes over X, and peak memory in units of X.

    Compiled code is loaded before, as scikit-learn is: neither is memory of the data.
    """
    from coterie import NonLinCFA

    X, y = np.load(Path(path) / "X.npy"), np.load(Path(path) / "y.npy")
    NonLinCFA(tolerance, cv=None, search="forward", covariance="columns").fit(X[:, :100], y)
    v = np.ones(len(X), dtype=np.float32)
    one_pass = seconds(lambda: v @ X, repeats=9)
    size = X.nbytes / 2**20
    before = forget_peak()
    start = time.perf_counter()
    reducer = NonLinCFA(tolerance, cv=None, search="forward").fit(X, y)
    first = time.perf_counter() - start
    peak = (memory_mb("VmHWM") - before + size) / size
    taken = min(first, seconds(lambda: reducer.fit(X, y), repeats=2))
    return {
        "seconds": taken,
        "pass": one_pass,
        "passes": taken / one_pass,
        "groups": reducer.n_groups_,
        "peak_over_X": peak,
    }


def fit_small(with_numba: bool) -> dict[str, float]:
    """Fit 2,000 x 100 in 5 folds: the first call of a process, the tenth, and Ward's."""
    from sklearn.cluster import FeatureAgglomeration

    from coterie import NonLinCFA, compiled
    from coterie.datasets import make_paper_data

    if not with_numba:
        compiled.FEWEST_FEATURES = sys.maxsize
    X, y = make_paper_data(100, n_samples=2000)
    fit = NonLinCFA(1e-3).fit
    times = [seconds(lambda: fit(X, y), repeats=1) for _ in range(20)]
    ward = seconds(lambda: FeatureAgglomeration(20).fit(X), repeats=20)
    return {"first": times[0], "best": min(times), "ward": ward}


def fit_method(path: str, name: str) -> dict[str, float]:
    """Fit a method: seconds, and peak memory beyond that of the data.

    It fits a corner of the data before, so that what it imports is loaded.
    """
    from peers import METHODS

    X, y = np.load(Path(path) / "X.npy"), np.load(Path(path) / "y.npy")
    METHODS[name](X[:500, :80], y[:500])
    before = forget_peak()
    start = time.perf_counter()
    METHODS[name](X, y)
    taken = time.perf_counter() - start
    return {"seconds": taken, "peak_over_X": 1 + (memory_mb("VmHWM") - before) / (X.nbytes / 2**20)}


def make_rows(path: str, n_samples: int, n_features: int) -> dict[str, float]:
    """Write rows to a file of numpy and to one of Parquet, some at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, folder = np.random.default_rng(0), Path(path)
    names = [f"x{j}" for j in range(n_features)] + ["y"]
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float64, shape=(n_samples, n_features)
    )
    y = rng.normal(size=n_samples)
    schema = pa.schema([(name, pa.float64()) for name in names])
    with parquet.ParquetWriter(folder / "rows.parquet", schema, use_dictionary=False) as file:
        for start in range(0, n_samples, 10_000):
            rows = slice(start, min(start + 10_000, n_samples))
            X[rows] = rng.normal(size=X[rows].shape)
            columns = [*np.ascontiguousarray(X[rows].T), y[rows]]
            file.write_table(pa.table(columns, names=names))
    np.save(folder / "y.npy", y)
    return {}


def count_rows(path: str, n_folds: int, kind: str) -> dict[str, float]:
    """Moments of such a file: peak memory in units of what is stated."""
    from coterie import moments_from
    from coterie._data.sources._memory import MemoryBudget
    from coterie._data.sources._moments_from import _make_spec, _open_source

    folder = Path(path)
    name = "X.npy" if kind == "npy" else "rows.parquet"
    y = folder / "y.npy" if kind == "npy" else "y"
    opened = _open_source(folder / name, y, None, _make_spec(y, None, None, n_folds, None))
    stated = MemoryBudget(opened).check(opened.n_features, opened.max_chunk_rows, n_folds) / 2**20
    _warm(kind)
    before = forget_peak()
    moments_from(folder / name, y, cv=n_folds if n_folds > 1 else None)
    peak = memory_mb("VmHWM") - before
    return {"over_stated": peak / stated}


def _warm(kind: str) -> None:
    """Load all libraries, which are no memory of the data."""
    import tempfile

    from coterie import moments_from

    with tempfile.TemporaryDirectory() as folder:
        make_rows(folder, 300, 5)
        if kind == "npy":
            moments_from(Path(folder) / "X.npy", Path(folder) / "y.npy", cv=2)
        else:
            moments_from(Path(folder) / "rows.parquet", y="y", cv=2)


def import_time(module: str) -> dict[str, float]:
    start = time.perf_counter()
    __import__(module)
    return {"seconds": time.perf_counter() - start}


JOBS = {
    j.__name__: j
    for j in (
        make_wide,
        make_paper,
        make_rows,
        count_rows,
        fit_wide,
        fit_small,
        fit_method,
        import_time,
    )
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](**json.loads(sys.argv[2]))))
