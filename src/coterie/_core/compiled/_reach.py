"""Limits of a search as arrays, what a growing group may reach, and the log of its verdicts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.compiled._groups import Log
from coterie._core.compiled._jit import kernel
from coterie._core.search import Limits
from coterie._core.values import BoolArray, IntArray


class Bounds(NamedTuple):
    """Limits as arrays, empty for limits that are not set, and the maximum group size.

    Where ``watched`` is empty, all refusals are kept.
    """

    indptr: IntArray
    indices: IntArray
    kinds: IntArray
    sizes: IntArray
    constant: BoolArray
    watched: BoolArray
    max_group_size: int


class CompiledReach(NamedTuple):
    """State of a group for the limits; its arrays are updated in place as features join."""

    touched: BoolArray  # whether a feature is a neighbour of a member
    kind_and_size: IntArray
    constant: BoolArray  # (1,), whether the members are constant


def bounds_of(limits: Limits) -> Bounds:
    """Limits as arrays."""
    graph, largest = limits.neighbours, limits.max_group_size
    nothing = np.empty(0, dtype=np.intp)
    return Bounds(
        nothing if graph is None else graph.indptr.astype(np.intp, copy=False),
        nothing if graph is None else graph.indices.astype(np.intp, copy=False),
        nothing if limits.kinds is None else limits.kinds.astype(np.intp, copy=False),
        nothing if limits.sizes is None else limits.sizes.astype(np.intp, copy=False),
        np.empty(0, dtype=np.bool_) if limits.constant is None else limits.constant,
        np.empty(0, dtype=np.bool_) if limits.watched is None else limits.watched,
        np.iinfo(np.intp).max if largest is None else largest,
    )


@kernel
def keep_watched(bounds: Bounds, log: Log, start: int, end: int) -> int:
    """Drop refusals from the end of a log that nobody watches, and return its new end."""
    if len(bounds.watched) == 0:
        return end
    kept = start
    for i in range(start, end):
        if log.accepted[i] or bounds.watched[log.candidates[i]]:
            log.candidates[kept], log.accepted[kept] = log.candidates[i], log.accepted[i]
            log.price[kept], log.allowance[kept] = log.price[i], log.allowance[i]
            kept += 1
    return kept


@kernel
def reach_of(bounds: Bounds, seed: int) -> CompiledReach:
    """State for the limits of a group of one feature."""
    reach = CompiledReach(
        np.zeros(len(bounds.indptr), dtype=np.bool_),
        np.zeros(2, dtype=np.intp),
        np.zeros(1, dtype=np.bool_),
    )
    if len(bounds.constant):
        reach.constant[0] = bounds.constant[seed]
    count_in(bounds, reach, seed)
    return reach


@kernel
def count_in(bounds: Bounds, reach: CompiledReach, feature: int) -> None:
    """Update the state for the limits after a feature has joined."""
    reach.kind_and_size[1] += bounds.sizes[feature] if len(bounds.sizes) else 1
    if len(bounds.kinds):
        kind = bounds.kinds[feature]
        reach.kind_and_size[0] = kind if kind < 0 else max(kind, reach.kind_and_size[0])
    if len(bounds.indptr):
        for k in range(bounds.indptr[feature], bounds.indptr[feature + 1]):
            reach.touched[bounds.indices[k]] = True


@kernel
def reachable(bounds: Bounds, reach: CompiledReach, candidates: IntArray) -> IntArray:
    """Candidates that the limits allow."""
    own_kind, room = reach.kind_and_size[0], bounds.max_group_size - reach.kind_and_size[1]
    if room <= 0:
        return candidates[:0]
    if len(bounds.indptr) + len(bounds.kinds) + len(bounds.sizes) + len(bounds.constant) == 0:
        return candidates
    kept, n_kept = np.empty_like(candidates), 0
    for candidate in candidates:
        if len(bounds.indptr) and not reach.touched[candidate]:
            continue
        if len(bounds.sizes) and bounds.sizes[candidate] > room:
            continue
        if len(bounds.constant) and bounds.constant[candidate] != reach.constant[0]:
            continue
        if len(bounds.kinds):
            kind = bounds.kinds[candidate]
            if min(kind, own_kind) < 0 or (min(kind, own_kind) > 0 and kind != own_kind):
                continue
        kept[n_kept] = candidate
        n_kept += 1
    return kept[:n_kept]


@kernel
def empty_log(length: int) -> Log:
    """Empty log with space for ``length`` decisions."""
    return Log(
        np.empty(length, dtype=np.int32),
        np.empty(length),
        np.empty(length),
        np.empty(length, dtype=np.bool_),
        np.empty(length),
    )


@kernel
def longer(log: Log, more: int) -> Log:
    """Copy of a log with more than twice the space."""
    end = len(log.price)
    copy = empty_log(2 * end + more)
    for i in range(end):
        copy.candidates[i] = log.candidates[i]
        copy.price[i], copy.allowance[i] = log.price[i], log.allowance[i]
        copy.accepted[i] = log.accepted[i]
    return copy


@kernel
def shortened(log: Log, length: int) -> Log:
    """The written part of a log; a copy if at least half of the log is unused."""
    price, allowance, seen = log.price[:length], log.allowance[:length], log.seen[:length]
    candidates, accepted = log.candidates[:length], log.accepted[:length]
    if 2 * length > len(log.price):
        return Log(candidates, price, allowance, accepted, seen)
    return Log(candidates.copy(), price.copy(), allowance.copy(), accepted.copy(), seen.copy())
