"""A reducer from the options of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._data.name_coordinates import axis_from_names, plane_from_names
from coterie._data.neighbours import coordinates_to_graph
from coterie._data.tables import TableError
from coterie.cli._options import ColumnOptions, MethodOptions
from coterie.cli._roles import PreparedTable, match_names
from coterie.estimators import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie.report.studies import FAMILY_OF, reducer_for, reducer_with_tolerance

METHODS = {
    "coterie": Coterie,
    "nonlin": NonLinCFA,
    "genlin": GenLinCFA,
    "lin": LinCFA,
    "mutual": MutualCFA,
}


# With these parameters and no method, the rule of the paper is meant.
OF_THE_PAPER = ("tolerance", "search", "scale")


def build_reducer(
    method: MethodOptions,
    columns: ColumnOptions,
    data: PreparedTable,
    *,
    needs_tolerance: bool = False,
) -> Any:
    """The reducer that the options ask for; one with a tolerance, if that is needed."""
    parameters = _parameters(method, columns, data)
    task = data.task.name
    if method.method == "auto" and method.family is None:
        is_papers = needs_tolerance or any(name in parameters for name in OF_THE_PAPER)
        reducer = reducer_with_tolerance(task) if is_papers else reducer_for(task)
    else:
        reducer = METHODS["genlin" if method.method == "auto" else method.method]()
    known = reducer.get_params(deep=False)
    if isinstance(reducer, Coterie):
        # It takes missing values as they are.
        parameters = {"task": task} | {
            name: one for name, one in parameters.items() if name != "missing"
        }
    elif "family" in known:
        reducer.set_params(family=method.family or FAMILY_OF[task])
    elif task == "classes" and not isinstance(reducer, MutualCFA):
        raise TableError(
            f"--method {method.method} needs a numeric target: use --task regression, or "
            "--method genlin."
        )
    for name in parameters:
        if name not in known:
            raise TableError(
                f"{_flag_of_parameter(name)} is not supported by {type(reducer).__name__}."
            )
    return reducer.set_params(**parameters)


def _flag_of_parameter(name: str) -> str:
    return {
        "n_groups": "--groups",
        "connectivity": "--neighbours",
        "missing": "A missing value",
    }.get(name, f"--{name.replace('_', '-')}")


def _parameters(
    method: MethodOptions, columns: ColumnOptions, data: PreparedTable
) -> dict[str, Any]:
    """The parameters that differ from the defaults."""
    names = data.X.columns
    given = {
        "tolerance": _parse_tolerance(method.tolerance),
        "n_groups": method.n_groups,
        "search": method.search,
        "aggregation": method.aggregation,
        "max_group_size": method.max_group_size,
        "signs": method.signs or None,
        "scale": method.scale or None,
        "connectivity": _neighbour_graph(method.neighbours, names),
        "keep": match_names(columns.keep, names, "--keep") or None,
        "separate": _parse_separate(columns, names),
        "missing": "pairwise" if data.n_missing else None,
        "family": None if method.method in ("auto", "genlin") else method.family,
    }
    return {name: value for name, value in given.items() if value is not None}


def _parse_tolerance(text: str | None) -> Any:
    if text is None or text in ("auto", "aic", "bic", "ric"):
        return text
    try:
        return float(text)
    except ValueError:
        raise TableError(
            f"--tolerance must be auto, aic, bic, ric or a number, got {text!r}."
        ) from None


def _parse_separate(columns: ColumnOptions, names: list[str]) -> list[list[str]] | None:
    """Lists of features that are never merged with each other: the given ones, and the rest."""
    words = [[word.strip() for word in text.split(",")] for text in columns.separate]
    lists = [match_names(each, names, "--separate") for each in words]
    used = {name for each in lists for name in each} | {*match_names(columns.keep, names, "--keep")}
    others = [name for name in names if name not in used]
    return [*lists, others] if lists and others else lists or None


def _neighbour_graph(distance: float | None, names: list[str]) -> Any:
    """The graph of neighbouring features, by the coordinates in their names."""
    if distance is None:
        return None
    plane, axis = plane_from_names(names), axis_from_names(names)
    if plane is not None:
        return coordinates_to_graph(np.column_stack([plane.across, plane.up]), distance)
    if axis is not None:
        return coordinates_to_graph(axis.positions, distance)
    raise TableError(
        "--neighbours needs coordinates in the columns' names, such as lon120_lat-30, x3_y7 or "
        f"rising wavelengths; {names[0]!r} or another column has none."
    )
