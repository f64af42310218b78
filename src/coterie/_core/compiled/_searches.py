"""Compiled searches, which judge one candidate at a time and compute nothing ahead."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from coterie._core.compiled._groups import Log, alone, ask, join
from coterie._core.compiled._in_order import grown_in_order
from coterie._core.compiled._jit import is_compiled, kernel
from coterie._core.compiled._reach import (
    Bounds,
    bounds_of,
    count_in,
    empty_log,
    keep_watched,
    reach_of,
    reachable,
    shortened,
)
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


def is_ready(is_best: bool, sums: Sums, rule: Rule) -> bool:
    """Whether the kernels of a search are compiled for such sums, in memory or on disk."""
    bounds, features = bounds_of(Limits()), np.arange(1)
    free = np.ones(1, dtype=np.bool_)
    if is_best:
        openings = CompiledOpenings(features, *np.empty((3, 1)))
        return is_compiled(grown_best, (sums, rule, bounds, free, openings, 0))
    return is_compiled(grown_in_order, (sums, rule, bounds, free, 0, True))


def in_order(sums: Sums, rule: Rule, limits: Limits, *, restart: bool) -> SearchResult:
    """The result of the forward search, or of the restart search."""
    bounds = bounds_of(limits)
    is_free = np.ones(len(sums.weights), dtype=np.bool_)
    groups: list[IntArray] = []
    record, seed = Record(len(is_free), limits.watched), 0
    while seed < len(is_free):
        members, begins, log, log_ends, n_forgotten, seed = grown_in_order(
            sums, rule, bounds, is_free, seed, restart
        )
        edges = pairwise([0, *log_ends.tolist()])
        for (begin, end), (start, stop), n in zip(
            pairwise(begins.tolist()), edges, n_forgotten.tolist(), strict=True
        ):
            record.add(_decision(int(members[begin]), log, slice(start, stop)), n)
            groups.append(members[begin:end])
    return record.result(groups)


def _decision(seed: int, log: Log, part: slice = slice(None)) -> Decision:
    verdict = Verdict(log.price[part], log.allowance[part])
    return Decision(seed, log.candidates[part], verdict, log.accepted[part])


@kernel
def those(mask: BoolArray) -> IntArray:
    """Indices at which a mask is true."""
    places, n_places = np.empty(len(mask), dtype=np.intp), 0
    for i in range(len(mask)):
        if mask[i]:
            places[n_places] = i
            n_places += 1
    return places[:n_places]


class CompiledOpenings(NamedTuple):
    """Cheapest partner of each feature, and its verdict; ``net`` is infinite without a partner."""

    partner: IntArray
    price: FloatArray
    allowance: FloatArray
    net: FloatArray


def best(sums: Sums, rule: Rule, limits: Limits) -> SearchResult:
    """The result of the best search: the cheapest merge first; without copies."""
    n_features = len(sums.weights)
    bounds = bounds_of(limits)
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
