"""Jobs that run in a process of their own; each prints one line of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

if "--without-numba" in sys.argv:
    # As if it were not installed, in every version of the library.
    sys.modules["numba"] = None

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from measure import interleaved, seconds
from peers import TUNED_PLS, made, ready
from problems import PROBLEMS, counts, paper_data, table, voxels

Figures = dict[str, float]


def memory_mb(field: str) -> float:
    """Memory of this process: "VmRSS" now, "VmHWM" at most since the last forget_peak."""
    # Not getrusage: its peak is inherited from the process that started this one.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def forget_peak() -> float:
    """Start to watch the peak anew; the memory taken now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_mb("VmRSS")


def make_problem(path: str, problem: str, **options: Any) -> Figures:
    """Write data to files, so that making them is no part of another job's peak."""
    from scipy import sparse

    X, y = PROBLEMS[problem](**options)
    if sparse.issparse(X):
        sparse.save_npz(Path(path) / "X.npz", X)
    else:
        np.save(Path(path) / "X.npy", X)
    np.save(Path(path) / "y.npy", y)
    return {}


def read_problem(path: str) -> tuple[Any, np.ndarray]:
    folder = Path(path)
    if (folder / "X.npz").exists():
        from scipy import sparse

        return sparse.load_npz(folder / "X.npz"), np.load(folder / "y.npy")
    return np.load(folder / "X.npy"), np.load(folder / "y.npy")


def warm_up() -> Figures:
    """Load compiled searches, and compile them where they are not on disk."""
    try:
        from coterie._core.compiled import warm_up
    except ImportError:
        from coterie.compiled import warm_up
    start = time.perf_counter()
    is_compiled = warm_up()
    return {"seconds": time.perf_counter() - start, "compiled": is_compiled}


def products(
    configurations: list[str], n_samples: int, n_features: int, repeats: int, compiled: bool = False
) -> Figures:
    """Fits of some configurations, and one product X'X, in turns.

    With ``compiled``, compiled searches are in memory before, as after any long fit.
    """
    if compiled:
        warm_up()
    X, y = paper_data(n_samples, n_features)
    fits = {each: ready(each, X, y) for each in configurations}
    for each in configurations:
        ready(each, X[:500, :80], y[:500])()
    return interleaved({"product": lambda: X.T @ X} | fits, repeats=repeats, at_most=4)


def fit(
    path: str,
    configuration: str,
    repeats: int = 3,
    pass_over: bool = False,
    compiled: bool = False,
) -> Figures:
    """Fit to data of a file: seconds, and peak memory beyond that of the data.

    It fits a corner of the data before, so that what it imports is no part of either.
    """
    if compiled:
        warm_up()
    X, y = read_problem(path)
    ready(configuration, X[:500, :80], y[:500])()
    size = X.nbytes / 2**20 if hasattr(X, "nbytes") else X.data.nbytes / 2**20
    figures: Figures = {}
    if pass_over:
        v = np.ones(X.shape[0], dtype=X.dtype)
        figures["pass"] = seconds(lambda: v @ X, repeats=9)
    run = ready(configuration, X, y)
    before = forget_peak()
    start = time.perf_counter()
    fitted = run()
    figures["first"] = time.perf_counter() - start
    figures["peak_mb"] = memory_mb("VmHWM") - before
    figures["peak_over_X"] = 1 + figures["peak_mb"] / size
    figures["seconds"] = figures["first"]
    if repeats > 1:
        more = seconds(run, repeats=repeats - 1, at_most=10)
        figures["seconds"] = min(figures["first"], more)
    if hasattr(fitted, "n_groups_"):
        figures["groups"] = int(fitted.n_groups_)
    return figures


def first_fit(configuration: str, n_samples: int, n_features: int) -> Figures:
    """The import and the first fit of a process, the second, and the lowest of later ones."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_samples, 20))
    X = hidden @ rng.normal(size=(20, n_features)) + rng.normal(size=(n_samples, n_features))
    y = hidden[:, :5].sum(axis=1) + rng.normal(size=n_samples)
    start = time.perf_counter()
    estimator = made(configuration)
    imported = time.perf_counter() - start
    times = [seconds(lambda: estimator.fit(X, y), repeats=1) for _ in range(6)]
    return {
        "import": imported,
        "first": times[0],
        "second": times[1],
        "later": min(times[2:]),
    }


def small(configurations: list[str], shapes: list[list[int]], repeats: int = 60) -> Figures:
    """Milliseconds of fits of small tables, less what scikit-learn's validation takes."""
    from sklearn.utils import check_X_y

    figures: Figures = {}
    for shape in shapes:
        X, y = table(*shape)
        fits = {each: ready(each, X, y) for each in configurations}
        checks = {"validation": lambda X=X, y=y: check_X_y(X, y)}
        taken = interleaved(fits | checks, repeats=repeats, at_most=4)
        size = "x".join(map(str, shape))
        for each, value in taken.items():
            less = 0 if each == "validation" else taken["validation"]
            figures[f"{each} {size}"] = 1000 * (value - less)
    return figures


def one_row(configurations: list[str], n_features: int = 100, repeats: int = 2000) -> Figures:
    """Microseconds to transform one row, of NumPy and of pandas."""
    import pandas as pd

    X, y = table(500, n_features)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)])
    figures: Figures = {}
    for kind, rows in (("NumPy", X), ("pandas", frame)):
        fitted = {each: made(each).fit(rows, y) for each in configurations}
        runs = {
            each: lambda model=model, one=rows[:1]: model.transform(one)
            for each, model in fitted.items()
        }
        taken = interleaved(runs, repeats=repeats, at_most=2)
        figures |= {f"{each} {kind}": 1e6 * value for each, value in taken.items()}
    return figures


def against(
    path: str, configurations: list[str], repeats: int = 3, shape: Any = None, n_groups: int = 0
) -> Figures:
    """Fits of several configurations to the same data, in turns, with a graph where it is a map."""
    X, y = read_problem(path)
    given = {"shape": shape, "n_groups": n_groups}
    if shape:
        from sklearn.feature_extraction.image import grid_to_graph

        given["graph"] = grid_to_graph(*shape)
        small_X, small_y = voxels((6, 6, 6))
        small_given = {"shape": (6, 6, 6), "n_groups": 20, "graph": grid_to_graph(6, 6, 6)}
    else:
        small_X, small_y, small_given = X[:500, :80], y[:500], given
    for each in configurations:
        ready(each, small_X, small_y, **small_given)()
    runs = {each: ready(each, X, y, **given) for each in configurations}
    return interleaved(runs, repeats=repeats, at_most=15)


def tuned(shapes: dict[str, list[int]], repeats: int = 3) -> dict[str, Figures]:
    """Coterie beside a PLS whose size is chosen by five folds, on tables of several shapes."""
    pair = ("Coterie()", TUNED_PLS)
    for each in pair:
        ready(each, *table(60, 30))()
    return {
        name: interleaved(
            {each: ready(each, *table(*shape)) for each in pair}, repeats=repeats, at_most=6
        )
        for name, shape in shapes.items()
    }


def fitted_bound(n_samples: int, n_features: int) -> Figures:
    """Fit models of counts for each candidate: GenLinCFA with bound="fitted"."""
    X, y = counts(n_samples, n_features)
    configuration = 'GenLinCFA(family="poisson", bound="fitted")'
    ready(configuration, X[:200, :8], y[:200])()
    return {"seconds": seconds(ready(configuration, X, y), repeats=2, at_most=10)}


def oracle_too(n_samples: int, n_features: int) -> Figures:
    """A fit in five folds beside the slow reference implementation of the tests."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import oracle
    from sklearn.model_selection import KFold

    X, y = paper_data(n_samples, n_features)
    ours = seconds(ready("NonLinCFA(0.001)", X, y), repeats=15)
    judge = oracle.nonlin_held_out(1e-3, list(KFold(5).split(X)))
    start = time.perf_counter()
    groups = oracle.restart(X, y, oracle.AGGREGATIONS["mean"], judge)[0]
    slow = time.perf_counter() - start
    same = groups == [group.tolist() for group in made("NonLinCFA(0.001)").fit(X, y).groups_]
    return {"seconds": ours, "oracle": slow, "same": same}


def transforms(n_samples: int, n_features: int) -> Figures:
    """Transform many rows, beside a product with as many columns."""
    X, y = paper_data(n_samples, n_features)
    model = made("NonLinCFA(1e-5)").fit(X[:2000], y[:2000])
    weights = np.ones((n_features, model.n_groups_))
    runs = {"product": lambda: X @ weights, "seconds": lambda: model.transform(X)}
    return interleaved(runs) | {"groups": int(model.n_groups_)}


def growth_of(axis: str, values: list[float]) -> dict[str, list[list[float]]]:
    """Seconds against rows, or against groups, of fits with a fixed tolerance."""
    points = []
    for value in values:
        n_samples = int(value) if axis == "n" else 2000
        X, y = paper_data(n_samples, 500)
        tolerance = 1e-3 if axis == "n" else value
        model = made(f'NonLinCFA({tolerance}, cv=None, search="forward")')
        taken = seconds(lambda model=model, X=X, y=y: model.fit(X, y), repeats=3)
        points.append([n_samples if axis == "n" else int(model.n_groups_), taken])
    return {"points": points}


def make_rows(path: str, n_samples: int, n_features: int) -> Figures:
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


def count_rows(path: str, n_folds: int, kind: str) -> Figures:
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


def imports(modules: list[str], repeats: int) -> Figures:
    """Shortest import of each module, in turns, each in a fresh interpreter."""
    words = (
        "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    )
    times: dict[str, list[float]] = {module: [] for module in modules}
    for _ in range(repeats):
        for module, taken in times.items():
            command = [sys.executable, "-c", words.format(module)]
            taken.append(float(subprocess.run(command, capture_output=True, check=True).stdout))
    return {module: min(taken) for module, taken in times.items()}


JOBS = {
    j.__name__: j
    for j in (
        against,
        count_rows,
        first_fit,
        fit,
        fitted_bound,
        growth_of,
        imports,
        make_problem,
        make_rows,
        one_row,
        oracle_too,
        products,
        small,
        transforms,
        tuned,
        warm_up,
    )
}

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    print(json.dumps(JOBS[sys.argv[1]](**json.loads(sys.argv[2]))))
