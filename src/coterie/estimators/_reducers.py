"""The three reducers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

from sklearn.utils.validation import check_consistent_length

from coterie.criteria import FAMILIES, Criterion, GenLin, Lin, NonLin, Parsimony
from coterie.estimators._base import Reducer
from coterie.estimators._checks import (
    checked_cv,
    checked_number,
    checked_penalty,
    checked_splits,
    checked_word,
)
from coterie.estimators._prepared import Splits
from coterie.estimators._targets import TARGETS, numeric_target
from coterie.values import FloatArray

SearchName = Literal["forward", "restart", "best"]


class NonLinCFA(Reducer):
    """Group features while the target loses next to no R2 (regression).

    A candidate joins a group if the regression of the target on the two, less the regression
    on their aggregate, gives up no more R2 than `tolerance`. Choose this one for a target
    of numbers; for classes and counts see :class:`GenLinCFA`.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        R2 that a merge may give up. A word sets it for each question, to a multiple of what noise
        alone would give up: 2, log n, or 2 log D for D inputs; "auto" finds the multiple, and
        nothing is left to tune. A number is the paper's epsilon, 0 or more; larger merges more.
    cv : "auto", int, splitter, iterable or None, default="auto"
        How R2 is scored. An int: on that many contiguous folds. A scikit-learn splitter, or
        (train, test) row numbers: on those. None: on all rows, in closed form. "auto": as in the
        paper, 5, for a tolerance that is a number, and None otherwise.
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
    n_groups : int or None, default=None
        Number of groups, if it must be this one: the tolerance that gives it is found, on all
        rows. Where no tolerance does, whole groups are merged, the cheapest pair first.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first, so that metres and
        kelvins can be averaged.
    signs : bool, default=False
        Whether a candidate that is anti-correlated with a group joins it with a minus, as in
        ``mean(a, -b)``. For "mean" and "sum".
    groups : list of lists of columns or None, default=None
        Groups to begin with, by name or number of the inputs. They may grow and merge, but are
        not split. For "mean" and "sum".
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group; those in no list go with any.
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
    signs_ : ndarray of shape (n_inputs,)
        -1 for an input that joined with a minus, seen from the first of its group; else 1.
    tolerance_ : float
        The tolerance that was found, where ``n_groups`` is given.
    penalty_ : float
        How many times what noise alone gives up a merge may give up, where the tolerance is a
        word.
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
        groups: Any = None,
        keep: Any = None,
        separate: Any = None,
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
        self.n_groups = n_groups
        self.scale = scale
        self.signs = signs
        self.groups = groups
        self.keep = keep
        self.separate = separate
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
        self._learn(X, y, groups)
        return self

    def _splits(self, X: Any, target: FloatArray, rows: Any) -> Splits | None:
        cv = self._cv()
        if cv is None:
            return None
        check_consistent_length(target, rows)
        return checked_splits(checked_cv(cv).split(X, target, rows), target)

    def _cv(self) -> Any:
        """How prices are scored; an automatic allowance is made for prices on all rows."""
        if not isinstance(self.tolerance, str):
            return 5 if isinstance(self.cv, str) and self.cv == "auto" else self.cv
        if self.cv is not None and not (isinstance(self.cv, str) and self.cv == "auto"):
            raise ValueError(
                f"tolerance={self.tolerance!r} is an allowance for prices on all rows, so cv must "
                f"be None or 'auto', got {self.cv!r}. Give a number for tolerance to use folds."
            )
        return None

    def _target(self, y: Any) -> FloatArray:
        return numeric_target(y, "NonLinCFA")

    def _criterion(self, columns: FloatArray, target: FloatArray) -> Criterion:
        if isinstance(self.tolerance, str):
            return Parsimony(checked_penalty(self.tolerance, columns))
        return NonLin(checked_number("tolerance", self.tolerance), held_out=self._cv() is not None)


class GenLinCFA(Reducer):
    """Group features while their merger adds next to no deviance (numbers, classes, counts).

    A candidate joins a group if the deviance that this adds is no more than noise would add
    anyway; or, for a tolerance that is a number, if the paper's bound on it is no more than that.
    Choose this one for two classes or for counts.

    Parameters
    ----------
    tolerance : {"auto", "aic", "bic", "ric"} or float, default="auto"
        With a word, a merge may add so much deviance, as a multiple of the dispersion: 2 for "aic",
        log n for "bic", 2 log D for "ric"; "auto" finds the multiple, and nothing is left to
        tune. A number is the paper's epsilon, the ratio that its bound may reach; 0 or more,
        larger merges more. The paper uses 0.68 to 0.95 with the general bound, 0.1 to 0.3 with the
        bivariate one.
    family : {"gaussian", "bernoulli", "poisson"}, default="gaussian"
        Distribution of the target: numbers (these are standardised), two classes, or counts.
    curvature : {"zero", "null"} or float, default="zero"
        Second derivative of the family's cumulant function: at zero, as in the paper; at the
        model that knows only the mean of y, which suits rare classes and large counts; or a
        number. Needed by the paper's bound, so only for a tolerance that is a number.
    bound : {"general", "bivariate"}, default="general"
        The rule of Algorithm 2, or that of Appendix B of the paper; only for a tolerance that is
        a number.
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
    n_groups : int or None, default=None
        Number of groups, if it must be this one, as in :class:`NonLinCFA`.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first.
    signs : bool, default=False
        Whether a candidate may join with a minus, as in :class:`NonLinCFA`.
    groups : list of lists of columns or None, default=None
        Groups to begin with, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group.
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
    signs_ : ndarray of shape (n_inputs,)
        -1 for an input that joined with a minus, seen from the first of its group; else 1.
    tolerance_ : float
        The tolerance that was found, where ``n_groups`` is given.
    penalty_ : float
        How many times what noise alone gives up a merge may give up, where the tolerance is a
        word.
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
    >>> risk = (3 * warm - 2 * dry).ravel() + rng.normal(size=200)
    >>> y = np.where(risk > 0, "burns", "does not")
    >>> GenLinCFA(family="bernoulli").fit(X, y).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        tolerance: Literal["auto", "aic", "bic", "ric"] | float = "auto",
        *,
        family: Literal["gaussian", "bernoulli", "poisson"] = "gaussian",
        curvature: Literal["zero", "null"] | float = "zero",
        bound: Literal["general", "bivariate"] = "general",
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        n_groups: int | None = None,
        scale: bool = False,
        signs: bool = False,
        groups: Any = None,
        keep: Any = None,
        separate: Any = None,
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
        self.n_groups = n_groups
        self.scale = scale
        self.signs = signs
        self.groups = groups
        self.keep = keep
        self.separate = separate
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

    def _criterion(self, columns: FloatArray, target: FloatArray) -> Criterion:
        bound = checked_word("bound", self.bound, ["general", "bivariate"])
        at: str | float = self.curvature
        if isinstance(at, str):
            at = checked_word("curvature", at, ["zero", "null"], also=" or a number")
        else:
            at = checked_number("curvature", at, positive=True)
        if isinstance(self.tolerance, str):
            return Parsimony(checked_penalty(self.tolerance, columns))
        tolerance = checked_number("tolerance", self.tolerance)
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
    signs : bool, default=False
        Whether a candidate may join with a minus, as in :class:`NonLinCFA`.
    groups : list of lists of columns or None, default=None
        Groups to begin with, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group.
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
    signs_ : ndarray of shape (n_inputs,)
        -1 for an input that joined with a minus, seen from the first of its group; else 1.
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
        signs: bool = False,
        groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        engine: Literal["auto", "gram", "columns"] = "auto",
        memory: float | None = None,
    ) -> None:
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.signs = signs
        self.groups = groups
        self.keep = keep
        self.separate = separate
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

    def _criterion(self, columns: FloatArray, target: FloatArray) -> Criterion:
        return Lin()
