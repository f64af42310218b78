"""Moments on the way: pieces are counted, and saved now and then to go on from there."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from coterie._data.moments import (
    Batch,
    Moments,
    RowLocation,
    defer_sigint,
    load_moments,
    write_moments,
)
from coterie._data.sources._arrays import rows_of
from coterie._data.sources._checksum import NOTHING, WHOLE, Tally, of_column
from coterie._data.sources._chunks import Opened, Part, Piece, Wanted, spans
from coterie._data.sources._folds import AT_A_TIME, Folds

# Seconds between two checkpoints; more where it takes long to write one.
SAVED_EVERY = 60.0
TIMES_A_SAVE = 20.0


@dataclass
class Work:
    """Moments of a source, as far as they have come.

    Parameters
    ----------
    moments : Moments
    path : Path or None
        Where to save them.
    about : dict
        What the source is, in plain values that can be compared.
    parts : tuple of Part
        Its files.
    tally : Tally
        Of all rows that have been counted.
    n_again : int
        Of these, how many come again, to be compared and not to be counted.
    """

    moments: Moments
    path: Path | None = None
    about: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    tally: Tally = NOTHING
    n_again: int = 0
    _again: Tally = NOTHING
    _n_batches_again: int = 0
    _is_whole: bool = True
    _is_news: bool = False

    @property
    def start(self) -> int:
        """The row to begin with."""
        return 0 if self.n_again else self.moments.n_read

    @property
    def n_seen(self) -> int:
        """Number of rows so far in this call, and of those that did not have to come again."""
        return self._again.n_rows if self.n_again else self.moments.n_read

    @property
    def n_batches(self) -> int:
        """Number of batches so far, likewise."""
        return self._n_batches_again if self.n_again else self.moments.n_batches

    def take(self, batch: Batch, piece: Piece, folds: Any, which: RowLocation) -> None:
        """Count a piece, or compare it if it has been counted before."""
        if self.path is None:
            self.moments.count_batch(batch, which)
        elif self.n_again:
            self._compare(batch, piece, folds)
        else:
            tally = _after(self.tally, batch, piece, folds)
            with defer_sigint():
                self._is_whole = False
                self.moments.count_batch(batch, which)
                self.tally, self._is_whole, self._is_news = tally, True, True

    def _compare(self, batch: Batch, piece: Piece, folds: Any) -> None:
        self._again = _after(self._again, batch, piece, folds)
        self._n_batches_again += 1
        if self._again.n_rows > self.n_again:
            raise self.other_data(
                f"it ends at row {self.n_again:,}, which is in the middle of a batch"
            )
        if self._again.n_rows == self.n_again:
            for name in ("X", "y", "weights", "folds"):
                if getattr(self._again, name) != getattr(self.tally, name):
                    raise self.other_data(f"{name} has other values")
            # The files are as they were, so they need not be read next time.
            self.n_again, self._is_news = 0, True

    def other_data(self, reason: str) -> ValueError:
        """The error that says why work cannot go on from a checkpoint."""
        return ValueError(
            f"{self.path} has counted other data than these ({reason}): remove it to begin anew."
        )

    def save(self) -> None:
        """Write the moments; where that is not possible, an older file stays as it was."""
        if self.path is None or not self._is_whole:
            return
        stamps = [part.stamp for part in self.parts]
        source = {**self.about, "files": stamps, "tally": [str(each) for each in self.tally]}
        try:
            write_moments(self.moments, self.path, source)
        except OSError as error:
            warnings.warn(
                f"{self.path} could not be written ({error.strerror or error}): the work goes on, "
                "and an older checkpoint is as it was.",
                RuntimeWarning,
                stacklevel=2,
            )

    @contextmanager
    def saved_now_and_then(self) -> Iterator[Callable[[], None]]:
        """Something to call after each piece, that saves now and then; and saves in the end."""
        pause, saved = SAVED_EVERY, time.monotonic()

        def save() -> None:
            nonlocal saved, pause
            start = time.monotonic()
            if start - saved > pause:
                self.save()
                saved = time.monotonic()
                pause = max(SAVED_EVERY, TIMES_A_SAVE * (saved - start))

        try:
            yield save
        finally:
            if self._is_news:
                self.save()


def _after(tally: Tally, batch: Batch, piece: Piece, folds: Any) -> Tally:
    return tally.with_rows(batch.features, batch.n_read, piece.y, piece.weights, folds)


def begun(checkpoint: Any, opened: Opened, wanted: Wanted, folds: Folds) -> Work:
    """Work that has not begun, or that goes on from a checkpoint."""
    if checkpoint is None:
        return Work(Moments(opened.n_expected))
    path = Path(checkpoint)
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write a checkpoint to.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"Nothing may be written to the folder {path.parent} of checkpoint.")
    about = _about(opened, wanted, folds)
    if not path.exists():
        return Work(Moments(opened.n_expected), path, about, opened.parts)
    moments, source = load_moments(path)
    work = Work(moments, path, about, opened.parts)
    work.tally = _tally_in(source, work)
    _check_about(source, work)
    known, files = _covering(opened.parts, moments.n_read), source.get("files")
    if known and isinstance(files, list) and files[: len(known)] == known:
        _check_beside(work, opened, folds)
    else:
        work.n_again = moments.n_read
    return work


def _about(opened: Opened, wanted: Wanted, folds: Folds) -> dict[str, Any]:
    """What a source is, as far as it can be told before it is read."""
    return {
        "columns": opened.names,
        "target": wanted.target,
        "weights": wanted.weights or "weights" in opened.beside,
        "folds": wanted.folds or folds.of_rows is not None,
        "n_rows": opened.n_rows,
        "n_expected": opened.n_expected,
    }


def _tally_in(source: Any, work: Work) -> Tally:
    """What has been counted, if it is told and fits the moments."""
    try:
        tally = Tally(*(int(each) for each in source["tally"]))
    except (TypeError, KeyError, ValueError):
        raise work.other_data("it does not say which") from None
    if (tally.n_rows, tally.n_counted) != (work.moments.n_read, work.moments.n_samples_):
        raise work.other_data("it does not say which")
    return tally


def _check_about(source: dict[str, Any], work: Work) -> None:
    for name, now in work.about.items():
        if source.get(name) != now:
            raise work.other_data(f"{name} is {_shown(source.get(name))} there, {_shown(now)} here")


def _shown(value: Any) -> str:
    return repr(value) if len(repr(value)) < 60 else "another list"


def _covering(parts: tuple[Part, ...], n_rows: int) -> list[Any]:
    """What the files are that have the first rows."""
    stamps = []
    for part in parts:
        if n_rows > 0:
            stamps.append(part.stamp)
        n_rows -= part.n_rows
    return stamps


def _check_beside(work: Work, opened: Opened, folds: Folds) -> None:
    """Raise where what lies beside files is not what it was; the files are."""
    given: dict[str, Callable[[slice], Any]] = {
        name: partial(rows_of, opened.beside, name) for name in opened.beside
    }
    if folds.of_rows is not None:
        given["folds"] = lambda rows: folds.of(rows.start, rows.stop)
    for name, of in given.items():
        each = (
            of_column(of(rows), rows.start) for rows in spans(0, 0, work.moments.n_read, AT_A_TIME)
        )
        if sum(each) % WHOLE != getattr(work.tally, name):
            raise work.other_data(f"{name} has other values")
