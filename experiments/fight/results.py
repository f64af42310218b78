"""The tidy file of the fight: appended to as splits are done, read as a frame."""

from __future__ import annotations

import csv
import io
import math
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.fight import sources
from experiments.fight.problems import FightSet, fight_sets

RESULTS = Path(__file__).parents[1] / "results"
FILE, VERSIONS = RESULTS / "fight.csv", RESULTS / "fight-versions.csv"
KEYS = ("set", "split", "method", "inputs", "model")
NUMBERS = (
    "score", "loss", "columns", "measured", "seconds", "model_seconds", "coherence", "same",
)  # fmt: skip
COLUMNS = (*KEYS, *NUMBERS, "setting", "versions", "note")
LIBRARIES = ("coterie", "numpy", "scipy", "scikit-learn", "pandas")


def as_text(lines: Iterable[dict[str, Any]]) -> str:
    """Lines of the file; cells that are not known are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    for line in lines:
        writer.writerow({name: compact(name, value) for name, value in line.items()})
    return text.getvalue()


def compact(name: str, value: Any) -> Any:
    """Numbers with the digits that mean something."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return ""
    return f"{value:.3f}" if "seconds" in name else f"{value:.5g}"


def append(path: Path, lines: list[dict[str, Any]]) -> None:
    """Add lines in one write, so that a run that is stopped leaves whole splits."""
    head = "" if path.exists() else ",".join(COLUMNS) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(head + as_text(lines))


def read(path: Path = FILE) -> pd.DataFrame:
    """All lines; numbers as numbers, and words as words."""
    if not path.exists():
        return pd.DataFrame({name: [] for name in COLUMNS})
    words = dict.fromkeys(("set", "method", "inputs", "model", "setting", "note"), str)
    found = pd.read_csv(path, dtype=words)
    return found.fillna(dict.fromkeys(words, ""))


def done(found: pd.DataFrame) -> set[tuple[str, int]]:
    """Sets and splits that need not be run again."""
    return set(zip(found["set"], found["split"].astype(int), strict=True))


def versions(sets: Iterable[FightSet] = ()) -> dict[str, str]:
    """What is installed: Python, the libraries, and the packages with the data."""
    found = {"python": platform.python_version()}
    found |= {name: sources.python_version(name) for name in LIBRARIES}
    for entry in sets:
        found[entry.package] = _version_of(entry.package)
    return found


def _version_of(package: str) -> str:
    if package == "experiments":
        return "1"
    try:
        if package.startswith("r-cran-"):
            folder = {"r-cran-psychtools": "psychTools"}.get(package, package[len("r-cran-") :])
            return sources.r_version(sources.r_package(package, folder))
        return sources.python_version(package)
    except sources.NoSource:
        return "not installed"


def versions_number(path: Path = VERSIONS) -> int:
    """The number of what is installed now in the table of versions, which gets it if it is new."""
    now = versions(fight_sets().values())
    known = pd.read_csv(path, dtype=str) if path.exists() else pd.DataFrame()
    for number, part in known.groupby("number") if len(known) else ():
        if dict(zip(part["name"], part["version"], strict=True)) == now:
            return int(number)
    number = 1 if known.empty else int(known["number"].astype(int).max()) + 1
    rows = [{"number": str(number), "name": name, "version": v} for name, v in now.items()]
    pd.concat([known, pd.DataFrame(rows)]).to_csv(path, index=False)
    return number
