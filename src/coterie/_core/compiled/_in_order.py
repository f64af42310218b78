"""The compiled forward and restart searches: groups one after the other, candidates in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.compiled._groups import Log, alone, ask, join
from coterie._core.compiled._jit import kernel
from coterie._core.compiled._reach import (
    Bounds,
    count_in,
    empty_log,
    keep_watched,
    longer,
    reach_of,
    reachable,
    shortened,
)
from coterie._core.compiled._slack import grow_with_slack, no_slacks, slack_exists
from coterie._core.compiled._tables import Rule, Sums
from coterie._core.values import BoolArray, IntArray

# Refusals of one call; between calls, Ctrl-C is heard.
PATIENCE = 10**7


class Grown(NamedTuple):
    """Some groups in the order of their seeds: members, log, and refusals that are not in it.

    The members of group i, its seed first, begin at ``begins[i]``; its log ends at ``log_ends[i]``.
    """

    members: IntArray
    begins: IntArray  # one more than there are groups
    log: Log
    log_ends: IntArray
    n_forgotten: IntArray
    next_seed: int


class Waiting(NamedTuple):
    """Features that wait to join, in order: those from ``first`` to ``end`` of a buffer."""

    features: IntArray
    range: IntArray  # (2,): first and end
    met: IntArray  # the last seed whose group each feature was a neighbour of


@kernel
def grown_in_order(
    sums: Sums, rule: Rule, bounds: Bounds, is_free: BoolArray, seed: int, restart: bool
) -> Grown:
    """Groups from the first free feature on; the features in them are marked as not free.

    Constant features are among the limits once per group, when it begins. Where there is a graph,
    only neighbours wait.
    """
    n_features = len(is_free)
    members, n_members = np.empty(n_features, dtype=np.intp), 0
    begins = np.zeros(n_features + 1, dtype=np.intp)
    log_ends = np.zeros(n_features, dtype=np.intp)
    n_forgotten = np.zeros(n_features, dtype=np.intp)
    waiting = Waiting(
        np.empty(n_features, dtype=np.intp),
        np.zeros(2, dtype=np.intp),
        np.full(n_features, -1, dtype=np.intp),
    )
    nothing = np.empty(0, dtype=np.intp)
    others = Bounds(
        nothing,
        nothing,
        bounds.kinds,
        bounds.sizes,
        np.empty(0, dtype=np.bool_),
        bounds.watched,
        bounds.max_group_size,
    )
    skips = restart and slack_exists(sums, rule, bounds)
    slacks = no_slacks(n_features if skips else 0)
    log, n_logged, n_groups, n_refused = empty_log(n_features), 0, 0, 0
    while seed < n_features and n_refused < PATIENCE:
        if not is_free[seed]:
            seed += 1
            continue
        is_free[seed] = False
        members[n_members] = seed
        joined = members[n_members:]
        if skips and len(bounds.indptr):
            waiting.range[1] = n_features - seed - 1
            waiting.features[: n_features - seed - 1] = np.arange(seed + 1, n_features)
        else:
            begin_waiting(waiting, bounds, is_free, seed)
        if skips:
            size, refused, log = grow_with_slack(
                sums,
                rule,
                bounds,
                is_free,
                waiting.features[: waiting.range[1]],
                slacks,
                joined,
                log,
                n_logged,
            )
            n_logged += size - 1
        else:
            size, refused, log, n_logged = grow(
                sums, rule, bounds, others, is_free, waiting, restart, joined, log, n_logged
            )
        for i in range(n_members, n_members + size):
            is_free[members[i]] = False
        n_members += size
        log_ends[n_groups], n_forgotten[n_groups] = n_logged, refused
        n_groups += 1
        begins[n_groups] = n_members
        n_refused += refused + size
        seed += 1
    return Grown(
        members[:n_members].copy(),
        begins[: n_groups + 1].copy(),
        shortened(log, n_logged),
        log_ends[:n_groups].copy(),
        n_forgotten[:n_groups].copy(),
        seed,
    )


@kernel
def begin_waiting(waiting: Waiting, bounds: Bounds, is_free: BoolArray, seed: int) -> None:
    """Let all free features wait to join the group of a seed, or its neighbours in the graph."""
    waiting.range[0] = waiting.range[1] = 0
    if len(bounds.indptr):
        meet(waiting, bounds, is_free, seed, seed, seed)
        return
    end, constant = 0, bounds.constant
    for feature in range(seed + 1, len(is_free)):
        if is_free[feature] and (len(constant) == 0 or constant[feature] == constant[seed]):
            waiting.features[end] = feature
            end += 1
    waiting.range[1] = end


@kernel
def meet(
    waiting: Waiting, bounds: Bounds, is_free: BoolArray, seed: int, member: int, after: int
) -> None:
    """Let the free neighbours of a member that come after a feature wait too."""
    features, constant = waiting.features, bounds.constant
    first, end = waiting.range[0], waiting.range[1]
    for k in range(bounds.indptr[member], bounds.indptr[member + 1]):
        feature = bounds.indices[k]
        if feature <= after or not is_free[feature] or waiting.met[feature] == seed:
            continue
        if len(constant) and constant[feature] != constant[seed]:
            continue
        waiting.met[feature] = seed
        place = end
        while place > first and features[place - 1] > feature:
            features[place] = features[place - 1]
            place -= 1
        features[place] = feature
        end += 1
    waiting.range[1] = end


@kernel
def grow(
    sums: Sums,
    rule: Rule,
    bounds: Bounds,
    others: Bounds,
    is_free: BoolArray,
    waiting: Waiting,
    restart: bool,
    members: IntArray,
    log: Log,
    n_logged: int,
) -> tuple[int, int, Log, int]:
    """Grow a group from its seed, the first of ``members``, to which the others are written.

    ``others`` are the limits other than the graph and constants. Returns the size of the group, the
    number of refusals that are not in the log, the log and its new end.
    """
    seed, size, n_forgotten = members[0], 1, 0
    group, reach = alone(sums, seed), reach_of(others, seed)
    while True:
        waiting_now = waiting.features[waiting.range[0] : waiting.range[1]]
        candidates = reachable(others, reach, waiting_now)
        if n_logged + len(candidates) > len(log.price):
            log = longer(log, len(candidates))
        last = ask(sums, group, rule, candidates, log, n_logged, True)
        has_winner = last > n_logged and log.accepted[last - 1]
        kept = keep_watched(bounds, log, n_logged, last)
        n_forgotten += last - kept
        n_logged = kept
        if not has_winner:
            return size, n_forgotten, log, n_logged
        winner = log.candidates[n_logged - 1]
        join(sums, group, winner)
        count_in(others, reach, winner)
        members[size] = winner
        size += 1
        is_free[winner] = False
        strike_out(waiting, winner, restart)
        if len(bounds.indptr):
            meet(waiting, bounds, is_free, seed, winner, seed if restart else winner)


@kernel
def strike_out(waiting: Waiting, winner: int, restart: bool) -> None:
    """Remove a feature that has joined; without ``restart`` also those before it."""
    features, first = waiting.features, waiting.range[0]
    place = first
    while features[place] != winner:
        place += 1
    if not restart:
        waiting.range[0] = place + 1
        return
    for i in range(place, first, -1):
        features[i] = features[i - 1]
    waiting.range[0] = first + 1
