"""A reducer from the options of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._data.name_coordinates import axis_from_names, plane_from_names
from coterie._data.neighbours import coordinates_to_graph
from coterie._data.tables import TableError
from coterie.cli._options import ColumnOptions, MethodOptions
from coterie.cli._roles import PreparedTable, match_features
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
# In the mean of two features of more different spreads, the one drowns the other.
MAX_SPREAD_RATIO = 10


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
    if "scale" in known and method.scale is None and _spreads_differ(data):
        parameters["scale"] = True
    for name in parameters:
        if name not in known:
            raise TableError(
                f"{_flag_of_parameter(name)} is not supported by {type(reducer).__name__}."
            )
    return reducer.set_params(**parameters)


def _spreads_differ(data: PreparedTable) -> bool:
    """Whether the mean of two features may be as good as that of one."""
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = np.nanstd(data.X.to_numpy(), axis=0)
    spreads = spreads[spreads > 0]
    return bool(len(spreads)) and spreads.max() > MAX_SPREAD_RATIO * spreads.min()


def scale_notes(method: MethodOptions, reducer: Any) -> list[str]:
    """That features were standardised without being asked."""
    if method.scale is not None or not getattr(reducer, "scale", None):
        return []
    note = (
        f"The spreads of features differ more than {MAX_SPREAD_RATIO} times, so they were "
        "standardised, and groups are means of standardised features. --no-scale groups them in "
        "their own units."
    )
    return [note]


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
        "scale": method.scale,
        "connectivity": _neighbour_graph(method.neighbours, names),
        "keep": match_features(columns.keep, data, "--keep") or None,
        "separate": _parse_separate(columns, data),
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


def _parse_separate(columns: ColumnOptions, data: PreparedTable) -> list[list[str]] | None:
    """Lists of features that are never merged with each other: the given ones, and the rest."""
    lists = [match_features([text], data, "--separate") for text in columns.separate]
    used = {name for each in lists for name in each}
    used |= {*match_features(columns.keep, data, "--keep")}
    others = [name for name in data.X.columns if name not in used]
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
