"""Documents of earlier formats, in the words of this one."""

from __future__ import annotations

from typing import Any

# Parameters that had other names in format 1.
RENAMED = {"groups": "initial_groups", "engine": "covariance", "memory": "max_bytes"}
# Reducers of format 1 that chose their own tolerance, and what they wrapped.
WRAPPED = {"NonLinCFACV": "NonLinCFA", "GenLinCFACV": "GenLinCFA"}
# Aggregations whose covariances a fit computes.
ADDITIVE = ("mean", "sum", "sum_of_squares")
OF_WRAPPER = ("tolerances", "n_tolerances", "cv", "scoring", "n_jobs", "one_standard_error")


def upgraded(document: Any) -> Any:
    """A document of format 1 as one of format 2; others, and what is no document, as they are."""
    if not isinstance(document, dict) or document.get("version") != 1:
        return document
    parameters, name = document.get("parameters"), document.get("reducer")
    if not isinstance(parameters, dict) or not isinstance(name, str):
        return document
    if name in WRAPPED:
        inside = {key: value for key, value in parameters.items() if key not in OF_WRAPPER}
        if "price_cv" in inside:
            inside["cv"] = inside.pop("price_cv")
        estimator = {"is": "reducer", "name": WRAPPED[name], "parameters": _renamed(inside)}
        outside = {key: parameters[key] for key in OF_WRAPPER if key in parameters}
        parameters = {"estimator": estimator, **outside}
        return document | {"reducer": "ToleranceCV", "parameters": parameters}
    return document | {"parameters": _renamed(parameters)}


def _renamed(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters by their names of today; what had no effect is left at its default."""
    known = {RENAMED.get(name, name): value for name, value in parameters.items()}
    adds_up = known.get("aggregation", "mean") in ADDITIVE
    if "covariance" in known and not (adds_up and known.get("bound") != "fitted"):
        known["covariance"] = "auto"
    return known
