"""Searches that take the features in the order of the columns.

Asked one by one, a question costs more to put than to answer. So candidates are judged in
blocks, against the group as it is; and where several are welcome, the group is foreseen as it
will be once each of them has joined, and all are judged against all of these. Answers that
did not come true are thrown away: no decision depends on what was foreseen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.search._question import NO_LIMITS, Group, Limits, Question, outcome
from coterie.values import BoolArray, Decision, IntArray, Partition, Trace, Verdict

SHORTEST_BLOCK = 32
NOBODY: IntArray = np.empty(0, dtype=np.intp)


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
        growth = _Growth(Group(question, limits, int(free[0])), free[1:], restart=restart)
        free = growth.run()
        decisions += growth.decisions
        groups.append(growth.group.members)
    return outcome(groups, decisions)


class _Growth:
    """One group takes in candidates, in order, until a pass ends with nobody accepted."""

    def __init__(self, group: Group, free: IntArray, *, restart: bool) -> None:
        self.group = group
        self.decisions: list[Decision] = []
        self._free = free  # whom the pass may still come to, or come to again
        self._passed: list[IntArray] = []  # whom it will not
        self._restart = restart
        self._start = 0
        self._block = SHORTEST_BLOCK
        self._links = 2

    def run(self) -> IntArray:
        """Grow; the features that stay free."""
        while self._start < len(self._free) and self.group.room > 0:
            self._ask_a_block()
        return np.concatenate([*self._passed, self._free])

    def _ask_a_block(self) -> None:
        asked = self._free[self._start : self._start + self._block]
        candidates = self.group.reachable(asked)
        if not len(candidates):
            self._go_on(NOBODY, self._start + len(asked))
            return
        verdict = self.group.judge(candidates)
        welcome = np.flatnonzero(verdict.accepts)
        if not len(welcome):
            self._record(candidates, verdict, np.zeros(len(candidates), dtype=bool))
            self._go_on(NOBODY, self._start + len(asked))
            self._block *= 2
            return
        heard = slice(welcome[0] + 1)
        answers = Verdict(verdict.price[heard], verdict.allowance[heard])
        self._record(candidates[heard], answers, verdict.accepts[heard])
        self._links = min(self._links, self.group.foresight)
        foreseen = candidates[welcome[: self._links]]
        # Next, so long a block that about as many are welcome as can be foreseen, and in it
        # those who will be asked again.
        again = self._start + int(welcome[0]) if self._restart else 0
        per_welcome = len(asked) / len(welcome)
        self._block = max(SHORTEST_BLOCK, again + int(1.5 * per_welcome * self._links))
        if len(foreseen) == 1:
            self._let_in(foreseen, after=foreseen[-1])
        else:
            self._let_in_foreseen(foreseen)

    def _record(self, candidates: IntArray, verdict: Verdict, accepted: BoolArray) -> None:
        # Copies, since views would keep alive all that was asked in vain.
        kept = Verdict(verdict.price.copy(), verdict.allowance.copy())
        self.decisions.append(Decision(self.group.seed, candidates.copy(), kept, accepted))

    def _let_in(self, features: IntArray, after: int) -> None:
        """Let features in; the pass goes on after one of them, or starts again."""
        self.group.join(features)
        self._go_on(features, 0 if self._restart else int(np.searchsorted(self._free, after)) + 1)

    def _go_on(self, joined: IntArray, position: int) -> None:
        """Strike features off the free ones and go on at a position among these."""
        places = np.searchsorted(self._free, joined)
        if self._restart:
            self._free = np.delete(self._free, places)
            self._start = position - int(np.sum(places < position))
        else:
            self._passed.append(np.delete(self._free[:position], places))
            self._free = self._free[position:]

    def _let_in_foreseen(self, links: IntArray) -> None:
        """Let in a chain of candidates, as far as the links turn out to be welcome.

        The first link is welcome. Row r of the answers is the group with r + 1 links in. It
        comes true if in every row before, the first to be accepted was the next link.
        """
        begin = 0 if self._restart else int(np.searchsorted(self._free, links[0])) + 1
        end = int(np.searchsorted(self._free, links[-1])) + 1
        queue = self._free[begin:end]
        verdict = self.group.judge_along(links[:-1], queue)
        asked, expected = self._asked_along(queue, links)
        welcome = verdict.accepts & asked
        nobody = len(queue)
        first = np.where(welcome.any(axis=1), welcome.argmax(axis=1), nobody)
        unforeseen = np.flatnonzero(first != expected)
        true_rows = int(unforeseen[0]) + 1 if len(unforeseen) else len(first)
        heard = asked & (np.arange(len(queue)) <= first[:, None])
        heard[true_rows:] = False
        accepted = (np.arange(len(queue)) == first[:, None])[heard]
        answers = Verdict(verdict.price[heard], verdict.allowance[heard])
        self._record(np.broadcast_to(queue, heard.shape)[heard], answers, accepted)
        self._links = true_rows + 1 if len(unforeseen) else 2 * len(links)
        last = int(first[true_rows - 1])
        if last == nobody:
            self.group.join(links[:true_rows])
            self._go_on(links[:true_rows], end)
        else:
            self._let_in(np.append(links[:true_rows], queue[last]), after=int(queue[last]))

    def _asked_along(self, queue: IntArray, links: IntArray) -> tuple[BoolArray, IntArray]:
        """Who in the queue is asked in each row, and where the next link stands."""
        rows = np.arange(len(links) - 1)[:, None]
        places = np.searchsorted(queue, links)
        if not self._restart:
            # A pass that goes on asks those behind the link that joined last.
            passed = np.append(-1, places[1:-1])[:, None]
            return np.arange(len(queue)) > passed, places[1:]
        link_number = np.full(len(queue), len(links))
        link_number[places] = np.arange(len(links))
        return link_number > rows, places[1:]
