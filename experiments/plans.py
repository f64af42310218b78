"""Plans: one small TOML each, that names data, methods, parameters and trials."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "plans"
RUN_KEYS = {"methods", "datasets", "label", "tolerances", "protocols", "trials", "options", "quick"}
PROTOCOLS = {"paper", "sizes", "honest"}


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


@dataclass(frozen=True)
class Plan:
    """A table or figure: its title, and what has to be run for it.

    Parameters
    ----------
    name, title : str
    rows : {"synthetic", "paper", "fair"}
        How data become training and test rows.
    model : {"plain", "standardised"}
        What the model behind the methods is fed with.
    runs : tuple of dict
        Each stands for all combinations of what it lists.
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
        combinations = product(
            run["datasets"],
            range(run.get("trials", 1)),
            run["methods"],
            run.get("tolerances", [None]),
            run.get("protocols", ["paper"]),
        )
        for dataset, trial, method, tolerance, protocol in combinations:
            options = dict(run.get("options", {}))
            if tolerance is not None:
                options["tolerance"] = tolerance
            label = run.get("label", method)
            yield Job(self, dataset, method, label, tolerance, protocol, trial, options)


def read_plan(path: Path) -> Plan:
    """The plan of a TOML file; its table ``all`` holds for each run that does not say otherwise."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = content.pop("all", {})
    runs = tuple(shared | run for run in content.pop("runs"))
    for run in runs:
        if unknown := sorted(set(run) - RUN_KEYS):
            raise ValueError(f"{path.name}: a run has no {unknown[0]!r}, but {sorted(RUN_KEYS)}.")
        if unknown := sorted(set(run.get("protocols", [])) - PROTOCOLS):
            raise ValueError(f"{path.name}: there is no protocol {unknown[0]!r}.")
    return Plan(path.stem, runs=runs, **content)


def read_plans(names: list[str] | None = None) -> list[Plan]:
    """All plans, or those named, in the order of their files."""
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    if names and (unknown := sorted(set(names) - set(paths))):
        raise ValueError(f"There is no plan {unknown[0]!r}; there are {', '.join(paths)}.")
    return [read_plan(path) for name, path in paths.items() if not names or name in names]
