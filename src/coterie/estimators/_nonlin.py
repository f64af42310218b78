"""The reducer for regression: R2 that a merge gives up."""

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
    """The R2 that a merge gives up; see :class:`coterie._core.fit.Pricing`."""

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
        """The criterion for one target at a tolerance, or at a penalty."""
        kind = Parsimony if is_penalty else NonLin
        return kind(tolerance, self.cv is not None)

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The criterion for one target by which groups of a given number are found."""
        return NonLin(tolerance, self.cv is not None)


class NonLinCFA(Reducer):
    """Group features while the target loses next to no R2 (regression).

    A candidate joins a group if the regression of the target on the two, less the regression
    on their aggregate, gives up no more R2 than `tolerance`. Choose this one for a target
    of numbers, or for several at once: a merge must be worth its price to each of them. Classes
    given as text are one target each; for counts see :class:`GenLinCFA`.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        R2 that a merge may give up. A word sets it for each question, to a multiple of what noise
        alone would give up: 2, log n, or 2 log D for D inputs; "auto" finds the multiple, and
        nothing is left to tune. A number is the paper's epsilon, 0 or more; larger merges more.
    cv : "auto", int, splitter, iterable or None, default="auto"
        How R2 is scored. An int: on that many contiguous folds. A scikit-learn splitter, or
        (train, test) row numbers: on those. None: on all rows, in closed form. "auto": as in the
        paper, 5, for a tolerance that is a number, and None otherwise. On folds a merge that
        loses nothing is a gain, so the allowance of a word is smaller there, by as much.
    inputs : None, callable or transformer, default=None
        What is grouped: the features; a function of them, such as ``np.square``; or the
        output of a scikit-learn transformer, which is cloned and fitted.
    aggregation : str, callable or aggregation, default="mean"
        What replaces a group: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median", "principal" (first principal component), or a function from an array of
        shape (n, m) to n values that does not depend on the order of the m columns; or an object
        of your own, see :mod:`coterie.extending`.
    search : {"forward", "restart", "best"} or search, default="restart"
        The order of questions. "forward": one pass over the candidates for each group
        (Algorithm 1 of the paper). "restart": the pass starts again after each merge (what
        made the paper's tables). "best": the cheapest candidate first; the only one that does
        not depend on the order of the columns. Or one of your own, see :mod:`coterie.extending`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group. See
        :func:`coterie.coordinates_to_graph`.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    n_groups : int or None, default=None
        Number of groups, if it must be this one: the tolerance that gives it is found, on all
        rows. Where no tolerance does, whole groups are merged, the cheapest pair first.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first, so that metres and
        kelvins can be averaged.
    signs : bool, default=False
        Whether a candidate that is anti-correlated with a group, over all rows, joins it with a
        minus, as in ``mean(a, -b)``. Turning columns round then changes signs and nothing else.
        For "mean" and "sum".
    initial_groups : list of lists of columns or None, default=None
        Groups to begin with, by name or number of the inputs. They may grow and merge, but are
        not split. For "mean" and "sum".
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group; those in no list go with any.
    missing : {"error", "pairwise"}, default="error"
        What missing values (NaN) in X mean. "error": they are refused. "pairwise": each question
        is asked of the rows that have both the group and the candidate, at least 30 or half of
        them; in an aggregate, a member without a value differs from its own mean as those that
        have one do on average. Only safe where what is missing has nothing to do with the target.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much the price of each target counts, where there are several, beside the one that
        counts most; of classes, in sorted order. None: all the same.
    covariance : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, for aggregations that add up: in one matrix, or from the
        columns when they are asked for, which spares memory when there are very many. The
        decisions are the same. "auto" takes the matrix if it fits and is worth it.
    max_bytes : float or None, default=None
        Bytes that the matrix may take. None: half the memory of the machine.

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
        The classes, where y is text; one array per column where it has several.
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
    GenLinCFA : For classes and counts.
    LinCFA : The linear ancestor, without a tolerance.

    References
    ----------
    Bonetti, Metelli, Restelli: Nonlinear Feature Aggregation: Two Algorithms driven by
    Theory. Algorithm 1 and Equation 9. Its pseudo-code has the sign of the threshold wrong.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Sparse, or a table or field of Dask, for the aggregations "mean" and "sum".
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers, or labels that are text. For a data frame of Dask also the name of a column,
            or a list of names, and likewise `sample_weight`.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts: 0 as if it were not there, 2 as if it were there twice.
            So all weights times 1,000 are 1,000 times the evidence, and fewer merges; for weights
            that only compare rows, see :func:`coterie.normalised_weights`.
        groups : array-like of shape (n_samples,), optional
            Groups of rows, for a `cv` such as ``GroupKFold``.
        """
        return self._fit(X, y, Given(sample_weight, groups))

    def _pricing(self) -> NonLinPricing:
        is_default = isinstance(self.cv, str) and self.cv == "auto"
        cv = self.cv
        if is_default:
            cv = None if isinstance(self.tolerance, str) else 5
        return NonLinPricing(cv, is_default)
