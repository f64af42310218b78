"""The reducer for classes, counts and more: deviance that a merge adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from coterie._core.criteria import Criterion, Fitted, FittedParsimony, GenLin, NonLin, Parsimony
from coterie._core.fit import TrainingData
from coterie._data.parameters import (
    check_bound,
    check_weights_count,
    checked_curvature,
    checked_family,
)
from coterie._data.training import FamilyTargets, Given
from coterie.estimators._reducer import Reducer, SearchName
from coterie.families import Family


@dataclass(frozen=True)
class GenLinPricing:
    """The deviance that a merge adds, or a bound on it; see :class:`coterie._core.fit.Pricing`."""

    family: Family
    bound: str
    curvature: str | float
    row_reason: str | None
    name: ClassVar[str] = "GenLinCFA"
    cv: ClassVar[None] = None
    cv_is_default: ClassVar[bool] = False
    checks_all_groups: ClassVar[bool] = True

    @property
    def targets(self) -> FamilyTargets:
        """Reads targets that the family takes."""
        return FamilyTargets(self.family)

    @property
    def regresses_numbers(self) -> bool:
        """Whether whole numbers are regressed on, and not taken for classes."""
        return self.family.standardises

    @property
    def tolerance_range(self) -> tuple[float, float]:
        """Where to look for tolerances: shares of the deviance, or ratios of a bound."""
        return (1e-6, 1.0) if self.row_reason else (1e-3, 1e3)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target at a tolerance, or at a penalty."""
        if self.row_reason:
            kind = FittedParsimony if is_penalty else Fitted
            return kind(self.family, tolerance)
        if is_penalty:
            return Parsimony(tolerance)
        check_weights_count(data)
        centre, spread = data.centre_and_spread(target)
        # With missing values each question has rows of its own.
        in_units = data.min_rows is not None and not self.family.standardises
        curvature = self.family.curvature(centre, spread, self.curvature)
        return GenLin(tolerance, curvature, self.bound, in_units)

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target by which groups of a given number are found."""
        return Fitted(self.family, tolerance) if self.row_reason else NonLin(tolerance)


class GenLinCFA(Reducer):
    """Group features while their merger adds next to no deviance (numbers, classes, counts).

    A candidate joins a group if the deviance that this adds is no more than noise would add
    anyway; or, for a tolerance that is a number, if the paper's bound on it is no more than that.
    Choose this one for classes, one target each against the rest if there are more than two, or
    for counts; several columns of either may be given at once.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        With a word, a merge may add so much deviance, as a multiple of the dispersion: 2 for "aic",
        log n for "bic", 2 log D for "ric"; "auto" finds the multiple, and nothing is left to
        tune. A number is the paper's epsilon, the ratio that its bound may reach; 0 or more,
        larger merges more. The paper uses 0.68 to 0.95 with the general bound, 0.1 to 0.3 with the
        bivariate one.
    family : str or Family, default="gaussian"
        Distribution of the target: "gaussian" for numbers (these are standardised), "bernoulli" for
        classes with labels of any kind, "binomial" for proportions (trials are sample weights),
        "poisson" for counts, "gamma" and "inverse_gaussian" for positive numbers;
        :func:`coterie.families.negative_binomial` for counts of a given dispersion; or a
        :class:`coterie.families.Family` of your own.
    curvature : {"zero", "null"} or float, default="zero"
        Second derivative of the family's cumulant function: at zero, as in the paper; at the
        model that knows only the mean of y, which suits rare classes and large counts, and is
        the only one for families without a curvature at zero (gamma, inverse Gaussian, negative
        binomial); or a number. It belongs to the paper's bounds: with a word for a tolerance, or
        with fitted models, all but "zero" is refused.
    bound : {"general", "bivariate", "fitted"}, default="general"
        "general" and "bivariate": the rule of Algorithm 2 or that of Appendix B of the paper, for a
        tolerance that is a number; a word takes an approximation of the deviance from covariances
        alone. "fitted": the deviance itself, of generalised linear models that are fitted for
        each question; a tolerance that is a number is then the share of the null deviance that
        a merge may give up, as with R2 in :class:`NonLinCFA`. Exact, and much slower.
    inputs : None, callable or transformer, default=None
        What is grouped: the features; a function of them, such as ``np.square``; or the
        output of a scikit-learn transformer, which is cloned and fitted.
    aggregation : str, callable or aggregation, default="mean"
        What replaces a group: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median", "principal" (first principal component), or a function from an array of
        shape (n, m) to n values that does not depend on the order of the m columns.
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
    signs : bool, default=False
        Whether a candidate may join with a minus, as in :class:`NonLinCFA`.
    initial_groups : list of lists of columns or None, default=None
        Groups to begin with, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        What missing values (NaN) in X mean. "error": they are refused. "pairwise": each question
        is asked of the rows that have both the group and the candidate, at least 30 or half of
        them; in an aggregate, a member without a value differs from its own mean as those that
        have one do on average. Only safe where what is missing has nothing to do with the target.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much the price of each target counts, where there are several, beside the one that
        counts most; of classes, in sorted order. None: all the same.
    covariance : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, as in :class:`NonLinCFA`.
    max_bytes : float or None, default=None
        Bytes that a matrix of covariances may take. None: half the memory of the machine.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group of each input; groups are numbered in order of their first member.
    groups_ : list of ndarray
        The members of each group.
    n_groups_ : int
        Number of groups, and of columns after ``transform``.
    signs_ : ndarray of shape (n_inputs,)
        -1 for an input that joined with a minus, seen from the first of its group; else 1.
    tolerance_ : float
        The tolerance that was found, where ``n_groups`` is given.
    penalty_ : float
        How many times what noise alone gives up a merge may give up, where the tolerance is a
        word.
    classes_ : ndarray of shape (n_classes,)
        The classes of family "bernoulli"; one array per column where y has several.
    trace_ : record array
        Every decision, in order: group, candidate, price, allowance, accepted. With
        ``search="best"``, every merge, and the refusals that ended each group.
    fit_ : Fit
        All of this in one frozen value, with the aggregates that ``transform`` computes.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names that are all text.

    See Also
    --------
    NonLinCFA : Exact prices, for a target of numbers.

    Notes
    -----
    The bound does not vanish for like columns: two that are nearly the same, with correlation r
    to a gaussian target, cost about (2r + 1/2) / (r + 2), up to 0.83. A small tolerance keeps
    them apart where they matter for the target. Exact twins are free.

    References
    ----------
    Bonetti, Metelli, Restelli: Nonlinear Feature Aggregation: Two Algorithms driven by
    Theory. Algorithm 2, Equation 12 and Appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import GenLinCFA
    >>> rng = np.random.default_rng(0)
    >>> warm, dry = rng.normal(size=(2, 200, 1))
    >>> X = np.hstack([warm, warm, dry, dry]) + 0.1 * rng.normal(size=(200, 4))
    >>> risk = (3 * warm - 2 * dry).ravel() + rng.normal(size=200)
    >>> y = np.where(risk > 0, "burns", "does not")
    >>> GenLinCFA(family="bernoulli").fit(X, y).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        tolerance: Literal["auto", "aic", "bic", "ric"] | float = "auto",
        *,
        family: str | Family = "gaussian",
        curvature: Literal["zero", "null"] | float = "zero",
        bound: Literal["general", "bivariate", "fitted"] = "general",
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        n_groups: int | None = None,
        scale: bool = False,
        signs: bool = False,
        initial_groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        missing: Literal["error", "pairwise"] = "error",
        target_weights: Any = None,
        covariance: Literal["auto", "gram", "columns"] = "auto",
        max_bytes: float | None = None,
    ) -> None:
        self.tolerance = tolerance
        self.family = family
        self.curvature = curvature
        self.bound = bound
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.n_groups = n_groups
        self.scale = scale
        self.signs = signs
        self.initial_groups = initial_groups
        self.keep = keep
        self.separate = separate
        self.missing = missing
        self.target_weights = target_weights
        self.covariance = covariance
        self.max_bytes = max_bytes

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Sparse, or a table or field of Dask, for the aggregations "mean" and "sum", unless the
            bound is "fitted".
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers, labels or counts, as the family asks. For a data frame of Dask also the name
            of a column, or a list of names, and likewise `sample_weight`.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts: 0 as if it were not there, 2 as if it were there twice.
            So all weights times 1,000 are 1,000 times the evidence, and fewer merges; for weights
            that only compare rows, see :func:`coterie.normalised_weights`.
        offset : array-like of shape (n_samples,), optional
            What is known of the linear predictor, with a coefficient of 1. For a tolerance that
            is a word, or for ``bound="fitted"``.
        exposure : array-like of shape (n_samples,), optional
            What counts are proportional to, such as inhabitants or hours: an offset of its log.
        """
        return self._fit(X, y, Given(sample_weight, offset=offset, exposure=exposure))

    def _pricing(self) -> GenLinPricing:
        check_bound(self.bound, self.curvature, self.tolerance)
        return GenLinPricing(
            checked_family(self.family),
            self.bound,
            checked_curvature(self.curvature),
            self._row_reason,
        )

    @property
    def _row_reason(self) -> str | None:
        return "bound='fitted' fits models to rows" if self.bound == "fitted" else None
