"""What a fitted reducer is made of, as plain arrays, for files of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from coterie._core.aggregations import AGGREGATIONS, Aggregation, Custom, Linear
from coterie._core.values import TRACE_DTYPE, IntArray, Trace
from coterie.estimators._aggregates import LinearAggregates, PlainAggregates


def plain_aggregation(aggregation: Aggregation) -> Any:
    """The name of an aggregation, or the user's function."""
    return aggregation.function if isinstance(aggregation, Custom) else aggregation.name


def aggregation_again(plain: Any) -> Aggregation:
    """The aggregation of a name or a function."""
    return AGGREGATIONS[plain] if isinstance(plain, str) else Custom(plain)


def plain_aggregates(aggregates: LinearAggregates | PlainAggregates) -> dict[str, Any]:
    """What was learned about the aggregates: where linear, a centre and a weight per input."""
    if isinstance(aggregates, PlainAggregates):
        return {"means": aggregates.means}
    return {
        "means": aggregates.means,
        "centre": aggregates.centre,
        "weights": aggregates.weight_of_each,
    }


def aggregates_again(
    plain: Mapping[str, Any], aggregation: Aggregation, groups: Sequence[IntArray]
) -> LinearAggregates | PlainAggregates:
    """The aggregates again."""
    if isinstance(aggregation, Linear):
        return LinearAggregates.with_weights(
            plain["centre"], plain["weights"], groups, plain["means"]
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
    """The fields of a frozen value, or the plain values that one names; None if there is none."""
    if hasattr(value, "plain"):
        return value.plain()
    return None if value is None else {one.name: getattr(value, one.name) for one in fields(value)}


def plain_state(state: dict[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a reducer with arrays in place of our own kinds of values."""
    plain = {name: plain_fields(value) if name in kinds else value for name, value in state.items()}
    if "_aggregates" in state:
        aggregation = state["_aggregation"]
        plain["_aggregates"] = plain_aggregates(state["_aggregates"])
        plain["_aggregation"] = plain_aggregation(aggregation)
        plain["trace_"] = plain_trace(state["trace_"])
    return plain


def state_again(plain: dict[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a reducer again."""
    state = {
        name: kinds[name](**value) if name in kinds and value is not None else value
        for name, value in plain.items()
    }
    if "_aggregates" in plain:
        aggregation = aggregation_again(plain["_aggregation"])
        groups = plain["groups_"]
        state["_aggregates"] = aggregates_again(plain["_aggregates"], aggregation, groups)
        state["_aggregation"] = aggregation
        state["trace_"] = trace_again(plain["trace_"])
    return state
