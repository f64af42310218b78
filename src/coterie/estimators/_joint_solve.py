"""From X, y and the parameters of a Coterie to its model: rows in memory, lazy rows, or moments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.aggregations import LinearSum
from coterie._core.devices import host, is_foreign
from coterie._core.fit import Features, FitSpec, Scaling
from coterie._core.joint import (
    INPUTS,
    ContentOrder,
    FoldEvidence,
    Splits,
    content_order,
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
    training_from_sparse,
)
from coterie._data.moments import Moments
from coterie._data.parameters import (
    check_weights_count,
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
from coterie.estimators._sparse_moments import sparse_moments
from coterie.estimators._steps import Steps

TASKS = ("auto", "regression", "classes", "counts")
# scikit-learn's word for classes.
SYNONYMS = {"classification": "classes"}
# A fit on fewer rows than this per fold would have folds of one row.
MIN_ROWS_PER_FOLD = 2
# A sparse table is made dense up to this many numbers; sums over folds have at most as many.
MAX_DENSE = 2**28
# A larger sparse table stays sparse, if no more pairs of its values are in the same row.
SMALL_SPARSE, MAX_OVERLAPS = 2**22, 2**25
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


@dataclass(frozen=True)
class Asked:
    """The parameters of a Coterie, checked."""

    spec: FitSpec
    task: str
    cv: Any
    min_correlation: float
    leaves_out: bool

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Asked:
        """Check the parameters, by name."""
        word = checked_word("task", parameters["task"], [*TASKS, *SYNONYMS])
        return cls(
            joint_spec(parameters),
            SYNONYMS.get(word, word),
            parameters["cv"],
            checked_share("min_correlation", parameters["min_correlation"]),
            checked_word("rest", parameters["rest"], ("drop", "keep")) == "drop",
        )

    @property
    def has_splitter(self) -> bool:
        """Whether `cv` is no number of folds."""
        return not isinstance(self.cv, int | np.integer) or isinstance(self.cv, bool)

    @property
    def n_folds(self) -> int:
        """The number of folds; 5 for a splitter, which only rows in memory can follow."""
        return 5 if self.has_splitter else checked_count("cv", self.cv, least=2)

    @property
    def spec_for_moments(self) -> FitSpec:
        """The specification for moments: columns as they are, and no missing values."""
        is_auto = isinstance(self.spec.inputs, str) and self.spec.inputs == "auto"
        return replace(self.spec, inputs=None if is_auto else self.spec.inputs, missing=False)

    @property
    def own_inputs(self) -> Any:
        """A function or a transformer of the user; None for a word."""
        return None if isinstance(self.spec.inputs, str) else self.spec.inputs

    def pricing(self, task: str | None = None, n_folds: int | None = None) -> Any:
        """The pricing for a task, by default for the one that was given."""
        # Rows that are not in memory are read once: there "auto" is what the moments say.
        return JointPricing(TargetsOfTask(task or self.task, "Coterie"), n_folds or self.n_folds)


class Solved(NamedTuple):
    """A model, what its scores are computed from when asked for, and what it was made from."""

    model: JointModel
    evidence: FoldEvidence
    features: Features
    classes: Any
    task: str


def solved_from_table(
    reducer: Any, X: Any, y: Any, given: Given, asked: Asked, steps: Steps
) -> Solved:
    """The model of a table, wherever its rows are; this also sets the names of the features."""
    X, y, layout = table_of_field(X, y)
    if library_of(X) is None:
        return _solved_from_rows(reducer, X, y, given, asked, layout, steps)
    with steps.step("rows"):
        data = lazy_data(X, y, given, asked.spec_for_moments, asked.pricing(), layout)
    found = "regression" if data.classes is None else "classes"
    return _solved_from_parts(data, asked, found if asked.task == "auto" else asked.task, steps)


def solved_from_moments(moments: Moments, names: Any, asked: Asked, steps: Steps) -> Solved:
    """The model of moments."""
    task = task_in_moments(moments) if asked.task == "auto" else asked.task
    data = moment_data(moments, asked.spec_for_moments, asked.pricing(task), names=names)
    return _solved_from_parts(data, asked, task, steps)


def _solved_from_rows(
    reducer: Any, X: Any, y: Any, given: Given, asked: Asked, layout: Any, steps: Steps
) -> Solved:
    spec, own = asked.spec, asked.own_inputs
    on_device = is_foreign(X) and not isinstance(X, np.ndarray)
    if on_device:
        X = host(X)
    with steps.step("rows"):
        table = read_table(reducer, X, y, given, replace(spec, inputs=own), asked.pricing(), layout)
    has_holes = not on_device and not is_sparse(table.X)
    if is_sparse(table.X) and own is None:
        input_columns(Features(table.n_features), table.X, spec.aggregation)
    stays_sparse = own is None and _overlaps_little(table.X)
    is_large = is_sparse(table.X) and np.prod(table.X.shape, dtype=float) > MAX_DENSE
    if is_sparse(table.X) and not is_large and not stays_sparse:
        table = table._replace(X=table.X.toarray())
    if table.rows.weights is not None:
        check_weights_count(float(table.rows.weights.sum()))
    task, exposure = _task_of_rows(table, asked.task), None
    if table.rows.offset is not None:
        exposure, weights = _exposed(table.rows.offset, table.rows.weights)
        table = table._replace(rows=table.rows._replace(weights=weights))
    targets = TargetsOfTask(task, "Coterie").from_y(table.y, exposure)
    steps.note("%d rows, %d columns, task %s", len(table.y), table.n_features, task)
    if is_large and not stays_sparse:
        return _solved_from_sparse(table, targets, task, asked, steps)
    importance = checked_importance(spec.target_weights, targets.values.shape[1])
    values, weights = targets.values[:, importance > 0], table.rows.weights
    splits = _splits(table, targets, asked)
    features = Features(table.n_features, table.names, None, None, layout, has_holes)
    if own is not None:
        fitted = fitted_inputs(own, table.X, table.y, weights)
        features = replace(features, inputs=fitted)
    columns: Any = input_columns(features, table.X, spec.aggregation)
    columns = (sparse.csr_array if stays_sparse else np.asarray)(columns, dtype=np.float64)
    # Of sparse columns, values were checked to be finite.
    if not stays_sparse:
        check_values(columns, partial(feature_names, features, columns.shape[1]))
    if _is_constant(columns):
        raise ValueError("X is constant in all columns: there is nothing to group.")
    with steps.step("inputs"):
        counts = np.ones(len(values)) if weights is None else weights
        order = content_order(columns, values, counts, splits if isinstance(splits, int) else 5)
        if own is None and (
            chosen := _chosen_inputs(spec, columns, values, weights, order, may_change=has_holes)
        ):
            features = replace(features, inputs=chosen)
            columns = np.asarray(chosen(columns))
    steps.note("inputs %s", word_of(features.inputs))
    joint = _joint_spec(asked, columns.shape[1], features, importance)
    read = training_from_sparse if stays_sparse else training_from_columns
    with few_threads(bool(columns.size * columns.shape[1] < MAX_LIGHT_PRODUCTS)):
        with steps.step("products"):
            training = read(columns, values, weights, splits, joint, order)
        model, evidence = _model(training, asked, steps)
    features = replace(features, scaling=_scaling(training, spec))
    return Solved(model, evidence, features, targets.classes, task)


def _overlaps_little(X: Any) -> bool:
    """Whether X is sparse and large, and few pairs of columns have a value in the same row."""
    if not is_sparse(X):
        return False
    per_row = np.diff(sparse.csr_array(X).indptr).astype(np.float64)
    is_small = np.prod(X.shape, dtype=float) <= SMALL_SPARSE
    return not is_small and float(np.square(per_row).sum()) <= MAX_OVERLAPS


def _is_constant(columns: Any) -> bool:
    """Whether all rows are equal."""
    if is_sparse(columns):
        return bool(np.array_equal(columns.min(axis=0).toarray(), columns.max(axis=0).toarray()))
    return all((row == columns[0]).all() for row in columns)


def _solved_from_sparse(table: Any, targets: Any, task: str, asked: Asked, steps: Steps) -> Solved:
    """The model of the moments of sparse columns, of which only some rows are dense at a time."""
    n_rows, n_columns = table.X.shape
    n_folds = min(asked.n_folds, n_rows // MIN_ROWS_PER_FOLD)
    if asked.has_splitter or n_folds * n_columns**2 > MAX_DENSE:
        reason = "`cv` is no number" if asked.has_splitter else f"there are {n_columns:,} columns"
        raise ValueError(
            f"X is sparse, too large to be made dense, and too large for the sums over folds, "
            f"since {reason}: use NonLinCFA(), or fewer columns and a number as cv."
        )
    # Class labels go in as they are, other targets as what they are taken for.
    y, kind = (table.y, "classes") if task == "classes" else (targets.values, "regression")
    with steps.step("moments"):
        moments = sparse_moments(table.X, y, targets.values, table.rows.weights, n_folds)
    data = moment_data(
        moments,
        asked.spec_for_moments,
        asked.pricing(kind, n_folds),
        names=table.names,
        layout=table.layout,
    )
    return _solved_from_parts(data, asked, task, steps)


def _solved_from_parts(data: Any, asked: Asked, task: str, steps: Steps) -> Solved:
    """The model of moments, one batch of rows per fold."""
    if len(data.parts) < 2:
        raise ValueError(
            "Coterie scores its groups on held-out rows: the moments must have 2 folds or "
            "more, such as those of moments_from(X, y, cv=5)."
        )
    joint = _joint_spec(asked, data.n_inputs, data.features, data.importance)
    with steps.step("products"):
        training = training_from_moments(data.parts, joint)
    model, evidence = _model(training, asked, steps)
    return Solved(model, evidence, data.features, data.classes, task)


def _model(training: JointTraining, asked: Asked, steps: Steps) -> tuple[JointModel, FoldEvidence]:
    joint, evidence = fit_joint(
        training.data,
        training.rules,
        leaves_out=asked.leaves_out,
        kept=training.kept,
        tell=steps,
    )
    return JointModel.of(joint, training), evidence


def _task_of_rows(table: Any, task: str) -> str:
    """The task that was given, or that y and an exposure tell."""
    has_exposure = table.rows.offset is not None
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


def _splits(table: Any, targets: Any, asked: Asked) -> Splits | int:
    """A number of folds, or the splits of a splitter."""
    n_rows = len(table.y)
    if asked.has_splitter:
        splits = splits_of_rows(asked.cv, table.X, table.y, targets, table.rows)
        return Splits.of_pairs(splits, n_rows)
    most = n_rows // MIN_ROWS_PER_FOLD
    if most < 2:
        raise ValueError(
            f"Coterie scores its groups on held-out rows and got n_samples = {n_rows}; "
            "there must be 4 or more."
        )
    return min(asked.n_folds, most)


def _chosen_inputs(
    spec: FitSpec,
    columns: Any,
    targets: FloatArray,
    weights: FloatArray | None,
    order: ContentOrder,
    *,
    may_change: bool,
) -> Any:
    """What is made of the columns before they are grouped; None for the columns as they are."""
    if spec.inputs is None or (spec.inputs == "auto" and not may_change):
        return None
    if is_sparse(columns):
        raise ValueError(f"inputs={spec.inputs!r} needs dense columns: pass X.toarray().")
    if spec.inputs == "auto":
        return inputs_by_content(columns, targets, weights, order)
    rows = order.rows
    return INPUTS[spec.inputs].of(columns[rows], None if weights is None else weights[rows])


def word_of(inputs: Any) -> str:
    """The word for what was made of the columns."""
    if inputs is None:
        return "raw"
    return next((word for word, kind in INPUTS.items() if isinstance(inputs, kind)), "own")


def _joint_spec(
    asked: Asked, n_inputs: int, features: Features, importance: FloatArray
) -> JointSpec:
    spec, names = asked.spec, partial(feature_names, features, n_inputs)
    limits, must_link = checked_constraints(spec, n_inputs, names)
    return JointSpec(
        spec.aggregation,
        asked.min_correlation,
        spec.signs,
        limits,
        must_link,
        importance[importance > 0],
    )


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
