"""Import optional libraries when a table is read or written."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coterie._data.tables._errors import TableError


def import_optional(name: str) -> Any:
    """Import a module; raise a TableError that says how to install it.

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
