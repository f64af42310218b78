"""Progress of long computations: a tqdm bar or a callback, and parallel tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Called with the number of steps done and the total number of steps.
Tell = Callable[[int, int], None]


def followed(progress: Any, total: int, what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """A wrapper for an iterable of steps that shows or reports how many are done.

    Parameters
    ----------
    progress : bool or callable
        True for a tqdm bar; a function is called with the number of steps done and the total.
    """
    if callable(progress):
        return lambda steps: _report_steps(steps, progress, total)
    if not progress:
        return lambda steps: steps
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'coterie[progress]'.") from error
    return lambda steps: tqdm(steps, total=total, desc=what)


def in_parallel(tasks: Iterable[Any], n_jobs: int | None, progress: Any) -> Iterable[Any]:
    """The results of tasks, in order; as a generator if progress is reported."""
    from sklearn.utils.parallel import Parallel

    # Generators need a newer joblib than scikit-learn requires.
    options = {"return_as": "generator"} if progress else {}
    given: Iterable[Any] = Parallel(n_jobs=n_jobs, **options)(tasks)
    return given


def _report_steps(steps: Iterable[Any], tell: Tell, total: int) -> Iterator[Any]:
    tell(0, total)
    for done, step in enumerate(steps, start=1):
        tell(done, total)
        yield step
