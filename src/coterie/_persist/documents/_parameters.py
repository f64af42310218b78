"""Parameters as plain values, and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.values import IntArray
from coterie._data.parameters import is_extension
from coterie._data.training import is_transformer
from coterie._persist.documents._functions import Naming, family_in, given_in, numpy_in
from coterie._persist.files import (
    Entry,
    NotPlainError,
    UnreadableError,
    array_in,
    plain_array,
    plain_value,
    value_in,
)
from coterie.families import Family

# Words that transform looks at, so that no other may come out of a file.
WORDS = {"missing": ["error", "pairwise"], "bound": ["general", "bivariate", "fitted"]}
SPARSE = {
    f"{form}_{kind}": getattr(sparse, f"{form}_{kind}")
    for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
    for kind in ("array", "matrix")
}
SPLITTERS = (
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "LeavePGroupsOut",
    "LeavePOut",
    "PredefinedSplit",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)


def plain_parameters(parameters: Mapping[str, Any], naming: Naming) -> dict[str, Any]:
    """Parameters as plain values, or an error that says which cannot be, and what to do."""
    return {name: _plain(name, value, naming) for name, value in parameters.items()}


def _plain(name: str, value: Any, naming: Naming) -> Any:
    if name in WORDS and value not in WORDS[name]:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, WORDS[name]))}.")
    if is_transformer(value) and not is_reducer(value):
        check_no_transformer(value)
    try:
        return plain_value(value, partial(_other, naming))
    except NotPlainError as error:
        raise TypeError(
            f"{name} holds a value of kind {error}, which JSON cannot hold. Only fit needs it: use "
            f"set_params({name}=...) to put a plain one in its place before you save."
        ) from None


def check_no_transformer(inputs: Any) -> None:
    """Raise where inputs are made by a transformer, whose state is its own affair."""
    if is_transformer(inputs):
        kind = type(inputs).__name__
        raise TypeError(
            f"inputs={kind}(...) cannot be saved as JSON: fit it in a Pipeline before a reducer "
            "with inputs=None (or scale=True, a function such as np.square), or save with skops."
        )


def _other(naming: Naming, value: Any) -> Any:
    """What is neither JSON nor an array: graphs, splitters, functions, families, frames."""
    if type(value).__name__ in SPARSE and sparse.issparse(value):
        return _plain_graph(value)
    if type(value).__name__ in SPLITTERS and type(value) is _splitter_kind(type(value).__name__):
        return _plain_splitter(value)
    if is_reducer(value):
        return _plain_reducer(value, naming)
    if (
        isinstance(value, Family)
        or is_extension(value)
        or (callable(value) and not isinstance(value, type))
    ):
        return naming.plain(value)
    if hasattr(value, "to_numpy"):
        return plain_value(value.to_numpy())
    raise NotPlainError(type(value).__name__)


def is_reducer(value: object) -> bool:
    """Whether a parameter is a reducer of ours."""
    return hasattr(value, "fit_moments") and type(value).__module__.startswith("coterie.")


def _plain_reducer(reducer: Any, naming: Naming) -> dict[str, Any]:
    return {
        "is": "reducer",
        "name": type(reducer).__name__,
        "parameters": plain_parameters(reducer.get_params(deep=False), naming),
    }


def _reducer_in(entry: Entry, functions: Mapping[str, Any], reducers: Mapping[str, Any]) -> Any:
    kind = reducers[entry["name"].word([*reducers])]
    return unfitted_in(entry["parameters"], kind, functions)


def unfitted_in(
    entry: Entry,
    kind: Any,
    functions: Mapping[str, Any],
    reducers: Mapping[str, Any] | None = None,
) -> Any:
    """A reducer of a kind, with the parameters of a document."""
    known = inspect.signature(kind).parameters
    given = parameters_in(entry, known, functions, reducers)
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in given:
            raise UnreadableError(f"{kind.__name__} needs the parameter {name!r}")
    return kind(**given)


def _plain_graph(graph: Any) -> dict[str, Any]:
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise NotPlainError(f"{type(graph).__name__} of shape {graph.shape}")
    rows = sparse.csr_array(graph)
    values = plain_array(rows.data)
    if values is None:
        raise NotPlainError(f"{type(graph).__name__} of {graph.dtype}")
    return {
        "is": "graph",
        "kind": type(graph).__name__,
        "starts": rows.indptr.tolist(),
        "columns": rows.indices.tolist(),
        "values": values,
    }


def _graph_in(entry: Entry) -> Any:
    kind = SPARSE[entry["kind"].word([*SPARSE])]
    values = array_in(entry["values"]).ravel()
    if values.dtype.kind not in "biuf":
        raise entry["values"].wrong("an array of numbers")
    starts = np.array(entry["starts"].whole_numbers(most=len(values)), dtype=np.intp)
    if (
        len(starts) < 2
        or starts[0] != 0
        or starts[-1] != len(values)
        or (np.diff(starts) < 0).any()
    ):
        raise entry["starts"].wrong(f"where rows start among {len(values)} values")
    n = len(starts) - 1
    columns = np.array(entry["columns"].whole_numbers(len(values), most=n - 1), dtype=np.intp)
    if kind.__name__.startswith("dia") and _n_diagonals(columns, starts) * n > 64 * len(values):
        raise entry["kind"].wrong("another kind, for a graph of so many diagonals")
    if values.dtype == np.float16:
        raise entry["values"].wrong("an array of a type that graphs have")
    return kind(sparse.csr_array((values, columns, starts), shape=(n, n)))


def _n_diagonals(columns: IntArray, starts: IntArray) -> int:
    """How many diagonals a graph has, each of which some kinds keep whole."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return len(np.unique(columns - rows))


def _splitter_kind(name: str) -> Any:
    # Imported late: it brings in a good part of scikit-learn.
    from sklearn import model_selection

    return getattr(model_selection, name)


def _parameter_names(kind: Any) -> list[str]:
    """The parameters of a splitter; some have none, and say so in no signature."""
    if kind.__init__ is object.__init__:
        return []
    return list(inspect.signature(kind).parameters)


def _plain_splitter(splitter: Any) -> dict[str, Any]:
    kind = type(splitter)
    if "_metadata_request" in vars(splitter):
        raise NotPlainError(f"{kind.__name__} with metadata requests")
    # Repeated splitters keep some parameters for the one that they repeat.
    known = vars(splitter) | vars(splitter).get("cvargs", {})
    parameters = {name: plain_value(known[name]) for name in _parameter_names(kind)}
    return {"is": "splitter", "name": kind.__name__, "parameters": parameters}


def _splitter_in(entry: Entry) -> Any:
    kind = _splitter_kind(entry["name"].word(SPLITTERS))
    given = entry["parameters"]
    parameters = {name: value_in(given[name]) for name in given.names(_parameter_names(kind))}
    try:
        return kind(**parameters)
    except (TypeError, ValueError, OverflowError) as error:
        raise given.wrong(f"parameters of {kind.__name__} ({error})") from None


def kinds_in(
    functions: Mapping[str, Any], reducers: Mapping[str, Any]
) -> dict[str, Callable[[Entry], Any]]:
    """How to read what is neither JSON nor an array."""
    return {
        "reducer": partial(_reducer_in, functions=functions, reducers=reducers),
        "graph": _graph_in,
        "splitter": _splitter_in,
        "family": family_in,
        "numpy": numpy_in,
        "given": partial(given_in, functions=functions),
    }


def parameters_in(
    entry: Entry,
    known: Mapping[str, Any],
    functions: Mapping[str, Any],
    reducers: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Parameters that a reducer knows, from plain values.

    One of them may be a reducer itself, by its name in `reducers`.
    """
    kinds = kinds_in(functions, reducers or {})
    for name in WORDS:
        if name in known and entry.get(name) is not None:
            entry[name].word(WORDS[name])
    return {name: value_in(entry[name], kinds) for name in entry.names(known)}
