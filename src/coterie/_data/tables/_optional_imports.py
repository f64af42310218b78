"""The libraries that read and write, brought in only when a table is at hand."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coterie._data.tables._errors import TableError


def import_optional(name: str) -> Any:
    """A module by its name, or a sentence on how to get it.

    Examples
    --------
    >>> import_optional("polars").__name__
    'polars'
    >>> import_optional("no_such_library")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    TableError: Reading tables needs an extra: pip install "coterie[cli]".
    """
    try:
        return import_module(name)
    except ImportError:
        raise TableError('Reading tables needs an extra: pip install "coterie[cli]".') from None
