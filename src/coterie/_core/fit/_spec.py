"""The specification of a fit, and the protocols of its data and its pricing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from coterie._core.aggregations import Aggregation
from coterie._core.criteria import Criterion
from coterie._core.evidence import ComputeOptions
from coterie._core.fit._aggregates import Aggregates, Scaling
from coterie._core.fit._groupable import Groupable
from coterie._core.must_link import MustLink
from coterie._core.search import Search
from coterie._core.values import FloatArray, IntArray, Partition


@dataclass(frozen=True)
class FitSpec:
    """The checked parameters of a reducer, independent of the data.

    Constraints are kept as given, because they may use column names, which only the data know.
    """

    tolerance: str | float | None  # None if the criterion has no tolerance
    n_groups: int | None
    aggregation: Aggregation
    search: Search
    inputs: Any
    scale: bool
    signs: bool
    missing: bool  # whether missing values are allowed
    connectivity: Any
    max_group_size: Any
    initial_groups: Any
    keep: Any
    separate: Any
    target_weights: Any
    compute: ComputeOptions
    watched: IntArray | None  # the inputs whose refusals are kept in the trace; None: all
    needs_folds: bool = False  # whether only prices on held-out rows have a meaning

    @property
    def is_auto(self) -> bool:
        """Whether the fit chooses the penalty itself."""
        return self.tolerance == "auto" and self.n_groups is None


@dataclass(frozen=True)
class Features:
    """The features of X, and how they become the inputs that are grouped.

    Parameters
    ----------
    n_features : int
    names : ndarray of str objects or None
        Names of the features, if X has names.
    inputs : None, callable or fitted transformer
    scaling : Scaling or None
    layout : Layout or None
        How the grid cells of a field became columns.
    missing : bool
        Whether missing values are allowed.
    """

    n_features: int
    names: Any = None
    inputs: Any = None
    scaling: Scaling | None = None
    layout: Any = None
    missing: bool = False


class TrainingData(Protocol):
    """What a fit needs to know about the inputs and the targets."""

    @property
    def features(self) -> Features:
        """The features of X, and how they become the inputs."""

    @property
    def classes(self) -> Any:
        """The class labels of the targets; None for numeric targets."""

    @property
    def importance(self) -> FloatArray:
        """Weight of each target, of shape (n_targets,)."""

    @property
    def min_rows(self) -> FloatArray | None:
        """The smallest number of rows to test a merge on, if values are missing."""

    @property
    def must_link(self) -> MustLink | None:
        """Features that the user wants to stay together."""

    @property
    def unmergeable(self) -> str | None:
        """Why whole groups cannot be merged; None if they can."""

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""

    @property
    def n_targets(self) -> int:
        """Number of targets."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""

    @property
    def is_light(self) -> bool:
        """Whether the data are too small for several threads to be faster."""

    def groupable(self, search: Search, must_link: MustLink | None) -> Groupable:
        """The inputs, ready to be grouped."""

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        """The effective number of candidates, given the relevance of each input."""

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        """Mean and standard deviation of a target."""

    def aggregates(self, groups: Sequence[IntArray], signs: FloatArray) -> Aggregates:
        """How inputs become aggregates."""

    def residual_ss(self, partition: Partition) -> FloatArray:
        """Residual sum of squares of each target in a regression on all aggregates."""


class Pricing(Protocol):
    """How a fit prices merges: the criterion and the kind of targets.

    Each reducer has one. :class:`coterie.CustomCFA` makes one of the user's criterion.
    """

    @property
    def name(self) -> str:
        """Name of the reducer, for error messages."""

    @property
    def targets(self) -> Any:
        """The reader of targets, from y or from moments."""

    @property
    def family(self) -> Any:
        """The family of the targets; None if no distribution is assumed."""

    @property
    def cv(self) -> Any:
        """The cross-validation that scores prices; None: prices on all rows."""

    @property
    def cv_is_default(self) -> bool:
        """Whether `cv` was left at its default."""

    @property
    def row_reason(self) -> str | None:
        """Why a fit needs rows; None if moments are enough."""

    @property
    def checks_all_groups(self) -> bool:
        """Whether "auto" scores a regression on all groups together."""

    @property
    def regresses_numbers(self) -> bool:
        """Whether integer targets are treated as numbers and not as classes."""

    @property
    def tolerance_range(self) -> tuple[float, float]:
        """The range of useful tolerances."""

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target, at a tolerance or a penalty.

        A penalty is the allowance as a multiple of the average loss from noise alone.
        """

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target that is used to reach a given number of groups."""
