"""What a fitted reducer is made of, as plain arrays, for files of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from coterie._core.aggregations import AGGREGATIONS, Aggregation, Custom, Linear
from coterie._core.fit import (
    Features,
    Fit,
    LinearAggregates,
    PlainAggregates,
    Scaling,
)
from coterie._core.joint import INPUTS
from coterie._core.values import TRACE_DTYPE, IntArray, Trace
from coterie._data.moments import Moments
from coterie._data.parameters import checked_aggregation


def plain_aggregation(aggregation: Aggregation) -> Any:
    """The name of an aggregation of ours, or what the user gave."""
    if isinstance(aggregation, Custom):
        return aggregation.function if aggregation.given is None else aggregation.given
    return aggregation.name if aggregation in AGGREGATIONS.values() else aggregation


def aggregation_again(plain: Any) -> Aggregation:
    """The aggregation of a name, a function or an object."""
    return checked_aggregation(plain)


def plain_aggregates(aggregates: LinearAggregates | PlainAggregates) -> dict[str, Any]:
    """What was learned about the aggregates: where linear, a centre and a weight per input."""
    if isinstance(aggregates, PlainAggregates):
        return {"means": aggregates.means}
    return {
        "means": aggregates.means,
        "centre": aggregates.centre,
        "weights": aggregates.weight_of_each,
        "spread": aggregates.spread,
    }


def aggregates_again(
    plain: Mapping[str, Any], aggregation: Aggregation, groups: Sequence[IntArray]
) -> LinearAggregates | PlainAggregates:
    """The aggregates again."""
    if isinstance(aggregation, Linear):
        return LinearAggregates.with_weights(
            plain["centre"], plain["weights"], groups, plain["means"], plain.get("spread")
        )
    return PlainAggregates(aggregation, groups, plain["means"])


def plain_trace(trace: Trace) -> dict[str, Any]:
    """One array for each column of the trace."""
    return {name: np.ascontiguousarray(trace[name]) for name in TRACE_DTYPE.names or ()}


def trace_again(columns: Mapping[str, Any]) -> Trace:
    """The trace again."""
    trace = np.empty(len(columns["group"]), dtype=TRACE_DTYPE)
    for name, column in columns.items():
        trace[name] = column
    return trace.view(np.recarray)


def plain_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a frozen value; None for None."""
    return None if value is None else {one.name: getattr(value, one.name) for one in fields(value)}


def _plain_fit(fit: Fit) -> dict[str, Any]:
    """What the attributes of a reducer do not say about its fit."""
    return {
        "aggregation": plain_aggregation(fit.aggregation),
        "aggregates": plain_aggregates(fit.aggregates),
        "features": plain_fields(replace(fit.features, scaling=None, inputs=None)),
        "inputs": plain_inputs(fit.features.inputs),
        "scaling": plain_fields(fit.features.scaling),
        "n_samples": fit.n_samples,
        "constant": fit.constant,
        "spread": fit.spread,
        "standardised": fit.standardised,
    }


def plain_inputs(inputs: Any) -> Any:
    """Inputs that Coterie has made as a dict of arrays; others as they are."""
    for word, kind in INPUTS.items():
        if isinstance(inputs, kind):
            return {"is": word, **(plain_fields(inputs) or {})}
    return inputs


def inputs_again(plain: Any) -> Any:
    """The inputs again."""
    if isinstance(plain, dict):
        kind: Any = INPUTS[plain["is"]]
        return kind(**{name: one for name, one in plain.items() if name != "is"})
    return plain


def _fit_again(plain: Mapping[str, Any], state: Mapping[str, Any]) -> Fit:
    aggregation = aggregation_again(plain["aggregation"])
    scaling = plain["scaling"] and Scaling(**plain["scaling"])
    return Fit(
        labels=state["labels_"],
        groups=state["groups_"],
        signs=state["signs_"],
        trace=state["trace_"],
        aggregation=aggregation,
        aggregates=aggregates_again(plain["aggregates"], aggregation, state["groups_"]),
        features=replace(
            Features(**plain["features"]), scaling=scaling, inputs=inputs_again(plain["inputs"])
        ),
        classes=state.get("classes_"),
        tolerance=state.get("tolerance_"),
        penalty=state.get("penalty_"),
        n_samples=plain["n_samples"],
        constant=plain["constant"],
        spread=plain["spread"],
        standardised=plain["standardised"],
        n_refused=state.get("n_refused_"),
    )


def plain_state(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a reducer with arrays in place of our own kinds of values."""
    plain = dict(state)
    if "_moments" in state:
        plain["_moments"] = state["_moments"].plain()
    if "fit_" in state:
        plain["fit_"] = _plain_fit(state["fit_"])
        plain["trace_"] = plain_trace(state["trace_"])
    return plain


def state_again(plain: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a reducer again."""
    state = dict(plain)
    if "_moments" in plain:
        state["_moments"] = Moments.again(**plain["_moments"])
    if "fit_" in plain:
        state["trace_"] = trace_again(plain["trace_"])
        state["fit_"] = _fit_again(plain["fit_"], state)
    return state
