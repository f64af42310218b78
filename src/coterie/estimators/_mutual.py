"""The reducer for any dependence: information that a merge gives up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from coterie._core.criteria import Criterion, Mutual, MutualParsimony, levels_for
from coterie._core.fit import TrainingData
from coterie._data.parameters import check_weights_count, checked_count
from coterie._data.training import Given, NumbersOrCodes
from coterie.estimators._reducer import Reducer, SearchName

# A table of all combinations of more levels would not fit into memory.
MAX_LEVELS = 50


@dataclass(frozen=True)
class MutualPricing:
    """The information that a merge gives up; see :class:`coterie._core.fit.Pricing`."""

    n_levels: Any
    name: ClassVar[str] = "MutualCFA"
    targets: ClassVar[NumbersOrCodes] = NumbersOrCodes("MutualCFA")
    family: ClassVar[None] = None
    cv: ClassVar[None] = None
    cv_is_default: ClassVar[bool] = False
    row_reason: ClassVar[str] = "MutualCFA counts rows"
    # One test for each merge is all there is: no line tells what all groups are worth together.
    checks_all_groups: ClassVar[bool] = False
    regresses_numbers: ClassVar[bool] = False
    tolerance_range: ClassVar[tuple[float, float]] = (1e-6, 1.0)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target at a tolerance, or at a penalty."""
        check_weights_count(data)
        kind = MutualParsimony if is_penalty else Mutual
        return kind(tolerance, self._levels(data))

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target by which groups of a given number are found."""
        return Mutual(tolerance, self._levels(data))

    def _levels(self, data: TrainingData) -> int:
        if self.n_levels is None:
            return levels_for(data.n)
        return checked_count("n_levels", self.n_levels, least=2, most=MAX_LEVELS)


class MutualCFA(Reducer):
    """Group features while the target loses next to no information (any dependence).

    A candidate joins a group if what the two tell about the target beyond their aggregate, in
    nats of mutual information, is no more than noise would pretend; or than `tolerance`. Choose
    this one where the target may depend on features in ways that no line shows, and there are
    some hundred rows or more. It sorts all rows twice for each question, which takes thousands of
    times as long as one of :class:`NonLinCFA`, so it is for some hundred features.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        Nats that a merge may give up. A word sets it for each question, to what noise alone
        exceeds as rarely as in :class:`NonLinCFA`. Of a number, 0 or more, what noise gives up on
        average does not count.
    n_levels : int or None, default=None
        How many levels of each column are told apart, 2 to 50. None: the fifth root of the number
        of rows, and at least 3.
    inputs : None, callable or transformer, default=None
        What is grouped, as in :class:`NonLinCFA`.
    aggregation : str, callable or aggregation, default="mean"
        What replaces a group, as in :class:`NonLinCFA`.
    search : {"forward", "restart", "best"} or search, default="restart"
        The order of questions, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    n_groups : int or None, default=None
        Number of groups, if it must be this one, as in :class:`NonLinCFA`.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first.
    initial_groups : list of lists of columns or None, default=None
        Groups to begin with, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        What missing values (NaN) in X mean, as in :class:`NonLinCFA`.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much the price of each target counts, as in :class:`NonLinCFA`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group of each input; groups are numbered in order of their first member.
    groups_ : list of ndarray
        The members of each group.
    n_groups_ : int
        Number of groups, and of columns after ``transform``.
    signs_ : ndarray of shape (n_inputs,)
        1 for every input.
    tolerance_ : float
        The tolerance that was found, where ``n_groups`` is given.
    penalty_ : float
        The penalty that a word stands for, as in :class:`NonLinCFA`.
    classes_ : ndarray of shape (n_classes,)
        The classes, where y is text; one array per column where it has several.
    trace_ : record array
        Every decision, in order: group, candidate, price, allowance, accepted.
    fit_ : Fit
        All of this in one frozen value, with the aggregates that ``transform`` computes.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names that are all text.

    See Also
    --------
    NonLinCFA : The same for linear dependence, and much faster.

    Examples
    --------
    The target depends on two squares. No line shows that, so all could be merged:

    >>> import numpy as np
    >>> from coterie import MutualCFA, NonLinCFA
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.normal(size=(2, 1000, 1))
    >>> X = np.hstack([left, left, right, right]) + 0.1 * rng.normal(size=(1000, 4))
    >>> y = (left**2 - right**2).ravel() + 0.2 * rng.normal(size=1000)
    >>> MutualCFA().fit(X, y).labels_
    array([0, 0, 1, 1])
    >>> NonLinCFA(0.05).fit(X, y).labels_
    array([0, 0, 0, 0])
    """

    def __init__(
        self,
        tolerance: Literal["auto", "aic", "bic", "ric"] | float = "auto",
        *,
        n_levels: int | None = None,
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        n_groups: int | None = None,
        scale: bool = False,
        initial_groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        missing: Literal["error", "pairwise"] = "error",
        target_weights: Any = None,
    ) -> None:
        self.tolerance = tolerance
        self.n_levels = n_levels
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.n_groups = n_groups
        self.scale = scale
        self.initial_groups = initial_groups
        self.keep = keep
        self.separate = separate
        self.missing = missing
        self.target_weights = target_weights

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like, data frame or xarray field of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers, or labels. Numbers of at most ten values are taken for classes.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts: 0 as if it were not there, 2 as if it were there twice.
            So all weights times 1,000 are 1,000 times the evidence, and fewer merges; for weights
            that only compare rows, see :func:`coterie.normalised_weights`.
        """
        return self._fit(X, y, Given(sample_weight))

    def _pricing(self) -> MutualPricing:
        return MutualPricing(self.n_levels)

    @property
    def _row_reason(self) -> str | None:
        return MutualPricing.row_reason
