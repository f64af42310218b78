"""Transform rows where they are stored, such as in a Dask or Spark cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn import get_config

from coterie._core.devices import given_back, is_foreign
from coterie._core.fit import same_kind
from coterie._data.engines import Carried
from coterie._data.fields import is_field
from coterie._data.training import (
    engine_for,
    inputs_of,
    is_out_of_memory,
    table_as_in_fit,
    taken_to_apply,
)

# Attributes of a fitted reducer that transform needs, besides its parameters and its fit.
ATTRIBUTES = (
    "n_features_in_",
    "feature_names_in_",
    "n_groups_",
    "labels_",
    "groups_",
    "signs_",
)


@dataclass(frozen=True)
class LightTransform:
    """A function of rows and a fitted reducer, without the trace.

    It is sent to every worker, and traces can have millions of rows.
    """

    reducer: Any
    function: Any

    @classmethod
    def of(cls, reducer: Any, function: Any) -> LightTransform:
        """The function with a copy of the reducer that has only what transform needs."""
        known = vars(reducer)
        attributes = {**reducer.get_params(deep=False), "connectivity": None}
        attributes |= {name: known[name] for name in ATTRIBUTES if name in known}
        fit = reducer.fit_.without_trace()
        return cls(_alike(reducer, {**attributes, "fit_": fit, "trace_": fit.trace}), function)

    def __call__(self, rows: Any) -> Any:
        """The result of the function for some rows; feature names are dropped for an array."""
        known = dict(vars(self.reducer))
        if not hasattr(rows, "columns"):
            known.pop("feature_names_in_", None)
        return self.function(_alike(self.reducer, known), rows)


def _alike(reducer: Any, attributes: dict[str, Any]) -> Any:
    """A reducer of the same class, with these attributes and no others."""
    made = object.__new__(type(reducer))
    made.__dict__.update(attributes)
    return made


def transformed_rows(reducer: Any, X: Any) -> Any:
    """The aggregates of rows in memory or on a device."""
    return same_kind(reducer.fit_.transform(inputs_of(reducer, X)), X)


def transformed(reducer: Any, X: Any) -> Any:
    """The aggregates of X: in memory, on a device, or where an engine keeps the rows."""
    if is_out_of_memory(X):
        return transformed_remotely(reducer, X)
    if is_foreign(X):
        return given_back(transformed_rows(reducer, taken_to_apply(reducer, X)), X)
    values = transformed_rows(reducer, X)
    if not is_field(X) or output_is_set(reducer):
        return values
    names = reducer.get_feature_names_out()
    return reducer.fit_.features.layout.samples(values, X, names)


def transformed_remotely(reducer: Any, X: Any) -> Any:
    """The aggregates as a lazy table, computed where the rows are stored."""
    if output_is_set(reducer):
        raise ValueError(
            "set_output makes frames in memory, and the rows of X are not there: use "
            "set_output(transform='default'), or load X first."
        )
    features, names = reducer.fit_.features, reducer.get_feature_names_out()
    table = table_as_in_fit(features, X) if is_field(X) else X
    carried = Carried(
        LightTransform.of(reducer, transformed_rows),
        _as_text(getattr(reducer, "feature_names_in_", None)),
        [str(name) for name in names],
        reducer.fit_.weighted_sum,
        features.n_features,
        features.inputs is None,
    )
    values = engine_for(table).transformed(table, carried)
    return features.layout.samples(values, X, names) if is_field(X) else values


def carried_back(reducer: Any, function: Any, names_out: list[str]) -> Carried:
    """What the engine needs to turn aggregates back into features (inverse_transform)."""
    return Carried(
        LightTransform.of(reducer, function),
        [str(name) for name in reducer.get_feature_names_out()],
        names_out,
        _no_way_back,
        reducer.n_groups_,
        False,
    )


def _as_text(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _no_way_back() -> Any:
    raise ValueError(
        "Only aggregates can be sent as weighted sums, not the way back: load X first."
    )


def output_is_set(estimator: Any) -> bool:
    """Whether the output of transform is configured, by ``set_output`` or globally."""
    own = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return (own or get_config()["transform_output"]) != "default"
