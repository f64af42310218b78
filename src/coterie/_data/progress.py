"""How far a long piece of work has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Told how many steps are done, and of how many.
Tell = Callable[[int, int], None]


def followed(progress: Any, total: int, what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """A wrapper for steps that shows or tells how many are done.

    Parameters
    ----------
    progress : bool or callable
        True for a bar of tqdm; a function is called with the numbers done and of all.
    """
    if callable(progress):
        return lambda steps: _told(steps, progress, total)
    if not progress:
        return lambda steps: steps
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'coterie[progress]'.") from error
    return lambda steps: tqdm(steps, total=total, desc=what)


def in_parallel(tasks: Iterable[Any], n_jobs: int | None, progress: Any) -> Iterable[Any]:
    """What tasks give, in their order; one by one where somebody follows."""
    from sklearn.utils.parallel import Parallel

    # Generators need a newer joblib than scikit-learn does.
    options = {"return_as": "generator"} if progress else {}
    given: Iterable[Any] = Parallel(n_jobs=n_jobs, **options)(tasks)
    return given


def _told(steps: Iterable[Any], tell: Tell, total: int) -> Iterator[Any]:
    tell(0, total)
    for done, step in enumerate(steps, start=1):
        tell(done, total)
        yield step
