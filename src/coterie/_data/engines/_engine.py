"""The interface of engines, and the engine that a table belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from scipy import sparse

from coterie._core.values import FloatArray
from coterie._data.moments import Moments
from coterie._data.validation import library_of


class Counting(NamedTuple):
    """Targets, sample weights, folds and options for the moments of X.

    Parameters
    ----------
    y : Any
        The targets: a table of the same engine, or the names of columns of X.
    sample_weight : Any
        The weight of each row: None, a column of the same engine, or its name.
    cv : int or None, or whatever else the engine takes
        Number of contiguous folds, of the rows with a weight above 0.
    columns : list of str or None
        The features, if X has other columns too.
    stratified : bool
        Whether folds of a text target are stratified, as in ``StratifiedKFold``.
    spread : bool
        Whether to keep a sample of evenly spaced rows, for ``tolerance="auto"``.
    names : list of str or None
        Names of the features in error messages, if X has no names.
    max_bytes : float or None
        Limit for the memory of the moments on this machine, in bytes.
    """

    y: Any
    sample_weight: Any = None
    cv: Any = None
    columns: list[str] | None = None
    stratified: bool = False
    spread: bool = True
    names: list[str] | None = None
    max_bytes: float | None = None


@dataclass(frozen=True)
class Carried:
    """What an engine needs of a fitted reducer to transform rows.

    Parameters
    ----------
    of_rows : callable
        Transforms rows in memory to their aggregates. Small, and can be pickled.
    names_in : list of str or None
        Names of the features, if fit saw names.
    names_out : list of str
        Names of the aggregates.
    linear : callable
        Gives the weights of features in aggregates, of shape (n_groups, n_features), and the
        constants that are added, of shape (n_groups,). Raises if an aggregate is not a weighted
        sum.
    n_in : int
        Number of features.
    keeps_single : bool
        Whether rows in single precision give aggregates in single precision.
    """

    of_rows: Callable[[Any], Any]
    names_in: list[str] | None
    names_out: list[str]
    linear: Callable[[], tuple[sparse.csr_array, FloatArray]]
    n_in: int
    keeps_single: bool


class Engine(Protocol):
    """Computes moments and aggregates of a table where its rows are stored."""

    def moments(self, X: Any, counting: Counting) -> Moments:
        """The moments of all rows, summed by the engine."""

    def transformed(self, X: Any, carried: Carried) -> Any:
        """The aggregates of all rows, as a lazy table of the same kind."""


# The module that supports the tables of each library.
ENGINE_MODULES = {
    "dask": "coterie._data.engines._dask",
    "dask_expr": "coterie._data.engines._dask",
    "pyspark": "coterie._data.engines._spark",
}


def engine_of(X: Any) -> Engine | None:
    """The engine that a table belongs to; None for tables in memory."""
    library = library_of(X)
    return None if library is None else import_module(ENGINE_MODULES[library]).ENGINE
