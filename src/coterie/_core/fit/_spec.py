"""What a fit is asked for, and what it asks of its data and its criterion."""

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
    """What the user asks for, whatever the data: parameters that were checked.

    Constraints stay as they were given, since columns may be called by names that only the data
    have.
    """

    tolerance: str | float | None  # None where the criterion has none
    n_groups: int | None
    aggregation: Aggregation
    search: Search
    inputs: Any
    scale: bool
    signs: bool
    missing: bool  # whether missing values are left in
    connectivity: Any
    max_group_size: Any
    initial_groups: Any
    keep: Any
    separate: Any
    target_weights: Any
    compute: ComputeOptions

    @property
    def is_auto(self) -> bool:
        """Whether the fit finds the allowance itself."""
        return self.tolerance == "auto" and self.n_groups is None


@dataclass(frozen=True)
class Features:
    """The features of X, and how they become the inputs that are grouped.

    Parameters
    ----------
    n_features : int
    names : ndarray of str objects or None
        Names of the features, where X had some.
    inputs : None, callable or fitted transformer
    scaling : Scaling or None
    layout : Layout or None
        How the cells of a field became columns.
    missing : bool
        Whether missing values are left in.
    """

    n_features: int
    names: Any = None
    inputs: Any = None
    scaling: Scaling | None = None
    layout: Any = None
    missing: bool = False


class TrainingData(Protocol):
    """Inputs and targets, as far as a fit asks about them."""

    @property
    def features(self) -> Features:
        """The features of X, and how they become the inputs."""

    @property
    def classes(self) -> Any:
        """The classes of the targets; None where these are numbers."""

    @property
    def importance(self) -> FloatArray:
        """How much each target counts, of shape (n_targets,)."""

    @property
    def min_rows(self) -> FloatArray | None:
        """Rows that a question must be asked of at least, where values are missing."""

    @property
    def must_link(self) -> MustLink | None:
        """Features that the user wants to stay together."""

    @property
    def unmergeable(self) -> str | None:
        """What stands against merging whole groups, if anything."""

    @property
    def n(self) -> float:
        """Number of rows, as often as each counts."""

    @property
    def n_targets(self) -> int:
        """Number of targets."""

    @property
    def is_weighted(self) -> bool:
        """Whether some rows count more than others."""

    @property
    def is_light(self) -> bool:
        """Whether products of all columns are too small to be worth several threads."""

    def groupable(self, search: Search, must_link: MustLink | None) -> Groupable:
        """The inputs, made ready to be grouped."""

    def effective_number(self, relevance: FloatArray, *, signs: bool) -> float:
        """How many candidates there are in effect, by the relevance of each input."""

    def centre_and_spread(self, number: int) -> tuple[float, float]:
        """Where a target lies."""

    def aggregates(self, groups: Sequence[IntArray], signs: FloatArray) -> Aggregates:
        """How inputs become aggregates."""

    def residual_ss(self, partition: Partition) -> FloatArray:
        """Sum of squares that a regression on all aggregates leaves of each target."""


class Pricing(Protocol):
    """How a fit prices merges: which criterion, for which targets.

    Each reducer has one. :class:`coterie.CustomCFA` makes one of the user's criterion.
    """

    @property
    def name(self) -> str:
        """Who prices, in messages."""

    @property
    def targets(self) -> Any:
        """Reads targets from y, or from moments."""

    @property
    def family(self) -> Any:
        """The family of the targets; None for numbers without a distribution."""

    @property
    def cv(self) -> Any:
        """How prices are scored; None: on all rows together."""

    @property
    def cv_is_default(self) -> bool:
        """Whether the number of folds was left open."""

    @property
    def row_reason(self) -> str | None:
        """Why rows are needed and moments are not enough; None where these are."""

    @property
    def checks_all_groups(self) -> bool:
        """Whether "auto" asks what all groups are worth together."""

    @property
    def regresses_numbers(self) -> bool:
        """Whether whole numbers are regressed on, and not taken for classes."""

    @property
    def tolerance_range(self) -> tuple[float, float]:
        """Where to look for tolerances."""

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target at a tolerance, or at a penalty.

        A penalty is a multiple of what noise alone would give up.
        """

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target by which groups of a given number are found."""
