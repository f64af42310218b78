"""A fitted reducer as a document of plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from coterie._core.aggregations import AGGREGATIONS, Aggregation, Linear, over_available
from coterie._core.values import TRACE_DTYPE, IntArray, Trace
from coterie._data.fields import layout_in, plain_layout
from coterie._persist.files import (
    Entry,
    NotPlainError,
    array_in,
    floats_in,
    plain_array,
    plain_numbers,
    plain_value,
    value_in,
)
from coterie.estimators._aggregates import Scaling
from coterie.estimators._checks import checked_word
from coterie.estimators._functions import (
    NUMPY,
    Naming,
    checked_functions,
    function_in,
    plain_function,
)
from coterie.estimators._parameters import (
    check_no_transformer,
    parameters_in,
    plain_parameters,
)
from coterie.estimators._state import (
    aggregates_again,
    aggregation_again,
    plain_aggregates,
    plain_aggregation,
    plain_trace,
    trace_again,
)

FORMAT, VERSION = "coterie", 1
TRACES = ("accepted", "all")
OUTPUTS = ("default", "pandas", "polars")
# Functions may give fewer inputs than there are features, which then have no list in the file.
MOST_FEATURES = 10**7


def document_of(reducer: Any, functions: Any = None, trace: str = "accepted") -> dict[str, Any]:
    """All of a fitted reducer as plain values; of its decisions those accepted, or all."""
    checked_word("trace", trace, TRACES)
    if type(reducer).__module__.partition(".")[0] != "coterie":
        raise TypeError(
            f"{type(reducer).__name__} is no reducer of coterie, and coterie.load would not know "
            "it: save it with skops."
        )
    naming = Naming(checked_functions(functions))
    return {
        "format": FORMAT,
        "version": VERSION,
        "reducer": type(reducer).__name__,
        "parameters": plain_parameters(reducer.get_params(deep=False), naming),
        "fitted": _plain_fit(reducer, naming, trace) | reducer._plain_more(),
        "output": vars(reducer).get("_sklearn_output_config", {}).get("transform"),
        "requests": _plain_requests(reducer),
    }


def _plain_fit(reducer: Any, naming: Naming, trace: str) -> dict[str, Any]:
    check_no_transformer(reducer._inputs)
    aggregation = plain_aggregation(reducer._aggregation)
    learned = plain_aggregates(reducer._aggregates)
    decisions = reducer.trace_ if trace == "all" else reducer.trace_[reducer.trace_.accepted]
    names, scaling = getattr(reducer, "feature_names_in_", None), reducer._scaling
    return {
        "n_features_in": reducer.n_features_in_,
        "feature_names_in": None if names is None else [str(name) for name in names],
        "labels": reducer.labels_.tolist(),
        "signs": [int(sign) for sign in reducer.signs_],
        "inputs": None if reducer._inputs is None else plain_function(reducer._inputs, naming),
        "aggregation": aggregation if isinstance(aggregation, str) else naming.plain(aggregation),
        "gaps": learned["means"] is not None,
        "means": None if learned["means"] is None else plain_numbers(learned["means"]),
        "centre": plain_numbers(learned["centre"]) if "centre" in learned else None,
        "weights": plain_numbers(learned["weights"]) if "weights" in learned else None,
        "scaling": scaling
        and {
            "centre": plain_array(scaling.centre),
            "spread": plain_array(scaling.spread),
        },
        "tolerance": plain_value(getattr(reducer, "tolerance_", None)),
        "penalty": plain_value(getattr(reducer, "penalty_", None)),
        "classes": _plain_classes(getattr(reducer, "classes_", None)),
        "field": None if reducer._layout is None else plain_layout(reducer._layout),
        "trace": {
            name: plain_numbers(column) if column.dtype.kind == "f" else column.tolist()
            for name, column in plain_trace(decisions).items()
        },
    }


def _plain_classes(classes: Any) -> Any:
    try:
        return plain_value(classes)
    except NotPlainError as error:
        raise TypeError(
            f"classes_ holds a value of kind {error}, which JSON cannot hold: fit to labels that "
            "are text or numbers."
        ) from None


def _plain_requests(reducer: Any) -> dict[str, Any] | None:
    """What metadata the reducer asks for in fit, where that was set."""
    requests = vars(reducer).get("_metadata_request")
    return None if requests is None else dict(requests.fit.requests)


def reducer_in(entry: Entry, kind: Any, functions: Mapping[str, Any]) -> Any:
    """The fitted reducer of a kind that a document stands for."""
    known = kind().get_params(deep=False)
    reducer = kind(**parameters_in(entry["parameters"], known, functions))
    _fit_again(reducer, entry["fitted"], functions)
    reducer._more_in(entry["fitted"])
    if not entry["output"].is_null:
        reducer.set_output(transform=entry["output"].word(OUTPUTS))
    if not entry["requests"].is_null:
        _request_again(reducer, entry["requests"])
    return reducer


def _fit_again(reducer: Any, fitted: Entry, functions: Mapping[str, Any]) -> None:
    """Store what a fit had found."""
    groups, labels = _groups_in(fitted["labels"])
    aggregation = _aggregation_in(fitted["aggregation"], functions)
    reducer.groups_, reducer.labels_, reducer.n_groups_ = groups, labels, len(groups)
    reducer.signs_ = _signs_in(fitted["signs"], len(labels))
    reducer.trace_ = _trace_in(fitted["trace"], len(groups), len(labels))
    inputs = fitted["inputs"]
    reducer._inputs = None if inputs.is_null else function_in(inputs, functions)
    reducer._layout = None if fitted["field"].is_null else layout_in(fitted["field"])
    reducer._scaling = _scaling_in(fitted["scaling"], len(labels))
    reducer._aggregation = aggregation
    learned = _learned_in(fitted, aggregation, len(labels))
    reducer._aggregates = aggregates_again(learned, aggregation, groups)
    _features_again(reducer, fitted)
    for name in ("tolerance", "penalty"):
        if not fitted[name].is_null:
            setattr(reducer, f"{name}_", _number_in(fitted[name]))
    if not fitted["classes"].is_null:
        reducer.classes_ = _classes_in(fitted["classes"])


def _groups_in(entry: Entry) -> tuple[list[IntArray], IntArray]:
    """Groups and labels, numbered in the order of first members."""
    labels = np.array(entry.whole_numbers(most=len(entry.values()) - 1), dtype=np.intp)
    numbers, firsts = np.unique(labels, return_index=True)
    in_order = np.array_equal(numbers, np.arange(len(numbers))) and (np.diff(firsts) > 0).all()
    if len(labels) < 2 or not in_order:
        raise entry.wrong("the group of each of two or more inputs, in order of first members")
    members = np.argsort(labels, kind="stable")
    return np.split(members, np.searchsorted(labels[members], numbers[1:])), labels


def _signs_in(entry: Entry, n_inputs: int) -> NDArray[np.float64]:
    signs = np.array(entry.whole_numbers(n_inputs, least=-1, most=1), dtype=np.float64)
    if not signs.all():
        raise entry.wrong("a list of 1 and -1")
    return signs


def _aggregation_in(entry: Entry, functions: Mapping[str, Any]) -> Aggregation:
    if entry.is_object:
        return aggregation_again(function_in(entry, functions))
    return aggregation_again(entry.word([*AGGREGATIONS]))


def _learned_in(fitted: Entry, aggregation: Aggregation, n_inputs: int) -> dict[str, Any]:
    gaps = fitted["gaps"].truth()
    if gaps and over_available(aggregation) is None:
        raise fitted["gaps"].wrong(f"false for aggregation '{aggregation.name}'")
    means = floats_in(fitted["means"], length=n_inputs) if gaps else None
    if not isinstance(aggregation, Linear):
        return {"means": means}
    learned = ((name, fitted[name]) for name in ("centre", "weights"))
    return {"means": means} | {name: floats_in(one, length=n_inputs) for name, one in learned}


def _scaling_in(entry: Entry, n_inputs: int) -> Scaling | None:
    if entry.is_null:
        return None
    centre, spread = array_in(entry["centre"]), array_in(entry["spread"])
    for name, array in (("centre", centre), ("spread", spread)):
        if array.shape != (n_inputs,) or array.dtype.kind != "f":
            raise entry[name].wrong(f"an array of {n_inputs} floats")
    if not (spread > 0).all():
        raise entry["spread"].wrong("an array of numbers of more than 0")
    return Scaling(centre, spread)


def _features_again(reducer: Any, fitted: Entry) -> None:
    """The features of X: how many, and their names where they had some."""
    count = fitted["n_features_in"]
    n_inputs, layout = len(reducer.labels_), reducer._layout
    reducer.n_features_in_ = count.whole(1, max(MOST_FEATURES, n_inputs))
    keeps_number = reducer._inputs is None or reducer._inputs in NUMPY.values()
    if keeps_number and count.value != n_inputs:
        raise count.wrong(f"{n_inputs}, as there are labels")
    if layout is not None and layout.n_columns != count.value:
        raise count.wrong(f"{layout.n_columns}, as there are cells")
    if not fitted["feature_names_in"].is_null:
        names = fitted["feature_names_in"].texts(count.value)
        reducer.feature_names_in_ = np.array(names, dtype=object)


def _trace_in(entry: Entry, n_groups: int, n_inputs: int) -> Trace:
    entry.names(TRACE_DTYPE.names)
    group = entry["group"].whole_numbers(most=n_groups - 1)
    n = len(group)
    return trace_again(
        {
            "group": group,
            "candidate": entry["candidate"].whole_numbers(n, most=n_inputs - 1),
            "price": floats_in(entry["price"], length=n),
            "allowance": floats_in(entry["allowance"], length=n),
            "accepted": entry["accepted"].truths(n),
        }
    )


def _number_in(entry: Entry) -> Any:
    number = value_in(entry)
    if not isinstance(number, Real) or isinstance(number, bool):
        raise entry.wrong("a number")
    return number


def _classes_in(entry: Entry) -> Any:
    classes = value_in(entry)
    for one in classes if isinstance(classes, list) else [classes]:
        if one is not None and not (isinstance(one, np.ndarray) and one.ndim == 1):
            raise entry.wrong("an array of classes, or a list of those")
    return classes


def _request_again(reducer: Any, entry: Entry) -> None:
    known = ("sample_weight", "groups", "offset", "exposure")
    requests = {name: entry[name].value for name in entry.names(known)}
    try:
        with config_context(enable_metadata_routing=True):
            reducer.set_fit_request(**requests)
    except (TypeError, ValueError):
        raise entry.wrong("what the fit of this reducer can ask for") from None
