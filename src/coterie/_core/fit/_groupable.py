"""Prepares columns for a search, and runs the search with a criterion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, Protocol

import numpy as np

from coterie._core.compiled import compiled_search
from coterie._core.criteria import Criterion
from coterie._core.evidence import Evidence, ManyTargets, SumEvidence
from coterie._core.must_link import MustLink
from coterie._core.search import Limits, Search, merges_and_watched
from coterie._core.threads import few_threads
from coterie._core.values import (
    BoolArray,
    FloatArray,
    IntArray,
    Partition,
    SearchResult,
    TellStep,
    Trace,
    Verdict,
    in_order_of_joining,
    reordered,
    tell_nobody,
)


class MergeQuestion:
    """The question of a search: verdicts of a criterion on evidence.

    Each feature that opens a group or joins one is told as progress of the step "search".
    """

    def __init__(self, evidence: Any, criterion: Criterion, tell: TellStep = tell_nobody) -> None:
        self._evidence, self._criterion = evidence, criterion
        self._tell, self._n_placed = tell, 0
        self.n_features: int = evidence.n_features
        self.foresight: int = evidence.foresight
        self.restarts: int = evidence.restarts
        self.breadth: int = evidence.breadth

    def alone(self, feature: int) -> Any:
        """The state of a group of one feature."""
        self._placed(1)
        return self._evidence.alone(feature)

    def joined(self, group: Any, features: IntArray) -> Any:
        """The state of the group after some features have joined."""
        self._placed(len(features))
        return self._evidence.joined(group, features)

    def _placed(self, n: int) -> None:
        # A search may open a group and give it up, so features may be counted twice.
        self._n_placed = min(self._n_placed + n, self.n_features - 1)
        self._tell("search", self._n_placed, self.n_features)

    def judge(self, group: Any, candidates: IntArray) -> Verdict:
        """The verdict on each candidate on its own."""
        verdict = self._verdict(lambda some: self._evidence.pairs(group, some), candidates)
        return Verdict(verdict.price[0], verdict.allowance[0])

    def judge_along(self, group: Any, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate after each link of a chain has joined in turn."""
        if not self._evidence.foresees:
            groups = accumulate(links[:, None], self._evidence.joined, initial=group)
            return _stacked([self.judge(longer, candidates) for longer in islice(groups, 1, None)])
        return self._verdict(
            lambda some: self._evidence.pairs_along(group, links, some), candidates
        )

    def judge_in_turn(self, group: Any, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdict on each candidate once the links before it have joined."""
        if not self._evidence.foresees:
            along = self.judge_along(group, links, candidates)
            at = np.searchsorted(links, candidates) - 1, np.arange(len(candidates))
            return Verdict(along.price[at], along.allowance[at])
        verdict = self._verdict(
            lambda some: self._evidence.pairs_in_turn(group, links, some), candidates
        )
        return Verdict(verdict.price[0], verdict.allowance[0])

    def judge_singles(self, features: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate for groups of one, one for each feature."""
        if not self._evidence.foresees:
            alone = [self._evidence.alone(int(feature)) for feature in features]
            return _stacked([self.judge(one, candidates) for one in alone])
        return self._verdict(
            lambda some: self._evidence.pairs_of_singles(features, some), candidates
        )

    def _verdict(self, pairs_of: Callable[[IntArray], Any], candidates: IntArray) -> Verdict:
        step = self._evidence.max_candidates
        if len(candidates) <= step:
            price, allowance = self._criterion.verdict(pairs_of(candidates))
            # Moved to the host, where the search reads them.
            return Verdict(np.asarray(price), np.asarray(allowance))
        parts = [candidates[i : i + step] for i in range(0, len(candidates), step)]
        verdicts = [self._criterion.verdict(pairs_of(part)) for part in parts]
        each = [[np.asarray(array) for array in verdict] for verdict in verdicts]
        return Verdict(*(np.concatenate(arrays, axis=-1) for arrays in zip(*each, strict=True)))


def _stacked(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts of several groups on the same candidates, as one array each."""
    return Verdict(*(np.stack(parts) for parts in zip(*verdicts, strict=True)))


class Searchable(Protocol):
    """Columns, or sums of their products, some of which may have to stay together."""

    def scatter_among(self, columns: IntArray) -> FloatArray:
        """Scatter of some columns with each other."""

    def merged(self, must_link: MustLink | None) -> Merged:
        """One column for each set of features that stay together."""


class Merged(Protocol):
    """Columns, or their scatter, that can be signed and sorted for a search."""

    def canonical_signs(self) -> FloatArray:
        """1 or -1 for each column, such that multiplying the column by -1 has no effect."""

    def signed(self, signs: FloatArray) -> Any:
        """The columns multiplied by 1 or -1 each."""

    def order_by_content(self) -> tuple[IntArray, IntArray]:
        """An order of the columns that depends only on their values, and which are copies."""

    def in_order(self, order: IntArray) -> Any:
        """The columns in another order."""

    def evidence(self, *, all_pairs: bool) -> Evidence[Any]:
        """The evidence about groups; `all_pairs`: whether all pairs of columns will be needed."""


@dataclass(frozen=True)
class Groupable:
    """Columns that are ready to be grouped, by one criterion or by many.

    Parameters
    ----------
    evidence : Evidence
    search : Search
    limits : Limits
    order : ndarray of shape (n_features,) or None
        The order in which the search takes the features.
    must_link : MustLink or None
        The inputs that each feature of the search consists of.
    signs : ndarray of shape (n_features,) or None
        -1 for features that the search sees multiplied by -1, in the order of the search. None if
        no feature may join multiplied by -1.
    tell : callable
        Is told the step "search" of each search.
    """

    evidence: Evidence[Any]
    search: Search
    limits: Limits
    order: IntArray | None = None
    must_link: MustLink | None = None
    signs: FloatArray | None = None
    tell: TellStep = tell_nobody

    @classmethod
    def of(
        cls,
        columns: Searchable,
        search: Search,
        limits: Limits,
        must_link: MustLink | None = None,
        *,
        signs: bool = False,
    ) -> Groupable:
        """Compute the evidence that is needed to group the columns.

        The limits are for the columns in their original order. Constants never share a group with
        columns that vary.
        """
        if must_link is not None:
            if signs:
                must_link = must_link.signed(columns.scatter_among)
            limits = must_link.limits(limits)
        ready = columns.merged(must_link)
        orientation = order = None
        if signs:
            orientation = ready.canonical_signs()
            ready = ready.signed(orientation)
        if search.ignores_order:
            order, copies = ready.order_by_content()
            ready, limits = ready.in_order(order), limits.reordered(order)
            limits = replace(limits, copies=copies)
            orientation = None if orientation is None else orientation[order]
        evidence = ready.evidence(all_pairs=search.ignores_order)
        constant = np.isnan(evidence.relevance)
        if constant.any():
            limits = replace(limits, constant=constant)
        return cls(evidence, search, limits, order, must_link, orientation)

    @cached_property
    def relevance(self) -> FloatArray:
        """Squared correlation of each input with the targets; NaN for constants."""
        return self._of_inputs(self.evidence.relevance)

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of each input, or of the sum of inputs that it must stay with."""
        return self._of_inputs(self.evidence.spread)

    def _of_inputs(self, values: FloatArray) -> FloatArray:
        """One value for each input, from one for each feature of the search."""
        if self.order is not None:
            in_order, values = values, np.empty(len(values))
            values[self.order] = in_order
        return values if self.must_link is None else self.must_link.of_each(values)

    def watching(self, inputs: BoolArray) -> Groupable:
        """The same, with a trace that has the refusals of these inputs and of no others."""
        if self.must_link is not None:
            inputs = np.array([inputs[unit].any() for unit in self.must_link.members])
        if self.order is not None:
            inputs = inputs[self.order]
        return replace(self, limits=replace(self.limits, watched=inputs))

    def by(self, criterion: Criterion) -> SearchResult:
        """Partition the columns, and tell how it came about."""
        n_features = self.evidence.n_features
        self.tell("search", 0, n_features)
        with few_threads(self.evidence.is_light):
            found = compiled_search(
                self.search.run, self.evidence, criterion, self.limits
            ) or self._searched(MergeQuestion(self.evidence, criterion, self.tell))
        self.tell("search", n_features, n_features)
        if self.signs is not None:
            found = found._replace(partition=self._signed(found.partition, found.trace))
        if self.order is not None:
            found = reordered(found, self.order)
        if self.must_link is not None:
            found = self.must_link.expanded(found)
        return found._replace(partition=found.partition.oriented())

    def _searched(self, question: MergeQuestion) -> SearchResult:
        """The result of the search, checked, because users can pass searches of their own."""
        found = self.search.run(question, self.limits)
        name = self.search.name
        if not isinstance(found, SearchResult):
            raise TypeError(
                f"search '{name}' must give a SearchResult, as coterie.extending.outcome does, "
                f"got {found!r}."
            )
        members = np.sort(np.concatenate([np.empty(0, dtype=np.intp), *found.partition.groups]))
        if not np.array_equal(members, np.arange(question.n_features)):
            raise ValueError(
                f"search '{name}' must put each of the {question.n_features} features into one "
                "group."
            )
        return merges_and_watched(found, self.limits.watched)

    def _signed(self, partition: Partition, trace: Trace) -> Partition:
        """The partition with the signs that its members joined with."""
        signs = np.ones(self.evidence.n_features)
        for members in in_order_of_joining(partition, trace):
            signs[members] = self.signs_in_turn(members)
        if self.limits.constant is not None:
            signs[self.limits.constant] = 1.0  # constants have no correlation
        return Partition(partition.groups, signs)

    def signs_in_turn(self, members: IntArray) -> FloatArray:
        """1 or -1 for features that joined a group in this order; needs signs=True."""
        sums = _evidence_of_sums(self.evidence)
        assert sums is not None
        assert self.signs is not None
        return sums.signs_in_turn(members) * self.signs[members]


def _evidence_of_sums(evidence: Evidence[Any]) -> SumEvidence | None:
    """The evidence itself or, for several targets, that of the first, if it is about sums."""
    if isinstance(evidence, ManyTargets):
        evidence = evidence.views[0]
    return evidence if isinstance(evidence, SumEvidence) else None
