"""The next piece is read while this one is counted."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

T = TypeVar("T")


def prefetch(chunks: Generator[T, None, None]) -> Generator[T, None, None]:
    """The same pieces, each of them made in a thread while the one before is in use.

    There is one piece in use and one that waits or is being made, never a third.
    """
    with closing(chunks), ThreadPoolExecutor(1, thread_name_prefix="coterie-reads") as reader:
        waiting = reader.submit(next, chunks, None)
        while (chunk := waiting.result()) is not None:
            waiting = reader.submit(next, chunks, None)
            yield chunk
