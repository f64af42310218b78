"""The steps of a fit, told to the log, to scikit-learn's callbacks and to show_progress."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from coterie._data.progress import told_in_this_block

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9
    Method = TypeVar("Method", bound=Callable[..., Any])

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Without scikit-learn's callbacks, nothing is supported."""

    def with_callbacks(method: Method) -> Method:
        """The method itself."""
        return method


__all__ = ["CallbackSupportMixin", "Steps", "fitting", "logger", "with_callbacks"]

logger = logging.getLogger("coterie")
logger.addHandler(logging.NullHandler())
# A callback hears of at most so many parts of a step.
MAX_PARTS = 100


@contextmanager
def fitting(reducer: Any, n_steps: int | None = None) -> Iterator[Steps]:
    """A fit of a reducer, which has all of its effects or, after an error or Ctrl-C, none.

    The method around it is decorated by ``with_callbacks``.

    Parameters
    ----------
    reducer : reducer
    n_steps : int or None
        How many steps there are at most; None if that is not known.
    """
    steps = Steps(reducer, n_steps)
    before = dict(vars(reducer))
    try:
        yield steps
    except BaseException:
        vars(reducer).clear()
        vars(reducer).update(before)
        raise
    steps.end()


class Steps:
    """Tells how far a fit is: a function of a step, how much of it is done, and the total."""

    def __init__(self, reducer: Any, n_steps: int | None) -> None:
        self._name, self._tell = type(reducer).__name__, told_in_this_block()
        self._start, self._step, self._step_start = perf_counter(), "", 0.0
        # Without scikit-learn's callbacks, there is no such method.
        has_callbacks = hasattr(reducer, "_init_callback_context")
        self._callbacks = _Callbacks(reducer, n_steps) if has_callbacks else None

    def __call__(self, step: str, done: int, total: int) -> None:
        """Tell that so much of a step is done."""
        if step != self._step:
            self._step, self._step_start = step, perf_counter()
        logger.debug("%s: %s, %d of %d", self._name, step, done, total)
        self._tell(step, done, total)
        if self._callbacks is not None:
            self._callbacks.tell(step, done, total)
        if done >= total:
            seconds = perf_counter() - self._step_start
            logger.info("%s: %s done in %.2f s", self._name, step, seconds)
            self._step = ""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A step that has no parts."""
        self(name, 0, 1)
        yield
        self(name, 1, 1)

    def note(self, message: str, *values: Any) -> None:
        """Write a line to the log."""
        logger.info(f"{self._name}: {message}", *values)

    def end(self) -> None:
        """Tell that the fit is done."""
        self.note("fitted in %.2f s", perf_counter() - self._start)
        if self._callbacks is not None:
            self._callbacks.end()


class _Callbacks:
    """The steps of a fit as tasks of scikit-learn's callbacks."""

    def __init__(self, reducer: Any, n_steps: int | None) -> None:
        self._reducer = reducer
        self._fit = reducer._init_callback_context(max_subtasks=n_steps)
        self._fit.call_on_fit_task_begin(estimator=reducer)
        self._step: Any = None
        self._n_parts = 0

    def tell(self, step: str, done: int, total: int) -> None:
        """Begin, go on with or end the task of a step."""
        parts = 0 if total < 2 else min(total, MAX_PARTS)
        if self._step is None:
            self._n_parts = 0
            self._step = self._fit.subcontext(task_name=step, max_subtasks=parts)
            self._step.call_on_fit_task_begin(estimator=self._reducer)
        while self._n_parts < parts * done // max(total, 1):
            self._n_parts += 1
            part = self._step.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=self._reducer)
            part.call_on_fit_task_end(estimator=self._reducer)
        if done >= total:
            self._step.call_on_fit_task_end(estimator=self._reducer)
            self._step = None

    def end(self) -> None:
        """End the task of the fit."""
        self._fit.call_on_fit_task_end(estimator=self._reducer)
