"""Checks of parameters. Errors say what was expected, what was given and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from coterie._core.aggregations import (
    AGGREGATIONS,
    Additive,
    Aggregation,
    Custom,
    Linear,
    LinearSum,
    over_available,
)
from coterie._core.criteria import PENALTIES
from coterie._core.evidence import ComputeOptions, RunningAggregate
from coterie._core.fit import FitSpec, Pricing
from coterie._core.must_link import MustLink
from coterie._core.search import ALONE, SEARCHES, Limits, Search
from coterie._core.values import FloatArray, IntArray
from coterie._data.validation import counted
from coterie.families import FAMILIES, NUMBERED_FAMILIES, Family


def fit_spec(parameters: Mapping[str, Any], pricing: Pricing) -> FitSpec:
    """The checked parameters of a reducer; parameters that it lacks have their default."""
    aggregation = checked_aggregation(parameters["aggregation"])
    _check_inputs(parameters["inputs"])
    scale = checked_flag("scale", parameters["scale"])
    tolerance = _checked_tolerance(parameters["tolerance"]) if "tolerance" in parameters else None
    n_groups = parameters.get("n_groups")
    signs = _checked_signs(parameters.get("signs", False), aggregation, pricing)
    covariance, max_bytes = parameters.get("covariance", "auto"), parameters.get("max_bytes")
    spec = FitSpec(
        tolerance=tolerance,
        n_groups=None if n_groups is None else _checked_size(n_groups, tolerance),
        aggregation=aggregation,
        search=checked_search(parameters["search"]),
        inputs=parameters["inputs"],
        scale=scale,
        signs=signs,
        missing=_checked_missing(
            parameters["missing"], aggregation, signs, parameters["initial_groups"]
        ),
        connectivity=parameters["connectivity"],
        max_group_size=parameters["max_group_size"],
        initial_groups=parameters["initial_groups"],
        keep=parameters["keep"],
        separate=parameters["separate"],
        target_weights=parameters.get("target_weights"),
        compute=_checked_compute(covariance, max_bytes),
        watched=_watched_of(parameters["trace"]),
    )
    _check_covariance_counts(spec, pricing)
    return spec


def joint_spec(parameters: Mapping[str, Any]) -> FitSpec:
    """The checked parameters of Coterie, as far as they are those of all reducers."""
    if parameters["cv"] is None:
        raise ValueError(
            "cv must be a number of folds or a splitter, got None: Coterie scores its groups on "
            "held-out rows."
        )
    aggregation = checked_aggregation(parameters["aggregation"])
    if isinstance(aggregation, Linear) and not isinstance(aggregation, LinearSum):
        raise ValueError(
            f"Coterie has no aggregation='{aggregation.name}', whose weights are learned from the "
            "columns of each group: use 'mean', or NonLinCFA."
        )
    inputs = parameters["inputs"]
    if isinstance(inputs, str):
        checked_word("inputs", inputs, ["auto", "clip", "rank"], also=", None or a transformer")
    else:
        _check_inputs(inputs)
    n_groups = parameters["n_groups"]
    return FitSpec(
        tolerance=None,
        n_groups=None if n_groups is None else checked_count("n_groups", n_groups, least=1),
        aggregation=aggregation,
        search=SEARCHES["best"],
        inputs=inputs,
        scale=False,
        signs=_checked_auto_signs(parameters["signs"], aggregation),
        missing=True,
        connectivity=parameters["connectivity"],
        max_group_size=parameters["max_group_size"],
        initial_groups=parameters["initial_groups"],
        keep=parameters["keep"],
        separate=parameters["separate"],
        target_weights=parameters["target_weights"],
        compute=ComputeOptions("auto", None),
        watched=None,
        needs_folds=True,
    )


def _watched_of(trace: object) -> IntArray | None:
    """The inputs whose refusals the trace has: those of none, or None for those of all."""
    is_complete = checked_word("trace", trace, ("merges", "all")) == "all"
    return None if is_complete else np.empty(0, dtype=np.intp)


def _checked_auto_signs(signs: object, aggregation: Aggregation) -> bool:
    """Whether features may join multiplied by -1; "auto" where the aggregation allows it."""
    allows = isinstance(aggregation, LinearSum)
    if isinstance(signs, str) and signs == "auto":
        return allows
    if not isinstance(signs, bool | np.bool_):
        raise ValueError(f"signs must be 'auto', True or False, got {signs!r}.")
    if signs and not allows:
        raise ValueError(f"signs=True needs aggregation='mean' or 'sum', got '{aggregation.name}'.")
    return bool(signs)


def checked_share(parameter: str, number: object) -> float:
    """The number, if it is from 0 to 1."""
    share = checked_number(parameter, number)
    if share > 1:
        raise ValueError(f"{parameter} must be from 0 to 1, got {number!r}.")
    return share


def checked_flag(parameter: str, flag: object) -> bool:
    """The flag, if it is True or False."""
    if not isinstance(flag, bool | np.bool_):
        raise TypeError(f"{parameter} must be True or False, got {flag!r}.")
    return bool(flag)


def _checked_tolerance(tolerance: object) -> str | float:
    if isinstance(tolerance, str):
        return checked_word("tolerance", tolerance, PENALTIES, also=" or a number")
    return checked_number("tolerance", tolerance)


def checked_search(search: object) -> Search:
    """The search, from its name, a function or a Search."""
    if isinstance(search, Search):
        return search
    if callable(search) and not isinstance(search, type):
        return Search(getattr(search, "__name__", "search"), search)
    return SEARCHES[checked_word("search", search, SEARCHES, also=" or a search")]


def _check_inputs(inputs: object) -> None:
    """Raise if inputs is neither None, a function nor a transformer."""
    if isinstance(inputs, type):
        name = inputs.__name__
        raise TypeError(f"inputs must be an instance, got the class {name}: write {name}().")
    is_transformer = hasattr(inputs, "fit") and hasattr(inputs, "transform")
    if inputs is not None and not is_transformer and not callable(inputs):
        raise TypeError(
            "inputs must be None, a function of the columns or a scikit-learn transformer, "
            f"got {inputs!r}."
        )


def _checked_missing(
    missing: object, aggregation: Aggregation, signs: bool, initial_groups: object
) -> bool:
    """Whether missing values are allowed; raises if other parameters do not support them."""
    if checked_word("missing", missing, ["error", "pairwise"]) == "error":
        return False
    if over_available(aggregation) is None:
        raise ValueError(
            f"missing='pairwise' has no aggregation='{aggregation.name}' of the members that have "
            "a value: use 'mean', 'sum', 'sum_of_squares', 'norm', 'max', 'min' or 'median'."
        )
    if signs or initial_groups is not None:
        name = "signs" if signs else "initial_groups"
        raise ValueError(f"missing='pairwise' goes without {name}: fill the missing values first.")
    return True


def checked_constraints(
    spec: FitSpec, n_inputs: int, names: Callable[[], Sequence[str]]
) -> tuple[Limits, MustLink | None]:
    """The constraints: limits on groups, and the initial groups."""
    size = None
    if spec.max_group_size is not None:
        size = checked_count("max_group_size", spec.max_group_size, least=1)
    limits = Limits(_checked_graph(spec.connectivity, n_inputs), size)
    if spec.initial_groups is None and spec.keep is None and spec.separate is None:
        return limits, None
    named = names()
    must_link = checked_must_link(spec.initial_groups, named, spec.aggregation)
    _check_room(must_link, size, named)
    kinds = _checked_kinds(spec.keep, spec.separate, named, must_link)
    return replace(limits, kinds=kinds), must_link


def checked_word(parameter: str, word: object, words: Iterable[str], also: str = "") -> str:
    """The word, if it is one of `words`; the error suggests the nearest one."""
    words = list(words)
    if isinstance(word, str) and word in words:
        return word
    options = ", ".join(map(repr, words))
    hint = _hint(str(word), words)
    raise ValueError(f"{parameter} must be one of {options}{also}, got {word!r}.{hint}")


def _hint(word: str, words: Sequence[str]) -> str:
    """A question with the nearest of some words, or an empty string."""
    near = get_close_matches(word, words, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def checked_number(parameter: str, number: object, *, positive: bool = False) -> float:
    """The number, if it is 0 or more (or more than 0); infinity is allowed."""
    if not isinstance(number, Real) or isinstance(number, bool | np.bool_):
        raise TypeError(f"{parameter} must be a number, got {number!r}.")
    number = float(number)
    least = "more than 0" if positive else "0 or more"
    if not (number > 0 or (number == 0 and not positive)):
        raise ValueError(f"{parameter} must be {least}, got {number!r}.")
    return number


def check_weights_count(total: float) -> None:
    """Raise if the sum of the weights is too small: weights count rows."""
    if total < 4:
        raise ValueError(
            f"sample_weight sums to {total:g}. Weights count rows: scale them accordingly."
        )


def checked_importance(target_weights: object, n_targets: int) -> FloatArray:
    """The weight of each target, divided by the largest."""
    if target_weights is None:
        return np.ones(n_targets)
    try:
        weights = np.asarray(target_weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"target_weights must list numbers, got {target_weights!r}.") from None
    if weights.shape != (n_targets,):
        raise ValueError(
            f"target_weights must have one number per target, {n_targets}, got {target_weights!r}."
        )
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() > 0):
        raise ValueError(f"target_weights must be 0 or more and not all 0, got {target_weights!r}.")
    return weights / weights.max()


def checked_family(family: object) -> Family:
    """The family, from its name or a Family."""
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in NUMBERED_FAMILIES:
        raise ValueError(
            f"family '{family}' needs a number: write family=coterie.families.{family}(0.5)."
        )
    return FAMILIES[checked_word("family", family, FAMILIES, also=" or a Family")]


def checked_curvature(at: object) -> str | float:
    """Where the curvature of a family is taken, or the curvature as a number."""
    if isinstance(at, str):
        return checked_word("curvature", at, ["zero", "null"], also=" or a number")
    return checked_number("curvature", at, positive=True)


def check_bound(bound: object, curvature: object, tolerance: object) -> None:
    """Raise if bound or curvature is unknown or has no effect."""
    checked_word("bound", bound, ["general", "bivariate", "fitted"])
    at = checked_curvature(curvature)
    if isinstance(tolerance, str) and bound == "bivariate":
        raise ValueError(
            f"bound='bivariate' has no effect with tolerance={tolerance!r}, which takes the "
            "deviance from covariances: give a number as tolerance, or leave bound='general'."
        )
    if at != "zero" and (isinstance(tolerance, str) or bound == "fitted"):
        what = "bound='fitted'" if bound == "fitted" else f"tolerance={tolerance!r}"
        raise ValueError(
            f"curvature={curvature!r} has no effect with {what}: it belongs to the paper's bounds, "
            "for a tolerance that is a number. Leave curvature='zero'."
        )


def checked_aggregation(aggregation: object) -> Aggregation:
    """The aggregation, from its name, a function or an object of the user."""
    if isinstance(aggregation, type):
        name = aggregation.__name__
        raise TypeError(f"aggregation must be an instance, got the class {name}: write {name}().")
    if is_aggregation(aggregation):
        return _own_aggregation(aggregation)
    if callable(aggregation):
        return Custom(aggregation)
    word = checked_word("aggregation", aggregation, AGGREGATIONS, also=" or a function")
    return AGGREGATIONS[word]


def is_aggregation(value: Any) -> bool:
    """Whether an object is an aggregation: it has at least a name and a method values."""
    return isinstance(getattr(value, "name", None), str) and callable(
        getattr(value, "values", None)
    )


def is_extension(value: Any) -> bool:
    """Whether a value is an aggregation, a criterion or a search of the user."""
    is_criterion = callable(getattr(value, "verdict", None))
    return is_criterion or is_aggregation(value) or isinstance(value, Search)


def _own_aggregation(aggregation: Any) -> Aggregation:
    """The aggregation itself, if a search can use it; else a Custom one with its values."""
    if isinstance(aggregation, Additive | RunningAggregate):
        return aggregation  # type: ignore[return-value]
    keeps_single = bool(getattr(aggregation, "keeps_single", False))
    return Custom(aggregation.values, keeps_single, aggregation)


def _checked_size(n_groups: object, tolerance: object) -> int:
    """The number of groups; raises if a tolerance is given too."""
    size = checked_count("n_groups", n_groups, least=1)
    if not isinstance(tolerance, str) or tolerance != "auto":
        raise ValueError(
            f"n_groups={n_groups} finds the tolerance itself: leave tolerance='auto', got "
            f"{tolerance!r}."
        )
    return size


def checked_count(parameter: str, number: object, *, least: int, most: int | None = None) -> int:
    """The number, if it is an int from `least` to `most`."""
    if not isinstance(number, Integral) or isinstance(number, bool):
        raise TypeError(f"{parameter} must be None or an int, got {number!r}.")
    if int(number) < least:
        raise ValueError(f"{parameter} must be {least} or more, got {number}.")
    if most is not None and int(number) > most:
        raise ValueError(f"{parameter} must be {most} or less, got {number}.")
    return int(number)


def _checked_signs(signs: object, aggregation: Aggregation, pricing: Pricing) -> bool:
    """Whether features may join multiplied by -1, which only "mean" and "sum" support."""
    signs = checked_flag("signs", signs)
    if signs and not isinstance(aggregation, LinearSum):
        raise ValueError(f"signs=True needs aggregation='mean' or 'sum', got '{aggregation.name}'.")
    if signs and pricing.row_reason:
        raise ValueError(f"signs=True cannot be used here: {pricing.row_reason}.")
    return signs


def _checked_columns(parameter: str, given: object, place_of: dict[str, int]) -> IntArray:
    """The indices of columns that are given by name or index."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{parameter} must list columns, got {given!r}.")
    places = [_checked_place(parameter, column, place_of) for column in given]
    return np.array(places, dtype=np.intp)


def _checked_place(parameter: str, column: object, place_of: dict[str, int]) -> int:
    # Booleans are integers in Python, and a mask of them would name columns 0 and 1.
    if isinstance(column, bool | np.bool_):
        raise TypeError(
            f"{parameter} must name or number columns, got {bool(column)}. Of a boolean mask, give "
            "np.flatnonzero(mask)."
        )
    if isinstance(column, Integral) and 0 <= int(column) < len(place_of):
        return int(column)
    if not isinstance(column, str):
        raise ValueError(
            f"{parameter} must name columns, or number them from 0 to {len(place_of) - 1}, "
            f"got {column!r}."
        )
    if column not in place_of:
        hint = _hint(column, list(place_of))
        raise ValueError(f"{parameter} names {column!r}, which is no column.{hint}")
    return place_of[column]


def checked_column(parameter: str, column: object, names: Sequence[str]) -> int:
    """The index of one column, which is given by name or index."""
    return _checked_place(parameter, column, _places(names))


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _checked_sets(parameter: str, given: object, names: Sequence[str]) -> list[IntArray]:
    """The indices of columns in each list; raises if a column is in more than one list."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{parameter} must be a list of lists of columns, got {given!r}.")
    place_of = _places(names)
    sets = [_checked_columns(parameter, columns, place_of) for columns in given]
    counts = Counter(place for places in sets for place in places.tolist())
    twice = [names[place] for place, times in counts.items() if times > 1]
    if twice:
        raise ValueError(f"{parameter} has {counted('column', twice)} more than once.")
    return sets


def checked_must_link(
    groups: object, names: Sequence[str], aggregation: Aggregation
) -> MustLink | None:
    """The initial groups; None if there are none."""
    if groups is None:
        return None
    if not isinstance(aggregation, LinearSum):
        raise ValueError(
            f"initial_groups needs aggregation='mean' or 'sum', got '{aggregation.name}'."
        )
    sets = _checked_sets("initial_groups", groups, names)
    return MustLink.of([places for places in sets if len(places)], len(names))


def _checked_kinds(
    keep: object, separate: object, names: Sequence[str], must_link: MustLink | None
) -> IntArray | None:
    """The kind of each column, from keep and separate; see :class:`Limits`."""
    if keep is None and separate is None:
        return None
    kinds = np.zeros(len(names), dtype=np.intp)
    if separate is not None:
        for number, places in enumerate(_checked_sets("separate", separate, names), start=1):
            kinds[places] = number
    if keep is not None:
        kinds[_checked_columns("keep", keep, _places(names))] = ALONE
    for unit in must_link.members if must_link else ():
        kept = kinds[unit] == ALONE
        if len(unit) > 1 and kept.any():
            raise ValueError(
                f"keep and initial_groups both have {counted('column', _named(unit[kept], names))}."
            )
        if len({*kinds[unit].tolist()} - {0}) > 1:
            raise ValueError(
                f"initial_groups puts {counted('column', _named(unit, names))} together, which "
                "separate keeps apart."
            )
    return kinds


def _check_room(must_link: MustLink | None, size: int | None, names: Sequence[str]) -> None:
    """Raise if an initial group is larger than a group may be."""
    if must_link is None or size is None:
        return
    for unit in must_link.members:
        if len(unit) > size:
            raise ValueError(
                f"initial_groups puts {counted('column', _named(unit, names))} together, and "
                f"max_group_size={size} allows no group of {len(unit)}."
            )


def _named(places: IntArray, names: Sequence[str]) -> list[str]:
    return [names[place] for place in places]


def _checked_compute(covariance: object, max_bytes: object) -> ComputeOptions:
    """The options for computing covariances."""
    word = checked_word("covariance", covariance, ["auto", "gram", "columns"])
    return ComputeOptions(
        word, None if max_bytes is None else checked_number("max_bytes", max_bytes)
    )


def _check_covariance_counts(spec: FitSpec, pricing: Pricing) -> None:
    """Raise if `covariance` is set and has no effect."""
    if spec.compute.covariance == "auto":
        return
    reason = pricing.row_reason
    if not isinstance(spec.aggregation, Additive):
        reason = f"aggregation='{spec.aggregation.name}' looks at the rows of each group"
    if reason:
        raise ValueError(
            f"covariance='{spec.compute.covariance}' has no effect: {reason}. Leave "
            "covariance='auto'."
        )


def _checked_graph(connectivity: Any, n_features: int) -> sparse.csr_array | None:
    if connectivity is None:
        return None
    shape = np.shape(connectivity)
    if shape != (n_features, n_features):
        raise ValueError(
            "connectivity must have one row and one column per input, that is shape "
            f"({n_features}, {n_features}), got {shape}."
        )
    graph = check_array(connectivity, accept_sparse="csr", input_name="connectivity")
    graph = sparse.csr_array(graph, dtype=np.float64)
    touching = abs(graph) + abs(graph.T)
    touching.eliminate_zeros()
    return sparse.csr_array(touching)


def check_shape(X: Any) -> None:
    """Raise if an array on a device is not a table of at least two rows and two columns."""
    if X.ndim != 2:
        raise ValueError(f"X must have 2 dimensions, got shape {X.shape}.")
    for what, found in zip(("sample", "feature"), X.shape, strict=True):
        if found < 2:
            raise ValueError(
                f"Found array with {found} {what}(s) (shape={X.shape}) while a minimum of 2 is "
                "required."
            )


def check_on_device(reason: str | None, covariance: str | None) -> None:
    """Raise if columns on a device would have to be copied to the host."""
    if reason is not None:
        raise ValueError(f"{reason}, and X lies on a device: pass X as a NumPy array.")
    if covariance == "columns":
        raise ValueError("covariance='columns' is for columns in memory: pass X as a NumPy array.")
