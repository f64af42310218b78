"""Candidates that need not be asked again: a group that has hardly turned still refuses them.

After each merge, the restart search asks all candidates again that were refused, and the answer is
nearly always the same. Take the group u, a candidate v and the target y as directions, with cosines
x of u and v, a of u and y, b of v and y. Let r be the length of v relative to that of u, so that w
points to u + r v. Of the plane of u and v, the merge loses the part perpendicular to w, so the
price is

    ((x + r) a - (1 + r x) b)^2 / ((1 - x^2) (1 + 2 r x + r^2)).

The allowance is at most that of a regression on v alone. No cosine changes by more than the angle
by which the group turns, so a refusal comes with a slack: how far the group may turn until the
candidate has to be asked again. Candidates that are not asked count as refused. No decision
differs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.compiled._groups import Log, alone, ask, join, weight_in
from coterie._core.compiled._jit import kernel
from coterie._core.compiled._reach import Bounds, empty_log, longer
from coterie._core.compiled._tables import IN_SAMPLE, PENALISED, Rule, Sums
from coterie._core.values import BoolArray, FloatArray, IntArray

# Features that are passed over at once if none of them needs to be asked.
BLOCK = 64
# The square root of a price that may be rounding error, and what rounding may hide of an angle.
ROUNDED_PRICE, ROUNDED_ANGLE = 1e-6, 1e-8
# Candidates more alike than this are always asked: the plane of both is hardly known.
ALIKE = 0.99


class Slacks(NamedTuple):
    """What is known of each waiting candidate, by its place.

    ``turned`` says how far the group had turned when the candidate was asked, with cosine
    ``shared``; until the group has turned as far as ``limit``, the refusal stands. Members have an
    infinite limit. ``lowest`` and ``n_left`` are the lowest limit and the number of candidates of
    each block.
    """

    shared: FloatArray
    turned: FloatArray
    limit: FloatArray
    lowest: FloatArray
    n_left: IntArray


@kernel
def no_slacks(n: int) -> Slacks:
    """Space for so many candidates."""
    n_blocks = (n + BLOCK - 1) // BLOCK
    return Slacks(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n_blocks), np.empty(n_blocks, dtype=np.intp)
    )


@kernel
def slack_exists(sums: Sums, rule: Rule, bounds: Bounds) -> bool:
    """Whether refusals can be foreseen, and need not be kept."""
    is_known = rule.kind == IN_SAMPLE or rule.kind == PENALISED
    is_one = sums.membership.size == 1 and len(rule.importance) == 1
    is_plain = sums.as_candidate == 0 and not sums.signs and not sums.units_differ
    is_limited = len(bounds.kinds) + len(bounds.sizes) > 0
    is_counted = len(bounds.watched) > 0 and not bounds.watched.any()
    return is_known and is_one and is_plain and is_counted and not is_limited


@kernel
def cosine(scatter: float, left: float, right: float) -> float:
    """Cosine of two directions; 0 if one has no length."""
    product = left * right
    return scatter / np.sqrt(product) if product > 0 else 0.0


@kernel
def slack(a: float, b: float, r: float, share: float, shared: float, since: float) -> float:
    """How far a group may turn before it can accept a candidate; negative if it may already.

    Parameters
    ----------
    a, b, r : float
        Cosines of the group and of the candidate with the target, and the relative length.
    share : float
        The allowance as a share of what the inputs leave unexplained, or as a number.
    shared, since : float
        Cosine of both when the candidate was asked, and how far the group has turned since.
    """
    far, near = shared * a - b, (shared + r) * a - (1.0 + r * shared) * b
    # The relative length falls from r towards 0 as the group grows.
    lost = min(abs(far), abs(near)) if far * near > 0 else 0.0
    lost -= since * (abs(a) + r * abs(b))
    lost -= np.sqrt(share) * (1.0 + r) + ROUNDED_PRICE
    if lost <= 0:
        return -1.0
    reach = abs(shared) + since
    slope = reach + abs(a) + r * (1.0 + abs(b))
    turn = 2.0 * lost / (slope + np.sqrt(slope**2 + 4.0 * lost))
    return min(turn, ALIKE - reach)


@kernel
def grow_with_slack(
    sums: Sums,
    rule: Rule,
    bounds: Bounds,
    is_free: BoolArray,
    waiting: IntArray,
    slacks: Slacks,
    members: IntArray,
    log: Log,
    n_logged: int,
) -> tuple[int, int, Log]:
    """Grow a group from its seed as ``restart`` does, and write its merges to the log.

    Where there is a graph, ``waiting`` has all features after the seed, and those that no member
    has met yet are passed over as members are. Returns the size of the group, the number of
    refusals and the log.
    """
    shared, turned, limit, lowest, n_left = slacks
    columns, weights = sums.columns, sums.weights
    n, y = len(waiting), len(columns) - 1
    n_blocks = (n + BLOCK - 1) // BLOCK
    turned[:n] = -1.0
    if len(bounds.indptr):
        limit[:n] = lowest[:n_blocks] = np.inf
        n_left[:n_blocks] = 0
        meet_places(bounds, is_free, slacks, members[0], members[0])
    else:
        limit[:n] = lowest[:n_blocks] = -1.0
        n_left[:n_blocks] = BLOCK
        if n % BLOCK:
            n_left[n_blocks - 1] = n % BLOCK
    is_share = rule.kind == PENALISED
    whole_share = max(rule.tolerance, 0.0) / rule.importance[0]
    if is_share:
        whole_share /= sums.n[0] - 3.0
    suspects, places = np.empty(BLOCK, dtype=np.intp), np.empty(BLOCK, dtype=np.intp)
    asked = empty_log(BLOCK)
    yy = columns[y, 0, 1]
    group = alone(sums, members[0])
    size, n_refused, way = 1, 0, 0.0
    while size < bounds.max_group_size:
        unit, uu = group.unit[0], group.within[0, 1]
        a = cosine(group.within[0, 2], uu, yy)
        winner = -1
        for block in range(n_blocks):
            if lowest[block] > way:
                n_refused += n_left[block]
                continue
            begin, end = block * BLOCK, min((block + 1) * BLOCK, n)
            n_suspects = 0
            for i in range(begin, end):
                if limit[i] > way:
                    continue
                feature = waiting[i]
                if turned[i] >= 0.0:
                    vv, vy = columns[feature, 0, 1], columns[feature, 0, 2]
                    b = cosine(vy, vv, yy)
                    share = whole_share * (1.0 - b * b) if is_share else whole_share
                    r = weight_in(weights[feature], unit, False) * np.sqrt(vv / uu)
                    more = slack(a, b, r, share, shared[i], way - turned[i])
                    if more > 0:
                        limit[i] = way + more
                        continue
                suspects[n_suspects], places[n_suspects] = feature, i
                n_suspects += 1
            n_asked = ask(sums, group, rule, suspects[:n_suspects], asked, 0, True)
            for k in range(n_asked):
                feature, i = suspects[k], places[k]
                if asked.accepted[k]:
                    winner = feature
                    break
                vv, vy = columns[feature, 0, 1], columns[feature, 0, 2]
                b = cosine(vy, vv, yy)
                share = whole_share * (1.0 - b * b) if is_share else whole_share
                r = weight_in(weights[feature], unit, False) * np.sqrt(vv / uu)
                shared[i], turned[i] = cosine(asked.seen[k], uu, vv), way
                more = slack(a, b, r, share, shared[i], 0.0) if uu > 0 else -1.0
                limit[i] = way + more if more > 0 else -1.0
            if winner >= 0:
                place = places[n_asked - 1]
                for i in range(begin, place):
                    n_refused += limit[i] < np.inf
                limit[place], lowest[block] = np.inf, -1.0
                n_left[block] -= 1
                break
            n_refused += n_left[block]
            lowest[block] = limit[begin:end].min()
        if winner < 0:
            break
        if n_logged == len(log.price):
            log = longer(log, BLOCK)
        last = n_asked - 1
        log.candidates[n_logged], log.accepted[n_logged] = winner, True
        log.price[n_logged], log.allowance[n_logged] = asked.price[last], asked.allowance[last]
        n_logged += 1
        members[size] = winner
        size += 1
        is_free[winner] = False
        join(sums, group, winner)
        way += turn_of(
            uu,
            group.within[0, 1],
            asked.seen[last],
            columns[winner, 0, 1],
            weight_in(weights[winner], unit, False),
        )
        if group.within[0, 1] < uu:
            # Relative lengths have grown, which no limit allows for.
            limit[:n] = np.where(limit[:n] < np.inf, -1.0, np.inf)
            lowest[:n_blocks] = -1.0
        if len(bounds.indptr):
            meet_places(bounds, is_free, slacks, members[0], winner)
    return size, n_refused, log


@kernel
def meet_places(bounds: Bounds, is_free: BoolArray, slacks: Slacks, seed: int, member: int) -> None:
    """Let the free neighbours of a member wait too."""
    constant = bounds.constant
    for k in range(bounds.indptr[member], bounds.indptr[member + 1]):
        feature = bounds.indices[k]
        place = feature - seed - 1
        if place < 0 or not is_free[feature] or slacks.limit[place] < np.inf:
            continue
        if len(constant) and constant[feature] != constant[seed]:
            continue
        slacks.limit[place] = slacks.turned[place] = slacks.lowest[place // BLOCK] = -1.0
        slacks.n_left[place // BLOCK] += 1


@kernel
def turn_of(before: float, after: float, uv: float, vv: float, weight: float) -> float:
    """Angle between a sum before and after a column joins, or more; scatters are given."""
    if not (before > 0 and after > 0 and before + weight * uv > 0):
        return np.pi
    added = weight * weight * max(vv - uv * uv / before, 0.0)
    return np.arcsin(min(np.sqrt(added / after) + ROUNDED_ANGLE, 1.0))
