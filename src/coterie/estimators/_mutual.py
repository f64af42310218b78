"""MutualCFA: the reducer for any dependence, by the loss of mutual information of a merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from coterie._core.criteria import Criterion, Mutual, MutualParsimony, levels_for
from coterie._core.fit import TrainingData
from coterie._data.parameters import check_weights_count, checked_count
from coterie._data.training import Given, NumbersOrCodes
from coterie.estimators._reducer import Reducer, SearchName

# With more levels, the contingency table of all combinations would not fit into memory.
MAX_LEVELS = 50


@dataclass(frozen=True)
class MutualPricing:
    """Pricing by the loss of mutual information; see :class:`coterie._core.fit.Pricing`."""

    n_levels: Any
    name: ClassVar[str] = "MutualCFA"
    targets: ClassVar[NumbersOrCodes] = NumbersOrCodes("MutualCFA")
    family: ClassVar[None] = None
    cv: ClassVar[None] = None
    cv_is_default: ClassVar[bool] = False
    row_reason: ClassVar[str] = "MutualCFA counts rows"
    # There is no linear model to score all groups together, so each merge is tested on its own.
    checks_all_groups: ClassVar[bool] = False
    regresses_numbers: ClassVar[bool] = False
    tolerance_range: ClassVar[tuple[float, float]] = (1e-6, 1.0)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target, at a tolerance or a penalty."""
        if data.is_weighted:
            check_weights_count(data.n)
        kind = MutualParsimony if is_penalty else Mutual
        return kind(tolerance, self._levels(data))

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target that is used to reach a given number of groups."""
        return Mutual(tolerance, self._levels(data))

    def _levels(self, data: TrainingData) -> int:
        if self.n_levels is None:
            return levels_for(data.n)
        return checked_count("n_levels", self.n_levels, least=2, most=MAX_LEVELS)


class MutualCFA(Reducer):
    """Group features while the loss of mutual information is small (any dependence).

    The price of a merge is the mutual information with the target that the group and the
    candidate have and their aggregate lacks, in nats. With a string tolerance, a candidate joins
    if the loss is no more than noise explains; with a number, if it is at most that number. Use
    this reducer if the target may depend on the features in a nonlinear way, and if there are at
    least some hundreds of rows. It sorts all rows twice for each candidate. This is thousands of
    times slower than :class:`NonLinCFA`, so it suits up to some hundreds of features.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        The largest loss of mutual information that a merge may cause, in nats. A number must be 0
        or more; the average loss from noise alone is subtracted from the price. A string computes
        the tolerance of each merge: noise alone exceeds it with the same probability as in
        :class:`NonLinCFA`.
    n_levels : int or None, default=None
        Number of bins per column, from 2 to 50. None: the fifth root of the number of rows, and
        at least 3.
    inputs : None, callable or transformer, default=None
        The columns to group, as in :class:`NonLinCFA`.
    aggregation : str, callable or aggregation, default="mean"
        How a group becomes one column, as in :class:`NonLinCFA`.
    search : {"forward", "restart", "best"} or search, default="restart"
        The order in which candidates are tested, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours. A candidate can join only if it is a neighbour of a member.
    max_group_size : int or None, default=None
        The largest number of members in a group. None: no limit.
    n_groups : int or None, default=None
        The number of groups, if it must be exact, as in :class:`NonLinCFA`.
    scale : bool, default=False
        Whether to standardise the inputs before grouping, with the training rows.
    initial_groups : list of lists of columns or None, default=None
        Groups to start from, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone in their group.
    separate : list of lists of columns or None, default=None
        Inputs from different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        How missing values (NaN) in X are handled, as in :class:`NonLinCFA`.
    target_weights : array-like of shape (n_targets,) or None, default=None
        The weight of each target's price, as in :class:`NonLinCFA`.
    trace : {"merges", "all"}, default="merges"
        What ``trace_`` has. "merges": the accepted candidates; those refused are only counted, so
        that the trace has fewer records than there are inputs. "all": the refused ones too, of
        which there can be millions. :func:`coterie.explain` tells of any two inputs why they
        share a group or not.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group number of each input. Groups are numbered in order of their first member.
    groups_ : list of ndarray
        The input numbers of the members of each group.
    n_groups_ : int
        Number of groups, which is the number of columns that ``transform`` returns.
    signs_ : ndarray of shape (n_inputs,)
        1 for every input.
    tolerance_ : float
        The tolerance that gives `n_groups` groups. Only set if `n_groups` is given.
    penalty_ : float
        The penalty that a string `tolerance` stands for, as in :class:`NonLinCFA`.
    classes_ : ndarray of shape (n_classes,)
        The class labels, if y is text; a list with one array per column if y has several columns.
    trace_ : record array
        The merges in order, with fields group, candidate, price, allowance and accepted. With
        ``trace="all"``, the refusals too.
    n_refused_ : ndarray of shape (n_groups,)
        How many candidates each group has refused, a candidate once for each time it was judged.
    fit_ : Fit
        All results of the fit in one immutable object, with all that ``transform`` needs.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features. Only set if all column names of X are strings.

    See Also
    --------
    NonLinCFA : For linear dependence, and much faster.

    Examples
    --------
    The target depends on two squares. A linear regression does not see that and merges all
    features:

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
        trace: Literal["merges", "all"] = "merges",
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
        self.trace = trace

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which features to group.

        Parameters
        ----------
        X : array-like, data frame or xarray field of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets: numbers or class labels. Numbers with at most ten distinct values are treated
            as classes.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts. 0 is the same as leaving the row out, 2 the same as
            repeating it. Multiplying all weights by 1,000 therefore means 1,000 times as many
            rows, and fewer merges. For weights that are only relative, see
            :func:`coterie.normalised_weights`.
        """
        return self._fit(X, y, Given(sample_weight))

    def _pricing(self) -> MutualPricing:
        return MutualPricing(self.n_levels)

    @property
    def _row_reason(self) -> str | None:
        return MutualPricing.row_reason
