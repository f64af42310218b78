"""The paper's climate data, for whoever has the two files: read, checked, run and compared.

    python -m experiments climate FOLDER

The data are public, in the authors' repository of the paper. They were not to be had on the
machines where coterie was made, so that nobody here has seen inside the files: a git blob hash
says that they are the right ones, and the numbers of rows and features in the paper, which is
which. Columns that are no numbers are dropped, as are row numbers. The target is the column that
``--target`` names, or the last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from experiments import results
from experiments.comparison import compare
from experiments.data import NoData, descriptions
from experiments.plans import Plan, read_plans
from experiments.run import run

FILES = {
    "droughts_extended.csv": "6c7171522dd4276d02ae6a230c5231181e8f4317",
    "Emiliani1_aggreg.csv": "5b389e5b828d83a181bff744a169c0655af5e072",
}
SETS = ("climate", "climate2")
PLANS = ("table-climate", "table-baselines")
SHOWN = ("dataset", "method", "tolerance", "quantity", "printed", "ours", "verdict", "reason")


def git_blob(path: Path) -> str:
    """The hash by which git knows the content of a file."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_file(path: Path, target: str | None = None) -> tuple[str, pd.DataFrame]:
    """Which data set a file holds, and its table: features, then the column ``target``.

    Raises
    ------
    NoData
        If it is not there, is another file than the authors', or has another layout.
    """
    if not path.is_file():
        raise NoData(f"{path.name} is not there")
    if (found := git_blob(path)) != FILES[path.name]:
        raise NoData(f"{path.name} is another file: git blob {found}, not {FILES[path.name]}")
    table = pd.read_csv(path)
    numbers = table.select_dtypes("number")
    counts = [name for name in numbers if str(name).startswith("Unnamed")]
    numbers = numbers.drop(columns=counts)
    target = str(numbers.columns[-1]) if target is None else target
    if target not in numbers:
        raise NoData(f"{path.name} has no column of numbers {target!r}")
    features = numbers.drop(columns=target)
    for name in SETS:
        if features.shape == (descriptions()[name].rows, descriptions()[name].features):
            return name, features.assign(target=numbers[target])
    wanted = " or ".join(
        f"{descriptions()[name].rows} x {descriptions()[name].features}" for name in SETS
    )
    raise NoData(
        f"{path.name} has {features.shape[0]} rows and {features.shape[1]} features besides "
        f"{target!r}, from {features.columns[0]!r} to {features.columns[-1]!r}; the paper has "
        f"{wanted}"
    )


def prepare(folder: Path, into: Path, target: str | None = None) -> list[str]:
    """Write the data sets as the other data are stored; give their names."""
    into.mkdir(parents=True, exist_ok=True)
    found = dict(read_file(folder / name, target) for name in FILES)
    for name, table in found.items():
        table.to_parquet(into / f"{name}.parquet")
    return sorted(found)


def climate_plans() -> Iterator[Plan]:
    """What the paper's tables need of the plans: the climate data, as in the paper."""
    for plan in read_plans(list(PLANS)):
        runs = []
        for run_ in plan.runs:
            datasets = [name for name in run_["datasets"] if name.removesuffix("_class") in SETS]
            if datasets and "paper" in run_.get("protocols", ["paper"]):
                runs.append(run_ | {"datasets": datasets, "protocols": ["paper"]})
        yield replace(plan, runs=tuple(runs))


def reproduce(
    folder: Path, into: Path, *, target: str | None = None, n_jobs: int | None = None
) -> pd.DataFrame:
    """Run the climate tables and set them beside the printed numbers, one row for each."""
    prepare(folder, into / "data", target)
    path = into / "results.csv"
    found = run(list(climate_plans()), path, into / "data", n_jobs=n_jobs)
    compared = compare(results.as_frame(found))
    compared = compared[compared["dataset"].str.startswith(SETS)]
    compared.to_csv(into / "compared.csv", index=False)
    return compared
