"""Apply a model to a table: select its features, and compute the aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._data.preparation import TablePreparer
from coterie._data.tables import TableError, closest_name, columns_to_floats
from coterie.cli._frames import frame_from_array
from coterie.cli._roles import as_table_error_of_values
from coterie.estimators import inputs_of

if TYPE_CHECKING:
    import polars


def prepare_new_rows(
    frame: polars.DataFrame, reducer: Any, preparer: TablePreparer | None, where: str
) -> polars.DataFrame:
    """The table as the model was fitted to it: with its categories, dates and text encoded.

    Columns that the model leaves out need not be there: they come as missing values.
    """
    kinds = {} if preparer is None else {one.name: one.kind for one in preparer.columns_}
    lacking = [name for name in unused_columns(reducer, preparer) if name not in frame.columns]
    frame = frame.with_columns(_nothing(name, kinds.get(name, "number")) for name in lacking)
    if preparer is None:
        return frame
    _check_present([one.name for one in preparer.columns_ if one.outputs], frame, where)
    with as_table_error_of_values():
        return preparer.transform(frame)


def unused_columns(reducer: Any, preparer: TablePreparer | None) -> list[str]:
    """The columns of a table that a model leaves out, if it takes missing values."""
    # With inputs of the user's own, a feature may be part of several inputs.
    if getattr(reducer, "inputs_", "own") == "own" or not reducer.fit_.features.missing:
        return []
    names = reducer.fit_.features.names
    unused = [] if names is None else [str(names[one]) for one in reducer.rest_]
    if preparer is None:
        return unused
    made = {one.name: one.outputs for one in preparer.columns_ if one.outputs}
    return [name for name, outputs in made.items() if {*outputs} <= {*unused}]


def _nothing(name: str, kind: str) -> polars.Expr:
    """A column of missing values."""
    import polars

    types: dict[str, Any] = {"text": polars.String, "date": polars.Datetime}
    return polars.lit(None).cast(types.get(kind, polars.Float64)).alias(name)


def model_features(frame: polars.DataFrame, reducer: Any, where: str) -> Any:
    """The features that a model needs from a table, with names if the model has them."""
    names = _required_columns(reducer, frame, where)
    values = columns_to_floats(frame, names, what="column")
    _check_missing_values(reducer, values, names, where)
    has_names = getattr(reducer, "feature_names_in_", None) is not None
    return frame_from_array(values, names) if has_names else values


def _required_columns(reducer: Any, frame: polars.DataFrame, where: str) -> list[str]:
    """Names of the columns that a model needs; raise if the table lacks one."""
    known = reducer.fit_.features.names
    if known is None:
        if frame.width != reducer.n_features_in_:
            raise TableError(
                f"The model has no names for its {reducer.n_features_in_} features, and {where} "
                f"has {frame.width} columns: give a table with only those columns, in order."
            )
        return frame.columns
    names = [str(name) for name in known]
    _check_present(names, frame, where)
    return names


def _check_present(names: list[str], frame: polars.DataFrame, where: str) -> None:
    """Raise if the table lacks a column, and suggest one to rename."""
    present = {*frame.columns}
    missing = [name for name in names if name not in present]
    if missing:
        similar = closest_name(missing[0], sorted(present - {*names}))
        advice = f" Did you mean to rename {similar!r}?" if similar else ""
        count = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise TableError(f"{where} lacks {missing[0]!r}{count}, which the model needs.{advice}")


def _check_missing_values(reducer: Any, values: Any, names: list[str], where: str) -> None:
    """Raise if values are missing and the model does not support missing values."""
    missing = np.argwhere(np.isnan(values))
    if len(missing) and not reducer.fit_.features.missing:
        row, column = missing[0]
        raise TableError(
            f"{where} lacks a value of {names[column]!r} in row {row + 1}, and the model was "
            "fitted without missing values: fill them in, or fit the model again to a table with "
            "missing values."
        )


def reduce_table(reducer: Any, X: Any, carried: polars.DataFrame) -> polars.DataFrame:
    """The aggregates, followed by the carried columns, which keep their names."""
    import polars

    taken = {*carried.columns}
    names = [
        f"{name} (group)" if name in taken else name for name in reducer.get_feature_names_out()
    ]
    return polars.concat(
        [frame_from_array(reducer.fit_.transform(inputs_of(reducer, X)), names), carried],
        how="horizontal",
    )
