"""The comparison on data that nobody tuned on.

python -m experiments.fight run     do what is left to do, one split of all sets after the other
python -m experiments.fight page    write docs/results/fight.md and its pictures from the results
"""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from experiments.data import data_folder
from experiments.fight import results
from experiments.fight.contest import Labels, contest
from experiments.fight.problems import FightSet, development_sets, fight_sets, split_of
from experiments.methods import Unavailable

LABELS = Path(__file__).parents[2] / "build" / "fight" / "labels"
# Development sets have a quarter of the splits: one of theirs comes after so many rounds.
ROUNDS_BETWEEN = 3


def jobs() -> Iterator[tuple[FightSet, int]]:
    """Split 0 of all sets, then split 1, ...: a run that is stopped is balanced."""
    rounds = max(entry.splits for entry in fight_sets().values())
    for number in range(rounds):
        yield from ((entry, number) for entry in fight_sets().values() if number < entry.splits)
        if number % ROUNDS_BETWEEN == ROUNDS_BETWEEN - 1:
            turn = number // ROUNDS_BETWEEN
            yield from ((one, turn) for one in development_sets().values() if turn < one.splits)


def run(path: Path, folder: Path | None) -> None:
    """Do the jobs that are left."""
    already = results.done(results.read(path))
    number = results.versions_number()
    left = [(entry, split) for entry, split in jobs() if (entry.name, split) not in already]
    print(f"{len(already)} splits are done and {len(left)} are left.", flush=True)
    missing: dict[str, str] = {}
    start = time.time()
    for count, (entry, split) in enumerate(left, 1):
        if entry.name in missing:
            continue
        try:
            rows = split_of(entry, split, folder)
        except Unavailable as reason:
            missing[entry.name] = str(reason)
            print(f"{entry.name} is left out: {reason}", flush=True)
            continue
        with threadpool_limits(1):
            lines, labels = contest(rows, labels_of(entry.name, split - 1))
        keep_labels(entry.name, split, labels)
        common = {"set": entry.name, "split": split, "versions": number}
        results.append(path, [common | line for line in lines])
        minutes = (time.time() - start) / 60
        print(f"{count} of {len(left)}, {minutes:.1f} min: {entry.name} {split}", flush=True)


def labels_of(name: str, split: int) -> Labels:
    """The groups of a split that was run before; nothing where they are not kept."""
    path = LABELS / f"{name}-{split}.pickle"
    return pickle.loads(path.read_bytes()) if path.exists() else {}


def keep_labels(name: str, split: int, labels: Labels) -> None:
    """For the next split to compare with."""
    LABELS.mkdir(parents=True, exist_ok=True)
    (LABELS / f"{name}-{split}.pickle").write_bytes(pickle.dumps(labels))


def main(words: list[str] | None = None) -> int:
    """Do what the words say."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.fight",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--data", type=Path, help="folder of the development sets")
    parser.add_argument("--results", type=Path, default=results.FILE)
    given = parser.parse_args(words)
    if given.what == "run":
        try:
            run(given.results, data_folder(given.data))
        except KeyboardInterrupt:
            print("\nStopped. The same command goes on from here.")
            return 130
        return 0
    found = results.read(given.results)
    if found.empty:
        parser.error(f"there are no results in {given.results}; `run` makes them")
    write_all(found)
    return 0


def write_all(found: pd.DataFrame) -> None:
    """The page, with what the groups of generated problems say, where they are kept."""
    from experiments.fight import tables
    from experiments.fight.page import TRUTH, write_page

    truth = tables.truth(LABELS)
    if len(truth):
        truth.to_csv(TRUTH, index=False)
    write_page(found)


if __name__ == "__main__":
    sys.exit(main())
