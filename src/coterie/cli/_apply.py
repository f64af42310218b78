"""A model and a table: the columns that it needs, and the groups that take their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._data.tables import TableError, near, numbers_of
from coterie.cli._frames import named

if TYPE_CHECKING:
    import polars


def features_in(frame: polars.DataFrame, reducer: Any, where: str) -> Any:
    """The features of a model in a table, with names if the model knows them."""
    names = _needed(reducer, frame, where)
    values = numbers_of(frame, names, what="column")
    _check_gaps(reducer, values, names, where)
    has_names = getattr(reducer, "feature_names_in_", None) is not None
    return named(values, names) if has_names else values


def _needed(reducer: Any, frame: polars.DataFrame, where: str) -> list[str]:
    """The columns that a model needs, all of which the table has."""
    known = reducer._names_seen()
    if known is None:
        if frame.width != reducer.n_features_in_:
            raise TableError(
                f"The model has no names for its {reducer.n_features_in_} features, and {where} "
                f"has {frame.width} columns: give a table with just those, in their order."
            )
        return frame.columns
    names = [str(name) for name in known]
    there = {*frame.columns}
    missing = [name for name in names if name not in there]
    if missing:
        alike = near(missing[0], sorted(there - {*names}))
        advice = f" It has {alike!r}: rename it?" if alike else ""
        count = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise TableError(f"{where} lacks {missing[0]!r}{count}, which the model needs.{advice}")
    return names


def _check_gaps(reducer: Any, values: Any, names: list[str], where: str) -> None:
    """Raise where values lack that the model cannot do without."""
    missing = np.argwhere(np.isnan(values))
    if len(missing) and reducer.missing == "error":
        row, column = missing[0]
        raise TableError(
            f"{where} lacks a value of {names[column]!r} in row {row + 1}, and the model was "
            "fitted to a table without gaps: fill them in, or fit it again to a table with gaps."
        )


def reduced(reducer: Any, X: Any, others: polars.DataFrame) -> polars.DataFrame:
    """The aggregates, with some columns of the table beside them, which keep their names."""
    import polars

    taken = {*others.columns}
    names = [
        f"{name} (group)" if name in taken else name for name in reducer.get_feature_names_out()
    ]
    return polars.concat([named(reducer._transformed(X), names), others], how="horizontal")
