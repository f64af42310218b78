"""Runs one fit: from data, a specification and a pricing to groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from coterie._core.criteria import PENALTIES, Criterion, ForAll, OnEnoughRows
from coterie._core.fit._groupable import Groupable
from coterie._core.fit._result import Fit
from coterie._core.fit._sizes import of_size
from coterie._core.fit._spec import FitSpec, Pricing, TrainingData
from coterie._core.threads import few_threads
from coterie._core.values import (
    BoolArray,
    IntArray,
    Partition,
    SearchResult,
    TellStep,
    tell_nobody,
    trace_of,
)

# With "auto", the penalty is halved at most this often, until two halvings in a row do not help.
MAX_HALVINGS = 12
# A regression on more columns than this share of the number of samples overfits.
MAX_SHARE_OF_ROWS = 1 / 3
# Costs that differ by less than this are equal.
SAME_COST = 1e-6

CriterionAt = Callable[[float], Criterion]


def fit_groups(
    data: TrainingData, spec: FitSpec, pricing: Pricing, tell: TellStep = tell_nobody
) -> Fit:
    """The groups of the inputs, and what is needed to transform new rows.

    Parameters
    ----------
    data : TrainingData
        Columns in memory or on a device, or moments.
    spec : FitSpec
        The checked parameters of the user.
    pricing : Pricing
        How prices and allowances of merges are computed.
    tell : callable
        Is told the step "evidence", and the step "search" of each search.
    """
    with few_threads(data.is_light):
        return Problem.of(data, spec, pricing, tell).solved()


class Found(NamedTuple):
    """The result of a search, and the tolerance or penalty that led to it."""

    result: SearchResult
    tolerance: float | None = None
    penalty: float | None = None

    @property
    def partition(self) -> Partition:
        """The groups."""
        return self.result.partition


class Problem(NamedTuple):
    """Training data with their evidence, ready to be grouped at any tolerance."""

    data: TrainingData
    spec: FitSpec
    pricing: Pricing
    groupable: Groupable

    @classmethod
    def of(
        cls, data: TrainingData, spec: FitSpec, pricing: Pricing, tell: TellStep = tell_nobody
    ) -> Problem:
        """Compute the evidence of the training data."""
        tell("evidence", 0, 1)
        with few_threads(data.is_light):
            groupable = data.groupable(spec.search, data.must_link)
        if spec.watched is not None:
            inputs = np.zeros(len(groupable.relevance), dtype=bool)
            inputs[spec.watched] = True
            groupable = groupable.watching(inputs)
        tell("evidence", 1, 1)
        return cls(data, spec, pricing, replace(groupable, tell=tell))

    def solved(self) -> Fit:
        """The fit at the number of groups, the string or the tolerance of the specification."""
        spec = self.spec
        if spec.n_groups is not None:
            found = Found(*of_size(spec.n_groups, self.groupable, self.data, self._ranking()))
        elif isinstance(spec.tolerance, str):
            found = self._by_word(spec.tolerance)
        else:
            found = self._at_tolerance(spec.tolerance)
        return self._fit(found)

    def at(self, tolerance: float) -> Partition:
        """The partition at a tolerance."""
        return self._at_tolerance(tolerance).partition

    def fit_of(self, partition: Partition) -> Fit:
        """The fit with a given partition, without a trace."""
        n_refused = np.zeros(len(partition.groups), dtype=np.intp)
        return self._fit(Found(SearchResult(partition, trace_of([], partition), n_refused)))

    def _fit(self, found: Found) -> Fit:
        partition = found.partition.oriented()
        groups, signs = list(partition.groups), partition.sign_of_each
        return Fit(
            labels=partition.labels,
            groups=groups,
            signs=signs,
            trace=found.result.trace,
            aggregation=self.spec.aggregation,
            aggregates=self.data.aggregates(groups, signs),
            features=self.data.features,
            classes=self.data.classes,
            tolerance=found.tolerance,
            penalty=found.penalty,
            n_samples=self.data.n,
            constant=self._constant(),
            spread=self.groupable.spread,
            n_refused=found.result.n_refused,
        )

    def _at_tolerance(self, tolerance: float | None) -> Found:
        return Found(self.groupable.by(self._criterion(tolerance or 0.0, is_penalty=False)))

    def _by_word(self, word: str) -> Found:
        """Groups at the penalty that a string tolerance stands for; "auto" may lower it."""
        self._check_rows(word)
        n_effective = self._effective_number() if word == "auto" else math.nan
        n_targets, n_varying = self.data.n_targets, int(np.count_nonzero(~self._constant()))
        # Each target may refuse a merge, so columns are counted once for each target.
        penalty = PENALTIES[word](
            self.data.n, n_targets * max(1, n_varying), n_targets * n_effective
        )
        if word == "auto" and self.pricing.checks_all_groups:
            return self.lowered(penalty, n_effective)
        return self._at_penalty(penalty)

    def _check_rows(self, word: str) -> None:
        """Raise if there are too few rows to estimate noise."""
        n = self.data.n
        if n >= 4:
            return
        came = (
            f"weights that sum to {n:g}. Weights count rows: scale them accordingly."
            if self.data.is_weighted
            else f"{n:g} samples. Give a number instead."
        )
        raise ValueError(
            f"tolerance={word!r} estimates noise with n_samples - 3 degrees of freedom and got "
            f"{came}"
        )

    def _at_penalty(self, penalty: float) -> Found:
        found = self.groupable.by(self._criterion(penalty, is_penalty=True))
        return Found(found, penalty=penalty)

    def lowered(self, penalty: float, n_effective: float) -> Found:
        """Groups at the penalty that is best for all merges together.

        Each merge is tested with two columns only, and the signal of the other columns counts as
        noise. Many small effects can therefore hide each other. So the groups are searched again
        with half the penalty, a quarter and so on. A result is taken if it improves the regression
        on all aggregates, by the extended Bayesian information criterion.
        """
        best = self._at_penalty(penalty)
        cost = lowest = self._cost(best.partition, n_effective)
        worse = 0
        for halving in range(1, MAX_HALVINGS + 1):
            if worse == 2 or cost == math.inf:
                break
            finer = self._at_penalty(penalty / 2**halving)
            cost = self._cost(finer.partition, n_effective)
            worse += 1
            if cost < lowest - SAME_COST:
                best, lowest, worse = finer, cost, 0
        return best

    def _cost(self, partition: Partition, m: float) -> float:
        """Extended BIC of the regression on all aggregates; infinite if there are too many.

        ``n log(residual / n) + d (log n + 2 log M) + 2 M log d`` for d aggregates and an effective
        number M of columns. The term 2 d log M is for the choice of the aggregates, and 2 M log d
        for the assignment of columns to them. Several targets share these two terms. The others
        are summed over the targets, weighted by importance. Groups of constants do not count.
        """
        n, d = self.data.n, n_varying_groups(partition.groups, self._constant())
        if d > MAX_SHARE_OF_ROWS * n:
            return math.inf
        residual = self.data.residual_ss(partition)
        fit = float(self.data.importance @ (n * np.log(residual / n) + d * math.log(n)))
        return fit + 2 * d * math.log(m) + 2 * m * math.log(d)

    def _constant(self) -> BoolArray:
        """Which inputs are constant."""
        return np.isnan(self.groupable.relevance)

    def _effective_number(self) -> float:
        """The effective number of candidates."""
        signs = self.groupable.signs is not None
        return self.data.effective_number(self.groupable.relevance, signs=signs)

    def _criterion(self, tolerance: float, *, is_penalty: bool) -> Criterion:
        """The criterion for all targets."""
        return self._for_all(
            partial(self.pricing.criterion, self.data, tolerance=tolerance, is_penalty=is_penalty)
        )

    def _ranking(self) -> CriterionAt:
        def at(tolerance: float) -> Criterion:
            return self._for_all(partial(self.pricing.ranking, self.data, tolerance=tolerance))

        return at

    def _for_all(self, criterion_of: Callable[..., Criterion]) -> Criterion:
        criteria = [criterion_of(target=target) for target in range(self.data.n_targets)]
        if self.data.min_rows is not None:
            criteria = [OnEnoughRows(criterion, self.data.min_rows) for criterion in criteria]
        return criteria[0] if len(criteria) == 1 else ForAll(criteria, self.data.importance)


def n_varying_groups(groups: Sequence[IntArray], constant: BoolArray) -> int:
    """Number of groups that are not constant, and at least 1."""
    firsts = [members[0] for members in groups]
    return max(1, int(np.count_nonzero(~constant[firsts])))
