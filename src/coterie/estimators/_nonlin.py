"""The reducer for targets of numbers: R2 that a merge gives up."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np

from coterie._core.criteria import (
    Criterion,
    NonLin,
    Parsimony,
)
from coterie._data.moments import Moments
from coterie.estimators._base import SearchName
from coterie.estimators._from_moments import MomentReducer
from coterie.estimators._prepared import Prepared, Splits
from coterie.estimators._rows import Given, Rows
from coterie.estimators._splits import checked_cv, checked_splits, refers_to_rows, renumbered
from coterie.estimators._targets import (
    Targets,
    numbered,
    numbers_or_classes,
)
from coterie.estimators._targets_in import TargetsIn, numbers_or_classes_in


class NonLinCFA(MomentReducer):
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
        Whether a candidate that is anti-correlated with a group, over all rows, joins it with a
        minus, as in ``mean(a, -b)``. Turning columns round then changes signs and nothing else.
        For "mean" and "sum".
    groups : list of lists of columns or None, default=None
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
    classes_ : ndarray of shape (n_classes,)
        The classes, where y is text; one array per column where it has several.
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
        missing: Literal["error", "pairwise"] = "error",
        target_weights: Any = None,
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
        self.missing = missing
        self.target_weights = target_weights
        self.engine = engine
        self.memory = memory

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
        self._learn(X, y, Given(sample_weight, groups))
        return self

    def _splits(self, X: Any, y: Any, targets: Targets, rows: Rows) -> Splits | None:
        cv = self._cv()
        if cv is None:
            if rows.groups is not None:
                warnings.warn(
                    "groups of rows have no use without folds: give cv, such as GroupKFold().",
                    UserWarning,
                    stacklevel=5,
                )
            return None
        has_labels = targets.classes is not None and np.ndim(y) == 1
        splitter = checked_cv(cv, numbered(np.asarray(y))[0] if has_labels else None)
        if rows.kept is not None and refers_to_rows(cv):
            splits = renumbered(splitter.split(np.empty(rows.n_given)), rows.kept, rows.n_given)
        else:
            splits = splitter.split(X, y, rows.groups)
        return checked_splits(splits, targets.values)

    def _cv(self) -> Any:
        """How prices are scored."""
        if not (isinstance(self.cv, str) and self.cv == "auto"):
            return self.cv
        return None if isinstance(self.tolerance, str) else 5

    @property
    def _takes_numbers(self) -> bool:
        return True

    def _targets(self, y: Any) -> Targets:
        return numbers_or_classes(y, "NonLinCFA")

    def _targets_in(self, moments: Moments) -> TargetsIn:
        return numbers_or_classes_in(moments, "NonLinCFA")

    def _folds_in(self, moments: Moments) -> int | None:
        cv, n_folds = self._cv(), moments.n_folds
        if cv is None:
            return None
        if isinstance(self.cv, str):
            cv = n_folds
        if not isinstance(cv, Integral) or isinstance(cv, bool):
            raise ValueError(
                f"cv must be None, 'auto' or the number of folds of the moments, {n_folds}, got "
                f"{cv!r}: rows cannot be split once they are counted."
            )
        if n_folds < 2 or cv != n_folds:
            wanted = "2 folds or more" if isinstance(self.cv, str) else f"{cv} folds"
            raise ValueError(
                f"Prices are scored on {wanted}, and the moments have {n_folds}: give update the "
                "fold of each row, or set cv=None to score in-sample."
            )
        return n_folds

    def _folds_wanted(self) -> int | None:
        cv = self._cv()
        if cv is None:
            return None
        if not isinstance(cv, Integral) or isinstance(cv, bool) or int(cv) < 2:
            raise ValueError(
                f"Rows that are not in memory are cut into contiguous folds: cv must be None or a "
                f"number of 2 or more, got {cv!r}. Other folds can be given to moments_from."
            )
        return int(cv)

    def _fold_of_each(self, n_rows: int) -> Any:
        cv = self._cv()
        if cv is None:
            return None
        if not isinstance(cv, Integral) or isinstance(cv, bool) or not 2 <= int(cv) <= n_rows:
            raise ValueError(
                f"partial_fit cuts each batch into folds: cv must be None or a number from 2 to "
                f"that of rows, {n_rows}, got {cv!r}."
            )
        return np.repeat(np.arange(int(cv)), [len(fold) for fold in _cut(n_rows, int(cv))])

    def _criterion(self, prepared: Prepared, number: int, level: float) -> Criterion:
        held_out = self._cv() is not None
        kind = Parsimony if isinstance(self.tolerance, str) else NonLin
        return kind(level, held_out)

    def _pricing(self, prepared: Prepared, number: int, tolerance: float) -> Criterion:
        return NonLin(tolerance, self._cv() is not None)


def _cut(n_rows: int, n_folds: int) -> list[Any]:
    """Contiguous folds, the first ones with a row more, as those of KFold."""
    return np.array_split(np.arange(n_rows), n_folds)
