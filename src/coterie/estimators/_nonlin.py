"""NonLinCFA: the reducer for regression, by the loss of R2 of a merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from coterie._core.criteria import Criterion, NonLin, Parsimony
from coterie._core.fit import TrainingData
from coterie._data.training import Given, NumbersOrClasses
from coterie.estimators._reducer import Reducer, SearchName


@dataclass(frozen=True)
class NonLinPricing:
    """Pricing by the loss of R2 of a merge; see :class:`coterie._core.fit.Pricing`."""

    cv: Any
    cv_is_default: bool
    name: ClassVar[str] = "NonLinCFA"
    targets: ClassVar[NumbersOrClasses] = NumbersOrClasses("NonLinCFA")
    family: ClassVar[None] = None
    row_reason: ClassVar[None] = None
    checks_all_groups: ClassVar[bool] = True
    regresses_numbers: ClassVar[bool] = True
    tolerance_range: ClassVar[tuple[float, float]] = (1e-6, 1.0)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion for one target, at a tolerance or a penalty."""
        kind = Parsimony if is_penalty else NonLin
        return kind(tolerance, self.cv is not None)

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target that is used to reach a given number of groups."""
        return NonLin(tolerance, self.cv is not None)


class NonLinCFA(Reducer):
    """Group features while the loss of R2 is small (regression).

    Each merge is tested with two linear regressions of the target: one on the group and the
    candidate, one on the aggregate of both. The candidate joins the group if the second has at
    most `tolerance` less R2 than the first. Use this reducer for numeric targets. With several
    targets, every target must accept a merge. Text labels are accepted too, with one target per
    class. For counts see :class:`GenLinCFA`.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        The largest loss of R2 that a merge may cause. A number is the paper's epsilon. It must be
        0 or more, and larger values merge more. A string computes the tolerance of each merge as
        a multiple of the loss expected from noise alone. The multiple is 2 for "aic", log n for
        "bic" and 2 log D for "ric", with D inputs. "auto" chooses the multiple from the data.
    cv : "auto", int, splitter, iterable or None, default="auto"
        How R2 is scored. An int: on that many contiguous folds. A scikit-learn splitter, or an
        iterable of (train, test) row numbers: on those splits. None: on all rows, in closed form.
        "auto": 5 folds for a numeric tolerance, as in the paper, and None otherwise. On held-out
        rows a merge that loses nothing gains R2 on average. The allowance of a string tolerance
        is therefore reduced by the same amount.
    inputs : None, callable or transformer, default=None
        The columns to group. None: the features themselves. A callable such as ``np.square``: its
        result for the features. A scikit-learn transformer: its output; it is cloned and fitted.
    aggregation : str, callable or aggregation, default="mean"
        How a group becomes one column: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median" or "principal" (first principal component). A callable takes an array of shape
        (n, m) and returns n values; the order of the m columns must not matter. For an object of
        your own see :mod:`coterie.extending`.
    search : {"forward", "restart", "best"} or search, default="restart"
        The order in which candidates are tested. "forward": one pass over the candidates for each
        group (Algorithm 1 of the paper). "restart": the pass starts again after each merge (used
        for the tables of the paper). "best": the cheapest candidate first; this is the only
        search that does not depend on the order of the columns. For a search of your own see
        :mod:`coterie.extending`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours. A candidate can join only if it is a neighbour of a member of the
        group. See :func:`coterie.coordinates_to_graph`.
    max_group_size : int or None, default=None
        The largest number of members in a group. None: no limit.
    n_groups : int or None, default=None
        The number of groups, if it must be exact. The tolerance that gives it is searched for,
        with prices on all rows. If no tolerance gives it, whole groups are merged, the cheapest
        pair first.
    scale : bool, default=False
        Whether to standardise the inputs before grouping, with the training rows. Needed to
        average columns in different units, such as metres and kelvins.
    signs : bool, default=False
        Whether a candidate that is negatively correlated with a group joins it multiplied by -1,
        as in ``mean(a, -b)``. The correlation is over all rows. With ``signs=True``, multiplying
        columns of X by -1 changes the signs and nothing else. For "mean" and "sum".
    initial_groups : list of lists of columns or None, default=None
        Groups to start from, with inputs given by name or number. They may grow and merge, but
        they are never split. For "mean" and "sum".
    keep : list of columns or None, default=None
        Inputs that stay alone in their group.
    separate : list of lists of columns or None, default=None
        Inputs from different lists never share a group. Inputs in no list may join any group.
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
        How covariances are computed, for additive aggregations such as "mean" and "sum". "gram":
        all at once, in one matrix. "columns": from the columns, when needed; this saves memory
        for very many columns. The decisions are the same. "auto": the matrix, if it fits into
        memory and is faster.
    max_bytes : float or None, default=None
        The largest size of the covariance matrix, in bytes. None: half the memory of the machine.
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
        The class labels, if y is text; a list with one array per column if y has several columns.
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
    GenLinCFA : For classes and counts.
    LinCFA : The earlier linear algorithm, without a tolerance.

    References
    ----------
    Bonetti, Metelli, Restelli: Nonlinear Feature Aggregation: Two Algorithms driven by
    Theory. Algorithm 1 and Equation 12. The sign of the threshold in its pseudo-code is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import NonLinCFA
    >>> rng = np.random.default_rng(0)
    >>> warm, dry = rng.normal(size=(2, 200, 1))
    >>> X = np.hstack([warm, warm, dry, dry]) + 0.1 * rng.normal(size=(200, 4))
    >>> y = (3 * warm - dry).ravel() + rng.normal(size=200)
    >>> reducer = NonLinCFA(tolerance=0.01).fit(X, y)
    >>> reducer.labels_
    array([0, 0, 1, 1])
    >>> reducer.get_feature_names_out()
    array(['mean(x0, x1)', 'mean(x2, x3)'], dtype=object)
    >>> reducer.transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        tolerance: Literal["auto", "aic", "bic", "ric"] | float = "auto",
        *,
        cv: Any = "auto",
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
        self.cv = cv
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn which features to group.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Features. Sparse arrays, and Dask tables or fields, need the aggregation
            "mean" or "sum".
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets: numbers, or class labels as text. For a Dask data frame also a column name or
            a list of names; `sample_weight` may be a name too.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts. 0 is the same as leaving the row out, 2 the same as
            repeating it. Multiplying all weights by 1,000 therefore means 1,000 times as many
            rows, and fewer merges. For weights that are only relative, see
            :func:`coterie.normalised_weights`.
        groups : array-like of shape (n_samples,), optional
            Group labels of the rows, for a `cv` such as ``GroupKFold``.
        """
        return self._fit(X, y, Given(sample_weight, groups))

    def _pricing(self) -> NonLinPricing:
        is_default = isinstance(self.cv, str) and self.cv == "auto"
        cv = self.cv
        if is_default:
            cv = None if isinstance(self.tolerance, str) else 5
        return NonLinPricing(cv, is_default)
