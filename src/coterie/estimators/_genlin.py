"""GenLinCFA: the reducer for classes and counts, by the deviance that a merge adds."""

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
    """Pricing by the added deviance or a bound on it; see :class:`coterie._core.fit.Pricing`."""

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
        """The reader of targets, which accepts what the family accepts."""
        return FamilyTargets(self.family)

    @property
    def regresses_numbers(self) -> bool:
        """Whether integer targets are treated as numbers and not as classes."""
        return self.family.standardises

    @property
    def tolerance_range(self) -> tuple[float, float]:
        """The range of useful tolerances: shares of the deviance, or ratios of the bound."""
        return (1e-6, 1.0) if self.row_reason else (1e-3, 1e3)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target, at a tolerance or a penalty."""
        if self.row_reason:
            kind = FittedParsimony if is_penalty else Fitted
            return kind(self.family, tolerance)
        if is_penalty:
            return Parsimony(tolerance)
        if data.is_weighted:
            check_weights_count(data.n)
        centre, spread = data.centre_and_spread(target)
        # With missing values, each merge is tested on different rows.
        in_units = data.min_rows is not None and not self.family.standardises
        curvature = self.family.curvature(centre, spread, self.curvature)
        return GenLin(tolerance, curvature, self.bound, in_units)

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target that is used to reach a given number of groups."""
        return Fitted(self.family, tolerance) if self.row_reason else NonLin(tolerance)


class GenLinCFA(Reducer):
    """Group features while the added deviance is small (numbers, classes, counts).

    A merge adds deviance to the generalised linear model of the target. With a string tolerance,
    a candidate joins a group if the added deviance is no more than noise explains. With a numeric
    tolerance, it joins if the paper's bound on the added deviance is at most the tolerance. Use
    this reducer for classes or counts. More than two classes give one target each, one against
    the rest. y may have several columns.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        What a merge may cost. A string limits the added deviance to a multiple of the dispersion:
        2 for "aic", log n for "bic" and 2 log D for "ric", with D inputs; "auto" chooses the
        multiple from the data. A number is the paper's epsilon, the largest value of its bound.
        It must be 0 or more, and larger values merge more. The paper uses 0.68 to 0.95 with the
        general bound and 0.1 to 0.3 with the bivariate bound.
    family : str or Family, default="gaussian"
        Distribution of the target: "gaussian" for numbers (they are standardised), "bernoulli"
        for classes with labels of any kind, "binomial" for proportions (the numbers of trials are
        the sample weights), "poisson" for counts, "gamma" and "inverse_gaussian" for positive
        numbers. :func:`coterie.families.negative_binomial` gives a family for overdispersed
        counts. Or a :class:`coterie.families.Family` of your own.
    curvature : {"zero", "null"} or float, default="zero"
        Second derivative of the family's cumulant function, for the bounds of the paper. "zero":
        at zero, as in the paper. "null": at the null model, which has only an intercept; it suits
        rare classes and large counts. Families without a curvature at zero (gamma, inverse
        Gaussian, negative binomial) need "null" or a number. With a string tolerance, or with
        ``bound="fitted"``, only "zero" is allowed.
    bound : {"general", "bivariate", "fitted"}, default="general"
        How the added deviance is computed. "general" and "bivariate": with a numeric tolerance,
        the bounds of Algorithm 2 and of Appendix B of the paper; with a string, an approximation
        of the deviance from covariances. "fitted": the deviance itself, from generalised linear
        models that are fitted for each candidate. This is exact and much slower. A numeric
        tolerance is then the share of the null deviance that a merge may lose, like R2 in
        :class:`NonLinCFA`.
    inputs : None, callable or transformer, default=None
        The columns to group. None: the features themselves. A callable such as ``np.square``: its
        result for the features. A scikit-learn transformer: its output; it is cloned and fitted.
    aggregation : str, callable or aggregation, default="mean"
        How a group becomes one column: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median" or "principal" (first principal component). A callable takes an array of shape
        (n, m) and returns n values; the order of the m columns must not matter.
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
    signs : bool, default=False
        Whether a candidate may join multiplied by -1, as in :class:`NonLinCFA`.
    initial_groups : list of lists of columns or None, default=None
        Groups to start from, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone in their group.
    separate : list of lists of columns or None, default=None
        Inputs from different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        How missing values (NaN) in X are handled. "error": they raise an error. "pairwise": each
        merge is tested on the rows where both the group and the candidate have a value. At least
        30 such rows are needed, or half of the rows if there are fewer than 60. In an aggregate,
        a missing member is imputed: its deviation from its own mean is set to the average
        deviation of the members that are present. Use "pairwise" only if missingness does not
        depend on the target.
    target_weights : array-like of shape (n_targets,) or None, default=None
        The weight of each target's price, for several targets. Only ratios matter: the weights
        are divided by the largest one. For classes, give them in sorted order. None: equal weights.
    covariance : {"auto", "gram", "columns"}, default="auto"
        How covariances are computed, as in :class:`NonLinCFA`.
    max_bytes : float or None, default=None
        The largest size of a covariance matrix, in bytes. None: half the memory of the machine.
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
        -1 for an input that joined multiplied by -1, and 1 otherwise. The first member of each
        group has 1.
    tolerance_ : float
        The tolerance that gives `n_groups` groups. Only set if `n_groups` is given.
    penalty_ : float
        The allowance of a merge as a multiple of the loss expected from noise alone. Only set if
        `tolerance` is a string.
    classes_ : ndarray of shape (n_classes,)
        The class labels, for ``family="bernoulli"``; a list with one array per column if y has
        several columns.
    trace_ : record array
        The merges in order, with fields group, candidate, price, allowance and accepted. With
        ``trace="all"``, the refusals too; with ``search="best"`` those at the end of each group.
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
    NonLinCFA : Exact prices for numeric targets.

    Notes
    -----
    The bound is not 0 for similar columns. Two nearly equal columns with correlation r to a
    gaussian target cost about (2r + 1/2) / (r + 2), up to 0.83. A small tolerance keeps such
    columns apart if they matter for the target. Exact duplicates cost 0.

    References
    ----------
    Bonetti, Metelli, Restelli: Nonlinear Feature Aggregation: Two Algorithms driven by
    Theory. Algorithm 2, Equation 15 and Appendix B.

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
        trace: Literal["merges", "all"] = "merges",
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
        self.trace = trace

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Learn which features to group.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Features. Sparse arrays, and Dask tables or fields, need the aggregation
            "mean" or "sum", and a bound other than "fitted".
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets: numbers, class labels or counts, depending on the family. For a Dask data
            frame also a column name or a list of names; `sample_weight` may be a name too.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts. 0 is the same as leaving the row out, 2 the same as
            repeating it. Multiplying all weights by 1,000 therefore means 1,000 times as many
            rows, and fewer merges. For weights that are only relative, see
            :func:`coterie.normalised_weights`.
        offset : array-like of shape (n_samples,), optional
            A known part of the linear predictor, with coefficient 1. Needs a string tolerance or
            ``bound="fitted"``.
        exposure : array-like of shape (n_samples,), optional
            What the counts are proportional to, such as inhabitants or hours. Its log is used as
            the offset.
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
