"""Measure everything in one run, as ratios; write a table, a JSON file and plots.

Run with ``make bench`` (about ten minutes), or ``python benchmarks/run.py --quick``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from measure import in_own_process, seconds, wide_data
from peers import METHODS, OURS

from coterie import NonLinCFA, compiled
from coterie.datasets import make_paper_data


class Table:
    """Rows of what was measured, beside what was to be reached."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def add(
        self, what: str, figure: float, unit: str, to_reach: float | None, note: str = ""
    ) -> None:
        at_least = unit.startswith("times faster")
        reached = None
        if to_reach is not None:
            reached = bool(figure >= to_reach if at_least else figure <= to_reach)
        row = {"what": what, "figure": float(figure), "unit": unit, "to_reach": to_reach}
        self.rows.append(row | {"reached": reached, "note": note})
        print(
            f"{what}: {figure:.3g} {unit}" + (f" (to reach {to_reach})" if to_reach else ""),
            flush=True,
        )

    def markdown(self) -> str:
        lines = ["| what | measured | to reach | reached |", "| --- | --- | --- | --- |"]
        for row in self.rows:
            limit = "" if row["to_reach"] is None else f"{row['to_reach']:g}"
            reached = {None: "", True: "yes", False: "no"}[row["reached"]]
            note = f" ({row['note']})" if row["note"] else ""
            lines.append(
                f"| {row['what']}{note} | {row['figure']:.3g} {row['unit']} | {limit} | {reached} |"
            )
        return "\n".join(lines) + "\n"


@contextmanager
def numpy_alone() -> Iterator[None]:
    """Leave the compiled searches aside."""
    fewest = compiled.FEWEST_FEATURES
    compiled.FEWEST_FEATURES = sys.maxsize
    try:
        yield
    finally:
        compiled.FEWEST_FEATURES = fewest


def against_one_product(table: Table, n_features: int, limits: dict[str, float]) -> None:
    X, y = make_paper_data(n_features, noise=n_features / 10, n_samples=2000)
    product = seconds(lambda: X.T @ X, repeats=15)
    for name, fit in OURS.items():
        limit = next(limit for word, limit in limits.items() if word in name)
        ratio = seconds(lambda fit=fit: fit(X, y), repeats=9) / product
        with numpy_alone():
            alone = seconds(lambda fit=fit: fit(X, y)) / product
        what = f"{name}, 2,000 x {n_features:,}"
        table.add(what, ratio, "x one X'X", limit, f"numpy alone {alone:.3g}")


def small_data(table: Table) -> None:
    for compiler, limit in (("", 2), (", numpy alone", None)):
        result = in_own_process("fit_small", with_numba=not compiler)
        what = f"NonLin 5-fold, restart, 2,000 x 100{compiler}"
        note = "{best:.2g} s; the first call of a process {first:.2g} s".format(**result)
        table.add(what, result["best"] / result["ward"], "x Ward", limit, note)


def against_the_oracle(table: Table) -> None:
    import oracle
    from sklearn.model_selection import KFold

    X, y = make_paper_data(100, n_samples=2000)
    ours = seconds(lambda: NonLinCFA(1e-3).fit(X, y), repeats=15)
    judge = oracle.nonlin_held_out(1e-3, list(KFold(5).split(X)))
    groups: list[object] = []
    slow = seconds(
        lambda: groups.append(oracle.restart(X, y, oracle.AGGREGATIONS["mean"], judge)[0]),
        repeats=1,
    )
    same = groups[0] == [group.tolist() for group in NonLinCFA(1e-3).fit(X, y).groups_]
    note = "same partition" if same else "ANOTHER PARTITION"
    table.add("slow oracle, 2,000 x 100, 5-fold restart", slow / ours, "times faster", 2000, note)


def fit_on_paper_data(name: str, n_samples: int, n_features: int) -> dict[str, float]:
    """Seconds and peak memory of one fit, in a process that only loads the data."""
    with tempfile.TemporaryDirectory() as path:
        in_own_process("make_paper", path=path, n_samples=n_samples, n_features=n_features)
        return in_own_process("fit_method", path=path, name=name)


def against_peers(table: Table, quick: bool) -> None:
    sizes = [(2000, 2000, "FeatureAgglomeration (Ward)", 5.0)]
    if not quick:
        sizes.append((5000, 4000, "SmartCorrelatedSelection", 30.0))
    for n_samples, n_features, peer, limit in sizes:
        ours = fit_on_paper_data("NonLin in-sample, restart", n_samples, n_features)
        theirs = fit_on_paper_data(peer, n_samples, n_features)
        what = f"{peer} at {n_samples:,} x {n_features:,}"
        table.add(what, theirs["seconds"] / ours["seconds"], "times faster", limit)


def all_methods(quick: bool) -> dict[str, dict[str, float]]:
    """Seconds and peak memory of every method, each fit in a process of its own."""
    results = {}
    for name in METHODS:
        n_features = 100 if name == "VarClusHi" else 200 if quick else 1000
        results[name] = {"columns": n_features, **fit_on_paper_data(name, 2000, n_features)}
        print(name, results[name], flush=True)
    return results


def wide(table: Table, quick: bool) -> None:
    shapes = [(1000, 50_000, 3e-3, 200), (100, 200_000, 3e-2, 500)]
    for n_samples, n_features, tolerance, limit in shapes:
        width = n_features // 10 if quick else n_features
        with tempfile.TemporaryDirectory() as path:
            shape = {"n_samples": n_samples, "n_features": width, "n_groups": 50}
            in_own_process("make_wide", path=path, **shape)
            result = in_own_process("fit_wide", path=path, tolerance=tolerance)
        what = f"forward, {n_samples:,} x {width:,} float32"
        note = "{groups} groups, {seconds:.1f} s, a pass {pass:.2g} s".format(**result)
        table.add(what, result["passes"], "passes over X", limit, note)
        table.add(f"{what}: peak memory", result["peak_over_X"], "x X", 2.5)


def fit_seconds(reducer: NonLinCFA, X: np.ndarray, y: np.ndarray) -> float:
    return seconds(lambda: reducer.fit(X, y), repeats=3)


def growth(table: Table, quick: bool) -> dict[str, list[list[float]]]:
    """Seconds against n, D and d, the others fixed; on demand for D."""
    curves: dict[str, list[list[float]]] = {"n": [], "D": [], "d": []}
    reducer = NonLinCFA(1e-2, cv=None, search="forward", covariance="columns")
    widths = [1000, 2000, 4000, 8000] if quick else [2000, 4000, 8000, 16_000, 32_000]
    for n_features in widths:
        X, y = wide_data(500, n_features, 10)
        curves["D"].append([n_features, fit_seconds(reducer, X, y)])
    logs = np.log(np.array(curves["D"]))
    slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
    table.add("growth in D at fixed n and d, on demand", slope, "slope of log time", 1.1)
    in_memory = NonLinCFA(1e-3, cv=None, search="forward")
    for n_samples in (1000, 2000, 4000, 8000, 16_000):
        X, y = make_paper_data(500, noise=50, n_samples=n_samples)
        curves["n"].append([n_samples, fit_seconds(in_memory, X, y)])
    X, y = make_paper_data(500, noise=50, n_samples=2000)
    for tolerance in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5):
        fit = NonLinCFA(tolerance, cv=None, search="forward")
        taken = fit_seconds(fit, X, y)
        curves["d"].append([fit.n_groups_, taken])
    return curves


def transform(table: Table, quick: bool) -> None:
    X, y = make_paper_data(500, noise=50, n_samples=20_000 if quick else 200_000)
    reducer = NonLinCFA(1e-5).fit(X[:2000], y[:2000])
    weights = np.ones((500, reducer.n_groups_))
    product = seconds(lambda: X @ weights)
    dense = seconds(lambda: X @ np.ones((500, 500)))
    ours = seconds(lambda: reducer.transform(X))
    note = f"{reducer.n_groups_} groups; {ours / dense:.2f} of a product with 500 columns"
    table.add(
        f"transform, {len(X):,} x 500", ours / product, "x X @ W of the same shape", 1.5, note
    )


def imports(table: Table) -> None:
    times = {"coterie": [], "sklearn": []}
    for _ in range(9):
        for module, taken in times.items():
            taken.append(in_own_process("import_time", module=module)["seconds"])
    ratio = min(times["coterie"]) / min(times["sklearn"])
    table.add("import coterie", ratio, "x import sklearn", 1.2)


def plots(curves: dict[str, list[list[float]]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    titles = {
        "n": "samples (500 columns)",
        "D": "columns (500 samples, on demand)",
        "d": "groups (2,000 x 500)",
    }
    for axis, (name, curve) in zip(axes, curves.items(), strict=True):
        points = np.array(curve)
        axis.loglog(points[:, 0], points[:, 1], "o-", color="#0072B2")
        axis.set(xlabel=titles[name], ylabel="seconds" if name == "n" else "")
        for side, form in ((axis.xaxis, "{x:,.0f}"), (axis.yaxis, "{x:g}")):
            side.set_major_locator(LogLocator(subs=(1, 2, 5)))
            side.set_major_formatter(form)
            side.set_minor_formatter("")
        axis.grid(True, which="both", color="#e8e8e8")
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about two minutes")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    table = Table()
    limits = {"in-sample, best": 2.5, "5-fold": 2.5, "": 2.0}
    against_one_product(table, 1000, limits)
    if not options.quick:
        against_one_product(table, 2000, limits | {"": 1.5})
    small_data(table)
    against_the_oracle(table)
    against_peers(table, options.quick)
    wide(table, options.quick)
    curves = growth(table, options.quick)
    transform(table, options.quick)
    imports(table)
    methods = all_methods(options.quick)
    versions = {
        m: __import__(m).__version__ for m in ("numpy", "scipy", "sklearn", "numba", "coterie")
    }
    results = {
        "python": platform.python_version(),
        "versions": versions,
        "rows": table.rows,
        "growth": curves,
        "methods": methods,
    }
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (options.out / "table.md").write_text(table.markdown())
    plots(curves, options.out / "growth.png")


if __name__ == "__main__":
    main()
