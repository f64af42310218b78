"""A file that is the old one or the new one, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a file beside, and rename it once all of it is on the disk.

    A full disk or a kill leaves the old file as it was. Links are followed, and the permissions of
    an old file are kept.
    """
    with whole_file(path) as file:
        file.write(text.encode("ascii"))


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to, which takes its name once the block has ended well.

    It keeps the promises of `write_whole`; an exception in the block leaves nothing behind.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is no plain file: name one to write to.")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(Path(path).parent))
    # Not under the name of the target, which may be as long as a name can be.
    beside = target.with_name(f".coterie-{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where folders can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
