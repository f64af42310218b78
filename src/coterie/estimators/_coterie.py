"""Coterie: the reducer to start with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from coterie._core.aggregations import LinearSum
from coterie._core.devices import host, is_foreign
from coterie._core.fit import Features, FitSpec, Scaling
from coterie._core.joint import (
    INPUTS,
    Scored,
    Splits,
    fit_joint,
)
from coterie._core.threads import few_threads
from coterie._core.values import FloatArray, is_sparse
from coterie._data.joint_training import (
    JointSpec,
    JointTraining,
    inputs_by_content,
    same_units,
    training_from_columns,
    training_from_moments,
)
from coterie._data.moments import Moments
from coterie._data.parameters import (
    checked_constraints,
    checked_count,
    checked_importance,
    checked_share,
    checked_word,
    joint_spec,
)
from coterie._data.training import (
    Given,
    TargetsOfTask,
    check_values,
    feature_names,
    fitted_inputs,
    input_columns,
    lazy_data,
    moment_data,
    read_table,
    splits_of_rows,
    table_of_field,
    task_in_moments,
    task_of,
)
from coterie._data.validation import library_of
from coterie.estimators._joint_model import JointModel
from coterie.estimators._reducer import Reducer, store
from coterie.estimators._sparse_moments import sparse_moments
from coterie.estimators._warnings import warn

TASKS = ("auto", "regression", "classes", "counts")
# scikit-learn's word for classes.
SYNONYMS = {"classification": "classes"}
# A fit on fewer rows than this per fold would have folds of one row.
MIN_ROWS_PER_FOLD = 2
# A sparse table is made dense up to this many numbers; sums over folds have at most as many.
MAX_DENSE = 2**28
# With fewer multiplications for all pairs of columns, several threads are not faster.
MAX_LIGHT_PRODUCTS = 2**28


@dataclass(frozen=True)
class JointPricing:
    """What the readers of training data ask about Coterie."""

    targets: Any
    cv: Any
    name: ClassVar[str] = "Coterie"
    family: ClassVar[None] = None
    cv_is_default: ClassVar[bool] = True
    row_reason: ClassVar[None] = None
    regresses_numbers: ClassVar[bool] = False


class Coterie(Reducer):
    """Group features that belong together and mean the same to the target. Start with this one.

    Features share a group only if they are correlated, and only if the target loses next to
    nothing by it, given all other columns. What adds nothing to the others is left out. The number
    of groups is chosen by cross-validation. Nothing depends on the order of rows or columns, or
    on the units of the columns.

    Parameters
    ----------
    task : {"auto", "regression", "classes", "counts"}, default="auto"
        What y is. "auto": text, booleans, two values, and up to 20 different whole numbers of
        which none is rare, are classes; other small whole numbers from 0 on are counts; all else
        is regression. ``task_`` says what was found.
    n_groups : int or None, default=None
        The number of groups. None: the fewest whose cross-validated score is as good as the best.
        :meth:`with_n_groups` changes the number without a new fit.
    min_correlation : float, default=0.7
        The smallest correlation between a member and the aggregate of its group. With 0.7, each
        member shares half of its variance with the aggregate. 0: no limit.
    signs : {"auto", True, False}, default="auto"
        Whether a feature may join multiplied by -1, as in ``mean(a, -b)``. "auto": if the
        aggregation is "mean" or "sum".
    inputs : {"auto", "clip", "rank"}, None, callable or transformer, default="auto"
        The columns to group. "clip": values further than three standard deviations from the mean
        are moved there. "rank": each value as the share of training values below it. "auto": one
        of these if a ridge regression on all columns then predicts better by two standard errors,
        and else the columns as they are. None: the columns as they are. A function or a
        transformer as in :class:`NonLinCFA`.
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
        The largest number of members in a group.
    initial_groups : list of lists of columns or None, default=None
        Columns that share a group, whatever their correlation. Others may join them.
    keep : list of columns or None, default=None
        Columns that stay alone in their group and are never left out.
    separate : list of lists of columns or None, default=None
        Columns from different lists never share a group.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much each target counts. None: all the same.
    cv : int or splitter, default=5
        Folds for the penalty, the number of groups and the stability. An int: rows are sorted by
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
        How well each group is found again from three fifths of the rows: its largest overlap with
        a group there (members in both, divided by members in either), averaged over five draws.
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
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Only set if all column names of X are strings.

    See Also
    --------
    NonLinCFA : The rule of the paper, which compares two columns at a time.
    coterie.report.study : Fit, score on held-out rows and summarise.

    Notes
    -----
    The price of a merge is how much it raises the penalised sum of squares of a ridge regression
    on all groups: the square of the difference between two coefficients, divided by its variance
    (docs/joint-price.md). For several targets, prices add up. Missing values are taken to
    be at the mean; ``transform`` fills them from the other members of the group.

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
            Features; NaN is a missing value. Also Dask and Spark tables, whose moments are then
            computed where the rows are, with `inputs` as they are.
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
        self.__dict__.pop("_moments", None)
        spec = joint_spec(self.get_params(deep=False))
        X, y, layout = table_of_field(X, y)
        given = Given(sample_weight, groups, offset, exposure)
        if library_of(X) is not None:
            data = lazy_data(X, y, given, self._without_inputs(spec), self._pricing(), layout)
            found = "regression" if data.classes is None else "classes"
            task = self._checked_task()
            return self._fit_parts(data, spec, found if task == "auto" else task)
        return self._fit_rows(X, y, given, spec, layout)

    def _pricing(self) -> Any:
        # Rows that are not in memory are read once: there "auto" is what the moments say.
        return JointPricing(TargetsOfTask(self._checked_task(), "Coterie"), self._n_folds)

    def _without_inputs(self, spec: FitSpec) -> FitSpec:
        """The specification for moments: columns as they are, and no missing values."""
        inputs = None if isinstance(spec.inputs, str) and spec.inputs == "auto" else spec.inputs
        return replace(spec, inputs=inputs, missing=False)

    def _fit_rows(self, X: Any, y: Any, given: Given, spec: FitSpec, layout: Any) -> Self:
        on_device = is_foreign(X) and not isinstance(X, np.ndarray)
        if on_device:
            X = host(X)
        pricing, own = self._pricing(), _own_inputs(spec)
        table = read_table(self, X, y, given, replace(spec, inputs=own), pricing, layout)
        has_holes = not on_device and not is_sparse(table.X)
        if is_sparse(table.X) and own is None:
            input_columns(Features(table.n_features), table.X, spec.aggregation)
        is_large = is_sparse(table.X) and np.prod(table.X.shape, dtype=float) > MAX_DENSE
        if is_sparse(table.X) and not is_large:
            table = table._replace(X=table.X.toarray())
        task, exposure = self._task_of_rows(table), None
        if table.rows.offset is not None:
            exposure, weights = _exposed(table.rows.offset, table.rows.weights)
            table = table._replace(rows=table.rows._replace(weights=weights))
        targets = TargetsOfTask(task, "Coterie").from_y(table.y, exposure)
        if is_large:
            return self._fit_large_sparse(table, targets, task, spec)
        importance = checked_importance(spec.target_weights, targets.values.shape[1])
        values, weights = targets.values[:, importance > 0], table.rows.weights
        splits = self._splits(table, targets)
        features = Features(table.n_features, table.names, None, None, layout, has_holes)
        if own is None:
            input_columns(features, table.X, spec.aggregation)
        chosen = self._chosen_inputs(spec, table, values, may_change=has_holes)
        features = replace(features, inputs=chosen)
        columns = np.asarray(input_columns(features, table.X, spec.aggregation), dtype=np.float64)
        joint = self._joint_spec(spec, columns.shape[1], features, importance)
        check_values(columns, partial(feature_names, features, columns.shape[1]))
        if (columns == columns[0]).all():
            raise ValueError("X is constant in all columns: there is nothing to group.")
        with few_threads(bool(columns.size * columns.shape[1] < MAX_LIGHT_PRODUCTS)):
            training = training_from_columns(columns, values, weights, splits, joint)
            model = self._solved(training)
        scaling = _scaling(training, spec)
        return self._store_model(
            model, spec, replace(features, scaling=scaling), targets.classes, task
        )

    def _fit_large_sparse(self, table: Any, targets: Any, task: str, spec: FitSpec) -> Self:
        """Fit to the moments of sparse columns, of which only some rows are dense at a time."""
        n_rows, n_columns = table.X.shape
        n_folds = min(self._n_folds, n_rows // MIN_ROWS_PER_FOLD)
        has_splitter = not isinstance(self.cv, int | np.integer)
        if has_splitter or n_folds * n_columns**2 > MAX_DENSE:
            reason = "`cv` is no number" if has_splitter else f"there are {n_columns:,} columns"
            raise ValueError(
                f"X is sparse, too large to be made dense, and too large for the sums over folds, "
                f"since {reason}: use NonLinCFA(), or fewer columns and a number as cv."
            )
        # Class labels go in as they are, other targets as what they are taken for.
        y, kind = (table.y, "classes") if task == "classes" else (targets.values, "regression")
        moments = sparse_moments(table.X, y, targets.values, table.rows.weights, n_folds)
        pricing: Any = JointPricing(TargetsOfTask(kind, "Coterie"), n_folds)
        data = moment_data(
            moments, self._without_inputs(spec), pricing, names=table.names, layout=table.layout
        )
        return self._fit_parts(data, spec, task)

    def _fit_to_moments(self, moments: Moments, names: Any) -> Self:
        spec = joint_spec(self.get_params(deep=False))
        task = self._checked_task()
        task = task_in_moments(moments) if task == "auto" else task
        pricing: Any = JointPricing(TargetsOfTask(task, "Coterie"), self._n_folds)
        data = moment_data(moments, self._without_inputs(spec), pricing, names=names)
        return self._fit_parts(data, spec, task)

    def _fit_parts(self, data: Any, spec: FitSpec, task: str) -> Self:
        """Fit to moments, one batch of rows per fold."""
        if len(data.parts) < 2:
            raise ValueError(
                "Coterie scores its groups on held-out rows: the moments must have 2 folds or "
                "more, such as those of moments_from(X, y, cv=5)."
            )
        joint = self._joint_spec(spec, data.n_inputs, data.features, data.importance)
        model = self._solved(training_from_moments(data.parts, joint))
        return self._store_model(model, spec, data.features, data.classes, task)

    @property
    def _n_folds(self) -> int:
        is_number = isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool)
        return checked_count("cv", self.cv, least=2) if is_number else 5

    def _checked_task(self) -> str:
        word = checked_word("task", self.task, [*TASKS, *SYNONYMS])
        return SYNONYMS.get(word, word)

    def _task_of_rows(self, table: Any) -> str:
        """The task that was given, or that y and an exposure tell."""
        task, has_exposure = self._checked_task(), table.rows.offset is not None
        if has_exposure and task not in ("auto", "counts"):
            advice = (
                "divide y by the exposure, and give the exposure as sample_weight"
                if task == "regression"
                else "use GenLinCFA(family='bernoulli') with an offset"
            )
            raise ValueError(f"exposure and offset are for counts, got task='{task}': {advice}.")
        if task != "auto":
            return task
        return "counts" if has_exposure else task_of(table.y)

    def _splits(self, table: Any, targets: Any) -> Splits | int:
        """A number of folds, or the splits of a splitter."""
        n_rows = len(table.y)
        if isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool):
            most = n_rows // MIN_ROWS_PER_FOLD
            if most < 2:
                raise ValueError(
                    f"Coterie scores its groups on held-out rows and got n_samples = {n_rows}; "
                    "there must be 4 or more."
                )
            return min(self._n_folds, most)
        return Splits.of_pairs(
            splits_of_rows(self.cv, table.X, table.y, targets, table.rows), n_rows
        )

    def _chosen_inputs(
        self, spec: FitSpec, table: Any, targets: FloatArray, *, may_change: bool
    ) -> Any:
        """What is made of the columns before they are grouped."""
        if not isinstance(spec.inputs, str):
            if spec.inputs is None:
                return None
            return fitted_inputs(spec.inputs, table.X, table.y, table.rows.weights)
        if spec.inputs != "auto":
            return INPUTS[spec.inputs].of(np.asarray(table.X, dtype=np.float64), table.rows.weights)
        if not may_change:
            return None
        columns = np.asarray(table.X, dtype=np.float64)
        return inputs_by_content(columns, targets, table.rows.weights)

    def _joint_spec(
        self, spec: FitSpec, n_inputs: int, features: Features, importance: FloatArray
    ) -> JointSpec:
        floor = checked_share("min_correlation", self.min_correlation)
        names = partial(feature_names, features, n_inputs)
        limits, must_link = checked_constraints(spec, n_inputs, names)
        return JointSpec(
            spec.aggregation, floor, spec.signs, limits, must_link, importance[importance > 0]
        )

    def _solved(self, training: JointTraining) -> JointModel:
        leaves_out = checked_word("rest", self.rest, ("drop", "keep")) == "drop"
        joint = fit_joint(training.data, training.rules, leaves_out=leaves_out, kept=training.kept)
        return JointModel.of(joint, training)

    def _store_model(
        self, model: JointModel, spec: FitSpec, features: Features, classes: Any, task: str
    ) -> Self:
        self._store_path(model, task, features)
        scored = model.joint.scored
        number = scored.chosen() if spec.n_groups is None else spec.n_groups
        self._store_number(model, number, spec.aggregation, features, classes)
        self.choice_ = _explained(scored, spec.n_groups, int(self.n_groups_))
        if not scored.predicts:
            warn(
                "Nothing in X predicts y on held-out rows: the groups are no better than the mean "
                "of y. Are rows and targets matched, and are there enough rows?"
            )
        return self

    def _store_path(self, model: JointModel, task: str, features: Features) -> None:
        """Set what does not depend on the number of groups."""
        self.task_, self.inputs_ = task, _word_of(features.inputs)
        self._model = model.plain()
        self.tree_ = model.linkage()
        self.children_ = self.tree_[:, :2].astype(np.intp)
        self.distances_ = self.tree_[:, 2]
        scored = model.joint.scored
        self.path_ = {
            "n_groups": scored.numbers,
            "score": scored.score,
            "std_error": scored.std_error,
            "stability": np.array(
                [
                    model.joint.stability_at(number, model.sizes).mean()
                    for number in scored.numbers.tolist()
                ]
            ),
        }

    def _store_number(
        self, model: JointModel, number: int, aggregation: Any, features: Features, classes: Any
    ) -> None:
        store(self, model.fit_at(number, aggregation, features, classes))
        self.rest_ = self.fit_.rest
        self.stability_ = model.stability_of(number)

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
        other._store_number(model, number, fit.aggregation, fit.features, fit.classes)
        other.choice_ = _explained(model.joint.scored, number, number)
        return other


def restore_path(reducer: Coterie, task: str, plain: dict[str, Any]) -> None:
    """Set all that follows from the path of a model file; the groups are set already.

    Raises an error of any kind if the path does not lead to these groups.
    """
    model, fit = JointModel.again(plain), reducer.fit_
    if any(one["labels"].max() >= len(plain["start"]) for one in plain["resampled"]):
        raise ValueError("the resampled paths have more groups than the start")
    for number in model.joint.path.numbers:
        model.joint.nodes_at(number)
    again = model.fit_at(fit.n_groups, fit.aggregation, fit.features, fit.classes)
    if not np.array_equal(again.labels, fit.labels):
        raise ValueError("the path has other groups")
    reducer._store_path(model, checked_word("task", task, TASKS[1:]), fit.features)
    reducer._store_number(model, fit.n_groups, fit.aggregation, fit.features, fit.classes)
    asked = None if reducer.n_groups is None else fit.n_groups
    reducer.choice_ = _explained(model.joint.scored, asked, fit.n_groups)


def _own_inputs(spec: FitSpec) -> Any:
    """A function or a transformer of the user; None for a word."""
    return None if isinstance(spec.inputs, str) else spec.inputs


def _exposed(
    offset: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """Exposures relative to the largest, and weights in proportion to them, with the same sum."""
    exposure = np.exp(offset - offset.max())
    if exposure.min() < np.finfo(float).tiny:
        raise ValueError(
            f"offset is the log of the exposure, got {offset.min():g} to {offset.max():g}: the "
            "exposures are too unlike for one model."
        )
    counts = np.ones(len(offset)) if weights is None else weights
    return exposure, counts * exposure * (counts.sum() / (counts @ exposure))


def _scaling(training: JointTraining, spec: FitSpec) -> Scaling | None:
    """Standard deviations for an aggregation that is no mean, if units differ."""
    varying = ~training.constant
    if isinstance(spec.aggregation, LinearSum) or same_units(training.spread[varying]):
        return None
    return Scaling(training.centre, np.where(training.constant, 1.0, training.spread))


def _word_of(inputs: Any) -> str:
    if inputs is None:
        return "raw"
    return next((word for word, kind in INPUTS.items() if isinstance(inputs, kind)), "own")


def _explained(scored: Scored, asked: int | None, found: int) -> str:
    """Why there are so many groups, in a sentence."""
    best, top = scored.best, float(scored.score.max())
    if asked is not None:
        return f"{asked} groups, as asked. The best cross-validated R2, {top:.3f}, has {best}."
    if found == best:
        return f"{found} groups have the best cross-validated R2, {top:.3f}."
    score = float(scored.score[scored.numbers == found][0])
    return (
        f"{found} groups have a cross-validated R2 of {score:.3f}. The best has {best} groups and "
        f"{top:.3f}, which is not enough better to be told from chance or to matter."
    )
