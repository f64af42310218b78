"""LinCFA: the earlier linear algorithm, which trades bias against variance."""

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
    """Pricing by bias against variance; see :class:`coterie._core.fit.Pricing`."""

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
    """Group features while a linear model improves (regression, no tolerance).

    A merge adds bias to a linear model and reduces its variance. A candidate joins a group if
    the added bias is at most the saved variance: the more their coefficients differ, the more
    correlated the two must be. Use this reducer to keep many small groups, or as a baseline for
    :class:`NonLinCFA`. It takes one numeric target.

    Parameters
    ----------
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
    NonLinCFA : Without the assumption of a linear relation, and with a tolerance.

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
        trace: Literal["merges", "all"] = "merges",
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
        self.trace = trace

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which features to group.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Features. Sparse arrays, and Dask tables or fields, need the aggregation
            "mean" or "sum".
        y : array-like of shape (n_samples,)
            A numeric target. For a Dask data frame also a column name; `sample_weight` may be a
            name too.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts. 0 is the same as leaving the row out, 2 the same as
            repeating it. Multiplying all weights by 1,000 therefore means 1,000 times as many
            rows, and fewer merges. For weights that are only relative, see
            :func:`coterie.normalised_weights`.
        """
        return self._fit(X, y, Given(sample_weight))

    def _pricing(self) -> LinPricing:
        return LinPricing()
