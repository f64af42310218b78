"""Measure everything in one run, the defaults first; write a JSON file, a table and a picture.

    make bench                              # about eight minutes on two idle cores
    python benchmarks/run.py --quick        # smaller sizes, about three minutes
    python benchmarks/run.py --only small,first   # jobs whose keys begin so; writes nothing

Each job has a process of its own and a time limit. Figures are ratios within one run, of the lowest
of several times. The machine must be idle: ``--busy`` measures all the same, and marks the file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from idle import refuse_unless_idle
from measure import (
    IDLE,
    FailedError,
    Others,
    TooLongError,
    commit,
    in_own_process,
    machine,
    versions,
)
from suite import Job, Problem, Results, Row, make_suite

RESULTS = HERE / "results"
# Seconds that making data takes, at most.
MAKING = 120.0


class Data:
    """Files of the problems of a run, made once; one is kept at a time."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def path(self, problem: Problem) -> str:
        if problem != self._problem or self._folder is None:
            self.forget()
            self._folder, self._problem = tempfile.TemporaryDirectory(), problem
            in_own_process(
                "make_problem",
                limit=MAKING,
                path=self._folder.name,
                problem=problem.name,
                **problem.options,
            )
        return self._folder.name

    def forget(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._problem, self._folder = None, None


def done(job: Job, results: Results, data: Data) -> dict[str, Any]:
    """What a job reports, or why it does not."""
    before = results.get(job.after, {})
    if "limit" in before:
        return {"limit": before["limit"], "skipped": True}
    if "failed" in before:
        return {"failed": before["failed"], "skipped": True}
    try:
        path = {"path": data.path(job.problem)} if job.problem else {}
        with ExitStack() as stack:
            environment = {}
            if job.empty_cache:
                folder = stack.enter_context(
                    tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                )
                environment["NUMBA_CACHE_DIR"] = folder
            return in_own_process(
                job.name,
                limit=job.limit,
                without_numba=job.without_numba,
                environment=environment,
                **path,
                **job.options,
            )
    except TooLongError:
        return {"limit": job.limit}
    except FailedError as failed:
        return {"failed": str(failed)}


def run(jobs: list[Job]) -> tuple[Results, dict[str, dict[str, float | None]]]:
    """The reports of all jobs; and seconds of each, and the share that others took meanwhile."""
    results, taken, data = Results(), {}, Data()
    for number, job in enumerate(jobs, 1):
        others, start = Others(), time.perf_counter()
        results[job.key] = done(job, results, data)
        seconds = time.perf_counter() - start
        share = others.share()
        taken[job.key] = {"took": round(seconds, 1), "others": share and round(share, 3)}
        told = results.get(job.key, {})
        ended = next((f"{word} {told[word]}" for word in ("limit", "failed") if word in told), "")
        print(f"[{number}/{len(jobs)}] {job.key}: {seconds:.1f} s {ended}", flush=True)
    data.forget()
    return results, taken


def expected(jobs: list[Job], recorded: dict[str, Any]) -> float:
    """Seconds that the jobs should take, by the last results or by estimate."""
    last = recorded.get("jobs", {}) if recorded.get("idle") else {}
    return sum(last.get(job.key, {}).get("took", job.expected) for job in jobs)


def line(row: dict[str, Any]) -> str:
    """A row as one line of text."""
    measured = row["status"] if row["figure"] is None else f"{row['figure']:.3g} {row['unit']}"
    limit = "" if row["target"] is None else f" (to reach {row['target']:g})"
    name = f"{row['configuration']}, " if row["configuration"] else ""
    return f"{name}{row['what']}: {measured}{limit} {row['note']}".strip()


def growth_curves(results: Results, jobs: list[Job]) -> dict[str, list[list[float]]]:
    """Points of the picture, as far as they were measured."""
    curves: dict[str, list[list[float]]] = {}
    for each in jobs:
        told = results.get(each.key, {})
        if each.name == "growth_of" and "points" in told:
            curves[each.key] = told["points"]
        if each.key.startswith("growth-") and "seconds" in told and each.problem:
            name = each.options["configuration"]
            point = [each.problem.options["n_features"], told["seconds"]]
            curves.setdefault(name, []).append(point)
    return curves


def picture(curves: dict[str, list[list[float]]], path: Path) -> None:
    """Seconds against columns, and against rows and groups for a fixed tolerance."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    colours, grey = {"Coterie()": "#D55E00", "NonLinCFA()": "#0072B2"}, "#999999"
    names = [name for name in curves if not name.startswith("curve-")]
    for name in names:
        label = name if name in colours else "fixed tolerance"
        axes[0].loglog(*np.array(curves[name]).T, "o-", color=colours.get(name, grey), label=label)
    if names:
        axes[0].legend(frameon=False, fontsize=8)
    axes[0].set(xlabel="columns (200 samples)", ylabel="seconds")
    labels = {"curve-n": "samples (500 columns)", "curve-d": "groups (2,000 x 500)"}
    for axis, (key, label) in zip(axes[1:], labels.items(), strict=True):
        if key in curves:
            axis.loglog(*np.array(curves[key]).T, "o-", color=grey)
        axis.set(xlabel=f"{label}, fixed tolerance")
    for axis in (axis for axis in axes if axis.has_data()):
        for side, form in ((axis.xaxis, "{x:,.0f}"), (axis.yaxis, "{x:g}")):
            side.set_major_locator(LogLocator(subs=(1, 2, 5)))
            side.set_major_formatter(form)
            side.set_minor_formatter("")
        axis.tick_params(axis="x", labelsize=7)
        axis.grid(True, which="both", color="#e8e8e8")
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def measured(jobs: list[Job], rows: list[Row], load: float, quick: bool) -> dict[str, Any]:
    """All that is written: where and when it was measured, rows, jobs and curves."""
    measured_commit = commit()
    start, others = time.perf_counter(), Others()
    results, taken = run(jobs)
    share = others.share()
    is_idle = load <= IDLE and (share is None or share <= IDLE)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": measured_commit,
        "machine": machine(),
        "idle": is_idle,
        "others": {"before": round(load, 2), "meanwhile": share and round(share, 2)},
        "quick": quick,
        "seconds": round(time.perf_counter() - start),
        "versions": versions(),
        "rows": [row.read(results) for row in rows],
        "curves": growth_curves(results, jobs),
        "jobs": {key: {**taken[key], **dict.get(results, key, {})} for key in taken},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes; into build/benchmarks")
    parser.add_argument("--busy", action="store_true", help="measure although others are at work")
    parser.add_argument(
        "--only", default="", help="jobs whose keys begin so; writes only with --out"
    )
    parser.add_argument("--out", type=Path, help="folder of the results")
    given = parser.parse_args()
    suite = make_suite(given.quick)
    jobs = [job for job in suite.jobs if job.key.startswith(tuple(given.only.split(",")))]
    recorded = {} if given.quick else read(RESULTS / "results.json")
    minutes = expected(jobs, recorded) / 60
    print(f"{len(jobs)} jobs, about {minutes:.0f} minutes on two idle cores.", flush=True)
    load = refuse_unless_idle(given.busy)
    found = measured(jobs, suite.rows, load, given.quick)
    rows = [row for row in found["rows"] if row["status"] != "not run"]
    print("", *map(line, rows), "", sep="\n")
    print(f"{found['seconds']} s; others took {found['others']['meanwhile'] or 0:.0%} meanwhile.")
    if not given.only or given.out:
        write(found, given.out or (HERE.parent / "build/benchmarks" if given.quick else RESULTS))


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(found: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1) + "\n"
    (folder / "results.json").write_text(text, encoding="utf-8")
    picture(found["curves"], folder / "growth.png")
    print(f"Written to {folder / 'results.json'}; next: python benchmarks/write_page.py")


if __name__ == "__main__":
    main()
