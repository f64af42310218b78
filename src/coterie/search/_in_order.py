"""Searches that take the features in the order of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.search._question import NO_LIMITS, Group, Limits, Question, outcome
from coterie.values import Decision, IntArray, Partition, Trace, Verdict

_NOBODY = Verdict(np.empty(0), np.empty(0))


def forward(question: Question[Any], limits: Limits = NO_LIMITS) -> tuple[Partition, Trace]:
    """Algorithm 1: one pass over the later features for each group.

    The first free feature opens a group; whoever is accepted joins at once.
    """
    return _one_group_at_a_time(question, limits, restart=False)


def restart(question: Question[Any], limits: Limits = NO_LIMITS) -> tuple[Partition, Trace]:
    """Like forward, but after each acceptance the pass starts again from its beginning.

    The tables of the paper were made with it.
    """
    return _one_group_at_a_time(question, limits, restart=True)


def _one_group_at_a_time(
    question: Question[Any], limits: Limits, *, restart: bool
) -> tuple[Partition, Trace]:
    groups: list[list[int]] = []
    decisions: list[Decision] = []
    free = np.arange(question.n_features)
    while len(free):
        group = Group(question, limits, int(free[0]))
        free = _grown(group, free[1:], decisions, restart=restart)
        groups.append(group.members)
    return outcome(groups, decisions)


def _grown(group: Group, free: IntArray, decisions: list[Decision], *, restart: bool) -> IntArray:
    """Let candidates into a group, in order; return those that stay free.

    All candidates of a block are judged against the same group, so the answers behind the
    first acceptance are void. Blocks grow while nobody is accepted and shrink when
    somebody is: the void answers stay few, and no decision depends on the block.
    """
    start, block = 0, 8
    while start < len(free):
        asked = free[start : start + block]
        candidates = group.reachable(asked)
        verdict = group.judge(candidates) if len(candidates) else _NOBODY
        accepted = verdict.accepts
        if not accepted.any():
            decisions.append(Decision(group.seed, candidates, verdict, accepted))
            start, block = start + block, 2 * block
            continue
        first = int(np.argmax(accepted))
        heard = slice(first + 1)
        answers = Verdict(verdict.price[heard], verdict.allowance[heard])
        decisions.append(Decision(group.seed, candidates[heard], answers, accepted[heard]))
        winner = int(candidates[first])
        group.join(winner)
        position = start + int(np.searchsorted(asked, winner))
        free = np.delete(free, position)
        start, block = (0 if restart else position), max(8, block // 2)
    return free
