"""The searches "forward" and "restart", which take the features in the order of the columns.

Testing candidates one by one is slow because of overhead. Candidates are therefore judged in
blocks, against the group as it is. If several are accepted, they are expected to join in turn,
and the candidates are also judged against the group after each of these joins. Verdicts for
joins that do not happen are discarded: no decision depends on these predictions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._core.search._question import NO_LIMITS, Limits, Question, Reach
from coterie._core.search._record import Record
from coterie._core.values import BoolArray, Decision, IntArray, SearchResult, Verdict

NOBODY: IntArray = np.empty(0, dtype=np.intp)


def forward(question: Question[Any], limits: Limits = NO_LIMITS) -> SearchResult:
    """The result of Algorithm 1: one pass over the later features for each group.

    The first free feature opens a group. An accepted candidate joins at once.
    """
    return _one_group_at_a_time(question, limits, restart=False)


def restart(question: Question[Any], limits: Limits = NO_LIMITS) -> SearchResult:
    """Like forward, but the pass starts again from its beginning after each merge.

    The tables of the paper were made with this search.
    """
    return _one_group_at_a_time(question, limits, restart=True)


def _one_group_at_a_time(question: Question[Any], limits: Limits, *, restart: bool) -> SearchResult:
    groups: list[list[int]] = []
    record = Record(question.n_features, limits.watched)
    free = np.arange(question.n_features)
    is_free: BoolArray = np.ones(len(free), dtype=bool)
    while len(free):
        seed, others = int(free[0]), free[1:]
        group = Group(question, limits, seed)
        growth = _Growth(group, group.alike(others), record, restart=restart)
        growth.run()
        groups.append(growth.group.members)
        is_free[growth.group.members] = False
        free = others[is_free[others]]
    return record.result(groups)


class Group:
    """A group while it grows: its members, its state and its possible candidates."""

    def __init__(self, question: Question[Any], limits: Limits, seed: int) -> None:
        self._question, self._limits, self.breadth = question, limits, question.breadth
        self._reach = Reach(limits, question.n_features, seed) if limits.exist else None
        # Predict one merge only, if each merge changes the possible candidates.
        foreseen = 1 if limits.change_as_groups_grow else question.foresight
        self._foresight, self._restarts = foreseen, min(foreseen, question.restarts)
        self.seed = seed
        self.members = [seed]
        self.state = question.alone(seed)

    def join(self, features: IntArray) -> None:
        """Add some features to the group."""
        self.state = self._question.joined(self.state, features)
        self.members += features.tolist()
        if self._reach is not None:
            self._reach.count_in(features)

    @property
    def room(self) -> int:
        """How many more members it may have."""
        return self._question.n_features if self._reach is None else self._reach.room

    @property
    def foresight(self) -> int:
        """How many merges to predict at most."""
        return min(self.room, self._foresight)

    @property
    def restarts(self) -> int:
        """The same for restarts, where each predicted merge costs a row of verdicts."""
        return min(self.room, self._restarts)

    def alike(self, features: IntArray) -> IntArray:
        """The features that may join at all: constants join only constants."""
        is_varied = self._limits.constant is None
        return features if is_varied else self._limits.alike(self.seed, features)

    def reachable(self, candidates: IntArray) -> IntArray:
        """The candidates that the limits allow."""
        return candidates if self._reach is None else self._reach.among(candidates)

    def judge(self, candidates: IntArray) -> Verdict:
        """The verdict on each candidate."""
        return self._question.judge(self.state, candidates)

    def judge_along(self, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate after each of the links has joined in turn."""
        return self._question.judge_along(self.state, links, candidates)

    def judge_in_turn(self, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdict on each candidate once the links before it have joined."""
        return self._question.judge_in_turn(self.state, links, candidates)


class _Growth:
    """Adds candidates to one group, in order, until a pass accepts none."""

    def __init__(self, group: Group, free: IntArray, record: Record, *, restart: bool) -> None:
        self.group = group
        self._kept = record
        self._free = free  # features that the pass has yet to test, or to test again
        self._restart = restart
        self._start = 0
        self._block = group.breadth
        self._links = 2

    def run(self) -> None:
        """Grow the group until no candidate is left."""
        while self._start < len(self._free) and self.group.room > 0:
            self._ask_a_block()

    def _ask_a_block(self) -> None:
        asked = self._free[self._start : self._start + self._block]
        candidates = self.group.reachable(asked)
        if not len(candidates):
            self._go_on(NOBODY, self._start + len(asked))
            return
        verdict = self.group.judge(candidates)
        welcome = np.flatnonzero(verdict.accepts)
        if not len(welcome):
            self._record(candidates, verdict, verdict.accepts)
            self._go_on(NOBODY, self._start + len(asked))
            self._block *= 2
            return
        heard = slice(welcome[0] + 1)
        answers = Verdict(verdict.price[heard], verdict.allowance[heard])
        self._record(candidates[heard], answers, verdict.accepts[heard])
        self._links = min(self._links, self.group.foresight)
        foreseen = candidates[welcome[: self._links]]
        # The next block is long enough that about as many are accepted as can be predicted, and
        # contains those that will be tested again.
        again = self._start + int(welcome[0]) if self._restart else 0
        per_welcome = len(asked) / len(welcome)
        self._block = max(self.group.breadth, again + int(1.5 * per_welcome * self._links))
        if len(foreseen) == 1:
            self.group.join(foreseen)
            place = int(np.searchsorted(self._free, foreseen[0]))
            self._go_on(foreseen, 0 if self._restart else place + 1)
        else:
            self._let_in_foreseen(foreseen)

    def _record(self, candidates: IntArray, verdict: Verdict, accepted: BoolArray) -> None:
        # Copies: views would keep the discarded verdicts in memory.
        kept = Verdict(verdict.price.copy(), verdict.allowance.copy())
        self._kept.add(Decision(self.group.seed, candidates.copy(), kept, accepted))

    def _go_on(self, joined: IntArray, position: int) -> None:
        """Remove features from the free ones, and continue at a position among these."""
        if not self._restart:
            self._free = self._free[position:]
            return
        self._start = position
        if len(joined):
            places = self._free.searchsorted(joined)
            stays: BoolArray = np.ones(len(self._free), dtype=bool)
            stays[places] = False
            self._free = self._free[stays]
            self._start -= int(np.count_nonzero(places < position))

    def _let_in_foreseen(self, links: IntArray) -> None:
        """Add a chain of candidates (links), as far as these are accepted."""
        if self._restart:
            self._let_in_with_restarts(links)
        else:
            self._let_in_on_the_way(links)

    def _let_in_on_the_way(self, links: IntArray) -> None:
        """Predict one pass: each candidate is judged after the links before it have joined.

        The prediction holds as long as exactly the links are accepted. The first verdict that
        differs from it is still valid.
        """
        begin, end = np.searchsorted(self._free, links[[0, -1]]) + 1
        queue = self._free[begin:end]
        verdict = self.group.judge_in_turn(links, queue)
        is_link = np.zeros(len(queue), dtype=bool)
        is_link[np.searchsorted(queue, links[1:])] = True
        accepted = verdict.accepts
        surprises = np.flatnonzero(accepted != is_link)
        heard = slice(int(surprises[0]) + 1 if len(surprises) else len(queue))
        answers = Verdict(verdict.price[heard], verdict.allowance[heard])
        self._record(queue[heard], answers, accepted[heard])
        joined = np.append(links[0], queue[heard][accepted[heard]])
        self._links = len(joined) + 1 if len(surprises) else 2 * len(links)
        self.group.join(joined)
        self._go_on(joined, int(begin) + heard.stop)

    def _let_in_with_restarts(self, links: IntArray) -> None:
        """Predict one pass after each link.

        Row r of the verdicts is for the group with r + 1 links. It is valid if in every row
        before it, the first accepted candidate is the next link.
        """
        end = int(np.searchsorted(self._free, links[-1])) + 1
        queue = self._free[:end]
        verdict = self.group.judge_along(links[:-1], queue)
        places = np.searchsorted(queue, links)
        link_number = np.full(len(queue), len(links))
        link_number[places] = np.arange(len(links))
        asked = link_number > np.arange(len(links) - 1)[:, None]
        welcome = verdict.accepts & asked
        nobody = len(queue)
        first = np.where(welcome.any(axis=1), welcome.argmax(axis=1), nobody)
        surprises = np.flatnonzero(first != places[1:])
        true_rows = int(surprises[0]) + 1 if len(surprises) else len(first)
        heard = asked & (np.arange(len(queue)) <= first[:, None])
        heard[true_rows:] = False
        accepted = (np.arange(len(queue)) == first[:, None])[heard]
        answers = Verdict(verdict.price[heard], verdict.allowance[heard])
        self._record(np.broadcast_to(queue, heard.shape)[heard], answers, accepted)
        self._links = min(self.group.restarts, true_rows + 1 if len(surprises) else 2 * len(links))
        last = int(first[true_rows - 1])
        joined = links[:true_rows] if last == nobody else np.append(links[:true_rows], queue[last])
        self.group.join(joined)
        self._go_on(joined, end if last == nobody else 0)
