"""The three reducers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

from sklearn.utils.validation import check_consistent_length

from coterie.criteria import FAMILIES, Criterion, GenLin, Lin, NonLin
from coterie.estimators._base import Reducer
from coterie.estimators._checks import (
    checked_cv,
    checked_number,
    checked_splits,
    checked_word,
)
from coterie.estimators._targets import TARGETS, numeric_target
from coterie.values import FloatArray, IntArray

SearchName = Literal["forward", "restart", "best"]


class NonLinCFA(Reducer):
    """Group features while the target loses next to no R2 (regression).

    A candidate joins a group if the regression of the target on the two, less the regression
    on their aggregate, gives up no more R2 than `tolerance`. Choose this one for a target
    of numbers; for classes and counts see :class:`GenLinCFA`.

    Parameters
    ----------
    tolerance : float, default=1e-3
        R2 that a merge may give up, the paper's epsilon. 0 or more; larger merges more.
    cv : int, splitter, iterable or None, default=5
        How R2 is scored. An int: on that many contiguous folds. A scikit-learn splitter, or
        (train, test) row numbers: on those. None: on all rows, in closed form.
    inputs : None, callable or transformer, default=None
        What is grouped: the features; a function of them, such as ``np.square``; or the
        output of a scikit-learn transformer, which is cloned and fitted.
    aggregation : str or callable, default="mean"
        What replaces a group: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median", "principal" (first principal component), or a function from an array of
        shape (n, m) to n values that does not depend on the order of the m columns.
    search : {"forward", "restart", "best"}, default="restart"
        The order of questions. "forward": one pass over the candidates for each group
        (Algorithm 1 of the paper). "restart": the pass starts again after each merge (what
        made the paper's tables). "best": the cheapest candidate first; the only one that does
        not depend on the order of the columns.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group. See
        :func:`coterie.coordinates_to_graph`.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first, so that metres and
        kelvins can be averaged.
    engine : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, for aggregations that add up: in one matrix, or from the
        columns when they are asked for, which spares memory when there are very many. The
        decisions are the same. "auto" takes the matrix if it fits and is worth it.
    memory : float or None, default=None
        Bytes that the matrix may take. None: half the memory of the machine.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group of each input; groups are numbered in order of their first member.
    groups_ : list of ndarray
        The members of each group.
    n_groups_ : int
        Number of groups, and of columns after ``transform``.
    trace_ : record array
        Every decision, in order: group, candidate, price, allowance, accepted. With
        ``search="best"``, every merge, and the refusals that ended each group.
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
        tolerance: float = 1e-3,
        *,
        cv: Any = 5,
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        engine: Literal["auto", "gram", "columns"] = "auto",
        memory: float | None = None,
    ) -> None:
        self.tolerance = tolerance
        self.cv = cv
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.engine = engine
        self.memory = memory

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers.
        groups : array-like of shape (n_samples,), optional
            Groups of rows, for a `cv` such as ``GroupKFold``.
        """

        def splits_of(X: Any, target: FloatArray) -> list[tuple[IntArray, IntArray]]:
            check_consistent_length(target, groups)
            return checked_splits(checked_cv(self.cv).split(X, target, groups), target)

        self._learn(X, y, None if self.cv is None else splits_of)
        return self

    def _target(self, y: Any) -> FloatArray:
        return numeric_target(y, "NonLinCFA")

    def _criterion(self, target: FloatArray) -> Criterion:
        tolerance = checked_number("tolerance", self.tolerance)
        return NonLin(tolerance, held_out=self.cv is not None)


class GenLinCFA(Reducer):
    """Group features while a bound on the deviance allows it (numbers, classes, counts).

    A candidate joins a group if what the two explain apart, over what their aggregate
    explains, is no more than `tolerance`. Choose this one for two classes or for counts, and
    for numbers when speed counts more than exact prices.

    Parameters
    ----------
    tolerance : float, default=0.75
        The ratio that a merge may reach, the paper's epsilon. 0 or more; larger merges more.
        The paper uses 0.68 to 0.95 with the general bound, 0.1 to 0.3 with the bivariate one.
    family : {"gaussian", "bernoulli", "poisson"}, default="gaussian"
        Distribution of the target: numbers (these are standardised), two classes, or counts.
    curvature : {"zero", "null"} or float, default="zero"
        Second derivative of the family's cumulant function: at zero, as in the paper; at the
        model that knows only the mean of y, which suits rare classes and large counts; or a
        number.
    bound : {"general", "bivariate"}, default="general"
        The rule of Algorithm 2, or that of Appendix B of the paper.
    inputs : None, callable or transformer, default=None
        What is grouped: the features; a function of them, such as ``np.square``; or the
        output of a scikit-learn transformer, which is cloned and fitted.
    aggregation : str or callable, default="mean"
        What replaces a group: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median", "principal" (first principal component), or a function from an array of
        shape (n, m) to n values that does not depend on the order of the m columns.
    search : {"forward", "restart", "best"}, default="restart"
        The order of questions, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first.
    engine : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, as in :class:`NonLinCFA`.
    memory : float or None, default=None
        Bytes that a matrix of covariances may take. None: half the memory of the machine.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group of each input; groups are numbered in order of their first member.
    groups_ : list of ndarray
        The members of each group.
    n_groups_ : int
        Number of groups, and of columns after ``transform``.
    trace_ : record array
        Every decision, in order: group, candidate, price, allowance, accepted. With
        ``search="best"``, every merge, and the refusals that ended each group.
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
    >>> y = np.where(warm.ravel() + 4 * rng.normal(size=200) > 0, "burns", "does not")
    >>> GenLinCFA(family="bernoulli").fit(X, y).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        tolerance: float = 0.75,
        *,
        family: Literal["gaussian", "bernoulli", "poisson"] = "gaussian",
        curvature: Literal["zero", "null"] | float = "zero",
        bound: Literal["general", "bivariate"] = "general",
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        engine: Literal["auto", "gram", "columns"] = "auto",
        memory: float | None = None,
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
        self.scale = scale
        self.engine = engine
        self.memory = memory

    def fit(self, X: Any, y: Any) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers, labels of two classes, or counts, as the family asks.
        """
        self._learn(X, y)
        return self

    def _target(self, y: Any) -> FloatArray:
        family = checked_word("family", self.family, FAMILIES)
        return TARGETS[family](y, f"family '{family}'")

    def _criterion(self, target: FloatArray) -> Criterion:
        tolerance = checked_number("tolerance", self.tolerance)
        bound = checked_word("bound", self.bound, ["general", "bivariate"])
        at: str | float = self.curvature
        if isinstance(at, str):
            at = checked_word("curvature", at, ["zero", "null"], also=" or a number")
        else:
            at = checked_number("curvature", at, positive=True)
        return GenLin(tolerance, FAMILIES[self.family].curvature(target, at), bound)


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
    aggregation : str or callable, default="mean"
        What replaces a group: "mean", "sum", "sum_of_squares", "norm", "max", "min",
        "median", "principal" (first principal component), or a function from an array of
        shape (n, m) to n values that does not depend on the order of the m columns.
    search : {"forward", "restart", "best"}, default="restart"
        The order of questions, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first.
    engine : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, as in :class:`NonLinCFA`.
    memory : float or None, default=None
        Bytes that a matrix of covariances may take. None: half the memory of the machine.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group of each input; groups are numbered in order of their first member.
    groups_ : list of ndarray
        The members of each group.
    n_groups_ : int
        Number of groups, and of columns after ``transform``.
    trace_ : record array
        Every decision, in order: group, candidate, price, allowance, accepted. With
        ``search="best"``, every merge, and the refusals that ended each group.
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

    def __init__(
        self,
        *,
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        engine: Literal["auto", "gram", "columns"] = "auto",
        memory: float | None = None,
    ) -> None:
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.engine = engine
        self.memory = memory

    def fit(self, X: Any, y: Any) -> Self:
        """Learn which features to aggregate.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers.
        """
        self._learn(X, y)
        return self

    def _target(self, y: Any) -> FloatArray:
        target = numeric_target(y, "LinCFA")
        if len(target) < 4:
            raise ValueError(
                f"LinCFA estimates noise with n_samples - 3 degrees of freedom and got "
                f"{len(target)} samples. Use NonLinCFA(cv=None) instead."
            )
        return target

    def _criterion(self, target: FloatArray) -> Criterion:
        return Lin()
