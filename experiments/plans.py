"""Plans: one small TOML each, that names data, methods, parameters and trials."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "plans"
RUN_KEYS = {"methods", "datasets", "label", "tolerances", "protocols", "trials", "options", "quick"}
PLAN_KEYS = {"title", "rows", "model", "resamples", "all", "runs"}
ROWS = ("synthetic", "paper", "permuted", "resampled", "fair")
MODELS = ("plain", "standardised")
PROTOCOLS = ("paper", "sizes", "honest")


@dataclass(frozen=True)
class Job:
    """One thing to be done: a method on a trial of a data set, by a protocol."""

    plan: Plan
    dataset: str
    method: str
    label: str
    tolerance: float | str | None
    protocol: str
    trial: int
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """What tells its lines in the results from those of others; see results.KEY."""
        return (
            self.plan.name,
            self.dataset,
            self.label,
            self.options.get("inputs", "x"),
            self.options.get("aggregation", "mean"),
            "" if self.tolerance is None else str(self.tolerance),
            "honest" if self.protocol == "honest" else "paper",
            str(self.trial),
        )

    @property
    def recipe(self) -> str:
        """A mark that changes with anything that the key does not tell, so that it is run again."""
        told = [self.method, self.options, self.protocol, self.plan.rows, self.plan.model]
        text = json.dumps([*told, self.plan.resamples], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Plan:
    """A table or figure: its title, and what has to be run for it.

    Parameters
    ----------
    name, title : str
    rows : {"synthetic", "paper", "permuted", "resampled", "fair"}
        How data become training and test rows.
    model : {"plain", "standardised"}
        What the model behind the methods is fed with.
    runs : tuple of dict
        Each stands for all combinations of what it lists. Trials are their number, or a list;
        ``{method}`` in a label stands for each method.
    resamples : bool
        Whether to say how alike results from two samples of the training rows are.
    """

    name: str
    title: str
    rows: str
    model: str
    runs: tuple[dict[str, Any], ...] = field(repr=False, compare=False)
    resamples: bool = False

    def jobs(self, *, quick: bool = False) -> Iterator[Job]:
        """All combinations of each run; in quick mode only those that it offers for that."""
        for run in self.runs:
            if quick and "quick" not in run:
                continue
            yield from self._jobs(run | (run["quick"] if quick else {}))

    def _jobs(self, run: dict[str, Any]) -> Iterator[Job]:
        trials = run.get("trials", 1)
        combinations = product(
            run["datasets"],
            trials if isinstance(trials, list) else range(trials),
            run["methods"],
            run.get("tolerances", [None]),
            run.get("protocols", ["paper"]),
        )
        for dataset, trial, method, tolerance, protocol in combinations:
            options = dict(run.get("options", {}))
            if tolerance is not None:
                options["tolerance"] = tolerance
            label = run.get("label", method).format(method=method)
            yield Job(self, dataset, method, label, tolerance, protocol, trial, options)


def read_plan(path: Path) -> Plan:
    """The plan of a TOML file; its table ``all`` holds for each run that does not say otherwise."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    problem = next(_wrong(content), None)
    if problem is not None:
        raise ValueError(f"{path.name}: {problem}.")
    shared = content.pop("all", {})
    runs = tuple(shared | run for run in content.pop("runs"))
    plan = Plan(path.stem, runs=runs, **content)
    keys = [job.key for job in plan.jobs()]
    if len(set(keys)) < len(keys):
        raise ValueError(f"{path.name}: two runs do the same; give one of them a label.")
    return plan


def _wrong(content: dict[str, Any]) -> Iterator[str]:
    """What does not make sense in a plan, one sentence each."""
    yield from (f"a plan has no {key!r}" for key in sorted(set(content) - PLAN_KEYS))
    needed = ("title", "rows", "model", "runs")
    yield from (f"a plan needs {key!r}" for key in needed if key not in content)
    for key, known in (("rows", ROWS), ("model", MODELS)):
        if content[key] not in known:
            yield f"{key} must be one of {', '.join(known)}, got {content[key]!r}"
    for run in content["runs"]:
        whole = content.get("all", {}) | run
        keys = set(whole) | set(whole.get("quick", {}))
        yield from (f"a run has no {key!r}" for key in sorted(keys - RUN_KEYS))
        yield from (f"a run needs {key!r}" for key in ("methods", "datasets") if key not in whole)
        unknown = set(whole.get("protocols", [])) - set(PROTOCOLS)
        yield from (f"there is no protocol {name!r}" for name in sorted(unknown))


def read_plans(names: list[str] | None = None) -> list[Plan]:
    """All plans, or those named, in the order of their files."""
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    if names and (unknown := sorted(set(names) - set(paths))):
        raise ValueError(f"There is no plan {unknown[0]!r}; there are {', '.join(paths)}.")
    return [read_plan(path) for name, path in paths.items() if not names or name in names]
