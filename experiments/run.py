"""Do the jobs of some plans that are not done yet, on all cores, and write down what comes out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from coterie import NonLinCFA
from coterie.datasets import make_paper_data
from experiments import results
from experiments.data import (
    Problem,
    fair_problem,
    paper_problem,
    permuted_problem,
    resampled_problem,
    synthetic_problem,
)
from experiments.methods import METHODS, SIZES, Unavailable
from experiments.plans import Job, Plan
from experiments.protocols import outcomes

FAILED = "failed:"
AS_IN_THE_PAPER = range(1, 51)
# Times of the run that is committed, to say how long another will take.
KNOWN = Path(__file__).parent / "results" / "results.csv"
PROBLEMS = {
    "synthetic": lambda name, trial, _: synthetic_problem(name, trial),
    "paper": paper_problem,
    "permuted": permuted_problem,
    "resampled": resampled_problem,
    "fair": fair_problem,
}


def problem_of(job: Job, folder: Path | None) -> Problem:
    """The rows of a job."""
    return PROBLEMS[job.plan.rows](job.dataset, job.trial, folder)


@cache
def warm_up() -> None:
    """Have the searches compiled before the first is timed."""
    X, y = make_paper_data(8, n_samples=3000)
    for cv in (None, 5):
        NonLinCFA(0.01, cv=cv).fit(X, y)
    NonLinCFA().fit(X, y)
    NonLinCFA(search="best").fit(X, y)


def did(job: Job, folder: Path | None) -> list[results.Line]:
    """Do a job, on one core, and tell what came out or why nothing did."""
    warm_up()
    with warnings.catch_warnings(), threadpool_limits(1):
        # Solvers that stop early are part of what is compared.
        warnings.simplefilter("ignore")
        try:
            found = outcomes(
                problem_of(job, folder), METHODS[job.method], job.protocol, job.options,
                style=job.plan.model, resamples=job.plan.resamples,
                sizes=SIZES if job.plan.rows == "fair" else AS_IN_THE_PAPER,
            )  # fmt: skip
        except Unavailable as reason:
            return results.lines(job, [], str(reason))
        except Exception as error:
            # One method that breaks does not stop the others; main tells of it in the end.
            return results.lines(job, [], f"{FAILED} {type(error).__name__}: {error}")
    return results.lines(job, found)


def expected(jobs: Iterable[Job], found: list[results.Line]) -> dict[tuple[str, ...], float]:
    """Seconds that each job took when it was last done, or a guess."""
    before = {results.key_of(line): float(line["seconds"] or 0.0) for line in found}
    return {job.key: before.get(job.key, 1.0) + 0.1 for job in jobs}


def turn(job: Job) -> tuple[str, int, str]:
    """When a job comes: real data one trial after the other, so that a part is of use.

    Synthetic data take long to make, so they come one after the other.
    """
    return job.plan.rows, 0 if job.plan.rows == "synthetic" else job.trial, job.dataset


def run(
    plans: list[Plan],
    path: Path,
    folder: Path | None,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
) -> list[results.Line]:
    """Do what is left to do of some plans, and give all lines of the file.

    Parameters
    ----------
    plans : list of Plan
    path : Path
        The tidy file. What it holds already is not done again.
    folder : Path or None
        Where the real data are.
    quick : bool
        Only what the plans offer for a quick look.
    n_jobs : int or None
        Jobs at a time. None: one per core.
    """
    n_jobs = n_jobs or os.cpu_count() or 1
    wanted = sorted((job for plan in plans for job in plan.jobs(quick=quick)), key=turn)
    found = results.still_good(results.read(path), plans)
    if path.exists():
        results.write_in_order(path, found)
    already = results.done(found)
    jobs = [job for job in wanted if job.key not in already]
    seconds = expected(jobs, results.read(KNOWN))
    total = sum(seconds.values())
    print(
        f"{len(wanted) - len(jobs)} jobs are done and {len(jobs)} are left: about "
        f"{total / n_jobs / 60:.0f} minutes on {n_jobs} cores, by the times of our own run.",
        flush=True,
    )
    in_turn = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    with tqdm(total=round(total), unit="s", bar_format=BAR, smoothing=0.02, disable=None) as bar:
        for new in in_turn(delayed(did)(job, folder) for job in jobs):
            results.append(path, new)
            bar.set_description(f"{new[0]['dataset']}, {new[0]['method']}")
            bar.update(min(seconds[results.key_of(new[-1])], bar.total - bar.n))
    results.write_in_order(path, results.read(path))
    return results.read(path)


BAR = "{percentage:3.0f}%|{bar:20}| {elapsed}, {remaining} left  {desc}"
