"""Coterie's reducers, with the options that a plan names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from coterie import GenLinCFA, LinCFA, NonLinCFA
from coterie._core.criteria import NonLin
from coterie._core.evidence import RowSets, RunningEvidence, standardised
from coterie._core.fit import MergeQuestion
from coterie._core.search import Limits, restart
from experiments.methods._reduction import FloatArray, Reduction, Setting, Task

KINDS = {"NonLinCFA": NonLinCFA, "GenLinCFA": GenLinCFA, "LinCFA": LinCFA}
INPUTS = {"x": None, "x**2": np.square}
# Tolerances to choose among where a number is tuned; "auto" needs no tuning.
TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


@dataclass(frozen=True)
class Grouping:
    """A reducer of coterie; its settings are its parameters, as a plan names them."""

    kind: str
    tolerances: tuple[float, ...] = ()

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        """The tolerances to choose among, if there are some."""
        return [{"tolerance": tolerance} for tolerance in self.tolerances] or [{}]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        """The groups of each setting."""
        return [self._reduction(X, y, task, **setting) for setting in settings]

    def _reduction(self, X: FloatArray, y: FloatArray, task: Task, **options: Any) -> Reduction:
        as_numbers = task == "regression" or self.takes_numbers(options)
        target = y if as_numbers else y.astype(int).astype(str)
        reducer = KINDS[self.kind](**parameters(options)).fit(X, target)
        return Reduction(reducer.transform, reducer.n_groups_, X.shape[1], reducer.labels_)

    def takes_numbers(self, options: Setting) -> bool:
        """Whether classes are taken for the numbers 0 and 1, as the authors do."""
        return self.kind == "GenLinCFA" and "family" not in options


def parameters(options: Setting) -> Setting:
    """Parameters of a reducer from the words of a plan."""
    given = dict(options)
    if "inputs" in given:
        given["inputs"] = INPUTS[given["inputs"]]
    if given.get("cv") == "in time":
        given["cv"] = TimeSeriesSplit(5)
    return given


@dataclass(frozen=True)
class Restandardised:
    """What the authors' real-data runs of NonLinCFA ask about, though they put out the mean.

    The group is the mean of its members; the merger that is judged is not the mean with the
    candidate, but that of the candidate and the group after both have been standardised again.
    """

    def first(self, column: FloatArray) -> tuple[FloatArray, int]:
        """One column: its values and their number."""
        return column, 1

    def joined(self, state: tuple[FloatArray, int], column: FloatArray) -> tuple[FloatArray, int]:
        """The sum of the columns and their number."""
        return state[0] + column, state[1] + 1

    def value(self, state: tuple[FloatArray, int]) -> FloatArray:
        """The mean."""
        return state[0] / state[1]

    def with_each(self, state: tuple[FloatArray, int], columns: FloatArray) -> FloatArray:
        """Size times the group and once the candidate, each standardised."""
        group = standardised(self.value(state)[:, None]).values
        return state[1] * group + standardised(columns).values


@dataclass(frozen=True)
class RealNonLin:
    """NonLinCFA as in the paper's tables of real data: Restandardised, folds in time, restart."""

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        """The tolerance comes from the plan."""
        return [{}]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        """The groups of each tolerance, and the plain means of their members."""
        rows = RowSets.of_splits(TimeSeriesSplit(5).split(X), len(X))
        evidence = RunningEvidence(
            Restandardised(), X, standardised(X), standardised(y[:, None]), rows
        )
        return [self._reduction(evidence, X.shape[1], **setting) for setting in settings]

    def _reduction(self, evidence: RunningEvidence, n_features: int, tolerance: float) -> Reduction:
        question = MergeQuestion(evidence, NonLin(tolerance, held_out=True))
        partition = restart(question, Limits(max_group_size=1000)).partition
        labels = partition.labels
        weights = (labels[:, None] == np.arange(len(partition.groups))).astype(float)
        weights /= weights.sum(axis=0)
        return Reduction(lambda rows: rows @ weights, weights.shape[1], n_features, labels)


OURS = {
    "NonLinCFA": Grouping("NonLinCFA"),
    "GenLinCFA": Grouping("GenLinCFA"),
    "LinCFA": Grouping("LinCFA"),
    "NonLinCFA tuned": Grouping("NonLinCFA", TOLERANCES),
    "NonLinCFA as in the paper": RealNonLin(),
}
