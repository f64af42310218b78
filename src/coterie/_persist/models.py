"""A file becomes the reducer that was saved in it, and what was told about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from coterie._model_selection.tuning import REDUCERS
from coterie._persist.files import (
    Entry,
    Opener,
    UnreadableError,
    plain_record,
    read_document,
    record_in,
    text_of,
    write_whole,
)
from coterie.estimators._functions import checked_functions
from coterie.estimators._saved import FORMAT, VERSION, document_of, reducer_in
from coterie.report.inspection import Summary

Loaded = TypeVar("Loaded")
# The only classes that a file can ask for.
REDUCER_BY_NAME = {kind.__name__: kind for kind in REDUCERS}


def load(path: str | os.PathLike[str], functions: Mapping[str, Any] | None = None) -> Any:
    """The reducer that was saved in a file by its method ``save``.

    It transforms exactly as the one that was saved, and can be fitted again. Nothing in the file is
    run, and nothing is imported by a name that stands in it: the file may come from anyone.

    Parameters
    ----------
    path : str or path
        The file, such as ``"model.json"``.
    functions : dict of functions and families, optional
        Those that the file names and cannot hold: functions given as `inputs`, `aggregation` or
        `scoring`, and families of one's own. Some of numpy, such as ``np.square``, are known.

    Returns
    -------
    NonLinCFA, GenLinCFA, LinCFA, MutualCFA, NonLinCFACV or GenLinCFACV

    Raises
    ------
    ValueError
        Where the file is no model, is cut short or damaged, needs a function that is not given, or
        comes from a newer coterie.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> reducer = coterie.NonLinCFA().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reducer.save(Path(folder, "model.json"))
    ...     same = coterie.load(Path(folder, "model.json"))
    >>> bool((same.transform(X) == reducer.transform(X)).all())
    True
    """
    known = checked_functions(functions)
    return _load_with(path, lambda document: _reducer_from_json(document, known))


def save_with_summary(
    reducer: Any, summary: Summary, path: str | os.PathLike[str], opener: Opener | None = None
) -> None:
    """Write a reducer as its method ``save`` does, and a summary beside it in the same file."""
    document = document_of(reducer) | {"summary": plain_record(summary)}
    write_whole(path, text_of(document), opener)


def load_summary(path: str | os.PathLike[str]) -> Summary | None:
    """The summary in a file, or None where there is none."""
    return _load_with(path, _summary_from_json)


def _load_with(path: str | os.PathLike[str], part: Callable[[Entry], Loaded]) -> Loaded:
    """A part of the document in a file, or one sentence on why it cannot be read."""
    try:
        return part(Entry(read_document(path)))
    except UnreadableError as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {error}.") from None
    except RecursionError:
        raise ValueError(
            f"{os.fspath(path)} cannot be loaded: its lists are nested too deeply."
        ) from None


def _summary_from_json(document: Entry) -> Summary | None:
    _check_model_format(document)
    entry = document.get("summary")
    return None if entry is None or entry.is_null else record_in(entry, Summary)


def _check_model_format(document: Entry) -> None:
    """Raise unless this is a model that we can read."""
    if not document.is_object or document.value.get("format") != FORMAT:
        raise UnreadableError("it is no model saved by coterie")
    version = document["version"].whole(1, 2**31)
    if version > VERSION:
        raise UnreadableError(
            f"it was made by a newer coterie (format {version}, this one reads {VERSION}): "
            "pip install --upgrade coterie"
        )


def _reducer_from_json(document: Entry, functions: Mapping[str, Any]) -> Any:
    _check_model_format(document)
    kind = REDUCER_BY_NAME[document["reducer"].word([*REDUCER_BY_NAME])]
    return reducer_in(document, kind, functions)
