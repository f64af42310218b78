"""The same searches in compiled code, where numba is installed: ``pip install coterie[fast]``.

Nothing is decided otherwise here. The formulas are those of criteria, compiled as they stand;
evidence and limits are read from the values that the other rooms made.
"""

from __future__ import annotations

from typing import Any

from coterie.compiled._tables import numba_is_installed, rule_of, sums_of
from coterie.criteria import Criterion
from coterie.search import Limits
from coterie.statistics import Evidence
from coterie.values import IntArray, Partition, Trace

__all__ = ["compiled_search"]

# A search among fewer takes less time than it takes to load the compiler.
FEWEST_FEATURES = 64


def compiled_search(
    search: str,
    evidence: Evidence[Any],
    criterion: Criterion,
    limits: Limits,
    copies: IntArray | None = None,
) -> tuple[Partition, Trace] | None:
    """Partition and trace as the search of that name gives them, or None where it had better.

    It serves sums of columns and criteria that are numbers and a formula; and the best
    search only if no feature is a copy of another (``copies`` are numbered from 1).
    """
    if evidence.n_features < FEWEST_FEATURES or not numba_is_installed():
        return None
    has_copies = copies is not None and copies[-1] < len(copies)
    sums, rule = sums_of(evidence), rule_of(criterion)
    if sums is None or rule is None or has_copies:
        return None
    # Importing numba takes a while, so not before it is needed.
    from coterie.compiled._searches import best, in_order

    if search == "best":
        return best(sums, rule, limits)
    return in_order(sums, rule, limits, restart=search == "restart")
