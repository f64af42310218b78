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

from experiments.plans import Job
from experiments.protocols import Outcome

COLUMNS = (
    "plan", "dataset", "method", "inputs", "aggregation", "tolerance", "protocol", "trial",
    "n_groups", "score", "seconds", "n_measured", "stability", "agreement", "setting", "note",
    "version", "libraries",
)  # fmt: skip
KEY = COLUMNS[:8]
Line = dict[str, str]


def lines(job: Job, found: Sequence[Outcome], note: str = "") -> list[Line]:
    """What is written about a job: a line for each outcome, or one that says why there is none."""
    shared = dict(zip(KEY, job.key, strict=True)) | {"note": note} | versions()
    if not found:
        return [shared]
    return [shared | told(outcome) for outcome in found]


def told(outcome: Outcome) -> Line:
    """An outcome in words: enough digits to compare with the authors', no more."""
    chosen = {name: value for name, value in outcome.setting.items() if name not in KEY}
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


def versions() -> Line:
    """What the results were made with."""
    others = ("numpy", "scipy", "scikit-learn")
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
    """The lines of the file, without those of a job that was cut short in writing."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    found = list(csv.DictReader(io.StringIO(text)))
    if text.endswith("\n") or not found:
        return found
    broken = job_of(found[-1])
    return [line for line in found[:-1] if job_of(line) != broken]


def job_of(line: Line) -> tuple[str, ...]:
    """The job that a line belongs to, apart from its protocol."""
    return tuple(line[name] for name in KEY if name != "protocol")


def key_of(line: Line) -> tuple[str, ...]:
    """What tells a line from those of others; that of its job, if it is the job's last."""
    return tuple(line[name] for name in KEY)


def done(found: Iterable[Line]) -> set[tuple[str, ...]]:
    """The keys of the jobs that are in the file."""
    return set(map(key_of, found))


def without_failures_of(keys: set[tuple[str, ...]], found: Iterable[Line]) -> list[Line]:
    """The lines, less those of these jobs that say why nothing came out: they are tried again."""
    return [line for line in found if line["score"] or key_of(line) not in keys]


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
        return (*names, number, line["tolerance"], int(line["trial"]), line["protocol"],
                int(line["n_groups"] or 0))  # fmt: skip

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
