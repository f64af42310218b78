"""The linear ancestor: bias paid against variance saved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from coterie._core.criteria import Criterion, Lin
from coterie._core.fit import TrainingData
from coterie._data.training import Given, OneNumber
from coterie.estimators._reducer import Reducer, SearchName


@dataclass(frozen=True)
class LinPricing:
    """The bias that a merge pays for variance; see :class:`coterie._core.fit.Pricing`."""

    name: ClassVar[str] = "LinCFA"
    targets: ClassVar[OneNumber] = OneNumber("LinCFA")
    family: ClassVar[None] = None
    cv: ClassVar[None] = None
    cv_is_default: ClassVar[bool] = False
    row_reason: ClassVar[None] = None
    checks_all_groups: ClassVar[bool] = False
    regresses_numbers: ClassVar[bool] = False
    tolerance_range: ClassVar[tuple[float, float]] = (0.0, 0.0)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion, which has no tolerance."""
        if data.n < 4:
            raise ValueError(
                f"LinCFA estimates noise with n_samples - 3 degrees of freedom and got "
                f"{data.n:g} samples. Use NonLinCFA(cv=None) instead."
            )
        return Lin()

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The same criterion."""
        return Lin()


class LinCFA(Reducer):
    """Group features while their linear model gains (regression, no tolerance).

    A candidate joins a group if the two are correlated enough for the difference of their
    coefficients: the bias paid is no more than the variance saved. Choose this one to keep
    many small groups, or as the ancestor to compare with.

    Parameters
    ----------
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
    NonLinCFA : Without the assumption of a linear relation.

    References
    ----------
    Bonetti, Metelli, Restelli (2023): Interpretable linear dimensionality reduction based on
    bias-variance analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import LinCFA
    >>> rng = np.random.default_rng(2)
    >>> warm, dry = rng.normal(size=(2, 200, 1))
    >>> X = np.hstack([warm, warm, dry, dry]) + 0.1 * rng.normal(size=(200, 4))
    >>> y = (3 * warm - dry).ravel() + rng.normal(size=200)
    >>> LinCFA().fit(X, y).labels_
    array([0, 0, 1, 1])
    """

    _takes_several_targets: ClassVar[bool] = False

    def __init__(
        self,
        *,
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        signs: bool = False,
        initial_groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        missing: Literal["error", "pairwise"] = "error",
        covariance: Literal["auto", "gram", "columns"] = "auto",
        max_bytes: float | None = None,
    ) -> None:
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.signs = signs
        self.initial_groups = initial_groups
        self.keep = keep
        self.separate = separate
        self.missing = missing
        self.covariance = covariance
        self.max_bytes = max_bytes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Sparse, or a table or field of Dask, for the aggregations "mean" and "sum".
        y : array-like of shape (n_samples,)
            Numbers. For a data frame of Dask also the name of a column, and likewise
            `sample_weight`.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts: 0 as if it were not there, 2 as if it were there twice.
            So all weights times 1,000 are 1,000 times the evidence, and fewer merges; for weights
            that only compare rows, see :func:`coterie.normalised_weights`.
        """
        return self._fit(X, y, Given(sample_weight))

    def _pricing(self) -> LinPricing:
        return LinPricing()
