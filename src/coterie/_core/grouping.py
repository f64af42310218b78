"""The way of the data through the rooms: columns in, partition and trace out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.aggregations import Aggregation
from coterie._core.compiled import compiled_search
from coterie._core.criteria import Criterion
from coterie._core.evidence import (
    Evidence,
    GramSource,
    ManyTargets,
    RowSets,
    SumEvidence,
    SummedColumns,
    gram_in_order,
    gram_turned,
    order_by_sums,
    scatter_among,
)
from coterie._core.gathering import MOMENTS, Asked, Means, gathered, gathered_from_sums
from coterie._core.must_link import Units
from coterie._core.search import Limits, Question, best, forward, restart
from coterie._core.threads import few_threads
from coterie._core.values import (
    FloatArray,
    IntArray,
    Partition,
    Trace,
    Verdict,
    in_order_of_joining,
    is_sparse,
    reordered,
)

Search = Callable[[Question[Any], Limits], tuple[Partition, Trace]]
# Multiplications in a matrix of all pairs that is too small to be worth several threads.
LIGHT = 2**28
# Rows that are looked at together, to tell how columns are turned.
FEW_ROWS = 16
SEARCHES: dict[str, Search] = {"forward": forward, "restart": restart, "best": best}


@dataclass(frozen=True)
class MergeQuestion:
    """May these candidates join this group? Evidence, weighed by a criterion."""

    evidence: Any  # Evidence, that answers about several groups too where it foresees
    criterion: Criterion

    @property
    def n_features(self) -> int:
        """Number of features to be grouped."""
        return self.evidence.n_features

    @property
    def foresight(self) -> int:
        """How many groups at once are worth asking about."""
        return self.evidence.foresight

    @property
    def restarts(self) -> int:
        """The same where each group costs a row of answers."""
        return self.evidence.restarts

    @property
    def breadth(self) -> int:
        """How many candidates are not worth asking about in parts."""
        return self.evidence.breadth

    def alone(self, feature: int) -> Any:
        """The group of one feature."""
        return self.evidence.alone(feature)

    def joined(self, group: Any, features: IntArray) -> Any:
        """The group with some features more."""
        return self.evidence.joined(group, features)

    def judge(self, group: Any, candidates: IntArray) -> Verdict:
        """The verdict on each candidate, as if it were the only one."""
        verdict = self._verdict(lambda block: self.evidence.pairs(group, block), candidates)
        return Verdict(verdict.price[0], verdict.allowance[0])

    def judge_along(self, group: Any, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate after each link of a chain has joined in turn."""
        if not self.evidence.foresees:
            groups = accumulate(links[:, None], self.joined, initial=group)
            return _stacked([self.judge(longer, candidates) for longer in islice(groups, 1, None)])
        return self._verdict(
            lambda block: self.evidence.pairs_along(group, links, block), candidates
        )

    def judge_in_turn(self, group: Any, links: IntArray, candidates: IntArray) -> Verdict:
        """The verdict on each candidate once the links before it have joined."""
        if not self.evidence.foresees:
            along = self.judge_along(group, links, candidates)
            at = np.searchsorted(links, candidates) - 1, np.arange(len(candidates))
            return Verdict(along.price[at], along.allowance[at])
        verdict = self._verdict(
            lambda block: self.evidence.pairs_in_turn(group, links, block), candidates
        )
        return Verdict(verdict.price[0], verdict.allowance[0])

    def judge_singles(self, features: IntArray, candidates: IntArray) -> Verdict:
        """The verdicts on each candidate for joining each of some features."""
        if not self.evidence.foresees:
            return _stacked([self.judge(self.alone(int(f)), candidates) for f in features])
        return self._verdict(
            lambda block: self.evidence.pairs_of_singles(features, block), candidates
        )

    def _verdict(self, pairs_of: Callable[[IntArray], Any], candidates: IntArray) -> Verdict:
        step = self.evidence.max_candidates
        blocks = [candidates[i : i + step] for i in range(0, len(candidates), step)]
        verdicts = [on_host(self.criterion.verdict(pairs_of(block))) for block in blocks]
        if len(verdicts) == 1:
            return verdicts[0]
        return Verdict(*(np.concatenate(parts, axis=-1) for parts in zip(*verdicts, strict=True)))


def on_host(verdict: Verdict) -> Verdict:
    """Answers where the search can read them, whether or not they were found elsewhere."""
    return Verdict(np.asarray(verdict.price), np.asarray(verdict.allowance))


def _stacked(verdicts: Sequence[Verdict]) -> Verdict:
    """Verdicts on the same candidates by one group each."""
    return Verdict(*(np.stack(parts) for parts in zip(*verdicts, strict=True)))


@dataclass(frozen=True)
class Groupable:
    """Columns made ready to be grouped, by one criterion or by many.

    Parameters
    ----------
    evidence : Evidence
    search : {"forward", "restart", "best"}
    limits : Limits
    order, copies : ndarray of shape (n_features,) or None
        The order in which the best search takes the features, and which of them are copies.
    units : Units or None
        What the features of the search consist of.
    turned : ndarray of shape (n_features,) or None
        -1 for features that were turned round for the search, in the order of the search.
    """

    evidence: Evidence[Any]
    search: str
    limits: Limits
    order: IntArray | None = None
    copies: IntArray | None = None
    units: Units | None = None
    turned: FloatArray | None = None

    @classmethod
    def of(
        cls,
        evidence: Evidence[Any],
        search: str,
        limits: Limits,
        *,
        order: IntArray | None = None,
        turned: FloatArray | None = None,
        **known: Any,
    ) -> Groupable:
        """Columns whose constants never share a group with what varies.

        Limits, and who is turned, are those of the columns as they came, whatever the order.
        """
        if order is not None:
            limits = limits.reordered(order)
            turned = None if turned is None else turned[order]
        constant = np.isnan(evidence.relevance)
        if constant.any():
            limits = replace(limits, constant=constant)
        return cls(evidence, search, limits, order=order, turned=turned, **known)

    @cached_property
    def relevance(self) -> FloatArray:
        """Squared correlation of each input with the targets; NaN for constants."""
        return self._of_inputs(self.evidence.relevance)

    @property
    def spread(self) -> FloatArray:
        """Spread of each input, or of the unit that it is in."""
        return self._of_inputs(self.evidence.spread)

    def _of_inputs(self, values: FloatArray) -> FloatArray:
        """One value for each input, from one for each feature of the search."""
        if self.order is not None:
            in_order, values = values, np.empty(len(values))
            values[self.order] = in_order
        return values if self.units is None else self.units.of_each(values)

    def by(self, criterion: Criterion) -> tuple[Partition, Trace]:
        """Partition the columns, and tell how it came about."""
        search = SEARCHES[self.search]
        with few_threads(self.evidence.is_light):
            outcome = compiled_search(
                search, self.evidence, criterion, self.limits, self.copies
            ) or self._asked(search, MergeQuestion(self.evidence, criterion))
        if self.turned is not None:
            outcome = self._signed(*outcome)
        if self.order is not None:
            outcome = reordered(*outcome, self.order)
        partition, trace = outcome if self.units is None else self.units.told(*outcome)
        return partition.oriented(), trace

    def _asked(self, search: Search, question: MergeQuestion) -> tuple[Partition, Trace]:
        if search is best:
            return best(question, self.limits, self.copies)
        return search(question, self.limits)

    def _signed(self, partition: Partition, trace: Trace) -> tuple[Partition, Trace]:
        """The partition with the signs that its members joined with."""
        signs = np.ones(self.evidence.n_features)
        for members in in_order_of_joining(partition, trace):
            signs[members] = self.signs_in_turn(members)
        if self.limits.constant is not None:
            signs[self.limits.constant] = 1.0  # nothing is opposed to a constant
        return Partition(partition.groups, signs), trace

    def signs_in_turn(self, members: IntArray) -> FloatArray:
        """1 or -1 for features that joined a group in this order, where signs are allowed."""
        sums = sums_behind(self.evidence)
        assert sums is not None
        assert self.turned is not None
        return sums.signs_in_turn(members) * self.turned[members]


def groupable(
    columns: FloatArray,
    targets: FloatArray,
    *,
    aggregation: Aggregation,
    search: str,
    rows: RowSets,
    limits: Limits,
    means: Means,
    asked: Asked = MOMENTS,
    units: Units | None = None,
) -> Groupable:
    """Gather what must be known about columns to group them."""
    if units is not None:
        if asked.signs:
            units = units.signed(partial(scatter_among, columns, rows.weights))
        columns, limits = units.sums(columns), units.limits(limits)
    signs = orientation(columns) if asked.signs else None
    if signs is not None:
        columns = turned(columns, signs)
    with few_threads(is_light(columns)):
        if search != "best":
            evidence = gathered(columns, targets, aggregation, rows, means, asked)
            return Groupable.of(evidence, search, limits, units=units, turned=signs)
        # In an order of their own, whatever order they came in.
        order, copies = order_by_content(columns)
        means = means.for_all_pairs()
        evidence = gathered(in_order(columns, order), targets, aggregation, rows, means, asked)
        known = {"copies": copies, "units": units}
        return Groupable.of(evidence, search, limits, order=order, turned=signs, **known)


def groupable_from_sums(
    columns: SummedColumns,
    *,
    search: str,
    rows: RowSets,
    limits: Limits,
    signs: bool = False,
    units: Units | None = None,
) -> Groupable:
    """The same for columns of which only sums over the rows are known, to be added up."""
    if units is not None:
        if signs:
            units = units.signed(columns.scatter_among)
        limits = units.limits(limits)
        if len(units.members) < columns.n_columns:
            columns = columns.summed(units.weights(columns.n_columns))
    source, where = columns.gram(rows)
    spread, first, flipped = where.spread[: columns.n_columns], columns.first, None
    if signs:
        flipped = orientation_by_sums(source, first)
        source, first = gram_turned(source, flipped), first * flipped
    if search != "best":
        evidence = gathered_from_sums(source, spread, signs=signs)
        return Groupable.of(evidence, search, limits, units=units, turned=flipped)
    order, copies = order_by_sums(source, where, first)
    evidence = gathered_from_sums(gram_in_order(source, order), spread[order], signs=signs)
    known = {"copies": copies, "units": units}
    return Groupable.of(evidence, search, limits, order=order, turned=flipped, **known)


def sums_behind(evidence: Evidence[Any]) -> SumEvidence | None:
    """The evidence about sums that this is, or that each of its targets has."""
    if isinstance(evidence, ManyTargets):
        evidence = evidence.views[0]
    return evidence if isinstance(evidence, SumEvidence) else None


def is_light(columns: FloatArray) -> bool:
    """Whether a product of all columns with all columns is too small for several threads."""
    return columns.size * columns.shape[1] < LIGHT


def orientation(columns: Any) -> FloatArray:
    """1 or -1 for each column, the sign of its first entry that is not 0.

    Columns times these are the same however they came, so that where features may join with a
    minus nothing can depend on it.
    """
    if is_sparse(columns):
        return _orientation_by_entries(columns)
    signs = np.zeros(columns.shape[1])
    unknown = np.arange(columns.shape[1])
    n_rows = columns.shape[0]
    for start in range(0, n_rows, FEW_ROWS):
        if not len(unknown):
            break
        block = np.asarray(columns[start : min(start + FEW_ROWS, n_rows)])[:, unknown]
        signs[unknown] = _first_sign(block)
        unknown = unknown[signs[unknown] == 0]
    return np.where(signs < 0, -1.0, 1.0)


def _first_sign(rows: FloatArray) -> FloatArray:
    """The sign of the first entry of each column that is not 0; 0 where all are."""
    first = np.argmax(rows != 0, axis=0)
    return np.sign(rows[first, np.arange(rows.shape[1])])


def _orientation_by_entries(columns: Any) -> FloatArray:
    columns = _plain_entries(columns)
    signs, has_entries = np.ones(columns.shape[1]), np.diff(columns.indptr) > 0
    signs[has_entries] = np.sign(columns.data[columns.indptr[:-1][has_entries]])
    return signs


def orientation_by_sums(source: GramSource, first: FloatArray) -> FloatArray:
    """The same where only the first rows and the scatters are known."""
    with_targets = source.scatters[:, : first.shape[1], first.shape[1] :].sum(axis=0)
    signs = _first_sign(np.vstack([first, with_targets.T]))
    return np.where(signs < 0, -1.0, 1.0)


def turned(columns: Any, signs: FloatArray) -> Any:
    """Columns times 1 or -1 each."""
    if (signs > 0).all():
        return columns
    signs = signs.astype(columns.dtype)
    return columns @ sparse.diags_array(signs) if is_sparse(columns) else columns * signs


def in_order(columns: Any, order: IntArray) -> Any:
    """Columns in another order, in the same layout in memory."""
    return columns[:, order] if is_sparse(columns) else np.take(columns, order, axis=1)


def order_by_content(columns: Any) -> tuple[IntArray, IntArray]:
    """An order of the columns that depends on what is in them and not on where they stand.

    Computing on columns in this order gives the same bits however they were ordered, so
    that rounding cannot decide between equals.

    Returns
    -------
    order : ndarray of shape (n_features,)
    copies : ndarray of shape (n_features,)
        In that order, the same number for columns that are copies of each other.
    """
    if is_sparse(columns):
        return _order_by_entries(columns)
    # No value at all comes last, wherever it is.
    first_row = np.asarray(columns[0])
    key = np.where(np.isnan(first_row), np.inf, first_row)
    order = np.argsort(key, kind="stable")
    first = key[order]
    is_new = np.append(True, first[1:] != first[:-1])
    for start, end in pairwise([*np.flatnonzero(is_new), len(order)]):
        if end - start > 1:
            tied = order[start:end]
            # Less than nothing is nothing.
            content = [(np.asarray(columns[:, int(j)]) + 0.0).tobytes() for j in tied]
            by_content = sorted(range(len(content)), key=content.__getitem__)
            order[start:end] = tied[by_content]
            is_new[start + 1 : end] = [content[a] != content[b] for a, b in pairwise(by_content)]
    return order, np.cumsum(is_new)


def _order_by_entries(columns: Any) -> tuple[IntArray, IntArray]:
    """The same for sparse columns, by where their entries are and what these are."""
    columns = _plain_entries(columns)
    entries = [slice(a, b) for a, b in pairwise(columns.indptr)]
    content = [(columns.indices[e].tobytes(), columns.data[e].tobytes()) for e in entries]
    order = sorted(range(len(content)), key=content.__getitem__)
    is_new = [True, *(content[a] != content[b] for a, b in pairwise(order))]
    return np.array(order, dtype=np.intp), np.cumsum(is_new)


def _plain_entries(columns: Any) -> sparse.csc_array:
    """A copy of sparse columns whose entries are in order, each once, and not 0."""
    columns = sparse.csc_array(columns, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns
