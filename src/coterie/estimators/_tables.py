"""Tables at the door: what they may hold, and what to do where they hold something else."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._core.aggregations import Aggregation, LinearSum, over_available
from coterie._core.values import FloatArray, is_sparse
from coterie._data.validation import by_column, counted
from coterie.estimators._checks import checked_word


def has_gaps(columns: Any) -> bool:
    """Whether there is a NaN somewhere."""
    # A sum is finite only if all terms are, short of overflow: one pass in the good case.
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(columns.sum()) and bool(by_column(columns, np.isnan).any())


def check_values(columns: FloatArray, names: Any) -> None:
    """Raise where a column has no value at all, naming it."""
    empty = np.flatnonzero(np.isnan(columns).all(axis=0))
    if len(empty):
        raise ValueError(
            f"X has no value at all in {counted('column', (names[e] for e in empty))}. "
            "Drop it first."
        )


def check_sparse(X: Any, aggregation: Aggregation, *, gaps: bool, by_row: bool) -> None:
    """Raise where sparse columns would have to be made dense."""
    if not is_sparse(X):
        return
    if not isinstance(aggregation, LinearSum):
        raise ValueError(
            f"X is sparse, and aggregation='{aggregation.name}' needs dense columns: use 'mean' or "
            "'sum', or pass X.toarray()."
        )
    if gaps or by_row:
        why = "missing='pairwise'" if gaps else "a criterion that looks at rows"
        raise ValueError(f"X is sparse, and {why} needs dense columns: pass X.toarray().")


def check_missing(missing: object, aggregation: Aggregation, signs: object, groups: object) -> bool:
    """Whether columns may have gaps, and nothing else stands against it."""
    if checked_word("missing", missing, ["error", "pairwise"]) == "error":
        return False
    if over_available(aggregation) is None:
        raise ValueError(
            f"missing='pairwise' has no aggregation='{aggregation.name}' of the members that have "
            "a value: use 'mean', 'sum', 'sum_of_squares', 'norm', 'max', 'min' or 'median'."
        )
    if signs or groups is not None:
        name = "signs" if signs else "groups"
        raise ValueError(f"missing='pairwise' goes without {name}: fill the gaps first.")
    return True
