"""Files that are the old ones or the new ones, whatever happens on the way."""

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
# Something that opens a path for bytes to be written, such as `whole_file`.
Opener = Callable[[str | os.PathLike[str]], AbstractContextManager[BinaryIO]]


class PartlyWrittenError(OSError):
    """Some files of a set are new, and the others could not get their names."""


def write_whole(path: str | os.PathLike[str], text: str, opener: Opener | None = None) -> None:
    """Write a file beside, and rename it once all of it is on the disk.

    A full disk or a kill leaves the old file as it was. Links are followed, and the permissions of
    an old file are kept. One of `whole_files` as `opener` renames it together with others.
    """
    with (opener or whole_file)(path) as file:
        file.write(text.encode("ascii"))


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to, which takes its name once the block has ended well.

    It keeps the promises of `write_whole`; an exception in the block leaves nothing behind.
    """
    with whole_files() as opener, opener(path) as file:
        yield file


@contextmanager
def whole_files() -> Iterator[Opener]:
    """Files to write bytes to, which take their names together once the block has ended well.

    All are written beside before the first is renamed, so that a full disk, an exception in the
    block or Ctrl-C leaves all old files as they were, and nothing else.

    Yields
    ------
    callable
        As `whole_file`, but that the file has its name only after this block.

    Raises
    ------
    PartlyWrittenError
        Where some files could be renamed, and then one could not, with the names of both.

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
    """A file beside the one that it will be.

    Parameters
    ----------
    path : str
        The file that it will be, as somebody calls it.
    target : Path
        The same without links.
    temporary : Path
    """

    path: str
    target: Path
    temporary: Path

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _TemporaryFile:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise ValueError(f"{path} is no plain file: name one to write to.")
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(Path(path).parent))
        # Not under the name of the target, which may be as long as a name can be.
        temporary = target.with_name(f".coterie-{secrets.token_hex(8)}.part")
        return cls(os.fspath(path), target, temporary)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """To write to, until it is on the disk with the permissions of the old file."""
        with self._errors_by_path():
            with self.temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if self.target.exists():
                shutil.copymode(self.target, self.temporary)

    def rename(self) -> None:
        """Give it its name."""
        with self._errors_by_path():
            self.temporary.replace(self.target)

    @contextmanager
    def _errors_by_path(self) -> Iterator[None]:
        """Errors speak of the file that somebody named, and not of the one beside."""
        try:
            yield
        except OSError as error:
            is_ours = error.filename is None or str(error.filename) == str(self.temporary)
            if error.errno is None or not is_ours:
                raise
            raise OSError(error.errno, error.strerror, self.path) from error


def _rename_all(written: list[_TemporaryFile]) -> None:
    """Rename all; Ctrl-C on the way is heard once all are renamed."""
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
        # A set of which some are new is worse than a stop that comes a moment late.
        for one in written:
            if one.temporary.exists():
                one.rename()
        raise
    for folder in {one.target.parent for one in written}:
        _sync_folder(folder)


def _partly_written_error(
    new: list[_TemporaryFile], old: list[_TemporaryFile], error: OSError
) -> PartlyWrittenError:
    """One sentence on which files are new and which are not."""
    reason = (error.strerror or str(error)).lower()
    return PartlyWrittenError(
        f"{files_are([one.path for one in new])} new, {files_are([one.path for one in old])} as "
        f"before: {old[0].path} could not be renamed ({reason})."
    )


def files_are(paths: Iterable[str | os.PathLike[str]]) -> str:
    """The beginning of a sentence about some files.

    Examples
    --------
    >>> files_are(["a.json", "b.csv", "c.html"])
    'a.json, b.csv and c.html are'
    """
    *others, last = [os.fspath(path) for path in paths]
    return f"{', '.join(others)} and {last} are" if others else f"{last} is"


def _sync_folder(folder: Path) -> None:
    """Make new names last, where a folder can be opened and the system knows how."""
    if os.name != "posix":
        return
    # The files are new, whatever happens here: an error would say that they are not.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
