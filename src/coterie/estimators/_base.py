"""What the reducers share: validate, compose the rooms, store results."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from coterie._core.aggregations import Aggregation, Linear, LinearSum, weighed
from coterie._core.criteria import Criterion, ForAll, OnEnoughRows
from coterie._core.devices import OnDevice, given_back, host, is_foreign, taken_in
from coterie._core.evidence import RowSets
from coterie._core.gathering import Asked
from coterie._core.grouping import SEARCHES, Groupable, groupable
from coterie._core.must_link import Units
from coterie._core.search import Limits
from coterie._core.threads import few_threads
from coterie._core.values import FloatArray, Partition, Trace, is_sparse
from coterie._data.engines import Carried, engine_of
from coterie._data.fields import Layout, is_field, sample_dim_of, samples_first
from coterie._data.validation import check_finite, check_table
from coterie._persist.files import Entry, text_of, write_whole
from coterie.estimators._aggregates import LinearAggregates, Scaling, oriented, same_kind
from coterie.estimators._automatic import automatic
from coterie.estimators._checks import (
    check_on_device,
    check_shape,
    checked_aggregation,
    checked_importance,
    checked_kinds,
    checked_limits,
    checked_means,
    checked_number,
    checked_penalty,
    checked_signs,
    checked_size,
    checked_units,
    checked_word,
)
from coterie.estimators._elsewhere import OfRows, check_in_memory, engine_for, is_elsewhere
from coterie.estimators._inputs import (
    applied_inputs,
    check_inputs,
    fitted_inputs,
    input_names,
    is_transformer,
)
from coterie.estimators._names import (
    aggregate_name,
    checked_names,
    made_unique,
    output_is_set,
)
from coterie.estimators._notices import warn_of_classes, warn_of_fit
from coterie.estimators._prepared import Data, Prepared, Splits
from coterie.estimators._rows import Given, Rows, checked_rows, enough_rows
from coterie.estimators._saved import document_of
from coterie.estimators._seen import Block, SeenColumns
from coterie.estimators._shown import groups_shown
from coterie.estimators._sizes import of_size
from coterie.estimators._state import plain_state, state_again
from coterie.estimators._tables import check_missing, check_sparse, check_values, has_gaps
from coterie.estimators._targets import Targets, check_no_gaps


def _saw_a_field(reducer: Reducer) -> bool:
    """Whether the groups can be shown where their members lie."""
    if getattr(reducer, "_layout", None) is None or reducer.inputs is not None:
        raise AttributeError("as_field needs fit to see an xarray field, and inputs=None.")
    return True


SearchName = Literal["forward", "restart", "best"]
NOTHING = Given()


def _can_go_back(reducer: Reducer) -> bool:
    """Whether the aggregation and the inputs have an inverse: as fitted, else as given."""
    fitted = getattr(reducer, "_aggregation", None)
    aggregation = fitted or checked_aggregation(reducer.aggregation)
    if not isinstance(aggregation, Linear):
        raise AttributeError(
            f"aggregation '{aggregation.name}' has no inverse; 'mean', 'sum' and 'principal' have."
        )
    inputs = getattr(reducer, "_inputs", reducer.inputs)
    if inputs is not None and not hasattr(inputs, "inverse_transform"):
        raise AttributeError(f"inputs {inputs!r} has no inverse_transform.")
    return True


def _as_text(names: Any) -> Any:
    return None if names is None else [str(name) for name in names]


def _no_way_back() -> Any:
    raise ValueError(
        "Only aggregates can be sent as weighted sums, not the way back: load X first."
    )


class Reducer(TransformerMixin, BaseEstimator, ABC):
    """Groups features and replaces each group by its aggregate.

    Final classes store their parameters and say which target, criterion and rows these
    amount to.
    """

    tolerance: Any = None
    inputs: Any
    aggregation: Any
    search: Any
    connectivity: Any
    max_group_size: Any
    scale: Any
    signs: Any
    groups: Any
    keep: Any
    separate: Any
    engine: Any
    memory: Any
    missing: Any = "error"
    target_weights: Any = None
    n_groups: Any = None
    # What only some parameters find, so that an earlier fit must not leave it behind.
    _found: tuple[str, ...] = ("penalty_", "tolerance_")
    _takes_several_targets: bool = True
    # What the rows are needed for, where moments of the columns are not enough.
    _reason_for_rows: str = ""
    # Whether an automatic tolerance asks what all groups are worth together.
    _checks_all_groups: bool = True
    # Attributes that are kinds of ours, and are pickled as the arrays they are made of.
    _kinds: ClassVar[Mapping[str, Any]] = {"_scaling": Scaling}

    @abstractmethod
    def _targets(self, y: Any) -> Targets:
        """The targets as numbers."""

    @abstractmethod
    def _criterion(self, prepared: Prepared, number: int, level: float) -> Criterion:
        """The criterion for one target, by its number, at a tolerance or at a penalty."""

    @abstractmethod
    def _pricing(self, prepared: Prepared, number: int, tolerance: float) -> Criterion:
        """The criterion for one target by which groups of a given number are found."""

    @property
    def _by_row(self) -> bool:
        """Whether questions need the columns themselves, and not only their moments."""
        return False

    @property
    def _takes_numbers(self) -> bool:
        """Whether whole numbers are regressed on, where they could be meant as classes."""
        return False

    def _splits(self, X: Any, y: Any, targets: Targets, rows: Rows) -> Splits | None:
        """The splits on which prices are scored; None for all rows."""
        return None

    def fit_moments(self, moments: Any) -> Any:
        """Raise, since this reducer must see rows; NonLinCFA, GenLinCFA and LinCFA need not."""
        raise ValueError(
            f"{type(self).__name__} looks at rows: moments are not enough. Use fit, or NonLinCFA, "
            "GenLinCFA or LinCFA."
        )

    def _learn(self, X: Any, y: Any, given: Given = NOTHING) -> None:
        """Group the features of X and keep what transform needs."""
        check_in_memory(X, f"{type(self).__name__} looks at rows")
        self.__dict__.pop("_moments", None)
        self._fit_to(self._prepare(X, y, given))
        if self._takes_numbers:
            warn_of_classes(host(y), type(self).__name__)

    def _fit_to(self, prepared: Prepared) -> None:
        """Group, keep what was found, and say what there is to say about it."""
        with few_threads(prepared.seen.is_light):
            partition, trace = self._grouped(prepared)
            self._keep(prepared, partition, trace)
        names = partial(self._input_names, len(self.labels_))
        warn_of_fit(prepared, partition, names, is_sized=self.n_groups is not None)

    def _grouped(self, prepared: Prepared) -> tuple[Partition, Trace]:
        """The partition that the parameters ask for, by size, by a word, or by a number."""
        for name in self._found:
            self.__dict__.pop(name, None)
        if self.n_groups is not None:
            size = checked_size(self.n_groups, self.tolerance)
            pricing = partial(self._for_all, self._pricing, prepared)
            partition, trace, self.tolerance_ = of_size(
                size, prepared.groupable, prepared.of_units, pricing
            )
            return partition, trace
        level, criterion_of = self._level(prepared), partial(self._judging, prepared)
        is_auto = isinstance(self.tolerance, str) and self.tolerance == "auto"
        if is_auto and self._checks_all_groups:
            partition, trace, self.penalty_ = automatic(prepared, level, criterion_of)
            return partition, trace
        if isinstance(self.tolerance, str):
            self.penalty_ = level
        return prepared.groupable.by(criterion_of(level))

    def _level(self, prepared: Prepared) -> float:
        """The tolerance, or the penalty that a word stands for."""
        if not isinstance(self.tolerance, str):
            return checked_number("tolerance", self.tolerance)
        return checked_penalty(self.tolerance, prepared)

    def _judging(self, prepared: Prepared, level: float) -> Criterion:
        """The criterion for all targets at a tolerance or at a penalty."""
        return self._for_all(self._criterion, prepared, level)

    def _for_all(self, criterion_of: Any, prepared: Prepared, level: float) -> Criterion:
        criteria = [criterion_of(prepared, t, level) for t in range(prepared.seen.n_targets)]
        if prepared.least is not None:
            criteria = [OnEnoughRows(criterion, prepared.least) for criterion in criteria]
        return criteria[0] if len(criteria) == 1 else ForAll(criteria, prepared.importance)

    def _prepare(self, X: Any, y: Any, given: Given = NOTHING) -> Prepared:
        """Validate, apply inputs and scaling, and gather the evidence."""
        aggregation, search = self._checked_words()
        data = self._read(X, y, given, aggregation)
        columns = self._scaled(data, search)
        units, limits = self._known(aggregation, columns.shape[1])
        importance = checked_importance(self.target_weights, data.targets.values.shape[1])
        has_a_say = importance > 0
        targets, weights = self._worked(data.targets.values[:, has_a_say], data.rows)
        signs = checked_signs(self.signs, aggregation, by_row=self._by_row)
        rows = (
            RowSets.of_splits(data.splits, len(targets), weights, every_row=signs)
            if data.splits
            else RowSets.all_rows(weights)
        )
        aggregation = weighed(aggregation, data.rows.weights)
        offset = data.rows.offset if self._by_row else None
        asked = Asked(self._by_row, signs, data.gaps, offset)
        ready = partial(
            groupable,
            targets=targets,
            aggregation=aggregation,
            limits=limits,
            rows=rows,
            means=checked_means(self.engine, self.memory),
            asked=asked,
        )
        together = self._all_together(targets, data.rows, weights)
        return Prepared(
            SeenColumns(columns, targets, weights, together, aggregation, data.gaps),
            importance[has_a_say],
            ready(columns, units=units, search=search),
            partial(self._of_units, ready, columns, aggregation, data.gaps),
            enough_rows(rows, len(targets)) if data.gaps else None,
        )

    def _read(self, X: Any, y: Any, given: Given, aggregation: Aggregation) -> Data:
        """Validate: what is grouped, the targets, and the rows that count."""
        may_have_gaps = check_missing(self.missing, aggregation, self.signs, self.groups)
        X, y = self._as_table(X, y)
        if is_foreign(X):
            X = self._taken_in(X, aggregation)
        y, given = host(y), Given(*(host(one) for one in given))
        rows = checked_rows(given, X, y)
        X, y = rows.of(X), rows.of(y)
        check_no_gaps(y)
        X, y = self._validated(X, y)
        targets = self._targets(y)
        self._remember(targets)
        splits = self._splits(X, y, targets, rows)
        self._inputs = fitted_inputs(self.inputs, X, y, rows.weights)
        columns = self._columns(X, aggregation, may_have_gaps)
        gaps = may_have_gaps and has_gaps(columns)
        if gaps:
            check_values(columns, self._input_names(columns.shape[1]))
        return Data(columns, targets, rows, splits, gaps)

    def _scaled(self, data: Data, search: str) -> Any:
        """The columns, standardised if the user wants that."""
        columns = data.columns
        if search == "best" and isinstance(columns, np.ndarray):
            # Sums along a column must not depend on how the table lies in memory.
            columns = np.ascontiguousarray(columns)
        self._scaling = Scaling.of(columns, data.rows.weights) if self.scale else None
        return self._scaling.applied(columns) if self._scaling else columns

    def _of_units(
        self,
        ready: Callable[..., Groupable],
        columns: Any,
        aggregation: Aggregation,
        gaps: bool,
        units: Units,
    ) -> Groupable:
        """The same columns, ready to be grouped as units."""
        if not isinstance(aggregation, LinearSum) or gaps:
            kind = "columns with gaps" if gaps else f"aggregation='{aggregation.name}'"
            raise ValueError(
                f"No tolerance gives n_groups={self.n_groups} with {kind}; complete columns with "
                "aggregation='mean' or 'sum' can have any number."
            )
        return ready(columns, units=units, search="restart")

    def _worked(self, targets: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray | None]:
        """Targets and weights as the questions see them."""
        return targets, rows.weights

    def _all_together(self, targets: FloatArray, rows: Rows, weights: Any) -> list[Block]:
        """Targets, and how often rows count, for a regression on all aggregates."""
        return [(targets, weights)]

    def _remember(self, targets: Targets) -> None:
        """Store the classes of the target, if it has classes."""
        self.__dict__.pop("classes_", None)
        if targets.classes is not None:
            self.classes_ = targets.classes

    def _input_names(self, n_inputs: int) -> list[str]:
        return input_names(self._inputs, self._names_in(), n_inputs)

    def _known(self, aggregation: Aggregation, n_inputs: int) -> tuple[Units | None, Limits]:
        """What the user knows beforehand: groups to begin with, and who goes with whom."""
        limits = checked_limits(self.connectivity, self.max_group_size, n_inputs)
        if self.groups is None and self.keep is None and self.separate is None:
            return None, limits
        names = self._input_names(n_inputs)
        units = checked_units(self.groups, names, aggregation)
        return units, replace(limits, kinds=checked_kinds(self.keep, self.separate, names, units))

    def _keep(self, prepared: Prepared, partition: Partition, trace: Trace) -> None:
        """Store a partition as the result of the fit."""
        self.groups_ = list(partition.groups)
        self.labels_ = partition.labels
        self.n_groups_ = len(self.groups_)
        self.signs_ = oriented(partition)
        self.trace_ = trace
        # Not as weighed: weights are needed to learn it, and not to apply it.
        self._aggregation = checked_aggregation(self.aggregation)
        self._aggregates: Any = prepared.seen.aggregates(
            self.groups_, self.signs_, gaps=self.missing == "pairwise"
        )

    def _checked_words(self) -> tuple[Aggregation, str]:
        check_inputs(self.inputs)
        if not isinstance(self.scale, bool | np.bool_):
            raise TypeError(f"scale must be True or False, got {self.scale!r}.")
        search = checked_word("search", self.search, SEARCHES)
        return checked_aggregation(self.aggregation), search

    def _as_table(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Of a labelled field, its columns; other data as they are."""
        self._layout: Any = None
        if is_field(X):
            sample_dim = sample_dim_of(X, y)
            self._layout = Layout.of(X, sample_dim)
            y = samples_first(y, X, sample_dim)
            X = self._layout.table(X)
        return X, y.toarray() if is_sparse(y) else y

    def _taken_in(self, X: Any, aggregation: Aggregation) -> Any:
        """An array of another library, where it lies if all that is asked for can be done there."""
        taken = taken_in(X)
        if isinstance(taken, OnDevice):
            check_on_device(self._why_rows(aggregation), self.engine)
        return taken

    def _taken_to_apply(self, X: Any) -> Any:
        """The same once the reducer is fitted, maybe to rows that lay elsewhere."""
        taken = taken_in(X)
        if isinstance(taken, OnDevice):
            check_on_device(self._why_rows(self._aggregation), None)
        return taken

    def _why_rows(self, aggregation: Aggregation) -> str | None:
        """What needs the rows themselves, and not only sums of their products, if anything."""
        if self._by_row:
            return self._reason_for_rows
        if not isinstance(aggregation, LinearSum):
            return f"aggregation='{aggregation.name}' looks at the rows of each group"
        if self.inputs is not None:
            return "inputs is a function of rows"
        if self.missing != "error":
            return "missing='pairwise' looks at the rows that have a value"
        return None

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        if isinstance(X, OnDevice):
            check_shape(X)
        elif not is_transformer(self.inputs):
            return self._checked_array(
                X, y=y, multi_output=True, ensure_min_samples=2, ensure_min_features=2
            )
        # The transformer may take what we would not: text, gaps, sparse columns.
        X, y = validate_data(self, X, y, skip_check_array=True)
        check_consistent_length(X, y)
        return X, check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self)

    def _checked_array(self, X: Any, **checks: Any) -> Any:
        """Validated data; gaps are left in, to be refused by name."""
        if isinstance(X, OnDevice):
            return validate_data(self, X, skip_check_array=True, reset=checks.get("reset", True))
        check_table(X)
        return validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"],
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            **checks,
        )

    def _columns(self, X: Any, aggregation: Aggregation, gaps: bool) -> Any:
        """What is grouped, of shape (n_samples, n_inputs): two or more, finite but for gaps."""
        if not is_transformer(self.inputs):
            check_finite(X, self._names_seen, "X", gaps=gaps)
            check_sparse(X, aggregation, gaps=gaps, by_row=self._by_row)
        is_sum = isinstance(aggregation, LinearSum) and not gaps and not self._by_row
        columns = applied_inputs(self._inputs, X, may_be_sparse=is_sparse(X) and is_sum)
        if self.inputs is not None:
            names = partial(self._input_names, columns.shape[1])
            check_finite(columns, names, "What inputs makes of X", gaps=gaps)
        if columns.shape[1] < 2:
            raise ValueError("inputs must give 2 or more columns to group, got 1.")
        return columns

    def transform(self, X: Any) -> FloatArray:
        """Replace each group by its aggregate.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_groups), or a frame as set by ``set_output``
            The aggregates, named as in ``get_feature_names_out``. Sparse if X is, unless `scale`
            is set; for a field a DataArray of samples and groups; for a table or field of Dask
            one of the same kind, to be computed when somebody asks for it.
        """
        check_is_fitted(self)
        if is_elsewhere(X):
            return self._transformed_elsewhere(X)
        if is_foreign(X):
            return given_back(self._transformed(self._taken_to_apply(X)), X)
        values = self._transformed(X)
        if not is_field(X) or output_is_set(self):
            return values
        return self._layout.samples(values, X, self.get_feature_names_out())

    def _transformed_elsewhere(self, X: Any) -> Any:
        """Aggregates that are computed where the rows lie, once somebody asks for them."""
        if output_is_set(self):
            raise ValueError(
                "set_output makes frames in memory, and the rows of X are not there: use "
                "set_output(transform='default'), or load X first."
            )
        table = self._table_of(X) if is_field(X) else X
        values = engine_for(table).transformed(table, self._carried())
        if not is_field(X):
            return values
        return self._layout.samples(values, X, self.get_feature_names_out())

    def _carried(self) -> Carried:
        """What rows need that are transformed elsewhere."""
        return Carried(
            OfRows.light(self, "_transformed"),
            _as_text(getattr(self, "feature_names_in_", None)),
            _as_text(self.get_feature_names_out()),
            self._linear,
            self.n_features_in_,
            self.inputs is None,
        )

    def _carried_back(self) -> Carried:
        """What aggregates need that become features elsewhere."""
        return Carried(
            OfRows.light(self, "_untransformed"),
            _as_text(self.get_feature_names_out()),
            _as_text(self._names_in()),
            _no_way_back,
            self.n_groups_,
            False,
        )

    def _linear(self) -> tuple[sparse.csr_array, FloatArray]:
        """Aggregates as weighted sums of features, and what is added to each."""
        if self.inputs is not None or not isinstance(self._aggregates, LinearAggregates):
            what = "inputs" if self.inputs is not None else f"aggregation='{self.aggregation}'"
            raise ValueError(
                f"{what} is no weighted sum of columns, which is all that can be sent."
            )
        if self._aggregates.means is not None:
            raise ValueError(
                "missing='pairwise' looks at the rows that have a value: load X first."
            )
        weights, centre = self._aggregates.weights, self._aggregates.centre
        if self._scaling:
            weights = sparse.csr_array(weights @ sparse.diags_array(1 / self._scaling.spread))
            centre = self._scaling.centre + centre * self._scaling.spread
        return weights, -(weights @ centre)

    def _table_of(self, field: Any) -> Any:
        """The columns of a field that is laid out as the one in fit."""
        if self._layout is None:
            raise ValueError("X is an xarray field, and fit saw a table: pass X as one, too.")
        return self._layout.table(field)

    def _transformed(self, X: Any) -> Any:
        return same_kind(self._aggregated(self._seen(X)), X)

    def _seen(self, X: Any) -> Any:
        """What is grouped, of rows that may be new: validated, and inputs applied."""
        if is_field(X):
            X = self._table_of(X)
        check_in_memory(X, "This looks at rows")
        if is_transformer(self.inputs):
            X = validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = self._checked_array(X, reset=False)
        return self._columns(X, self._aggregation, self.missing == "pairwise")

    def _aggregated(self, columns: Any) -> Any:
        """The aggregates of what is grouped."""
        if not self._scaling:
            return self._aggregates.values(columns)
        values = self._aggregates.values(self._scaling.applied(columns))
        if is_sparse(values):
            return values.toarray() - self._aggregates.values(self._scaling.shift[None])
        return values

    @available_if(_can_go_back)
    def inverse_transform(self, X: Any) -> FloatArray:
        """Features that have these aggregates: each member gets its group's share.

        For the mean, every member gets the value of its group. Only what the aggregates
        know comes back, as with any reduction. Available for linear aggregations, and for
        ``inputs`` that have an inverse themselves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_groups)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Sparse if X is, unless `scale` is set; a field if X is what ``transform`` made of one.
        """
        check_is_fitted(self)
        if is_foreign(X):
            return given_back(self._untransformed(self._taken_to_apply(X)), X)
        if is_field(X) and self._layout is not None:
            dims = (self._layout.sample_dim, ...)
            return self._layout.unstacked(self._features_of(X.transpose(*dims).data), X)
        return self._features_of(X)

    def _features_of(self, X: Any) -> Any:
        """Features that have some aggregates, wherever these lie."""
        engine = engine_of(X)
        if engine is not None:
            return engine.transformed(X, self._carried_back())
        return self._untransformed(X)

    def _untransformed(self, X: Any) -> Any:
        values = X if isinstance(X, OnDevice) else self._checked_aggregates(X)
        if values.ndim != 2:
            raise ValueError(f"X must have 2 dimensions, got shape {values.shape}.")
        if values.shape[1] != self.n_groups_:
            raise ValueError(
                f"X must have one column per group, {self.n_groups_}, got {values.shape[1]}."
            )
        columns = same_kind(self._aggregates.members(values), X)
        if self._scaling:
            columns = columns.toarray() if is_sparse(columns) else columns
            columns = self._scaling.undone(columns)
        return columns if self._inputs is None else self._inputs.inverse_transform(columns)

    def _checked_aggregates(self, X: Any) -> Any:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if self.missing == "pairwise" else True,
            input_name="X",
            estimator=self,
        )

    @available_if(_saw_a_field)
    def as_field(self, values: Any = None) -> Any:
        """One value for each group, or the number of the group, where its members lie.

        Available where ``fit`` saw an xarray field, and ``inputs`` is None.

        Parameters
        ----------
        values : array-like of shape (n_groups,), optional
            What to show, such as the coefficients of a model behind the groups. Without them,
            ``labels_``.

        Returns
        -------
        xarray.DataArray, or Dataset if fit saw one
            On the grid of the features, NaN where there are none, ready for ``.plot()``.
        """
        check_is_fitted(self)
        if values is None:
            return self._layout.field(self.labels_)
        values = np.asarray(values)
        if values.shape != (self.n_groups_,):
            raise ValueError(
                f"values must have one entry per group, {self.n_groups_}, got shape {values.shape}."
            )
        return self._layout.field(values[self.labels_])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the aggregates: ``mean(a, b, c)``, or ``a`` for a group of one.

        A long list of members is shortened; ``groups_`` has all of them.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, where X had none.

        Returns
        -------
        ndarray of shape (n_groups,) of str objects
        """
        check_is_fitted(self)
        names = input_names(self._inputs, self._names_in(input_features), len(self.labels_))
        signs = zip(names, self.signs_, strict=True)
        names = [f"-{name}" if sign < 0 else name for name, sign in signs]
        aggregation = self._aggregation
        named = [
            names[members[0]]
            if len(members) == 1 and aggregation.keeps_single
            else aggregate_name(aggregation.name, members, names)
            for members in self.groups_
        ]
        return np.array(made_unique(named), dtype=object)

    def save(
        self,
        path: str | os.PathLike[str],
        functions: Mapping[str, Any] | None = None,
        *,
        trace: Literal["accepted", "all"] = "accepted",
    ) -> None:
        """Write the fitted reducer to a file of JSON, to be read by :func:`coterie.load`.

        The file has no code in it, and what is loaded transforms exactly as this one. It is
        written beside and then renamed, so that an old file of this name is kept if anything fails.

        Parameters
        ----------
        path : str or path
            The file, such as ``"model.json"``.
        functions : dict of functions and families, optional
            Names for functions that are parameters. Without one, a function is called by its own
            name, and a lambda has none. Functions are named in the file, not held.
        trace : {"accepted", "all"}, default="accepted"
            Which decisions of ``trace_`` to keep: the merges, or what was refused as well, of which
            there can be millions.

        Raises
        ------
        TypeError
            Where a parameter is of a kind that JSON cannot hold, such as a transformer.
        """
        check_is_fitted(self)
        write_whole(path, text_of(document_of(self, functions, trace)))

    def _plain_more(self) -> dict[str, Any]:
        """What only some reducers find, as plain values."""
        return {}

    def _more_in(self, fitted: Entry) -> None:
        """Store what only some reducers find, from plain values."""

    # How scikit-learn shows estimators in notebooks, with a table of the groups below.
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + groups_shown(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += groups_shown(self)
        return bundle

    def __getstate__(self) -> dict[str, Any]:
        # Plain arrays, so that skops has nothing of ours to trust but the reducer itself.
        return plain_state(super().__getstate__(), self._kinds)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state_again(state, self._kinds))

    def __sklearn_is_fitted__(self) -> bool:
        # Not as soon as the features are known: the fit may have failed after that.
        return "labels_" in vars(self)

    def _takes_sparse(self) -> bool:
        is_sum = isinstance(self.aggregation, str) and self.aggregation in ("mean", "sum")
        return is_sum and self.missing == "error" and not self._by_row

    def _names_in(self, given: Any = None) -> list[str]:
        """Names of the features of X: as seen in fit, as given, or x0, x1, ..."""
        return checked_names(given, self._names_seen(), self.n_features_in_)

    def _names_seen(self) -> Any:
        """The names that X had in fit: of columns, or of the cells of a field."""
        if self._layout is not None:
            return np.array(self._layout.names, dtype=object)
        return getattr(self, "feature_names_in_", None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._takes_several_targets
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.input_tags.sparse = self._takes_sparse()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
