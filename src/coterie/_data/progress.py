"""Progress of long computations: a tqdm bar or a callback, and parallel tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from coterie._core.values import TellStep, tell_nobody

# Called with the number of steps done and the total number of steps.
Tell = Callable[[int, int], None]
_told: ContextVar[TellStep] = ContextVar("told", default=tell_nobody)


@contextmanager
def show_progress(tell: TellStep | None = None) -> Iterator[None]:
    """Show how far each fit in a ``with`` block is: in pipelines and cross-validation too.

    The step at which a fit is has a progress bar, of tqdm, that goes away with it. All reducers
    also support scikit-learn's callbacks, from version 1.9 on:
    ``reducer.set_callbacks(ProgressBar())``.

    Parameters
    ----------
    tell : callable or None, default=None
        Is called with the name of a step, how much of it is done, and how much there is, in place
        of the bars. What it raises ends the fit. None: bars, which need
        ``pip install 'coterie[progress]'``.

    Notes
    -----
    Fits in other processes or threads, as with ``n_jobs=2``, are not shown.

    Examples
    --------
    >>> from coterie import Coterie, show_progress
    >>> from coterie.datasets import load_tecator
    >>> X, y = load_tecator(return_X_y=True)
    >>> def tell(step, done, total):
    ...     if done == total:
    ...         print(step)
    >>> with show_progress(tell):
    ...     reducer = Coterie().fit(X, y)
    rows
    inputs
    products
    tree
    path
    """
    bars = _Bars(_tqdm_or_error("show_progress()")) if tell is None else None
    token = _told.set(tell or bars or tell_nobody)
    try:
        yield
    finally:
        _told.reset(token)
        if bars is not None:
            bars.close()


def told_in_this_block() -> TellStep:
    """Who is told about the steps of a fit, according to :func:`show_progress`."""
    return _told.get()


class _Bars:
    """A tqdm bar for each step, one at a time."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, step: str, done: int, total: int) -> None:
        if done == 0:
            self.close()
        if self._bar is None:
            self._bar = self._tqdm(total=total, desc=step, leave=False)
        self._bar.update(done - self._bar.n)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Remove the bar, if there is one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm_or_error(what: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError(f"{what} needs tqdm: pip install 'coterie[progress]'.") from error
    return tqdm


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
    tqdm = _tqdm_or_error("progress=True")
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
