"""Read the next chunk in a thread while the current one is counted."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

T = TypeVar("T")


def prefetch(chunks: Generator[T, None, None]) -> Generator[T, None, None]:
    """The same chunks, each read in a thread while the previous one is in use.

    At most two chunks exist at a time: the one in use, and the next one.
    """
    with closing(chunks), ThreadPoolExecutor(1, thread_name_prefix="coterie-reads") as reader:
        waiting = reader.submit(next, chunks, None)
        while (chunk := waiting.result()) is not None:
            waiting = reader.submit(next, chunks, None)
            yield chunk
