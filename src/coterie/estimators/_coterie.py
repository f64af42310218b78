"""Coterie: the reducer to start with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from coterie._core.fit import Features
from coterie._core.joint import HeldOut
from coterie._core.values import FloatArray
from coterie._data.moments import Moments
from coterie._data.parameters import checked_count, checked_word
from coterie._data.training import Given
from coterie.estimators._joint_choice import explained_choice
from coterie.estimators._joint_held_out import (
    held_out_again,
    look_at_held_out,
    plain_evidence,
)
from coterie.estimators._joint_model import JointModel
from coterie.estimators._joint_solve import (
    TASKS,
    Asked,
    Solved,
    solved_from_moments,
    solved_from_table,
    word_of,
)
from coterie.estimators._reducer import Reducer, store
from coterie.estimators._steps import Steps
from coterie.estimators._warnings import warn


class Coterie(Reducer):
    """Group features that belong together and mean the same to the target. Start with this one.

    Features share a group only if they are correlated, and only if the target loses next to
    nothing by it, given all other columns. What adds nothing to the others is left out. The number
    of groups follows from what merges cost beside the noise. Nothing depends on the order of rows
    or columns, or on the units of the columns.

    Parameters
    ----------
    task : {"auto", "regression", "classes", "counts"}, default="auto"
        What y is. "auto": text, booleans, two values, and up to 20 different whole numbers of
        which none is rare, are classes; other small whole numbers from 0 on are counts; all else
        is regression. ``task_`` says what was found. For grades or other whole numbers that are
        no classes, say "regression". Moments do not tell whole numbers of more than two values
        from others: there "auto" takes them for regression. Several targets must all be numbers,
        or all classes. "classification" is another word for "classes".
    n_groups : int or None, default=None
        The number of groups. None: merges go on until the next ones would cost the target more
        than noise explains.
        :meth:`with_n_groups` changes the number without a new fit.
    min_correlation : float, default=0.7
        The smallest correlation between a member and the aggregate of its group. With 0.7, each
        member shares half of its variance with the aggregate. 0: no limit. Where `inputs` ranks or
        clips the columns, the correlation is that of the ranked or clipped ones.
    signs : {"auto", True, False}, default="auto"
        Whether a feature may join multiplied by -1, as in ``mean(a, -b)``. "auto": if the
        aggregation is "mean" or "sum".
    inputs : {"auto", "clip", "rank"}, None, callable or transformer, default="auto"
        The columns to group. "clip": values further than three standard deviations from the mean
        are moved there. "rank": each value as the share of training values below it. "auto": one
        of these if a ridge regression on all columns then predicts better by two standard errors,
        and else the columns as they are; sparse columns, arrays on a device and moments stay as
        they are. None: the columns as they are. A function or a transformer as in
        :class:`NonLinCFA`.
    aggregation : str, callable or aggregation, default="mean"
        How a group becomes one column, as in :class:`NonLinCFA`, but not "principal".
        Means are in the units of X where the members of a group have standard deviations within
        a factor of 3, and in standard deviations otherwise; the name then begins with a z, as in
        ``zmean(a, b)``.
    rest : {"drop", "keep"}, default="drop"
        What becomes of features that add nothing, given the other columns. "drop": they are left
        out, with label -1. "keep": every feature is in a group, and there are more groups.
        Constant features are always left out.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours. Two groups can merge only if a member of one is a neighbour of a
        member of the other.
    max_group_size : int or None, default=None
        The largest number of members in a group. No initial group may be larger.
    initial_groups : list of lists of columns or None, default=None
        Columns that share a group, whatever their correlation. Others may join them.
    keep : list of columns or None, default=None
        Columns that stay alone in their group and are not left out, unless they are constant.
    separate : list of lists of columns or None, default=None
        Columns from different lists never share a group.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much each target counts. None: all the same.
    cv : int or splitter, default=5
        Folds for the noise, the scores and the stability. An int: rows are sorted by
        the target and dealt out, in an order that depends only on what the rows hold; equal rows
        share a fold. For rows in time, use ``TimeSeriesSplit()``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group number of each input, or -1 if it is left out.
    groups_ : list of ndarray
        The input numbers of the members of each group.
    n_groups_ : int
        Number of groups.
    rest_ : ndarray
        The inputs that are left out.
    signs_ : ndarray of shape (n_inputs,)
        -1 for an input that joined multiplied by -1, and 1 otherwise.
    stability_ : ndarray of shape (n_groups,)
        How well each group is found again from half of the rows: its largest overlap with a group
        there (members in both, divided by members in either), averaged over five draws.
    path_ : dict of ndarray
        For each number of groups that was scored: "n_groups", "score" (cross-validated R2, for
        classes of their indicators), "std_error" (of the difference to the best) and "stability".
    choice_ : str
        Why this number of groups.
    tree_ : ndarray of shape (n_inputs - 1, 4)
        The features as a tree of likeness, a SciPy linkage. Distances are 1 minus the mean
        correlation between members; features that vary join constant ones at distance 2.
    children_, distances_ : ndarray of shape (n_inputs - 1, 2) and (n_inputs - 1,)
        The same tree in scikit-learn's convention.
    task_ : str
        "regression", "classes" or "counts".
    inputs_ : str
        "raw", "clip", "rank" or "own": what was made of the columns first.
    classes_ : ndarray of shape (n_classes,)
        The class labels, if y has classes; a list with one array per column for several columns.
    trace_ : record array
        The merges of the path inside the groups, with fields group, candidate, price (the share of
        the targets' variance that the merge costs, given all other columns), allowance (the
        highest price that was paid) and accepted.
    fit_ : Fit
        All results of the fit in one immutable object, with all that ``transform`` needs.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features. Only set if all column names of X are strings.

    See Also
    --------
    NonLinCFA : The rule of the paper, which compares two columns at a time.
    coterie.report.study : Fit, score on held-out rows and summarise.

    Notes
    -----
    The price of a merge is how much it raises the penalised sum of squares of a ridge regression
    on all groups: the square of the difference between two coefficients, divided by its variance
    (the page "The joint price" of the documentation). For several targets, prices add up. Missing
    values are taken to be at the mean; ``transform`` fills them from the other members of the
    group. A column without any value is an error.

    Examples
    --------
    >>> from coterie import Coterie
    >>> from coterie.datasets import load_tecator
    >>> X, y = load_tecator(return_X_y=True, as_frame=True)
    >>> reducer = Coterie().fit(X[:172], y[:172])
    >>> Z = reducer.transform(X)
    >>> from sklearn.linear_model import LinearRegression
    >>> bool(LinearRegression().fit(Z[:172], y[:172]).score(Z[172:], y[172:]) > 0.95)
    True
    >>> reducer.with_n_groups(3).transform(X).shape
    (215, 3)
    """

    # Missing values are taken to be at the mean.
    missing = "filled"
    # Rows, inputs, products, tree and path.
    _n_steps = 5

    def __init__(
        self,
        task: Literal["auto", "regression", "classes", "counts"] = "auto",
        *,
        n_groups: int | None = None,
        min_correlation: float = 0.7,
        signs: Literal["auto"] | bool = "auto",
        inputs: Any = "auto",
        aggregation: str | Callable[[Any], Any] = "mean",
        rest: Literal["drop", "keep"] = "drop",
        connectivity: Any = None,
        max_group_size: int | None = None,
        initial_groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        target_weights: Any = None,
        cv: Any = 5,
    ) -> None:
        self.task = task
        self.n_groups = n_groups
        self.min_correlation = min_correlation
        self.signs = signs
        self.inputs = inputs
        self.aggregation = aggregation
        self.rest = rest
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.initial_groups = initial_groups
        self.keep = keep
        self.separate = separate
        self.target_weights = target_weights
        self.cv = cv

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Learn which features to group.

        As in all of scikit-learn, a parameter that is set afterwards counts from the next fit on.
        For another number of groups no fit is needed: :meth:`with_n_groups` gives a copy.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
            Features; NaN is a missing value, which sparse columns and arrays on a device must not
            have. Also Dask and Spark tables, whose moments are then computed where the rows are,
            with `inputs` as they are.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets: numbers, counts, or class labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts. 0 is the same as leaving the row out, 2 the same as
            repeating it.
        groups : array-like of shape (n_samples,), optional
            Group labels of the rows, for a `cv` such as ``GroupKFold``.
        offset : array-like of shape (n_samples,), optional
            The log of the exposure.
        exposure : array-like of shape (n_samples,), optional
            What the counts are proportional to, such as inhabitants or hours. y is then taken to
            be counts: their rate, y divided by the exposure, is predicted, and a row counts in
            proportion to its exposure. Only ratios of exposures matter.
        """
        return self._fit(X, y, Given(sample_weight, groups, offset, exposure))

    def _fit_in_steps(self, X: Any, y: Any, given: Given, steps: Steps) -> None:
        self.__dict__.pop("_moments", None)
        asked = Asked.of(self.get_params(deep=False))
        self._store_solved(solved_from_table(self, X, y, given, asked, steps), asked, steps)

    def _pricing(self) -> Any:
        return Asked.of(self.get_params(deep=False)).pricing()

    def _fit_to_moments(self, moments: Moments, names: Any, steps: Steps) -> None:
        asked = Asked.of(self.get_params(deep=False))
        self._store_solved(solved_from_moments(moments, names, asked, steps), asked, steps)

    def _store_solved(self, solved: Solved, asked: Asked, steps: Steps) -> None:
        model, spec = solved.model, asked.spec
        self.__dict__.pop("_held_out", None)
        self._evidence = plain_evidence(solved.evidence)
        self._store_model(model, solved.task, solved.features)
        self._is_asked = spec.n_groups is not None
        number = model.joint.chosen if spec.n_groups is None else spec.n_groups
        self._store_number(model, number, spec.aggregation, solved.features, solved.classes)
        steps.note("%d groups", self.n_groups_)
        if not solved.evidence.penalty.predicts:
            warn(
                "Nothing in X predicts y on held-out rows: a regression on X is no better than the "
                "mean of y. Are rows and targets matched, and are there enough rows?"
            )

    def _store_model(self, model: JointModel, task: str, features: Features) -> None:
        """Set what does not depend on the number of groups."""
        self.task_, self.inputs_ = task, word_of(features.inputs)
        self._model = model.plain()
        self.tree_ = model.linkage()
        self.children_ = self.tree_[:, :2].astype(np.intp)
        self.distances_ = self.tree_[:, 2]

    def _store_number(
        self, model: JointModel, number: int, aggregation: Any, features: Features, classes: Any
    ) -> None:
        store(self, model.fit_at(number, aggregation, features, classes))
        self.rest_ = self.fit_.rest

    def _look_at_held_out(self) -> tuple[JointModel, HeldOut]:
        """What held-out rows say, computed when first asked for."""
        if "_model" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        model = JointModel.again(self._model)
        if "_held_out" not in vars(self):
            self._held_out = look_at_held_out(model.joint, self._evidence)
        return model, held_out_again(self._held_out)

    @property
    def stability_(self) -> FloatArray:
        """The stability of each group; see Attributes."""
        model, held_out = self._look_at_held_out()
        return model.stability_of(held_out, int(self.n_groups_))

    @property
    def path_(self) -> dict[str, NDArray[Any]]:
        """The scores of numbers of groups; see Attributes."""
        model, held_out = self._look_at_held_out()
        scored = held_out.scored
        stability = [
            # Sorted, so that the order of the columns cannot change the last bit.
            np.sort(model.stability_of(held_out, number)).mean()
            for number in scored.numbers.tolist()
        ]
        return {
            "n_groups": scored.numbers,
            "score": scored.score,
            "std_error": scored.std_error,
            "stability": np.array(stability),
        }

    @property
    def choice_(self) -> str:
        """Why this number of groups; see Attributes."""
        model, held_out = self._look_at_held_out()
        return explained_choice(
            model.joint.path,
            model.n_samples,
            held_out.scored,
            int(self.n_groups_),
            self.task_,
            is_asked=self._is_asked,
        )

    def with_n_groups(self, n_groups: int) -> Self:
        """A copy of this fitted reducer with another number of groups, without a new fit.

        Parameters
        ----------
        n_groups : int
            From 1 to the number of features that vary.

        Returns
        -------
        Coterie, fitted, as if with this `n_groups`.
        """
        check_is_fitted(self)
        number = checked_count("n_groups", n_groups, least=1)
        other = clone(self).set_params(n_groups=number)
        other.__dict__ |= {
            name: value for name, value in vars(self).items() if name not in vars(other)
        }
        model, fit = JointModel.again(self._model), self.fit_
        other._is_asked = True
        other._store_number(model, number, fit.aggregation, fit.features, fit.classes)
        return other


def restore_path(reducer: Coterie, task: str, plain: dict[str, Any]) -> None:
    """Set all that follows from the path of a model file; the groups are set already.

    Raises an error of any kind if the path does not lead to these groups.
    """
    model, fit = JointModel.again(plain["model"]), reducer.fit_
    for number in model.joint.path.numbers:
        model.joint.nodes_at(number)
    again = model.fit_at(fit.n_groups, fit.aggregation, fit.features, fit.classes)
    if not np.array_equal(again.labels, fit.labels):
        raise ValueError("the path has other groups")
    reducer._store_model(model, checked_word("task", task, TASKS[1:]), fit.features)
    reducer._held_out, reducer._is_asked = plain["held_out"], reducer.n_groups is not None
    reducer._store_number(model, fit.n_groups, fit.aggregation, fit.features, fit.classes)
    _check_held_out(reducer, plain["held_out"])


def _check_held_out(reducer: Coterie, plain: dict[str, Any]) -> None:
    """Raise an error of any kind unless scores and stability can be read."""
    n_start = len(reducer._model["start"])
    labels = [one["labels"] for one in plain["resampled"]]
    if any(one.shape[1] != n_start or one.max() >= n_start for one in labels):
        raise ValueError("the resampled paths are of other groups")
    if len({len(one) for one in reducer.path_.values()}) != 1 or not reducer.choice_:
        raise ValueError("the scores do not belong to the numbers of groups")
