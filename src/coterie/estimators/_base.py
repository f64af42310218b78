"""What the three reducers share: validate, compose the rooms, store results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from coterie.aggregations import Aggregation, Linear, LinearSum
from coterie.criteria import Criterion, Parsimony
from coterie.estimators._aggregates import Scaling, aggregates_of, oriented
from coterie.estimators._automatic import automatic
from coterie.estimators._checks import (
    check_finite,
    check_table,
    checked_aggregation,
    checked_kinds,
    checked_limits,
    checked_means,
    checked_names,
    checked_signs,
    checked_size,
    checked_units,
    checked_word,
)
from coterie.estimators._inputs import (
    applied_inputs,
    check_inputs,
    fitted_inputs,
    input_names,
    is_transformer,
)
from coterie.estimators._names import aggregate_name, made_unique
from coterie.estimators._prepared import Prepared, Splits
from coterie.estimators._sizes import of_size
from coterie.grouping import SEARCHES, Groupable, few_threads, groupable, is_light
from coterie.statistics import RowSets
from coterie.units import Units
from coterie.values import FloatArray, IntArray, Partition, Trace


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


class Reducer(TransformerMixin, BaseEstimator, ABC):
    """Groups features and replaces each group by its aggregate.

    Final classes store their parameters and say which target, criterion and rows these
    amount to.
    """

    tolerance: Any
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
    n_groups: Any = None
    # What only some parameters find, so that an earlier fit must not leave it behind.
    _found: tuple[str, ...] = ("penalty_", "tolerance_")

    @abstractmethod
    def _target(self, y: Any) -> FloatArray:
        """The target as numbers."""

    @abstractmethod
    def _criterion(self, columns: FloatArray, target: FloatArray) -> Criterion:
        """The criterion that the parameters ask for."""

    def _splits(self, X: Any, target: FloatArray, rows: Any) -> Splits | None:
        """The splits on which prices are scored, given groups of rows; None for all rows."""
        return None

    def _learn(self, X: Any, y: Any, rows: Any = None) -> None:
        """Group the features of X and keep what transform needs."""
        prepared = self._prepare(X, y, rows)
        with few_threads(is_light(prepared.columns)):
            self._keep(prepared, *self._grouped(prepared))

    def _grouped(self, prepared: Prepared) -> tuple[Partition, Trace]:
        """The partition that the parameters ask for, by size, by a word, or by a number."""
        for name in self._found:
            self.__dict__.pop(name, None)
        if self.n_groups is not None:
            size = checked_size(self.n_groups, self.tolerance)
            partition, trace, self.tolerance_ = of_size(size, prepared.groupable, prepared.of_units)
            return partition, trace
        criterion = self._criterion(prepared.columns, prepared.target)
        if isinstance(criterion, Parsimony) and self.tolerance == "auto":
            partition, trace, self.penalty_ = automatic(prepared, criterion.penalty)
            return partition, trace
        if isinstance(criterion, Parsimony):
            self.penalty_ = criterion.penalty
        return prepared.groupable.by(criterion)

    def _prepare(self, X: Any, y: Any, rows: Any = None) -> Prepared:
        """Validate, apply inputs and scaling, and gather the evidence."""
        aggregation, search = self._checked_words()
        X, y = self._validated(X, y)
        target = self._target(y)
        splits = self._splits(X, target, rows)
        self._inputs = fitted_inputs(self.inputs, X, y)
        columns = self._columns(X)
        if search == "best":
            # Sums along a column must not depend on how the table lies in memory.
            columns = np.ascontiguousarray(columns)
        self._scaling = Scaling.of(columns) if self.scale else None
        if self._scaling:
            columns = self._scaling.applied(columns)
        units, kinds = self._known(aggregation, columns.shape[1])
        limits = replace(
            checked_limits(self.connectivity, self.max_group_size, columns.shape[1]), kinds=kinds
        )
        rows_of = RowSets.of_splits(splits, len(target)) if splits else RowSets.all_rows()
        ready = partial(
            groupable,
            target=target,
            aggregation=aggregation,
            search=search,
            limits=limits,
            means=checked_means(self.engine, self.memory),
            signs=checked_signs(self.signs, aggregation),
        )

        def of_units(units: Units, signs: FloatArray | None) -> Groupable:
            if not isinstance(aggregation, LinearSum):
                raise ValueError(
                    f"No tolerance gives n_groups={self.n_groups} with aggregation="
                    f"'{aggregation.name}'; 'mean' and 'sum' can have any number."
                )
            signed = columns if signs is None else columns * signs
            return ready(signed, units=units, rows=RowSets.all_rows(), search="restart")

        return Prepared(
            columns, target, aggregation, ready(columns, units=units, rows=rows_of), of_units
        )

    def _known(
        self, aggregation: Aggregation, n_inputs: int
    ) -> tuple[Units | None, IntArray | None]:
        """What the user knows beforehand: groups to begin with, and who goes with whom."""
        if self.groups is None and self.keep is None and self.separate is None:
            return None, None
        names = input_names(self._inputs, self._names_in(), n_inputs)
        units = checked_units(self.groups, names, aggregation)
        return units, checked_kinds(self.keep, self.separate, names, units)

    def _keep(self, prepared: Prepared, partition: Partition, trace: Trace) -> None:
        """Store a partition as the result of the fit."""
        self.groups_ = list(partition.groups)
        self.labels_ = partition.labels
        self.n_groups_ = len(self.groups_)
        self.signs_ = oriented(partition)
        self.trace_ = trace
        self._aggregation = prepared.aggregation
        self._aggregates: Any = aggregates_of(
            prepared.aggregation, self.groups_, prepared.columns, self.signs_
        )

    def _checked_words(self) -> tuple[Aggregation, str]:
        check_inputs(self.inputs)
        if not isinstance(self.scale, bool | np.bool_):
            raise TypeError(f"scale must be True or False, got {self.scale!r}.")
        search = checked_word("search", self.search, SEARCHES)
        return checked_aggregation(self.aggregation), search

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        if not is_transformer(self.inputs):
            return self._checked_array(X, y=y, ensure_min_samples=2, ensure_min_features=2)
        # The transformer may take what we would not: text, gaps, sparse columns.
        X, y = validate_data(self, X, y, skip_check_array=True)
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        return X, check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self)

    def _checked_array(self, X: Any, **checks: Any) -> Any:
        """Validated data; gaps are left in, to be refused by name."""
        check_table(X)
        dtype = [np.float64, np.float32]
        return validate_data(self, X, dtype=dtype, ensure_all_finite=False, **checks)

    def _columns(self, X: Any) -> FloatArray:
        """What is grouped, of shape (n_samples, n_inputs): finite, two or more."""
        if not is_transformer(self.inputs):
            check_finite(X, getattr(self, "feature_names_in_", range(X.shape[1])), "X")
        columns = applied_inputs(self._inputs, X)
        if self.inputs is not None:
            names = input_names(self._inputs, self._names_in(), columns.shape[1])
            check_finite(columns, names, "What inputs makes of X")
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
            The aggregates, named as in ``get_feature_names_out``.
        """
        check_is_fitted(self)
        if is_transformer(self.inputs):
            X = validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = self._checked_array(X, reset=False)
        columns = self._columns(X)
        if self._scaling:
            columns = self._scaling.applied(columns)
        return self._aggregates.values(columns)

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
        """
        check_is_fitted(self)
        values = check_array(X, dtype=[np.float64, np.float32], input_name="X", estimator=self)
        if values.shape[1] != self.n_groups_:
            raise ValueError(
                f"X must have one column per group, {self.n_groups_}, got {values.shape[1]}."
            )
        columns = self._aggregates.members(values)
        if self._scaling:
            columns = self._scaling.undone(columns)
        return columns if self._inputs is None else self._inputs.inverse_transform(columns)

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

    def _names_in(self, given: Any = None) -> list[str]:
        """Names of the features of X: as seen in fit, as given, or x0, x1, ..."""
        seen = getattr(self, "feature_names_in_", None)
        return checked_names(given, seen, self.n_features_in_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
