"""Fits without rows: what the reducers share that need moments only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from coterie._core.aggregations import LinearSum
from coterie._core.evidence import RowSets, SummedColumns, location_of
from coterie._core.grouping import groupable_from_sums
from coterie._core.values import FloatArray
from coterie._data.engines import Counting
from coterie._data.moments import Moments
from coterie.estimators._aggregates import Scaling
from coterie.estimators._base import NOTHING, Reducer
from coterie.estimators._checks import (
    checked_aggregation,
    checked_importance,
    checked_means,
    checked_signs,
    checked_word,
)
from coterie.estimators._elsewhere import check_in_memory, engine_for, is_elsewhere
from coterie.estimators._prepared import Prepared
from coterie.estimators._rows import Given
from coterie.estimators._seen import SeenMoments
from coterie.estimators._targets import Targets
from coterie.estimators._targets_in import TargetsIn, check_scorable


def _can_do_without_rows(reducer: MomentReducer) -> bool:
    """Whether moments are enough, as far as parameters tell."""
    if reason := reducer._why_rows(checked_aggregation(reducer.aggregation)):
        raise AttributeError(f"{reason}: moments are not enough. Use fit.")
    return True


class MomentReducer(Reducer):
    """A reducer that can do without rows, where it groups by means or sums.

    Final classes say which of the targets in moments they take, and on which folds they score.
    """

    _kinds: ClassVar[Mapping[str, Any]] = {**Reducer._kinds, "_moments": Moments.again}

    @abstractmethod
    def _targets_in(self, moments: Moments) -> TargetsIn:
        """The targets, as sums of what moments have kept."""

    def _folds_in(self, moments: Moments) -> int | None:
        """How many folds of the moments prices are scored on; None for all rows together."""
        return None

    def _folds_wanted(self) -> int | None:
        """On how many contiguous folds prices are to be scored, where rows lie elsewhere."""
        return None

    def _learn(self, X: Any, y: Any, given: Given = NOTHING) -> None:
        if not is_elsewhere(X):
            return super()._learn(X, y, given)
        self._check_moments_suffice(", and those of X are not in memory: load X first.")
        self._check_given(given)
        folds, memory = self._folds_wanted(), checked_means(self.engine, self.memory).memory
        X, y = self._as_table(X, y)
        layout = self._layout
        counting = Counting(
            y,
            given.sample_weight,
            folds,
            stratified=True,
            spread=self._looks_at_rows(),
            names=None if layout is None else layout.names,
            memory=memory,
        )
        moments = engine_for(X).moments(X, counting)
        self.__dict__.pop("_moments", None)
        self._learn_from(moments, layout=layout)
        return None

    def _looks_at_rows(self) -> bool:
        """Whether some rows show what a merge may cost, and not moments alone."""
        is_auto = isinstance(self.tolerance, str) and self.tolerance == "auto"
        return is_auto and self.n_groups is None

    def _check_given(self, given: Given) -> None:
        """Raise where what is given beside rows that lie elsewhere must be seen row by row."""
        for name in ("groups", "offset", "exposure"):
            if getattr(given, name) is not None:
                raise ValueError(f"{name} needs the rows in memory: load X first.")

    def fit_moments(self, moments: Moments) -> Self:
        """Learn which features to aggregate from moments, without any rows.

        The decisions are those of ``fit`` on all rows that the moments have counted. Another
        tolerance needs another search, but no other look at the rows.

        Parameters
        ----------
        moments : Moments
            Their folds are those of `cv`. For the aggregations "mean" and "sum", and without
            `inputs` and ``missing="pairwise"``, which need rows; `engine` and `memory` have no say.

        Returns
        -------
        The reducer, fitted.
        """
        if not isinstance(moments, Moments):
            raise TypeError(f"moments must be coterie.Moments, got {type(moments).__name__}.")
        self.__dict__.pop("_moments", None)
        self._learn_from(moments)
        return self

    @available_if(_can_do_without_rows)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count some rows more, and learn from all rows so far which features to aggregate.

        As :meth:`fit_moments`, with moments that the reducer keeps. Each call makes a search of its
        own; with many batches it is faster to ``update`` moments and to fit once. Where prices
        are scored on folds, each batch is cut into as many contiguous ones.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts.

        Returns
        -------
        The reducer, fitted. Where the rows so far do not suffice for a fit they are counted all the
        same, and the error says what is missing.
        """
        check_in_memory(X, "partial_fit counts rows")
        known = self.__dict__.get("_moments")
        least = 2 if known is None else 1
        X = self._checked_array(X, reset=known is None, ensure_min_features=least)
        moments = Moments() if known is None else known
        moments.update(X, y, sample_weight, self._fold_of_each(X.shape[0]))
        self._moments = moments
        self._learn_from(moments, named=False)
        return self

    def _fold_of_each(self, n_rows: int) -> Any:
        """The fold of each row of a batch, where there are folds."""
        return None

    def _learn_from(self, moments: Moments, *, named: bool = True, layout: Any = None) -> None:
        self._fit_to(self._prepare_from(moments, named=named, layout=layout))

    def _check_moments_suffice(self, rest: str = ": moments are not enough. Use fit.") -> LinearSum:
        """Raise where rows are needed, with the reason; else give the aggregation."""
        aggregation, _ = self._checked_words()
        checked_word("missing", self.missing, ["error", "pairwise"])
        checked_means(self.engine, self.memory)
        reason = self._why_rows(aggregation)
        if reason or not isinstance(aggregation, LinearSum):
            raise ValueError(f"{reason}{rest}")
        return aggregation

    def _prepare_from(
        self, moments: Moments, *, named: bool = True, layout: Any = None
    ) -> Prepared:
        """Check, apply scaling, and gather the evidence from moments."""
        aggregation, (_, search) = self._check_moments_suffice(), self._checked_words()
        self._check_rows(moments)
        self._layout, self._inputs = layout, None
        if named:
            self._remember_features(moments)
        targets = self._targets_in(moments)
        self._remember(Targets(np.empty((0, 0)), targets.classes))
        importance = checked_importance(self.target_weights, len(targets.weights))
        has_a_say = importance > 0
        each = tuple(p.with_targets(targets.weights[has_a_say]) for p in moments.accumulated)
        kept = moments.kept
        self._scaling = self._scaling_of(each, kept.first)
        looked_at = kept.looked_at(moments.count)
        seen = SeenMoments(
            each, aggregation, moments.is_weighted, kept.first, looked_at, self._scaling
        )
        units, limits = self._known(aggregation, seen.n_inputs)
        columns, rows = self._columns_in(seen, moments)
        ready = partial(
            groupable_from_sums,
            limits=limits,
            rows=rows,
            signs=checked_signs(self.signs, aggregation, by_row=False),
        )
        return Prepared(
            seen,
            importance[has_a_say],
            ready(columns, units=units, search=search),
            partial(ready, columns, search="restart"),
        )

    def _check_rows(self, moments: Moments) -> None:
        if moments.n_samples_ < 2:
            raise ValueError(f"moments must be of 2 rows or more, got {moments.n_samples_}.")
        if moments.n_features_in_ < 2:
            raise ValueError("moments must be of 2 features or more, got 1.")

    def _remember_features(self, moments: Moments) -> None:
        self.n_features_in_ = moments.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        # Cells of a field have names of their own.
        if hasattr(moments, "feature_names_in_") and self._layout is None:
            self.feature_names_in_ = moments.feature_names_in_

    def _scaling_of(self, parts: tuple[Any, ...], first: FloatArray) -> Scaling | None:
        if not self.scale:
            return None
        d = parts[0].n_features
        centre, spread = (each[:d] for each in location_of(parts))
        # A mean is off by its rounding, and constant columns must all become 0.
        return Scaling(np.where(spread > 0, centre, first[0]), np.where(spread > 0, spread, 1.0))

    def _columns_in(self, seen: SeenMoments, moments: Moments) -> tuple[SummedColumns, RowSets]:
        """What is grouped, and which rows prices are computed on."""
        n_folds = self._folds_in(moments)
        if n_folds is not None:
            check_scorable(seen.parts)
        parts = (seen.whole,) if n_folds is None else seen.parts
        rows = RowSets.all_rows() if n_folds is None else RowSets.of_folds(n_folds)
        columns = SummedColumns(parts, seen.first)
        if self._scaling is not None:
            columns = columns.scaled(self._scaling.centre, self._scaling.spread)
        return columns, rows
