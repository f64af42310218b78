"""Atomic writes: a file is either the old one or the new one, whatever happens."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

# A disk or a quota is full, or the file is too large.
DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Opens a path for writing bytes, such as `whole_file`.
Opener = Callable[[str | os.PathLike[str]], AbstractContextManager[BinaryIO]]


class PartlyWrittenError(OSError):
    """Some files of a set were replaced, and others could not be renamed."""


def write_whole(path: str | os.PathLike[str], text: str, opener: Opener | None = None) -> None:
    """Write text to a file atomically: to a temporary file, which is then renamed.

    A full disk or a kill leaves the old file as it was. Links are followed, and the permissions of
    an old file are kept. With an `opener` of `whole_files`, several files are renamed together.
    """
    with (opener or whole_file)(path) as file:
        file.write(text.encode("ascii"))


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; it replaces the old file when the block ends.

    Atomic as `write_whole`; an exception in the block leaves the old file as it was.
    """
    with whole_files() as opener, opener(path) as file:
        yield file


@contextmanager
def whole_files() -> Iterator[Opener]:
    """Open several files for writing; they replace the old files together when the block ends.

    All temporary files are written before the first is renamed, so that a full disk, an exception
    in the block or Ctrl-C leaves all old files as they were.

    Yields
    ------
    callable
        As `whole_file`, except that the file is renamed only after this block.

    Raises
    ------
    PartlyWrittenError
        If some files were renamed and another could not be; the message names both.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_files() as opener:
    ...     write_whole(folder / "a", "1", opener)
    ...     write_whole(folder / "b", "2", opener)
    ...     (folder / "a").exists()
    False
    >>> sorted(path.name for path in folder.iterdir())
    ['a', 'b']
    """
    written: list[_TemporaryFile] = []

    @contextmanager
    def opener(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
        one = _TemporaryFile.of(path)
        try:
            with one.open() as file:
                yield file
            written.append(one)
        except BaseException:
            one.temporary.unlink(missing_ok=True)
            raise

    try:
        yield opener
        _rename_all(written)
    finally:
        for one in written:
            one.temporary.unlink(missing_ok=True)


@dataclass(frozen=True)
class _TemporaryFile:
    """A temporary file in the folder of its target.

    Parameters
    ----------
    path : str
        The target, as the user named it.
    target : Path
        The target with links resolved.
    temporary : Path
    """

    path: str
    target: Path
    temporary: Path

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _TemporaryFile:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise ValueError(f"{path} is not a regular file: name a file to write to.")
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(Path(path).parent))
        # Not derived from the name of the target, which may have the maximal length.
        temporary = target.with_name(f".coterie-{secrets.token_hex(8)}.part")
        return cls(os.fspath(path), target, temporary)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open for writing; on exit sync it to disk, with the permissions of the old file."""
        with self._errors_by_path():
            with self.temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if self.target.exists():
                shutil.copymode(self.target, self.temporary)

    def rename(self) -> None:
        """Rename it to its target."""
        with self._errors_by_path():
            self.temporary.replace(self.target)

    @contextmanager
    def _errors_by_path(self) -> Iterator[None]:
        """Make errors name the target instead of the temporary file."""
        try:
            yield
        except OSError as error:
            is_ours = error.filename is None or str(error.filename) == str(self.temporary)
            if error.errno is None or not is_ours:
                raise
            raise OSError(error.errno, error.strerror, self.path) from error


def _rename_all(written: list[_TemporaryFile]) -> None:
    """Rename all files; Ctrl-C takes effect once all are renamed."""
    new: list[_TemporaryFile] = []
    try:
        for one in written:
            one.rename()
            new.append(one)
    except OSError as error:
        if not new:
            raise
        raise _partly_written_error(new, written[len(new) :], error) from error
    except KeyboardInterrupt:
        # A partly replaced set is worse than a late interrupt.
        for one in written:
            if one.temporary.exists():
                one.rename()
        raise
    for folder in {one.target.parent for one in written}:
        _sync_folder(folder)


def _partly_written_error(
    new: list[_TemporaryFile], old: list[_TemporaryFile], error: OSError
) -> PartlyWrittenError:
    """The error that names the new and the old files."""
    reason = (error.strerror or str(error)).lower()
    return PartlyWrittenError(
        f"{files_are([one.path for one in new])} new, {files_are([one.path for one in old])} as "
        f"before: {old[0].path} could not be renamed ({reason})."
    )


def files_are(paths: Iterable[str | os.PathLike[str]]) -> str:
    """The beginning of a sentence: the names of files and "is" or "are".

    Examples
    --------
    >>> files_are(["a.json", "b.csv", "c.html"])
    'a.json, b.csv and c.html are'
    """
    *others, last = [os.fspath(path) for path in paths]
    return f"{', '.join(others)} and {last} are" if others else f"{last} is"


def _sync_folder(folder: Path) -> None:
    """Sync the folder to disk, so that the renames last, where the system supports it."""
    if os.name != "posix":
        return
    # The files are already replaced: an error would wrongly say that they are not.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
