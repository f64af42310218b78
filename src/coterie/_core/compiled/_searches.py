"""Compiled searches, which judge one candidate at a time and compute nothing ahead."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from coterie._core.compiled._groups import Log, alone, ask, join
from coterie._core.compiled._jit import is_compiled, kernel
from coterie._core.compiled._tables import Rule, Sums
from coterie._core.search import SAME_PRICE, Limits, Record
from coterie._core.values import (
    BoolArray,
    Decision,
    FloatArray,
    IntArray,
    SearchResult,
    Verdict,
    excess,
)


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


def _bounds(limits: Limits) -> Bounds:
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


def is_ready(is_best: bool, sums: Sums, rule: Rule) -> bool:
    """Whether the kernels of a search are compiled for such sums, in memory or on disk."""
    bounds, features = _bounds(Limits()), np.arange(1)
    free = np.ones(1, dtype=np.bool_)
    if is_best:
        openings = CompiledOpenings(features, *np.empty((3, 1)))
        return is_compiled(grown_best, (sums, rule, bounds, free, openings, 0))
    return is_compiled(grown_in_order, (sums, rule, bounds, features, True))


def in_order(sums: Sums, rule: Rule, limits: Limits, *, restart: bool) -> SearchResult:
    """The result of the forward search, or of the restart search."""
    free = np.arange(len(sums.weights))
    is_free = np.ones(len(free), dtype=np.bool_)
    # The limit on constant features is applied once per group, not at each merge.
    bounds = _bounds(replace(limits, constant=None))
    groups: list[IntArray] = []
    record = Record(len(free), limits.watched)
    while len(free):
        waiting = limits.alike(int(free[0]), free)
        members, log, n_forgotten = grown_in_order(sums, rule, bounds, waiting, restart)
        record.add(_decision(int(free[0]), log), n_forgotten)
        groups.append(members)
        is_free[members] = False
        free = free[is_free[free]]
    return record.result(groups)


def _decision(seed: int, log: Log) -> Decision:
    return Decision(seed, log.candidates, Verdict(log.price, log.allowance), log.accepted)


@kernel
def grown_in_order(
    sums: Sums, rule: Rule, bounds: Bounds, free: IntArray, restart: bool
) -> tuple[IntArray, Log, int]:
    """Members of the group opened by the first free feature, and the log of its verdicts.

    Also the number of refusals that are not in the log.
    """
    group = alone(sums, free[0])
    reach = reach_of(bounds, free[0])
    members = free.copy()
    n_members = 1
    log, n_asked, n_forgotten = empty_log(len(free)), 0, 0
    waiting = free[1:].copy()
    while True:
        candidates = reachable(bounds, reach, waiting)
        if n_asked + len(candidates) > len(log.price):
            log = longer(log, len(candidates))
        end = ask(sums, group, rule, candidates, log, n_asked, True)
        has_winner = end > n_asked and log.accepted[end - 1]
        n_asked = keep_watched(bounds, log, n_asked, end)
        n_forgotten += end - n_asked
        if not has_winner:
            break
        winner = log.candidates[n_asked - 1]
        join(sums, group, winner)
        count_in(bounds, reach, winner)
        members[n_members] = winner
        n_members += 1
        waiting = left_over(waiting, winner, restart)
    return members[:n_members].copy(), shortened(log, n_asked), n_forgotten


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
def left_over(waiting: IntArray, winner: int, restart: bool) -> IntArray:
    """Candidates left after a merge: all others if ``restart``, else those after the winner."""
    place = 0
    while waiting[place] != winner:
        place += 1
    if not restart:
        return waiting[place + 1 :]
    for i in range(place, 0, -1):
        waiting[i] = waiting[i - 1]
    return waiting[1:]


@kernel
def those(mask: BoolArray) -> IntArray:
    """Indices at which a mask is true."""
    places, n_places = np.empty(len(mask), dtype=np.intp), 0
    for i in range(len(mask)):
        if mask[i]:
            places[n_places] = i
            n_places += 1
    return places[:n_places]


@kernel
def empty_log(length: int) -> Log:
    """Empty log with space for ``length`` decisions."""
    return Log(
        np.empty(length, dtype=np.int32),
        np.empty(length),
        np.empty(length),
        np.empty(length, dtype=np.bool_),
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
    price, allowance = log.price[:length], log.allowance[:length]
    candidates, accepted = log.candidates[:length], log.accepted[:length]
    if 2 * length > len(log.price):
        return Log(candidates, price, allowance, accepted)
    return Log(candidates.copy(), price.copy(), allowance.copy(), accepted.copy())


class CompiledOpenings(NamedTuple):
    """Cheapest partner of each feature, and its verdict; ``net`` is infinite without a partner."""

    partner: IntArray
    price: FloatArray
    allowance: FloatArray
    net: FloatArray


def best(sums: Sums, rule: Rule, limits: Limits) -> SearchResult:
    """The result of the best search: the cheapest merge first; without copies."""
    n_features = len(sums.weights)
    bounds = _bounds(limits)
    free: BoolArray = np.ones(n_features, dtype=np.bool_)
    openings = CompiledOpenings(np.zeros(n_features, dtype=np.intp), *np.empty((3, n_features)))
    find_partners(sums, rule, bounds, free, np.arange(n_features), openings)
    groups: list[IntArray] = []
    record = Record(n_features, limits.watched)
    while (seed := next_opening(sums, rule, bounds, free, openings)) >= 0:
        members, log, n_forgotten = grown_best(sums, rule, bounds, free, openings, seed)
        record.add(_decision(seed, log), n_forgotten)
        groups.append(members)
    for feature in np.flatnonzero(free).tolist():
        groups.append(np.array([feature]))
        if openings.net[feature] < np.inf:
            record.add(_told_last(openings, feature))
    return record.result(groups)


def _told_last(openings: CompiledOpenings, feature: int) -> Decision:
    told = Verdict(openings.price[[feature]], openings.allowance[[feature]])
    return Decision(feature, openings.partner[[feature]], told, np.zeros(1, dtype=np.bool_))


@kernel
def cheapest(log: Log, start: int, end: int) -> int:
    """Index in a log of the lowest price minus allowance; the first one if there are ties."""
    lowest = np.inf
    for i in range(start, end):
        lowest = min(lowest, excess(log.price[i], log.allowance[i]))
    limit = lowest + SAME_PRICE * max(1.0, abs(lowest))
    for i in range(start, end):
        if excess(log.price[i], log.allowance[i]) <= limit:
            return i
    return start


@kernel
def find_partners(
    sums: Sums, rule: Rule, bounds: Bounds, free: BoolArray, seeds: IntArray, out: CompiledOpenings
) -> None:
    """Find the cheapest free partner of some features."""
    log = empty_log(len(free))
    for seed in seeds:
        out.net[seed] = np.inf
        was_free, free[seed] = free[seed], False
        candidates = reachable(bounds, reach_of(bounds, seed), those(free))
        free[seed] = was_free
        if len(candidates) == 0:
            continue
        n_asked = ask(sums, alone(sums, seed), rule, candidates, log, 0, False)
        winner = cheapest(log, 0, n_asked)
        out.partner[seed] = log.candidates[winner]
        out.price[seed], out.allowance[seed] = log.price[winner], log.allowance[winner]
        # The value is finite, since infinity means that there is no partner.
        out.net[seed] = min(excess(log.price[winner], log.allowance[winner]), 1e300)


@kernel
def is_open(openings: CompiledOpenings, seed: int) -> bool:
    """Whether a feature may open a group with its cheapest partner."""
    return openings.net[seed] < np.inf and openings.price[seed] <= openings.allowance[seed]


@kernel
def next_opening(
    sums: Sums, rule: Rule, bounds: Bounds, free: BoolArray, openings: CompiledOpenings
) -> int:
    """Feature with the cheapest acceptable partner; -1 if there is none."""
    net = openings.net
    while True:
        lowest = np.inf
        for i in range(len(net)):
            if free[i] and net[i] < lowest and is_open(openings, i):
                lowest = net[i]
        if lowest == np.inf:
            return -1
        limit, seed = lowest + SAME_PRICE * max(1.0, abs(lowest)), 0
        while not (free[seed] and net[seed] <= limit and is_open(openings, seed)):
            seed += 1
        if free[openings.partner[seed]]:
            return seed
        # The partner is taken: find another, which cannot be cheaper.
        find_partners(sums, rule, bounds, free, np.full(1, seed, dtype=np.intp), openings)


@kernel
def grown_best(
    sums: Sums, rule: Rule, bounds: Bounds, free: BoolArray, openings: CompiledOpenings, seed: int
) -> tuple[IntArray, Log, int]:
    """Members and log of a group that grows by its cheapest candidate until none is acceptable.

    Also the number of refusals that are not in the log. Members are marked as not free.
    """
    group = alone(sums, seed)
    reach = reach_of(bounds, seed)
    members = np.empty(len(free), dtype=np.intp)
    members[0], n_members = seed, 1
    free[seed] = False
    log = empty_log(2 * len(free))
    winner = openings.partner[seed]
    log.candidates[0], log.price[0] = winner, openings.price[seed]
    log.allowance[0], log.accepted[0] = openings.allowance[seed], True
    while True:
        join(sums, group, winner)
        count_in(bounds, reach, winner)
        free[winner] = False
        members[n_members] = winner
        n_members += 1
        # The log has one merge per member; the next verdicts are written after these.
        start = n_members - 1
        candidates = reachable(bounds, reach, those(free))
        end = ask(sums, group, rule, candidates, log, start, False)
        best = cheapest(log, start, end)
        if end == start or not log.accepted[best]:
            kept = keep_watched(bounds, log, start, end)
            return members[:n_members].copy(), shortened(log, kept), end - kept
        winner = log.candidates[best]
        log.candidates[start], log.price[start] = winner, log.price[best]
        log.allowance[start], log.accepted[start] = log.allowance[best], True
