"""What is measured: jobs, each in a process of its own, and the rows that their figures make.

Rows of the defaults come first; those of a fixed tolerance, and of peers, follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from measure import FailedError, TooLongError
from peers import DEFAULTS, FIXED, PEERS, RENA, SMART, TUNED_PLS, VARCLUS, WARD


class Problem(NamedTuple):
    """Data that a job reads from a file: the name of a function of problems.py, and its options."""

    name: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A function of jobs.py with its options; ``expected`` and ``limit`` are seconds.

    It is left out if the job ``after`` was stopped: what takes longer still need not be tried.
    With ``empty_cache`` numba finds nothing on disk.
    """

    key: str
    name: str
    options: dict[str, Any]
    expected: float
    limit: float
    problem: Problem | None = None
    without_numba: bool = False
    empty_cache: bool = False
    after: str = ""


class Results(dict[str, dict[str, Any]]):
    """What each job reported; asking for one that was stopped says why there is no figure."""

    def __missing__(self, key: str) -> dict[str, Any]:
        raise FailedError("not run")

    def __getitem__(self, key: str) -> dict[str, Any]:
        result = super().__getitem__(key)
        if "limit" in result:
            raise TooLongError(result["limit"])
        if "failed" in result:
            raise FailedError(result["failed"])
        return result


@dataclass(frozen=True)
class Row:
    """A line of a table: a figure of one configuration, and what it is to reach."""

    key: str
    section: str
    configuration: str
    what: str
    figure: Callable[[Results], float]
    unit: str
    target: float | None = None
    at_least: bool = False
    note: Callable[[Results], str] = field(default=lambda results: "")

    def read(self, results: Results) -> dict[str, Any]:
        """The row as plain values; without a figure, its status tells the reason."""
        row: dict[str, Any] = {"key": self.key, "section": self.section, "what": self.what}
        row |= {"configuration": self.configuration, "unit": self.unit, "target": self.target}
        row |= {"at_least": self.at_least, "figure": None, "reached": None, "note": ""}
        try:
            figure, status = float(self.figure(results)), "measured"
            row |= {"figure": figure, "note": self.note(results)}
            if self.target is not None:
                row["reached"] = bool(
                    figure >= self.target if self.at_least else figure <= self.target
                )
        except TooLongError as stopped:
            status = str(stopped)
            # A peer that was stopped tells nothing about the target.
            row["reached"] = None if self.target is None or self.at_least else False
        except FailedError as failed:
            status = str(failed)
        return row | {"status": status}


@dataclass(frozen=True)
class Suite:
    """Jobs in the order in which they run, and rows in that in which they are shown."""

    jobs: list[Job]
    rows: list[Row]


def slug(configuration: str) -> str:
    """A configuration as part of a key: Coterie() is coterie."""
    left_out = {ord(c): None for c in ')" '} | {ord(c): "-" for c in "(,="}
    text = configuration.lower().replace("cfa", "").replace("none", "no").translate(left_out)
    return text.strip("-")


def make_suite(quick: bool = False) -> Suite:
    """The whole suite; ``quick`` takes sizes that are a few times smaller."""
    parts = (
        against_product,
        wide,
        growth,
        beside_peers,
        small_fits,
        rows_and_imports,
        sparse,
        maps,
        beside_tuned_pls,
        models_of_counts,
        beside_mutual,
        first_fits,
        all_methods,
        transform,
        curves,
        beside_oracle,
    )
    jobs, rows = [Job("warm-up", "warm_up", {}, 10, 400)], []
    for part in parts:
        for each in part(quick):
            (jobs if isinstance(each, Job) else rows).append(each)
    order = ["defaults", "first fit", "tables", "fixed", "methods"]
    return Suite(jobs, sorted(rows, key=lambda row: order.index(row.section)))


def against_product(quick: bool) -> Iterator[Job | Row]:
    """Fits in units of one product X'X, compiled and without numba."""
    sizes = (500,) if quick else (1000, 2000)
    for d in sizes:
        shape = {"n_samples": 2000, "n_features": d, "repeats": 9}
        for section, configurations in (("defaults", DEFAULTS), ("fixed", FIXED)):
            for words, without in (("compiled", False), ("without numba", True)):
                key = f"products-{section}-{d}-{'plain' if without else 'compiled'}"
                options = {"configurations": configurations, "compiled": not without} | shape
                yield Job(key, "products", options, 6, 60, without_numba=without)
                target = None if section == "fixed" else 4.0 if without else 2.5
                for each in configurations:
                    yield Row(
                        f"{slug(each)}-2000x{d}-{'plain' if without else 'compiled'}",
                        section,
                        each,
                        f"2,000 x {d:,}, {words}",
                        lambda r, key=key, each=each: r[key][each] / r[key]["product"],
                        "x one X'X",
                        target,
                        note=lambda r, key=key, each=each: f"{r[key][each]:.2g} s",
                    )


def wide(quick: bool) -> Iterator[Job | Row]:
    """Wide tables in single precision, in passes over X, and peak memory."""
    d, k = (5_000, 20_000) if quick else (50_000, 200_000)
    problem = Problem("wide_data", {"n_samples": 1000, "n_features": d})
    forward = 'NonLinCFA(0.003, cv=None, search="forward")'
    for each in (*DEFAULTS, forward):
        section = "fixed" if each == forward else "defaults"
        key = f"wide-{slug(each)}"
        options = {"configuration": each, "repeats": 2, "pass_over": True, "compiled": True}
        yield Job(key, "fit", options, 12, 45, problem)
        yield from _passes(key, section, each, 1000, d, 200.0)
    narrower = Problem("wide_data", {"n_samples": 1000, "n_features": d // 5})
    for each in DEFAULTS:
        key = f"wide-{slug(each)}-{d // 5}"
        options = {"configuration": each, "repeats": 2, "pass_over": True, "compiled": True}
        yield Job(key, "fit", options, 6, 30, narrower)
        yield from _passes(key, "defaults", each, 1000, d // 5)
    widest = Problem("wide_data", {"n_samples": 100, "n_features": k})
    forward = 'NonLinCFA(0.03, cv=None, search="forward")'
    options = {"configuration": forward, "repeats": 2, "pass_over": True, "compiled": True}
    yield Job("widest", "fit", options, 6, 60, widest)
    yield from _passes("widest", "fixed", forward, 100, k, 500.0)


def _passes(
    key: str, section: str, each: str, n: int, d: int, target: float | None = None
) -> Iterator[Row]:
    def note(r: Results) -> str:
        return "{groups} groups, {seconds:.2g} s, a pass {pass:.2g} s".format(**r[key])

    what, of = f"{n:,} x {d:,} float32", f"{slug(each)}-{n}x{d}"
    yield Row(
        f"{of}-passes",
        section,
        each,
        what,
        lambda r: r[key]["seconds"] / r[key]["pass"],
        "passes over X",
        target,
        note=note,
    )
    yield Row(
        f"{of}-memory",
        section,
        each,
        f"{what}, peak memory with X",
        lambda r: r[key]["peak_over_X"],
        "x X",
        note=lambda r: f"{r[key]['peak_mb']:,.0f} MB beside X",
    )


def growth(quick: bool) -> Iterator[Job | Row]:
    """The slope of log time against log columns, where the matrix of pairs is not formed."""
    widths = (10_000, 20_000) if quick else (12_500, 25_000, 50_000, 100_000, 200_000)
    forward = 'NonLinCFA(0.01, cv=None, search="forward", covariance="columns")'
    for each in (*DEFAULTS, forward):
        keys: list[str] = []
        for d in widths:
            problem = Problem("wide_data", {"n_samples": 200, "n_features": d, "n_groups": 10})
            key = f"growth-{slug(each)}-{d}"
            options = {"configuration": each, "repeats": 2, "compiled": each != "Coterie()"}
            yield Job(key, "fit", options, 4, 25, problem, after=keys[-1] if keys else "")
            keys.append(key)
        yield Row(
            f"growth-{slug(each)}",
            "fixed" if each == forward else "defaults",
            each,
            f"growth in columns, 200 x {widths[0]:,} to {widths[-1]:,} float32",
            lambda r, keys=keys: slope(points(r, keys, widths)),
            "slope of log time",
            1.1 if each == forward else 1.2,
            note=lambda r, keys=keys: _reach(points(r, keys, widths)),
        )


def points(results: Results, keys: list[str], widths: tuple[int, ...]) -> list[list[float]]:
    """Columns and seconds of the fits that ended."""
    found = []
    for key, width in zip(keys, widths, strict=True):
        try:
            found.append([width, results[key]["seconds"]])
        except (TooLongError, FailedError) as stopped:
            if len(found) < 2:
                raise stopped from None
            break
    return found


def short(figure: float) -> str:
    """Two digits, or all digits before the point."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2g}"


def slope(found: list[list[float]]) -> float:
    logs = np.log(np.array(found))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def _reach(found: list[list[float]]) -> str:
    return f"{found[0][1]:.2g} s at {found[0][0]:,}, {found[-1][1]:.2g} s at {found[-1][0]:,}"


def beside_peers(quick: bool) -> Iterator[Job | Row]:
    """A large table beside Ward and SmartCorrelatedSelection, and a small one beside Ward."""
    n, d = (2000, 800) if quick else (5000, 4000)
    problem = Problem("paper_data", {"n_samples": n, "n_features": d})
    fixed = "NonLinCFA(0.001, cv=None)"
    for each in (*DEFAULTS, fixed, WARD, SMART):
        is_slow = each in (WARD, SMART)
        options = {"configuration": each, "repeats": 1 if is_slow else 2}
        limit = 120 if each == SMART else 45
        yield Job(f"peers-{slug(each)}", "fit", options, 50 if each == SMART else 6, limit, problem)
    for each in (*DEFAULTS, fixed):
        for peer, name, target in (
            (SMART, "SmartCorrelatedSelection", 30.0),
            (WARD, "Ward", 5.0),
        ):
            yield Row(
                f"{slug(each)}-{n}x{d}-{name.lower()}",
                "fixed" if each == fixed else "defaults",
                each,
                f"{n:,} x {d:,}, beside {name}",
                lambda r, each=each, peer=peer: (
                    r[f"peers-{slug(peer)}"]["seconds"] / r[f"peers-{slug(each)}"]["seconds"]
                ),
                "times faster",
                target,
                at_least=True,
                note=lambda r, each=each, peer=peer: (
                    f"{r[f'peers-{slug(each)}']['seconds']:.2g} s instead of "
                    f"{r[f'peers-{slug(peer)}']['seconds']:.2g} s"
                ),
            )
    small = Problem("paper_data", {"n_samples": 2000, "n_features": 100})
    both = [*DEFAULTS, "NonLinCFA(0.001)", WARD]
    options = {"configurations": both, "repeats": 20}
    yield Job("small-ward", "against", options, 6, 60, small)
    for each in both[:-1]:
        yield Row(
            f"{slug(each)}-2000x100-ward",
            "defaults" if each in DEFAULTS else "fixed",
            each,
            "2,000 x 100, beside Ward",
            lambda r, each=each: r["small-ward"][each] / r["small-ward"][WARD],
            "x Ward",
            note=lambda r, each=each: f"{short(1000 * r['small-ward'][each])} ms",
        )


def small_fits(quick: bool) -> Iterator[Job | Row]:
    """Small tables, in milliseconds beyond what scikit-learn's validation takes."""
    shapes = ((960, 12), (1000, 50), (150, 4))
    pca = "PCA(4)"
    options = {"configurations": [*DEFAULTS, pca], "shapes": shapes, "repeats": 20 if quick else 60}
    yield Job("small", "small", options, 10, 60)
    for each in DEFAULTS:
        for n, d in shapes:
            yield Row(
                f"{slug(each)}-{n}x{d}",
                "defaults",
                each,
                f"{n:,} x {d}, less validation",
                lambda r, name=f"{each} {n}x{d}": r["small"][name],
                "ms",
                5.0,
                note=lambda r, name=f"{pca} {n}x{d}": f"PCA(4) {short(r['small'][name])} ms",
            )


def rows_and_imports(quick: bool) -> Iterator[Job | Row]:
    """One row transformed, and the import."""
    pca = "PCA(12)"
    repeats = 300 if quick else 2000
    options = {"configurations": [*DEFAULTS, pca], "repeats": repeats}
    yield Job("one-row", "one_row", options, 10, 60)
    for each in DEFAULTS:
        for kind in ("NumPy", "pandas"):
            yield Row(
                f"{slug(each)}-one-row-{kind.lower()}",
                "defaults",
                each,
                f"transform one row of 100 columns, {kind}",
                lambda r, each=each, kind=kind: (
                    r["one-row"][f"{each} {kind}"] / r["one-row"][f"{pca} {kind}"]
                ),
                "x PCA(12)",
                1.2,
                note=lambda r, each=each, kind=kind: (
                    f"{r['one-row'][f'{each} {kind}']:.0f} microseconds"
                ),
            )
    options = {"modules": ["coterie", "sklearn"], "repeats": 3 if quick else 7}
    yield Job("imports", "imports", options, 15, 90)
    yield Row(
        "import",
        "defaults",
        "",
        "import coterie",
        lambda r: r["imports"]["coterie"] / r["imports"]["sklearn"],
        "x import sklearn",
        1.1,
        note=lambda r: f"{r['imports']['coterie']:.2g} s",
    )


def sparse(quick: bool) -> Iterator[Job | Row]:
    """Columns of which nearly all numbers are zero."""
    n, d, stored = (2000, 5000, 8000) if quick else (8000, 20_000, 32_000)
    problem = Problem("sparse_data", {"n_samples": n, "n_features": d, "n_stored": stored})
    what = f"sparse, {n:,} x {d:,} with {stored:,} non-zeros"
    for each in DEFAULTS:
        key = f"sparse-{slug(each)}"
        yield Job(key, "fit", {"configuration": each, "repeats": 2}, 8, 30, problem)
        yield Row(
            f"{key}-seconds", "defaults", each, what, lambda r, k=key: r[k]["seconds"], "s", 5.0
        )
        yield Row(
            f"{key}-memory",
            "defaults",
            each,
            f"{what}, peak memory",
            lambda r, k=key: r[k]["peak_mb"],
            "MB",
            1000.0,
        )


def maps(quick: bool) -> Iterator[Job | Row]:
    """A given number of groups of neighbouring voxels, beside Ward and ReNA."""
    ward = "FeatureAgglomeration(n_groups, connectivity=graph)"
    nonlin = "NonLinCFA(n_groups=n_groups, connectivity=graph)"
    ours = (
        "Coterie(n_groups=n_groups, connectivity=graph)",
        "Coterie(n_groups=n_groups, connectivity=graph, inputs=None)",
    )
    small = (12, 12, 10) if quick else (24, 24, 20)
    large = (20, 20, 19) if quick else (40, 40, 38)
    for shape, tried in (
        (small, (*ours, ward)),
        (small, (nonlin, ward)),
        (large, (*ours, ward, RENA)),
    ):
        n_voxels = int(np.prod(shape))
        n_groups, peer = n_voxels // 10, "ReNA" if RENA in tried else "Ward"
        key = f"maps-{n_voxels}-{'nonlin' if nonlin in tried else 'coterie'}"
        options = {"configurations": tried, "shape": shape, "n_groups": n_groups}
        yield Job(key, "against", options, 12, 60, Problem("voxels", {"shape": shape}))
        rival = RENA if RENA in tried else ward
        for each in tried:
            if each in (ward, RENA):
                continue
            yield Row(
                f"{slug(each).replace('n_groups-n_groups-', '')}-{n_voxels}",
                "fixed" if "inputs" in each else "defaults",
                each.replace("=n_groups", f"={n_groups}"),
                f"{n_voxels:,} voxels, 100 rows",
                lambda r, key=key, each=each, rival=rival: r[key][each] / r[key][rival],
                f"x {peer}",
                3.0 if peer == "ReNA" else 5.0,
                note=lambda r, key=key, each=each: f"{r[key][each]:.2g} s",
            )


# Rows and columns of the training sets of real tables.
TABLES = {
    "many rows": (1040, 75),
    "counts": (206, 256),
    "spectra": (172, 100),
    "gasoline": (48, 401),
    "Golub": (30, 3051),
    "prostate": (81, 5966),
    "melons": (877, 256),
    "coffee": (48, 1841),
}


def beside_tuned_pls(quick: bool) -> Iterator[Job | Row]:
    """Coterie() beside a PLS whose size is chosen among nine by five folds."""
    shapes = {name: shape for name, shape in TABLES.items() if not quick or shape[1] < 500}
    for name, shape in shapes.items():
        key = f"tuned-{name.replace(' ', '-').lower()}"
        yield Job(key, "tuned", {"shapes": {name: shape}}, 4, 30)
        yield Row(
            key,
            "tables",
            "Coterie()",
            f"{name}, {shape[0]:,} x {shape[1]:,}",
            lambda r, key=key, name=name: r[key][name]["Coterie()"] / r[key][name][TUNED_PLS],
            "x tuned PLS",
            1.0,
            note=lambda r, key=key, name=name: "{:.2g} s instead of {:.2g} s".format(
                *r[key][name].values()
            ),
        )


def models_of_counts(quick: bool) -> Iterator[Job | Row]:
    """The exact deviance of models, which are fitted for each candidate."""
    n, d = (500, 40) if quick else (2214, 101)
    yield Job("fitted-bound", "fitted_bound", {"n_samples": n, "n_features": d}, 12, 45)
    yield Row(
        "fitted-bound",
        "defaults",
        'GenLinCFA(family="poisson", bound="fitted")',
        f"{n:,} x {d}, counts",
        lambda r: r["fitted-bound"]["seconds"],
        "s",
    )


def beside_mutual(quick: bool) -> Iterator[Job | Row]:
    """Any dependence, measured by neighbours, beside linear relations."""
    both = ["MutualCFA()", "NonLinCFA()"]
    problem = Problem("table", {"n_samples": 1000, "n_features": 50})
    yield Job("mutual", "against", {"configurations": both}, 4, 60, problem)
    yield Row(
        "mutual",
        "defaults",
        both[0],
        "1,000 x 50, beside NonLinCFA()",
        lambda r: r["mutual"][both[0]] / r["mutual"][both[1]],
        "x NonLinCFA()",
        note=lambda r: f"{r['mutual'][both[0]]:.2g} s",
    )


def first_fits(quick: bool) -> Iterator[Job | Row]:
    """The first fit of a process, with compiled code on disk, without it, and without numba."""
    shapes = ((960, 12), (2000, 500)) if quick else ((960, 12), (2000, 1000), (2000, 4000))
    for each in (*DEFAULTS, "PCA(10)"):
        for n, d in shapes:
            kinds = {"": {}}
            if each == "NonLinCFA()" and d > 12:
                kinds = {
                    "numba's cache full": {},
                    "numba's cache empty": {"empty_cache": True},
                    "without numba": {"without_numba": True},
                }
            for words, how in kinds.items():
                key = f"first-{slug(each)}-{n}x{d}{'-' + words.split()[-1] if words else ''}"
                options = {"configuration": each, "n_samples": n, "n_features": d}
                yield Job(key, "first_fit", options, 4, 60, **how)
                yield Row(
                    key,
                    "first fit",
                    each,
                    f"{n:,} x {d:,}" + (f", {words}" if words else ""),
                    lambda r, key=key: r[key]["first"],
                    "s",
                    note=lambda r, key=key: (
                        f"later fits {r[key]['later']:.2g} s, import {r[key]['import']:.2g} s"
                    ),
                )


def all_methods(quick: bool) -> Iterator[Job | Row]:
    """Seconds and peak memory of every method, each in a process of its own."""
    for each in (*DEFAULTS, *FIXED, *PEERS):
        d = 100 if each == VARCLUS else 200 if quick else 1000
        problem = Problem("paper_data", {"n_samples": 2000, "n_features": d})
        key = f"methods-{slug(each)}"
        yield Job(key, "fit", {"configuration": each}, 3, 40, problem)
        yield Row(
            key,
            "methods",
            each,
            f"2,000 x {d:,}",
            lambda r, key=key: r[key]["seconds"],
            "s",
            note=lambda r, key=key: f"{r[key]['peak_over_X']:.1f}",
        )


def transform(quick: bool) -> Iterator[Job | Row]:
    """Many rows transformed, beside a product with as many columns."""
    n = 20_000 if quick else 200_000
    yield Job("transform", "transforms", {"n_samples": n, "n_features": 500}, 12, 60)
    yield Row(
        "transform",
        "fixed",
        "NonLinCFA(1e-5)",
        f"transform {n:,} x 500",
        lambda r: r["transform"]["seconds"] / r["transform"]["product"],
        "x X @ W of the same shape",
        1.5,
        note=lambda r: f"{r['transform']['groups']} groups",
    )


def curves(quick: bool) -> Iterator[Job | Row]:
    """Points of the picture: seconds against rows and against groups."""
    rows = [1000, 2000, 4000] if quick else [1000, 2000, 4000, 8000, 16_000]
    tolerances = [1e-2, 1e-3, 1e-4] if quick else [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5]
    yield Job("curve-n", "growth_of", {"axis": "n", "values": rows}, 8, 60)
    yield Job("curve-d", "growth_of", {"axis": "d", "values": tolerances}, 5, 60)


def beside_oracle(quick: bool) -> Iterator[Job | Row]:
    """The slow reference implementation of the tests, and whether it finds the same groups."""
    d = 30 if quick else 100
    yield Job("oracle", "oracle_too", {"n_samples": 2000, "n_features": d}, 20, 90)
    yield Row(
        "oracle",
        "fixed",
        "NonLinCFA(0.001)",
        f"2,000 x {d}, beside the slow reference of the tests",
        lambda r: r["oracle"]["oracle"] / r["oracle"]["seconds"],
        "times faster",
        None if quick else 2000.0,
        at_least=True,
        note=lambda r: "same groups" if r["oracle"]["same"] else "OTHER GROUPS",
    )
