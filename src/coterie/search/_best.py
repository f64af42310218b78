"""The search that takes the cheapest merge first."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.search._question import NO_LIMITS, Group, Limits, Question, outcome
from coterie.values import BoolArray, Decision, FloatArray, IntArray, Partition, Trace, Verdict


def best(
    question: Question[Any], limits: Limits = NO_LIMITS, copies: IntArray | None = None
) -> tuple[Partition, Trace]:
    """The cheapest admissible candidate joins first.

    The cheapest admissible pair of free features opens a group; the cheapest admissible
    candidate joins it until none is left; then the next cheapest pair. Cheapest is the
    lowest price less allowance, and equals go to the feature that comes first. But among
    copies of one feature nobody can say which comes first: they join together.

    Parameters
    ----------
    question : Question
    limits : Limits
    copies : ndarray of shape (n_features,), optional
        The same number for features that are copies of each other.
    """
    free = Free(np.arange(question.n_features) if copies is None else copies)
    groups: list[list[int]] = []
    decisions: list[Decision] = []
    openings = _Openings(question, limits)
    while (opening := openings.cheapest(free.mask)) is not None:
        group = Group(question, limits, opening.seed)
        free.mask[opening.seed] = False
        decisions += free.let_in(group, opening)
        decisions += free.let_in_copies(group, opening.seed, opening.verdict)
        decisions += _grown(group, free)
        groups.append(group.members)
    alone = np.flatnonzero(free.mask)
    decisions += openings.told_last(alone)
    return outcome(groups + [[int(feature)] for feature in alone], decisions)


class Free:
    """The features that are in no group yet, and which of them are copies of each other."""

    def __init__(self, copies: IntArray) -> None:
        self._copies = copies
        self.mask: BoolArray = np.ones(len(copies), dtype=bool)

    def let_in(self, group: Group, decision: Decision) -> list[Decision]:
        """Let the winner of a decision into a group, and its copies with it."""
        self._leave(decision.candidates, group)
        winner = int(decision.candidates[0])
        return [decision, *self.let_in_copies(group, winner, decision.verdict)]

    def let_in_copies(self, group: Group, feature: int, verdict: Verdict) -> list[Decision]:
        """Let the copies of a member into its group, on the verdict that it had."""
        decisions = []
        copies = np.flatnonzero(self.mask & (self._copies == self._copies[feature]))
        for copy in np.split(copies, len(copies)) if len(copies) else ():
            if len(group.reachable(copy)):
                self._leave(copy, group)
                decisions.append(Decision(group.seed, copy, verdict, np.array([True])))
        return decisions

    def _leave(self, features: IntArray, group: Group) -> None:
        group.join(features)
        self.mask[features] = False


def _grown(group: Group, free: Free) -> list[Decision]:
    """Let the cheapest into a group until none is admissible."""
    decisions: list[Decision] = []
    while len(candidates := group.reachable(np.flatnonzero(free.mask))):
        verdict = group.judge(candidates)
        cheapest = _cheapest(group.seed, candidates, verdict)
        if not cheapest.accepted[0]:
            return [*decisions, Decision(group.seed, candidates, verdict, verdict.accepts)]
        decisions += free.let_in(group, cheapest)
    return decisions


def _cheapest(seed: int, candidates: IntArray, verdict: Verdict) -> Decision:
    """The decision on the candidate of the lowest price less allowance, and on no other."""
    winner = [int(np.argmin(_net(verdict)))]
    answer = Verdict(verdict.price[winner], verdict.allowance[winner])
    return Decision(seed, candidates[winner], answer, answer.accepts)


def _net(verdict: Verdict) -> FloatArray:
    """Price less allowance; where the allowance has no end, the price alone."""
    return verdict.price - np.where(np.isposinf(verdict.allowance), 0.0, verdict.allowance)


class _Openings:
    """The cheapest partner of each feature, asked again only once that partner is taken."""

    def __init__(self, question: Question[Any], limits: Limits) -> None:
        self._question, self._limits = question, limits
        self._net = np.full(question.n_features, np.inf)
        self._best: list[Decision | None] = [None] * question.n_features
        everyone = np.ones(question.n_features, dtype=bool)
        features = np.arange(question.n_features)
        for start in range(0, question.n_features, question.foresight):
            self._ask(features[start : start + question.foresight], everyone)

    def _ask(self, seeds: IntArray, free: BoolArray) -> None:
        """Find the cheapest free partner of each seed."""
        others = np.flatnonzero(free)
        verdict = self._question.judge_singles(seeds, others)
        net = np.where(self._may_ask(seeds, others), _net(verdict), np.inf)
        cheapest = np.argmin(net, axis=1)
        for row, (seed, partner) in enumerate(zip(seeds.tolist(), cheapest, strict=True)):
            self._net[seed] = net[row, partner]
            answer = Verdict(*(field[row, [partner]] for field in verdict))
            asked = np.isfinite(net[row, partner])
            decision = Decision(seed, others[[partner]], answer, answer.accepts)
            self._best[seed] = decision if asked else None

    def _may_ask(self, seeds: IntArray, others: IntArray) -> BoolArray:
        if self._limits.max_group_size == 1:
            return np.zeros((len(seeds), len(others)), dtype=bool)
        may_ask = seeds[:, None] != others
        if self._limits.neighbours is not None:
            may_ask &= self._limits.neighbours[seeds].toarray()[:, others] > 0
        return may_ask

    def cheapest(self, free: BoolArray) -> Decision | None:
        """The cheapest admissible pair of free features, if there is one."""
        self._net[~free] = np.inf
        while True:
            seed = int(np.argmin(self._net))
            opening = self._best[seed]
            if opening is None or not free[seed] or not opening.accepted[0]:
                return None
            if free[opening.candidates[0]]:
                return opening
            # Without its partner the feature can only have become dearer.
            self._ask(np.array([seed]), free)

    def told_last(self, features: IntArray) -> list[Decision]:
        """The last refusal that each of these features had, if it could ask at all."""
        told = (self._best[feature] for feature in features)
        return [decision for decision in told if decision is not None]
