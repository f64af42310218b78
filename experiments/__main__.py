"""The paper's tables and figures made again, and a fair comparison with other methods.

python -m experiments run [PLAN ...]     do what is left to do, then write the page
python -m experiments page               write the page again from the results
python -m experiments check              fail where a number of the paper is not met
python -m experiments plans              what there is to run, and how long it takes
python -m experiments climate FOLDER     the paper's climate tables, from the authors' two files
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from experiments import results
from experiments.data import NoData, data_folder, descriptions, load
from experiments.plans import Plan, read_plans
from experiments.run import FAILED, KNOWN, expected, run


def options() -> argparse.ArgumentParser:
    """The words of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=["run", "page", "check", "plans", "climate"])
    parser.add_argument(
        "plans", nargs="*", metavar="PLAN", help="all, unless some are named; of climate, FOLDER"
    )
    parser.add_argument("--quick", action="store_true", help="a share of each plan, in minutes")
    parser.add_argument("--data", type=Path, help="folder of the real data (or COTERIE_DATA)")
    parser.add_argument(
        "--into",
        type=Path,
        default=Path("reproduced"),
        help="folder of results.csv and the page; a run goes on where it stopped (%(default)s)",
    )
    parser.add_argument("--target", help="of climate: the column to predict; the last unless said")
    parser.add_argument("--jobs", type=at_least_one, help="at a time; one per core unless said")
    return parser


def at_least_one(word: str) -> int:
    """A number of jobs."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {word}")
    return int(word)


def say_what_is_missing(plans: list[Plan], folder: Path | None) -> None:
    """Name the data that are not there, and where to get them."""
    wanted = {job.dataset.removesuffix("_class") for plan in plans for job in plan.jobs()}
    for name in sorted(wanted & set(descriptions())):
        try:
            load(name, folder)
        except NoData as reason:
            print(f"{reason}:\n    {descriptions()[name].source}")


def say_what_there_is(plans: list[Plan]) -> None:
    """List the plans with their titles and the time that they took."""
    found = results.read(KNOWN)
    for plan in plans:
        for quick in (False, True):
            jobs = list(plan.jobs(quick=quick))
            minutes = sum(expected(jobs, found).values()) / 60
            word = "quick" if quick else plan.name
            print(f"{word:>28}  {len(jobs):5} jobs, {minutes:5.1f} minutes of one core")
        print(f"{'':>28}  {plan.title}\n")


def main(words: list[str] | None = None) -> int:
    """Do what the words say; 1 if a check fails, 2 if the words make no sense."""
    parser = options()
    given = parser.parse_args(words)
    path = given.into / "results.csv"
    if given.into.exists() and not given.into.is_dir():
        parser.error(f"{given.into} is a file; --into names a folder")
    if given.what == "climate":
        return climate(parser, given)
    try:
        plans = read_plans(given.plans)
        results.read(path)
    except ValueError as error:
        parser.error(str(error))
    if given.what == "plans":
        say_what_there_is(plans)
        return 0
    if given.what == "run":
        folder = data_folder(given.data)
        say_what_is_missing(plans, folder)
        try:
            run(plans, path, folder, quick=given.quick, n_jobs=given.jobs)
        except KeyboardInterrupt:
            print(f"\nStopped. What was done is in {path}; the same command goes on from there.")
            return 130
    if not path.exists():
        parser.error(f"{path} is not there: python -m experiments run")
    found = results.read(path)
    failed = [line for line in found if line["note"].startswith(FAILED)]
    for line in failed:
        print(f"{line['dataset']}, {line['method']}, trial {line['trial']}: {line['note']}")
    table = results.as_frame(found)
    code = check(table) if given.what == "check" else page(table, given.into)
    return 1 if failed else code


def climate(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """The paper's climate tables, where someone has the data."""
    from experiments.climate import SHOWN, reproduce

    if len(given.plans) != 1:
        parser.error("climate needs the folder with the authors' two files")
    try:
        compared = reproduce(
            Path(given.plans[0]), given.into, target=given.target, n_jobs=given.jobs
        )
    except NoData as reason:
        parser.error(str(reason))
    print(compared[list(SHOWN)].to_string(index=False))
    told = ", ".join(f"{n} {verdict}" for verdict, n in compared["verdict"].value_counts().items())
    print(f"{len(compared)} numbers: {told}. All of it is in {given.into / 'compared.csv'}.")
    return int((compared["verdict"] == "different").any())


def check(found: pd.DataFrame) -> int:
    """Every number of the paper that can be met, is met."""
    from experiments.checks import n_compared, problems

    wrong = problems(found)
    print("\n".join(wrong) or f"All of {n_compared(found)} numbers, trials and curves agree.")
    return 1 if wrong else 0


def page(found: pd.DataFrame, folder: Path) -> int:
    """The tables, the figures and the page."""
    from experiments.page import write_page

    write_page(found, folder)
    print(f"{folder / 'index.html'} shows it all; {folder / 'tables.md'} is for reading here.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
