"""Checkpoints: moments are saved regularly, and an interrupted count resumes from the file."""

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
from coterie._data.sources._arrays import slice_rows
from coterie._data.sources._checksum import EMPTY_CHECKSUM, MODULUS, Checksum, column_checksum
from coterie._data.sources._chunks import Chunk, ChunkedSource, ColumnSpec, SourceFile, row_slices
from coterie._data.sources._folds import ROWS_PER_CALL, RowFolds

# Seconds between two saves, and at least this factor times the duration of a save.
SAVE_INTERVAL = 60.0
SAVE_INTERVAL_FACTOR = 20.0
# The options of moments_from that checkpoint files, and checksums, know by another name.
OPTION_NAMES = {"target": "y", "weights": "sample_weight", "folds": "cv"}


@dataclass
class Checkpoint:
    """Moments of a source so far, and what is needed to save and resume them.

    Parameters
    ----------
    moments : Moments
    path : Path or None
        The checkpoint file; None to save nothing.
    description : dict
        Description of the source, compared when counting resumes.
    files : tuple of SourceFile
        Files of the source.
    checksum : Checksum
        Checksum of all counted rows.
    n_to_verify : int
        Number of counted rows that are read again, to compare their checksum.
    """

    moments: Moments
    path: Path | None = None
    description: dict[str, Any] = field(default_factory=dict)
    files: tuple[SourceFile, ...] = ()
    checksum: Checksum = EMPTY_CHECKSUM
    n_to_verify: int = 0
    _verified: Checksum = EMPTY_CHECKSUM
    _n_batches_verified: int = 0
    _is_consistent: bool = True
    _has_unsaved: bool = False

    @property
    def start(self) -> int:
        """The first row to read."""
        return 0 if self.n_to_verify else self.moments.n_read

    @property
    def n_seen(self) -> int:
        """Number of the next row: rows read in this call, and counted rows that were skipped."""
        return self._verified.n_rows if self.n_to_verify else self.moments.n_read

    @property
    def n_batches(self) -> int:
        """Number of the next batch, likewise."""
        return self._n_batches_verified if self.n_to_verify else self.moments.n_batches

    def add(self, batch: Batch, chunk: Chunk, folds: Any, location: RowLocation) -> None:
        """Count a chunk, or verify it if it has been counted before."""
        if self.path is None:
            self.moments.count_batch(batch, location)
        elif self.n_to_verify:
            self._verify(batch, chunk, folds)
        else:
            checksum = _updated(self.checksum, batch, chunk, folds)
            with defer_sigint():
                self._is_consistent = False
                self.moments.count_batch(batch, location)
                self.checksum, self._is_consistent, self._has_unsaved = checksum, True, True

    def _verify(self, batch: Batch, chunk: Chunk, folds: Any) -> None:
        self._verified = _updated(self._verified, batch, chunk, folds)
        self._n_batches_verified += 1
        if self._verified.n_rows > self.n_to_verify:
            raise self.mismatch_error(
                f"it ends at row {self.n_to_verify:,}, which is in the middle of a batch"
            )
        if self._verified.n_rows == self.n_to_verify:
            for name in ("X", "y", "sample_weight", "folds"):
                if getattr(self._verified, name) != getattr(self.checksum, name):
                    raise self.mismatch_error(f"{_option_name(name)} has other values")
            # Save the fingerprints of these files, so that they are not read again next time.
            self.n_to_verify, self._has_unsaved = 0, True

    def mismatch_error(self, reason: str) -> ValueError:
        """The error that says why counting cannot resume from the checkpoint."""
        return ValueError(
            f"The checkpoint {self.path} is of other data ({reason}): remove it to start again."
        )

    def save(self) -> None:
        """Write the checkpoint; if that fails, warn and leave an older file unchanged."""
        if self.path is None or not self._is_consistent:
            return
        # Files call the checksum "tally".
        fingerprints = [file.fingerprint for file in self.files]
        source = {
            **self.description,
            "files": fingerprints,
            "tally": [str(each) for each in self.checksum],
        }
        try:
            write_moments(self.moments, self.path, source)
        except OSError as error:
            warnings.warn(
                f"{self.path} could not be written ({error.strerror or error}): counting goes on, "
                "and an older checkpoint is unchanged.",
                RuntimeWarning,
                stacklevel=2,
            )

    @contextmanager
    def periodic_saves(self) -> Iterator[Callable[[], None]]:
        """A function to call after each chunk, which saves regularly; saves again at the end."""
        pause, saved = SAVE_INTERVAL, time.monotonic()

        def save() -> None:
            nonlocal saved, pause
            start = time.monotonic()
            if start - saved > pause:
                self.save()
                saved = time.monotonic()
                pause = max(SAVE_INTERVAL, SAVE_INTERVAL_FACTOR * (saved - start))

        try:
            yield save
        finally:
            if self._has_unsaved:
                self.save()


def _updated(checksum: Checksum, batch: Batch, chunk: Chunk, folds: Any) -> Checksum:
    return checksum.with_rows(batch.features, batch.n_read, chunk.y, chunk.sample_weight, folds)


def open_checkpoint(
    checkpoint: Any, source: ChunkedSource, spec: ColumnSpec, folds: RowFolds
) -> Checkpoint:
    """A new checkpoint, or the one in the file if it belongs to this source."""
    if checkpoint is None:
        return Checkpoint(Moments(source.n_expected))
    path = Path(checkpoint)
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} of checkpoint does not exist.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"The folder {path.parent} of checkpoint is not writable.")
    description = _describe_source(source, spec, folds)
    if not path.exists():
        return Checkpoint(Moments(source.n_expected), path, description, source.files)
    moments, saved = load_moments(path)
    state = Checkpoint(moments, path, description, source.files)
    state.checksum = _load_checksum(saved, state)
    _check_description(saved, state)
    fingerprints, files = _fingerprints(source.files, moments.n_read), saved.get("files")
    if fingerprints and isinstance(files, list) and files[: len(fingerprints)] == fingerprints:
        _verify_arrays(state, source, folds)
    else:
        state.n_to_verify = moments.n_read
    return state


def _describe_source(source: ChunkedSource, spec: ColumnSpec, folds: RowFolds) -> dict[str, Any]:
    """Description of a source, from what is known before it is read."""
    # These keys are written to files.
    return {
        "columns": source.names,
        "target": spec.target,
        "weights": spec.sample_weight or "sample_weight" in source.arrays,
        "folds": spec.folds or folds.function is not None,
        "n_rows": source.n_rows,
        "n_expected": source.n_expected,
    }


def _load_checksum(saved: Any, state: Checkpoint) -> Checksum:
    """The checksum in a saved description, if it agrees with the moments."""
    try:
        checksum = Checksum(*(int(each) for each in saved["tally"]))
    except (TypeError, KeyError, ValueError):
        raise state.mismatch_error("it has no valid checksum") from None
    if (checksum.n_rows, checksum.n_counted) != (state.moments.n_read, state.moments.n_samples_):
        raise state.mismatch_error("it has no valid checksum")
    return checksum


def _check_description(saved: dict[str, Any], state: Checkpoint) -> None:
    for name, now in state.description.items():
        if saved.get(name) != now:
            before = _short_repr(saved.get(name))
            raise state.mismatch_error(
                f"{_option_name(name)} is {before} in the checkpoint, {_short_repr(now)} now"
            )


def _option_name(name: str) -> str:
    return OPTION_NAMES.get(name, name)


def _short_repr(value: Any) -> str:
    return repr(value) if len(repr(value)) < 60 else "another list"


def _fingerprints(files: tuple[SourceFile, ...], n_rows: int) -> list[Any]:
    """The fingerprints of the files that contain the first `n_rows` rows."""
    fingerprints = []
    for file in files:
        if n_rows > 0:
            fingerprints.append(file.fingerprint)
        n_rows -= file.n_rows
    return fingerprints


def _verify_arrays(state: Checkpoint, source: ChunkedSource, folds: RowFolds) -> None:
    """Raise if y, sample_weight or folds have changed since the checkpoint was saved."""
    given: dict[str, Callable[[slice], Any]] = {
        name: partial(slice_rows, source.arrays, name) for name in source.arrays
    }
    if folds.function is not None:
        given["folds"] = lambda rows: folds.of_rows(rows.start, rows.stop)
    for name, of in given.items():
        each = (
            column_checksum(of(rows), rows.start)
            for rows in row_slices(0, 0, state.moments.n_read, ROWS_PER_CALL)
        )
        if sum(each) % MODULUS != getattr(state.checksum, name):
            raise state.mismatch_error(f"{_option_name(name)} has other values")
