"""Rows that are not in memory: who needs them here, and what goes to where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coterie._core.devices import check_on_host
from coterie._data.engines import Engine, engine_of
from coterie._data.fields import is_lazy
from coterie._data.validation import library_of

# What transform needs of a fit, beside the parameters.
NEEDED = (
    "n_features_in_",
    "feature_names_in_",
    "labels_",
    "groups_",
    "n_groups_",
    "signs_",
    "tolerance_",
    "_aggregates",
    "_aggregation",
    "_inputs",
    "_layout",
    "_scaling",
)


def is_elsewhere(X: Any) -> bool:
    """Whether the rows of a table or a field are not in memory."""
    return library_of(X) is not None or is_lazy(X)


def engine_for(table: Any) -> Engine:
    """The engine of a table whose rows are not in memory."""
    engine = engine_of(table)
    if engine is None:
        raise TypeError(f"X is made of {type(table).__name__}, and is not in memory: load X first.")
    return engine


def check_in_memory(X: Any, why: str) -> None:
    """Raise where rows are needed here and lie elsewhere."""
    if is_elsewhere(X):
        raise ValueError(f"{why}, and those of X are not in memory: load X first.")


def check_rows_here(X: Any, why: str) -> None:
    """Raise where rows are needed one by one, and lie elsewhere or on a device."""
    check_on_host(X)
    check_in_memory(X, why)


@dataclass(frozen=True)
class OfRows:
    """A method of a fitted reducer that takes rows, without what only people want to know.

    Traces have millions of lines, and every worker would get them.
    """

    reducer: Any
    method: str

    @classmethod
    def light(cls, reducer: Any, method: str) -> OfRows:
        """The method of a copy that can do no more."""
        known = vars(reducer)
        parameters = {**reducer.get_params(deep=False), "connectivity": None}
        fitted = {name: known[name] for name in NEEDED if name in known}
        trace = {"trace_": known["trace_"][:0]}
        return cls(_alike(reducer, {**parameters, **fitted, **trace}), method)

    def __call__(self, rows: Any) -> Any:
        """What the method makes of some rows; an array needs no names."""
        known = dict(vars(self.reducer))
        if not hasattr(rows, "columns"):
            known.pop("feature_names_in_", None)
        return getattr(_alike(self.reducer, known), self.method)(rows)


def _alike(reducer: Any, attributes: dict[str, Any]) -> Any:
    """A reducer of the same kind, with these attributes and no others."""
    made = object.__new__(type(reducer))
    made.__dict__.update(attributes)
    return made
