"""The one tidy file: a line for each fit, added as it is done, so that a run can go on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.plans import Job, Plan
from experiments.protocols import Outcome

COLUMNS = (
    "plan", "dataset", "method", "inputs", "aggregation", "tolerance", "protocol", "trial",
    "n_groups", "score", "seconds", "n_measured", "stability", "agreement", "setting", "note",
    "recipe", "version", "libraries",
)  # fmt: skip
KEY = COLUMNS[:8]
PACKAGES = {
    "SLOPE": "sortedl1",
    "OSCAR": "sortedl1",
    "SmartCorrelatedSelection": "feature-engine",
    "VarClusHi": "varclushi",
    "fastcan": "fastcan",
    "UMAP": "umap-learn",
}
Line = dict[str, str]


def lines(job: Job, found: Sequence[Outcome], note: str = "") -> list[Line]:
    """What is written about a job: a line for each outcome, or one that says why there is none."""
    shared = dict(zip(KEY, job.key, strict=True)) | {"note": note, "recipe": job.recipe}
    if not found:
        return [shared | versions()]
    return [shared | told(outcome, job) | versions(PACKAGES.get(job.method)) for outcome in found]


def told(outcome: Outcome, job: Job) -> Line:
    """An outcome in words: enough digits to compare with the authors', no more."""
    fixed = {name: value for name, value in job.options.items() if name in KEY}
    chosen = {name: value for name, value in outcome.setting.items() if name not in fixed}
    if job.method != job.label:
        chosen["method"] = job.method
    return {
        "protocol": outcome.protocol,
        "n_groups": str(outcome.n_groups),
        "score": f"{outcome.score:.10g}",
        "seconds": f"{outcome.seconds:.3g}",
        "n_measured": str(outcome.n_measured),
        "stability": "" if outcome.stability is None else f"{outcome.stability:.4f}",
        "agreement": "" if outcome.agreement is None else f"{outcome.agreement:.4f}",
        "setting": json.dumps(chosen) if chosen else "",
    }


def versions(package: str | None = None) -> Line:
    """What the results were made with; the package is that of the method."""
    others = ["numpy", "scipy", "scikit-learn", *([package] if package else [])]
    return {
        "version": version("coterie"),
        "libraries": " ".join(f"{name} {version(name)}" for name in others),
    }


def append(path: Path, new: Iterable[Line]) -> None:
    """Add lines to the file in one piece; the first brings the header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        writer.writeheader()
    writer.writerows(new)
    with path.open("a", encoding="utf-8") as file:
        file.write(text.getvalue())


def read(path: Path) -> list[Line]:
    """The lines of the file, without those of a job that was cut short in writing.

    The last line of a job is the one that counts; a curve without it is not whole.

    Raises
    ------
    ValueError
        If the file is another kind of file, which a run would write over.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    header = ",".join(COLUMNS) + "\n"
    if not (text.startswith(header) or header.startswith(text)):
        raise ValueError(f"{path} does not hold results of these experiments; name another folder.")
    whole, _, _ = text.rpartition("\n")
    found = list(csv.DictReader(io.StringIO(whole)))
    ended = {job_of(line) for line in found if line["protocol"] == "paper"}
    return [line for line in found if line["protocol"] != "sizes" or job_of(line) in ended]


def job_of(line: Line) -> tuple[str, ...]:
    """The job that a line belongs to, apart from its protocol."""
    return tuple(line[name] for name in KEY if name != "protocol")


def key_of(line: Line) -> tuple[str, ...]:
    """What tells a line from those of others; that of its job, if it is the job's last."""
    return tuple(line[name] for name in KEY)


def done(found: Iterable[Line]) -> set[tuple[str, ...]]:
    """The keys of the jobs that are in the file."""
    return set(map(key_of, found))


def still_good(found: Iterable[Line], plans: Sequence[Plan]) -> list[Line]:
    """The lines of other plans, and of these plans what they still want done in the same way.

    What could not be done is tried again.
    """
    names = {plan.name for plan in plans}
    recipes = {job.key: job.recipe for plan in plans for job in plan.jobs()}

    def is_good(line: Line) -> bool:
        key = tuple("paper" if part == "sizes" else part for part in key_of(line))
        return bool(line["score"]) and recipes.get(key) == line["recipe"]

    return [line for line in found if line["plan"] not in names or is_good(line)]


def without_repeats(found: Iterable[Line]) -> list[Line]:
    """The lines, but of trials that could not be done for the same reason only the first."""
    kept, seen = [], set()
    for line in found:
        reason = (*job_of(line)[:-1], line["protocol"], line["note"])
        if line["score"] or reason not in seen:
            kept.append(line)
        seen.add(reason)
    return kept


def write_in_order(path: Path, found: Iterable[Line]) -> None:
    """The file again, sorted, so that two runs can be compared line by line."""

    def place(line: Line) -> tuple[Any, ...]:
        names = [line[name] for name in KEY[:5]]
        number = -float(line["tolerance"]) if is_number(line["tolerance"]) else 1.0
        # A job's last line is last here too: a curve, then the best of it.
        protocol = ("honest", "sizes", "paper").index(line["protocol"])
        size = int(line["n_groups"] or 0)
        return (*names, number, line["tolerance"], int(line["trial"]), protocol, size)

    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    append(beside, without_repeats(sorted(found, key=place)))
    beside.replace(path)


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_frame(found: list[Line]) -> pd.DataFrame:
    """The lines as a table with numbers where there are numbers."""
    frame = pd.DataFrame(found, columns=list(COLUMNS))
    for name in ("trial", "n_groups", "score", "seconds", "n_measured", "stability", "agreement"):
        frame[name] = pd.to_numeric(frame[name])
    return frame
