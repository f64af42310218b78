"""Searches compiled with Numba, if it is installed: ``pip install coterie[fast]``.

The decisions are the same as without compilation. The formulas are those of ``criteria``, compiled
without changes. Evidence and limits come from the other packages.

Nobody waits for a compiler: a search in NumPy that ends sooner than compiled code could be read
from disk, or compiled where it is not on disk, is left to NumPy.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from coterie._core.aggregations import AGGREGATIONS
from coterie._core.compiled import _worth
from coterie._core.compiled._tables import Rule, rule_of, sums_of, views_of
from coterie._core.criteria import Criterion, NonLin
from coterie._core.evidence import (
    ComputeOptions,
    DeviceEvidence,
    Evidence,
    RowSets,
    build_evidence,
)
from coterie._core.search import Limits, best, forward, restart
from coterie._core.values import SearchResult

__all__ = ["compiled_search", "warm_up"]

logger = logging.getLogger("coterie")
Search = Callable[..., SearchResult]
# The searches that judge features in order, and whether they restart after each merge.
IN_ORDER: dict[Search, bool] = {forward: False, restart: True}
# With fewer features, preparing the arguments takes longer than the search.
FEWEST_FEATURES = 64
SEARCHES = "coterie._core.compiled._searches"
ON_GPUS = (
    "What works is numba-cuda 0.26 or newer: "
    "pip install 'coterie[cuda13]', or 'coterie[cuda12]' for CUDA 12."
)


def compiled_search(
    search: Search,
    evidence: Evidence[Any],
    criterion: Criterion,
    limits: Limits,
) -> SearchResult | None:
    """The result of this search in compiled code; None if it cannot be compiled.

    Compiled are the built-in searches for sums of columns, and for criteria that consist of numbers
    and a formula. The best search is compiled only if no feature is a copy of another.
    """
    if search is not best and search not in IN_ORDER:
        return None
    if evidence.n_features < FEWEST_FEATURES or limits.have_copies:
        return None
    if (rule := rule_of(criterion)) is None:
        return None
    if isinstance(evidence, DeviceEvidence):
        return _searched_there(search, evidence, rule, limits)
    if not (views := views_of(evidence)):
        return None
    seconds = _worth.seconds_in_numpy(views)
    if seconds < _worth.LOADING_SECONDS and SEARCHES not in sys.modules:
        return None
    if (searches := _loaded()) is None or (sums := sums_of(views)) is None:
        return None
    if seconds < _worth.COMPILING_SECONDS and not searches.is_ready(search is best, sums, rule):
        logger.info("Searches are not compiled on this machine: run coterie warm-up.")
        return None
    if search is best:
        return searches.best(sums, rule, limits)
    return searches.in_order(sums, rule, limits, restart=IN_ORDER[search])


def warm_up() -> bool:
    """Compile the searches and keep them on disk; whether there is a compiler."""
    if (searches := _loaded()) is None:
        return False
    rng = np.random.default_rng(0)
    rule = rule_of(NonLin(0.01))
    for precision, engine in ((float, "gram"), (float, "columns"), (np.float32, "columns")):
        columns = rng.normal(size=(30, 6)).astype(precision)
        evidence = build_evidence(
            columns,
            rng.normal(size=(30, 1)),
            AGGREGATIONS["mean"],
            RowSets.all_rows(),
            ComputeOptions(engine),
        )
        sums = sums_of(views_of(evidence))
        searches.best(sums, rule, Limits())
        searches.in_order(sums, rule, Limits(), restart=True)
    return True


def _searched_there(
    search: Search, evidence: DeviceEvidence, rule: Rule, limits: Limits
) -> SearchResult | None:
    """The result of a search in order, for evidence on a GPU; None if not supported."""
    is_limited = limits.change_as_groups_grow or limits.max_group_size is not None
    is_cuda = hasattr(evidence.source.scatters[0].array, "__cuda_array_interface__")
    if search not in IN_ORDER or is_limited or not is_cuda or (kernels := _kernels()) is None:
        return None
    return kernels.in_order_there(evidence, rule, limits, restart=IN_ORDER[search])


@cache
def _kernels() -> Any:
    """Module with the search as a GPU kernel; None if no compiler for the GPU works."""
    if find_spec("numba") is None:
        return None
    try:
        kernels = import_module("coterie._core.compiled._on_gpu")
        kernels.check()
    # A compiler that does not match the driver or NumPy may raise any exception.
    except Exception as error:
        warnings.warn(
            "numba does not work with this GPU, so the search there goes step by step: "
            f"{error}. {ON_GPUS}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return kernels


@cache
def _loaded() -> Any:
    """Module with the compiled searches; None if no compiler works."""
    if find_spec("numba") is None:
        return None
    try:
        # Importing Numba is slow, so it is imported only when needed.
        return import_module(SEARCHES)
    except ImportError as error:
        warnings.warn(
            f"numba is installed but cannot be imported, so searches are not compiled: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
