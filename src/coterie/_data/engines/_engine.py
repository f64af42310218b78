"""What an engine must be able to do, and which one a table belongs to."""

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
    """What is to be counted beside X.

    Parameters
    ----------
    y : Any
        The targets: a table of the same engine, or the names of columns of X.
    weights : Any
        How many times each row counts: None, a column of the same engine, or its name.
    folds : int or None, or whatever else the engine takes
        So many contiguous folds, of the rows that count.
    columns : list of str or None
        The features, where X has other columns too.
    stratified : bool
        Whether so many folds have about the same share of each label, where the target is text, as
        those of ``StratifiedKFold``.
    spread : bool
        Whether some evenly spread rows are kept, as an automatic tolerance wants them.
    names : list of str or None
        What errors call the features, where X has no names.
    memory : float or None
        Bytes that the moments may take here.
    """

    y: Any
    weights: Any = None
    folds: Any = None
    columns: list[str] | None = None
    stratified: bool = False
    spread: bool = True
    names: list[str] | None = None
    memory: float | None = None


@dataclass(frozen=True)
class Carried:
    """A fitted reducer, as far as rows need it that are transformed elsewhere.

    Parameters
    ----------
    of_rows : callable
        Some rows in memory become their aggregates. Can be pickled, and is small.
    names_in : list of str or None
        Names of the features, where fit saw names.
    names_out : list of str
    linear : callable
        The weight of each feature in each aggregate, (n_groups, n_features), and what is added
        to each, (n_groups,); raises one sentence where an aggregate is no such sum.
    n_in : int
        Number of the features.
    keeps_single : bool
        Whether rows in single precision stay so; all others become double.
    """

    of_rows: Callable[[Any], Any]
    names_in: list[str] | None
    names_out: list[str]
    linear: Callable[[], tuple[sparse.csr_array, FloatArray]]
    n_in: int
    keeps_single: bool


class Engine(Protocol):
    """Counts rows where they lie, and transforms them there, when somebody asks for them."""

    def moments(self, X: Any, counting: Counting) -> Moments:
        """The moments of all rows, added up by the engine; never a row of X but a few."""

    def transformed(self, X: Any, carried: Carried) -> Any:
        """The aggregates of all rows: a table of the same kind, not yet computed."""


# The library that an object comes from, and the module here that serves it.
ENGINE_MODULES = {
    "dask": "coterie._data.engines._dask",
    "dask_expr": "coterie._data.engines._dask",
    "pyspark": "coterie._data.engines._spark",
}


def engine_of(X: Any) -> Engine | None:
    """The engine that a table belongs to; None for tables in memory."""
    library = library_of(X)
    return None if library is None else import_module(ENGINE_MODULES[library]).ENGINE
