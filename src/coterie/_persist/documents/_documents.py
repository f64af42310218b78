"""A fitted reducer as a document of plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from coterie._core.aggregations import AGGREGATIONS, Aggregation, Linear, over_available
from coterie._core.fit import Features, Fit, Scaling
from coterie._core.joint import INPUTS
from coterie._core.values import TRACE_DTYPE, IntArray, Trace
from coterie._data.fields import layout_in, plain_layout
from coterie._persist.documents._functions import (
    NUMPY,
    Naming,
    aggregation_in,
    checked_functions,
    function_in,
    plain_function,
)
from coterie._persist.documents._joint import plain_joint
from coterie._persist.documents._parameters import (
    check_no_transformer,
    plain_parameters,
)
from coterie._persist.documents._state import (
    aggregates_again,
    aggregation_again,
    inputs_again,
    plain_aggregates,
    plain_aggregation,
    plain_inputs,
    plain_trace,
    trace_again,
)
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

FORMAT, VERSION = "coterie", 2
OUTPUTS = ("default", "pandas", "polars")
# Functions may give fewer inputs than there are features, which then have no list in the file.
MAX_FEATURES = 10**7


def document_of(reducer: Any, functions: Any = None) -> dict[str, Any]:
    """All of a fitted reducer as plain values."""
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
        "fitted": _plain_fit(reducer.fit_, naming) | _plain_choice(reducer),
        "output": vars(reducer).get("_sklearn_output_config", {}).get("transform"),
        "requests": _plain_requests(reducer),
    }


def _plain_fit(fit: Fit, naming: Naming) -> dict[str, Any]:
    features = fit.features
    check_no_transformer(features.inputs)
    aggregation = plain_aggregation(fit.aggregation)
    learned = plain_aggregates(fit.aggregates)
    names = None if features.layout is not None else features.names
    return {
        "n_features_in": features.n_features,
        "feature_names_in": None if names is None else [str(name) for name in names],
        "labels": fit.labels.tolist(),
        "signs": [int(sign) for sign in fit.signs],
        "inputs": _plain_inputs(features.inputs, naming),
        "aggregation": aggregation if isinstance(aggregation, str) else naming.plain(aggregation),
        "gaps": learned["means"] is not None,
        "means": None if learned["means"] is None else plain_numbers(learned["means"]),
        "centre": plain_numbers(learned["centre"]) if "centre" in learned else None,
        "weights": plain_numbers(learned["weights"]) if "weights" in learned else None,
        "spread": plain_array(learned["spread"]) if learned.get("spread") is not None else None,
        "standardised": None if fit.standardised is None else fit.standardised.tolist(),
        "n_refused": None if fit.n_refused is None else fit.n_refused.tolist(),
        "scaling": features.scaling
        and {
            "centre": plain_array(features.scaling.centre),
            "spread": plain_array(features.scaling.spread),
        },
        "penalty": plain_value(fit.penalty),
        "classes": _plain_classes(fit.classes),
        "field": None if features.layout is None else plain_layout(features.layout),
        "trace": {
            name: plain_numbers(column) if column.dtype.kind == "f" else column.tolist()
            for name, column in plain_trace(fit.trace).items()
        },
    }


def _plain_choice(reducer: Any) -> dict[str, Any]:
    """The tolerance that was found or chosen, and the path on which it was."""
    tolerance = {"tolerance": plain_value(getattr(reducer, "tolerance_", None))}
    path = getattr(reducer, "path_", None)
    if path is None:
        return tolerance
    if isinstance(path, dict):
        return tolerance | {"joint": plain_joint(reducer)}
    return tolerance | {"path": {name: plain_array(one) for name, one in vars(path).items()}}


def _plain_inputs(inputs: Any, naming: Naming) -> Any:
    plain = plain_inputs(inputs)
    if isinstance(plain, dict):
        return {
            name: plain_array(one) if isinstance(one, np.ndarray) else one
            for name, one in plain.items()
        }
    return None if inputs is None else plain_function(inputs, naming)


def _inputs_in(entry: Entry, functions: Mapping[str, Any]) -> Any:
    if entry.is_null:
        return None
    word = entry.value.get("is") if entry.is_object else None
    if word not in [*INPUTS]:
        return function_in(entry, functions)
    names = [one.name for one in fields(INPUTS[word])]
    arrays = {name: array_in(entry[name]) for name in names}
    for name, array in arrays.items():
        if array.dtype.kind != "f" or array.ndim != (1 if word == "clip" else 2):
            raise entry[name].wrong("an array of floats")
    return inputs_again({"is": word, **arrays})


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


def fit_in(fitted: Entry, functions: Mapping[str, Any]) -> Fit:
    """The fit that a document stands for."""
    groups, labels = _groups_in(fitted["labels"])
    aggregation = _aggregation_in(fitted["aggregation"], functions)
    learned = _learned_in(fitted, aggregation, len(labels))
    numbers = {
        name: None if fitted[name].is_null else _number_in(fitted[name])
        for name in ("tolerance", "penalty")
    }
    return Fit(
        labels=labels,
        groups=groups,
        signs=_signs_in(fitted["signs"], len(labels)),
        trace=_trace_in(fitted["trace"], len(groups), len(labels)),
        aggregation=aggregation,
        aggregates=aggregates_again(learned, aggregation, groups),
        features=_features_in(fitted, len(labels), functions),
        classes=None if fitted["classes"].is_null else _classes_in(fitted["classes"]),
        standardised=_standardised_in(fitted, len(groups)),
        n_refused=_n_refused_in(fitted, len(groups)),
        **numbers,
    )


def restore_settings(reducer: Any, entry: Entry) -> None:
    """Set what kind of frames a reducer gives, and what metadata it asks for, as when saved."""
    if not entry["output"].is_null:
        reducer.set_output(transform=entry["output"].word(OUTPUTS))
    if not entry["requests"].is_null:
        _request_again(reducer, entry["requests"])


def _groups_in(entry: Entry) -> tuple[list[IntArray], IntArray]:
    """Groups and labels, numbered in the order of first members."""
    most = len(entry.values()) - 1
    labels = np.array(entry.whole_numbers(least=-1, most=most), dtype=np.intp)
    numbers, firsts = np.unique(labels, return_index=True)
    if len(numbers) and numbers[0] < 0:
        numbers, firsts = numbers[1:], firsts[1:]
    in_order = np.array_equal(numbers, np.arange(len(numbers))) and (np.diff(firsts) > 0).all()
    if len(labels) < 2 or not len(numbers) or not in_order:
        raise entry.wrong("the group of each of two or more inputs, in order of first members")
    members = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    return np.split(members, np.searchsorted(labels[members], numbers[1:])), labels


def _signs_in(entry: Entry, n_inputs: int) -> NDArray[np.float64]:
    signs = np.array(entry.whole_numbers(n_inputs, least=-1, most=1), dtype=np.float64)
    if not signs.all():
        raise entry.wrong("a list of 1 and -1")
    return signs


def _aggregation_in(entry: Entry, functions: Mapping[str, Any]) -> Aggregation:
    if entry.is_object:
        return aggregation_again(aggregation_in(entry, functions))
    return aggregation_again(entry.word([*AGGREGATIONS]))


def _learned_in(fitted: Entry, aggregation: Aggregation, n_inputs: int) -> dict[str, Any]:
    gaps = fitted["gaps"].truth()
    if gaps and over_available(aggregation) is None:
        raise fitted["gaps"].wrong(f"false for aggregation '{aggregation.name}'")
    means = floats_in(fitted["means"], length=n_inputs) if gaps else None
    if not isinstance(aggregation, Linear):
        return {"means": means}
    learned = ((name, fitted[name]) for name in ("centre", "weights"))
    found = {name: floats_in(one, length=n_inputs) for name, one in learned}
    return {"means": means, "spread": _spread_in(fitted, n_inputs), **found}


def _spread_in(fitted: Entry, n_inputs: int) -> Any:
    entry = fitted.get("spread")
    if entry is None or entry.is_null:
        return None
    spread = array_in(entry)
    if spread.shape != (n_inputs,) or spread.dtype.kind != "f" or not (spread > 0).all():
        raise entry.wrong(f"an array of {n_inputs} numbers of more than 0")
    return spread


def _standardised_in(fitted: Entry, n_groups: int) -> Any:
    entry = fitted.get("standardised")
    if entry is None or entry.is_null:
        return None
    return np.array(entry.truths(n_groups), dtype=bool)


def _n_refused_in(fitted: Entry, n_groups: int) -> IntArray | None:
    entry = fitted.get("n_refused")
    if entry is None or entry.is_null:
        return None
    return np.array(entry.whole_numbers(n_groups, most=2**53), dtype=np.intp)


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


def _features_in(fitted: Entry, n_inputs: int, functions: Mapping[str, Any]) -> Features:
    """The features of X: how many, their names where they had some, and how they become inputs."""
    count, given = fitted["n_features_in"], fitted["inputs"]
    inputs = _inputs_in(given, functions)
    layout = None if fitted["field"].is_null else layout_in(fitted["field"])
    n_features = count.whole(1, max(MAX_FEATURES, n_inputs))
    is_ours = isinstance(inputs, tuple(INPUTS.values()))
    keeps_number = inputs is None or is_ours or inputs in NUMPY.values()
    if keeps_number and n_features != n_inputs:
        raise count.wrong(f"{n_inputs}, as there are labels")
    if layout is not None and layout.n_columns != n_features:
        raise count.wrong(f"{layout.n_columns}, as there are cells")
    names: Any = None if layout is None else layout.names
    if not fitted["feature_names_in"].is_null:
        names = fitted["feature_names_in"].texts(n_features)
    return Features(
        n_features,
        None if names is None else np.array(names, dtype=object),
        inputs,
        _scaling_in(fitted["scaling"], n_inputs),
        layout,
        fitted["gaps"].truth(),
    )


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
