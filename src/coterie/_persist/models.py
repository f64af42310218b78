"""Load reducers and their summaries from model files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from inspect import signature
from types import NoneType
from typing import Any, TypeVar

from coterie._data.preparation import Preparation, TablePreparer
from coterie._model_selection.tuning import REDUCERS, ToleranceCV, restored
from coterie._persist.documents import (
    FORMAT,
    VERSION,
    checked_functions,
    document_of,
    fit_in,
    joint_in,
    restore_settings,
    unfitted_in,
    upgraded,
)
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
from coterie.estimators import Coterie, restore_path, store
from coterie.report.inspection import Summary

Loaded = TypeVar("Loaded")
# Only these classes can be loaded.
REDUCER_BY_NAME = {kind.__name__: kind for kind in REDUCERS}


def load(path: str | os.PathLike[str], functions: Mapping[str, Any] | None = None) -> Any:
    """Load a reducer from a file written by its method ``save``.

    It transforms exactly as the saved one, and can be fitted again. Files from untrusted sources
    are safe to load: no code in the file is run, and no module that it names is imported.

    Parameters
    ----------
    path : str or path
        The file, such as ``"model.json"``.
    functions : dict of functions and families, optional
        Functions and families that the file only names: those given as `inputs`, `aggregation` or
        `scoring`, and custom families. NumPy functions such as ``np.square`` are known.

    Returns
    -------
    Coterie, NonLinCFA, GenLinCFA, LinCFA, MutualCFA, CustomCFA or ToleranceCV

    Raises
    ------
    ValueError
        If the file is not a model, is truncated or damaged, needs a function that is not given,
        or comes from a newer version of coterie.

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
    reducer: Any,
    summary: Summary,
    path: str | os.PathLike[str],
    opener: Opener | None = None,
    preparer: TablePreparer | None = None,
) -> None:
    """Write a reducer as its method ``save`` does, with its summary and what prepares its table."""
    document = document_of(reducer) | {"summary": plain_record(summary)}
    if preparer is not None and preparer.is_needed:
        document["preparation"] = plain_record(preparer.as_plain())
    write_whole(path, text_of(document), opener)


def load_preparer(path: str | os.PathLike[str]) -> TablePreparer | None:
    """Load what prepared the table of a model that ``coterie fit`` wrote.

    Parameters
    ----------
    path : str or path
        The file, such as ``"model.json"``.

    Returns
    -------
    TablePreparer or None
        None if all features of the model are columns of numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     coterie.NonLinCFA().fit(X, y).save(Path(folder, "model.json"))
    ...     print(coterie.load_preparer(Path(folder, "model.json")))
    None
    """
    return _load_with(path, _preparer_from_json)


def _preparer_from_json(document: Entry) -> TablePreparer | None:
    _check_model_format(document)
    entry = document.get("preparation")
    if entry is None or entry.is_null:
        return None
    return TablePreparer.from_plain(record_in(entry, Preparation))


def load_summary(path: str | os.PathLike[str]) -> Summary | None:
    """The summary saved in a model file, or None if there is none."""
    return _load_with(path, _summary_from_json)


def _load_with(path: str | os.PathLike[str], part: Callable[[Entry], Loaded]) -> Loaded:
    """Read a file and apply `part` to its document; raise ValueError if it cannot be read."""
    try:
        return part(Entry(upgraded(read_document(path))))
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
    """Raise unless this is a model file of a known version."""
    if not document.is_object or document.value.get("format") != FORMAT:
        raise UnreadableError("it is not a model saved by coterie")
    version = document["version"].whole(1, 2**31)
    if version > VERSION:
        raise UnreadableError(
            f"it was saved by a newer coterie (format {version}, this one reads {VERSION}): "
            "pip install --upgrade coterie"
        )


def _reducer_from_json(document: Entry, functions: Mapping[str, Any]) -> Any:
    _check_model_format(document)
    kind = REDUCER_BY_NAME[document["reducer"].word([*REDUCER_BY_NAME])]
    with_tolerance = [one for one in REDUCERS if "tolerance" in signature(one).parameters]
    inside = {one.__name__: one for one in with_tolerance}
    reducer = unfitted_in(document["parameters"], kind, functions, inside)
    fitted = document["fitted"]
    fit = fit_in(fitted, functions)
    if isinstance(reducer, ToleranceCV):
        if fit.tolerance is None:
            raise fitted["tolerance"].wrong("a number")
        if not isinstance(reducer.estimator, (*inside.values(), NoneType)):
            raise document["parameters"]["estimator"].wrong("a reducer or null")
        restored(reducer, fit, fitted["path"])
    else:
        store(reducer, fit)
    if isinstance(reducer, Coterie):
        _restore_joint(reducer, fitted["joint"])
    restore_settings(reducer, document)
    return reducer


def _restore_joint(reducer: Coterie, entry: Entry) -> None:
    task, path = joint_in(entry)
    # Arrays that do not fit together fail in many ways, and no part of them can be used.
    try:
        restore_path(reducer, task, path)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise entry.wrong("the path that led to the groups of this model") from None
