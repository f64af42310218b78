"""The search "best", which takes the cheapest merge first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.search._in_order import Group
from coterie._core.search._question import NO_LIMITS, Limits, Question, Reach
from coterie._core.search._record import Record
from coterie._core.values import (
    BoolArray,
    Decision,
    FloatArray,
    IntArray,
    SearchResult,
    Verdict,
    excess,
)

# Prices that differ by less than this may differ only by rounding.
SAME_PRICE = 1e-12


def best(question: Question[Any], limits: Limits = NO_LIMITS) -> SearchResult:
    """The result of a search in which the cheapest admissible candidate joins first.

    The cheapest admissible pair of free features opens a group. The cheapest admissible candidate
    joins it, until none is left. Then the next cheapest pair opens a group. The cheapest has the
    lowest price minus allowance; of equals, the first feature is taken. Copies of one feature have
    no order, so they join together, each at its own price, or not at all.

    Parameters
    ----------
    question : Question
    limits : Limits
    """
    copies = limits.copies
    free = _Free(np.arange(question.n_features) if copies is None else copies)
    groups: list[list[int]] = []
    record = Record(question.n_features, limits.watched)
    openings = _Openings(question, limits)
    while (opening := openings.cheapest(free.mask)) is not None:
        group = Group(question, limits, opening.seed)
        free.mask[opening.seed] = False
        entered = free.let_in(group, opening, with_copies_of=[opening.seed])
        if entered is None:
            free.mask[opening.seed] = True
            openings.bar(opening.seed, free.copies_of(int(opening.candidates[0])), free.mask)
            continue
        for decision in entered + _grown(group, free):
            record.add(decision)
        groups.append(group.members)
    alone = np.flatnonzero(free.mask)
    for decision in openings.last_refusals(alone):
        record.add(decision)
    return record.result(groups + [[int(feature)] for feature in alone])


class _Free:
    """The features that are in no group yet, and which are copies of each other."""

    def __init__(self, copies: IntArray) -> None:
        self._copies = copies
        self._has_copies = np.bincount(copies)[copies] > 1
        self.mask: BoolArray = np.ones(len(copies), dtype=bool)

    def copies_of(self, feature: int) -> IntArray:
        """The free features that are copies of a feature, including itself if it is free."""
        return np.flatnonzero(self.mask & (self._copies == self._copies[feature]))

    def let_in(
        self, group: Group, decision: Decision, with_copies_of: Sequence[int] = ()
    ) -> list[Decision] | None:
        """Add the winner of a decision and all its copies to a group, or none of them.

        Copies of the winner, and of the members in `with_copies_of`, are tested one by one after
        it. Returns the decisions, or None if one of them is a refusal.
        """
        links = decision.candidates
        same = [f for f in (*links.tolist(), *with_copies_of) if self._has_copies[f]]
        if same:
            others = np.setdiff1d(np.concatenate([self.copies_of(f) for f in same]), links)
            links = np.concatenate([links, group.reachable(others)])[: group.room]
        decisions = [decision]
        if len(links) > 1:
            verdict = group.judge_along(links[:-1], links[1:])
            for k, copy in enumerate(np.split(links[1:], len(links) - 1)):
                answer = Verdict(verdict.price[k, [k]], verdict.allowance[k, [k]])
                decisions.append(Decision(group.seed, copy, answer, answer.accepts))
        if not all(each.accepted[0] for each in decisions):
            return None
        group.join(links)
        self.mask[links] = False
        return decisions


def _grown(group: Group, free: _Free) -> list[Decision]:
    """Add the cheapest candidates to a group until none is admissible."""
    decisions: list[Decision] = []
    while len(candidates := group.reachable(np.flatnonzero(free.mask))):
        verdict = group.judge(candidates)
        entered = _first_to_enter(group, free, candidates, verdict)
        if entered is None:
            nobody = np.zeros(len(candidates), dtype=bool)
            return [*decisions, Decision(group.seed, candidates, verdict, nobody)]
        decisions += entered
    return decisions


def _first_to_enter(
    group: Group, free: _Free, candidates: IntArray, verdict: Verdict
) -> list[Decision] | None:
    """Add the cheapest candidate whose copies are all accepted too."""
    # There is a second round only if copies are refused.
    while len(candidates):
        cheapest = _cheapest(group.seed, candidates, verdict)
        if not cheapest.accepted[0]:
            return None
        if (entered := free.let_in(group, cheapest)) is not None:
            return entered
        others = ~np.isin(candidates, free.copies_of(int(cheapest.candidates[0])))
        candidates = candidates[others]
        verdict = Verdict(verdict.price[others], verdict.allowance[others])
    return None


def _cheapest(seed: int, candidates: IntArray, verdict: Verdict) -> Decision:
    """The decision on the one candidate with the lowest price minus allowance."""
    winner = [int(_first_of_lowest(excess(*verdict)))]
    answer = Verdict(verdict.price[winner], verdict.allowance[winner])
    return Decision(seed, candidates[winner], answer, answer.accepts)


def _first_of_lowest(net: FloatArray) -> IntArray:
    """Index of the lowest value along the last axis; the first of those equal up to rounding."""
    lowest = net.min(axis=-1, keepdims=True)
    return np.argmax(net <= lowest + SAME_PRICE * np.maximum(1.0, np.abs(lowest)), axis=-1)


class _Openings:
    """The cheapest partner of each feature, searched again only once that partner is taken."""

    def __init__(self, question: Question[Any], limits: Limits) -> None:
        self._question, self._limits = question, limits
        self._net = np.full(question.n_features, np.inf)
        self._admissible = np.zeros(question.n_features, dtype=bool)
        self._best: list[Decision | None] = [None] * question.n_features
        self._barred: dict[int, IntArray] = {}
        everyone = np.ones(question.n_features, dtype=bool)
        features = np.arange(question.n_features)
        at_once = min(question.foresight, 32)
        for start in range(0, question.n_features, at_once):
            self._ask(features[start : start + at_once], everyone)

    def _ask(self, seeds: IntArray, free: BoolArray) -> None:
        """Find the cheapest free partner of each seed."""
        others = np.flatnonzero(free)
        verdict = self._question.judge_singles(seeds, others)
        may_ask = self._may_ask(seeds, others)
        # Only candidates that are not allowed have an infinite price here.
        net = np.where(may_ask, np.minimum(excess(*verdict), 1e300), np.inf)
        cheapest = _first_of_lowest(net)
        for row, (seed, partner) in enumerate(zip(seeds.tolist(), cheapest, strict=True)):
            answer = Verdict(*(field[row, [partner]] for field in verdict))
            decision = Decision(seed, others[[partner]], answer, answer.accepts)
            self._best[seed] = decision if may_ask[row, partner] else None
            self._net[seed] = net[row, partner]
            self._admissible[seed] = may_ask[row, partner] and decision.accepted[0]

    def _may_ask(self, seeds: IntArray, others: IntArray) -> BoolArray:
        may_ask = seeds[:, None] != others
        if self._limits.exist:
            for row, seed in enumerate(seeds.tolist()):
                reach = Reach(self._limits, self._question.n_features, seed)
                may_ask[row] &= np.isin(others, reach.among(others))
        for row, seed in enumerate(seeds.tolist()):
            if seed in self._barred:
                may_ask[row] &= ~np.isin(others, self._barred[seed])
        return may_ask

    def bar(self, seed: int, partners: IntArray, free: BoolArray) -> None:
        """Forbid a feature to open a group with these partners."""
        self._barred[seed] = np.union1d(self._barred.get(seed, partners), partners)
        self._ask(np.array([seed]), free)

    def cheapest(self, free: BoolArray) -> Decision | None:
        """The cheapest admissible pair of free features, if there is one."""
        while len(seeds := np.flatnonzero(free & self._admissible)):
            seed = seeds[_first_of_lowest(self._net[seeds])]
            opening = self._best[seed]
            if opening is not None and free[opening.candidates[0]]:
                return opening
            # Without its partner, the price of the feature can only rise.
            self._ask(seed[None], free)
        return None

    def last_refusals(self, features: IntArray) -> list[Decision]:
        """The last refusal of each of these features, if it had a possible partner."""
        last = (self._best[feature] for feature in features)
        return [decision for decision in last if decision is not None]
