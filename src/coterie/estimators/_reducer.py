"""The base class of the reducers: fit, transform, inverse_transform and save."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._core.aggregations import Linear
from coterie._core.devices import OnDevice, given_back, host, is_foreign
from coterie._core.fit import (
    Fit,
    FitSpec,
    Pricing,
    Problem,
    TrainingData,
    checked_names,
    fit_groups,
)
from coterie._core.values import PAGE_OF_ESTIMATOR, FloatArray, IntArray, Trace
from coterie._data.engines import engine_of
from coterie._data.fields import is_field
from coterie._data.moments import Moments
from coterie._data.parameters import checked_aggregation, fit_spec
from coterie._data.training import (
    ColumnData,
    Given,
    check_in_memory,
    checked_array,
    column_data,
    feature_names,
    fold_of_each,
    lazy_data,
    moment_data,
    names_in_moments,
    read_table,
    reason_for_rows,
    table_of_field,
    taken_to_apply,
)
from coterie._data.validation import library_of
from coterie._persist.documents import document_of, plain_state, state_again
from coterie._persist.files import text_of, write_whole
from coterie.estimators._html import groups_shown
from coterie.estimators._remote import (
    carried_back,
    transformed,
)
from coterie.estimators._steps import CallbackSupportMixin, Steps, fitting, with_callbacks
from coterie.estimators._warnings import warn, warn_of_classes, warn_of_fit

SearchName = Literal["forward", "restart", "best"]
NOTHING = Given()
# Attributes that only some parameters set. They are deleted before each fit.
SOMETIMES_FOUND = ("penalty", "tolerance", "classes", "n_refused")


def _saw_a_field(reducer: Reducer) -> bool:
    """Whether as_field is available: fit saw an xarray field, and inputs is None."""
    features = getattr(getattr(reducer, "fit_", None), "features", None)
    if features is None or features.layout is None or features.inputs is not None:
        raise AttributeError("as_field needs fit to see an xarray field, and inputs=None.")
    return True


def _can_go_back(reducer: Reducer) -> bool:
    """Whether inverse_transform is available: the aggregation and the inputs have an inverse."""
    fit = getattr(reducer, "fit_", None)
    aggregation = checked_aggregation(reducer.aggregation) if fit is None else fit.aggregation
    if not isinstance(aggregation, Linear):
        raise AttributeError(
            f"aggregation '{aggregation.name}' has no inverse; 'mean', 'sum' and 'principal' have."
        )
    inputs = reducer.inputs if fit is None else fit.features.inputs
    if isinstance(inputs, str):
        return True
    if inputs is not None and not hasattr(inputs, "inverse_transform"):
        raise AttributeError(f"inputs {inputs!r} has no inverse_transform.")
    return True


def _can_do_without_rows(reducer: Reducer) -> bool:
    """Whether the parameters allow a fit from moments, without rows."""
    reason = reducer._row_reason or reason_for_rows(
        checked_aggregation(reducer.aggregation),
        None if isinstance(reducer.inputs, str) and reducer.inputs == "auto" else reducer.inputs,
        missing=reducer.missing == "pairwise",
    )
    if reason:
        raise AttributeError(f"{reason}: moments are not enough. Use fit.")
    return True


class Reducer(CallbackSupportMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class: groups features and replaces each group by its aggregate.

    Subclasses store their parameters and implement ``_pricing``, which sets prices of merges.
    """

    aggregation: Any
    inputs: Any
    missing: Any
    fit_: Fit
    _takes_several_targets: ClassVar[bool] = True
    # Read by scikit-learn for the link of the HTML representation.
    _doc_link_module = "coterie"
    _doc_link_template = PAGE_OF_ESTIMATOR
    # How many steps a fit has at most; None if the number of searches is not known.
    _n_steps: ClassVar[int | None] = None

    @property
    def _row_reason(self) -> str | None:
        """Why a fit needs rows; None if moments are enough."""
        return None

    @abstractmethod
    def _pricing(self) -> Pricing:
        """How merges are priced, according to the parameters."""

    def _asked(self) -> tuple[FitSpec, Pricing]:
        """The specification and the pricing that the parameters describe."""
        pricing = self._pricing()
        return fit_spec(self.get_params(deep=False), pricing), pricing

    @with_callbacks
    def _fit(self, X: Any, y: Any, given: Given = NOTHING) -> Self:
        """Group the features of X and store the result."""
        with fitting(self, self._n_steps) as steps:
            self._fit_in_steps(X, y, given, steps)
        return self

    def _fit_in_steps(self, X: Any, y: Any, given: Given, steps: Steps) -> None:
        self.__dict__.pop("_moments", None)
        spec, pricing = self._asked()
        with steps.step("rows"):
            data = training_data(self, X, y, given, spec, pricing)
        steps.note("%g rows, %d columns", data.n, data.features.n_features)
        self._store(fit_groups(data, spec, pricing, steps))
        steps.note("%d groups", self.fit_.n_groups)
        if pricing.regresses_numbers and isinstance(data, ColumnData):
            warn_of_classes(y if isinstance(y, np.ndarray) else host(y), type(self).__name__)

    @with_callbacks
    def fit_moments(self, moments: Moments) -> Self:
        """Learn which features to group from moments, without any rows.

        The decisions are those of ``fit`` on all rows that the moments summarise. A fit with
        another tolerance does not need the rows again. :class:`Coterie` with ``task="auto"`` takes
        whole numbers of more than two values for regression here, where ``fit`` takes few of them
        for classes or counts.

        Parameters
        ----------
        moments : Moments
            Moments of the rows. Their folds must be those of `cv`; Coterie takes any 2 or more,
            such as those of ``moments_from(X, y, cv=5)``. The aggregation must be "mean"
            or "sum"; `inputs` and ``missing="pairwise"`` are not possible, because they need
            rows. `covariance` and `max_bytes` have no effect.

        Returns
        -------
        The reducer, fitted.
        """
        if not isinstance(moments, Moments):
            raise TypeError(f"moments must be coterie.Moments, got {type(moments).__name__}.")
        with fitting(self) as steps:
            self.__dict__.pop("_moments", None)
            self._fit_to_moments(moments, names_in_moments(moments), steps)
        return self

    @available_if(_can_do_without_rows)
    @with_callbacks
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a batch of rows, and learn from all rows so far which features to group.

        This is :meth:`fit_moments` with moments that the reducer keeps. Each call runs a full
        search. With many batches it is faster to ``update`` a :class:`coterie.Moments` and to fit
        once. If `cv` is a number of folds, each batch is split into that many contiguous folds.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts.

        Returns
        -------
        The reducer, fitted. If there are too few rows for a fit, the batch is still added, and the
        error says what is missing.
        """
        check_in_memory(X, "partial_fit counts rows")
        known = self.__dict__.get("_moments")
        least = 2 if known is None else 1
        X = checked_array(self, X, reset=known is None, ensure_min_features=least)
        moments = Moments() if known is None else known
        moments.update(X, y, sample_weight, fold_of_each(self._pricing().cv, X.shape[0]))
        self._moments = moments
        with fitting(self) as steps:
            self._fit_to_moments(moments, getattr(self, "feature_names_in_", None), steps)
        return self

    def _fit_to_moments(self, moments: Moments, names: Any, steps: Steps) -> None:
        spec, pricing = self._asked()
        data = moment_data(moments, spec, pricing, names=names)
        self._store(fit_groups(data, spec, pricing, steps))
        steps.note("%d groups", self.fit_.n_groups)

    def _store(self, fit: Fit) -> None:
        """Set the attributes of the reducer from a fit, and warn about problems."""
        store(self, fit)
        is_sized = getattr(self, "n_groups", None) is not None
        warn_of_fit(fit, partial(feature_names, fit.features, fit.n_inputs), is_sized=is_sized)

    def transform(self, X: Any) -> FloatArray:
        """Replace each group by its aggregate.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_groups), or a frame as set by ``set_output``
            The aggregates, named as in ``get_feature_names_out``. Sparse if X is sparse, unless
            `scale` is set. For an xarray field: a DataArray of samples and groups. For a Dask
            table or field: a lazy one of the same type.
        """
        check_is_fitted(self)
        return transformed(self, X)

    @available_if(_can_go_back)
    def inverse_transform(self, X: Any) -> FloatArray:
        """Features that have these aggregates.

        For the mean, every member gets the value of its group. As with any dimensionality
        reduction, the details within groups are lost. Available for linear aggregations. If
        ``inputs`` is given, it must have an ``inverse_transform`` too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_groups)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Sparse if X is sparse, unless `scale` is set. A field if X is a field that
            ``transform`` returned.
        """
        check_is_fitted(self)
        layout = self.fit_.features.layout
        if is_foreign(X):
            return given_back(_features_of(self, taken_to_apply(self, X)), X)
        if is_field(X) and layout is not None:
            rows = X.transpose(layout.sample_dim, ...).data
            return layout.unstacked(_features_of(self, rows), X)
        return _features_of(self, X)

    @available_if(_saw_a_field)
    def as_field(self, values: Any = None) -> Any:
        """A map of the groups: each grid cell has the value, or the number, of its group.

        Available if X was an xarray field in ``fit`` and ``inputs`` is None.

        Parameters
        ----------
        values : array-like of shape (n_groups,), optional
            The values to map, such as the coefficients of a model fitted on the groups. By
            default ``labels_``.

        Returns
        -------
        xarray.DataArray, or Dataset if X was one in fit
            On the grid of the features, with NaN where there is no feature, ready for ``.plot()``.
        """
        check_is_fitted(self)
        fit = self.fit_
        if values is None:
            is_left_out = fit.labels < 0
            labels = np.where(is_left_out, np.nan, fit.labels) if is_left_out.any() else fit.labels
            return fit.features.layout.field(labels)
        values = np.asarray(values)
        if values.shape != (fit.n_groups,):
            raise ValueError(
                f"values must have one entry per group, {fit.n_groups}, got shape {values.shape}."
            )
        # What is left out has no value.
        each = np.append(values, np.nan) if len(fit.rest) else values
        return fit.features.layout.field(each[fit.labels])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the aggregates: ``mean(a, b, c)``, or ``a`` for a group of one.

        A long list of members is shortened; ``groups_`` has all of them.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, if X had none in fit.

        Returns
        -------
        ndarray of shape (n_groups,) of str objects
        """
        check_is_fitted(self)
        return self.fit_.names_out(input_names_of(self, input_features))

    def save(
        self,
        path: str | os.PathLike[str],
        functions: Mapping[str, Any] | None = None,
    ) -> None:
        """Save the fitted reducer to a JSON file, for :func:`coterie.load`.

        The file contains no code. The loaded reducer transforms exactly like this one. The file
        is written under a temporary name and then renamed, so that an existing file is kept if
        writing fails.

        Parameters
        ----------
        path : str or path
            The file, such as ``"model.json"``.
        functions : dict of functions and families, optional
            Names for functions that are parameters. The file stores only the name of a function.
            By default this is the function's own name; a lambda has none and needs an entry here.

        Raises
        ------
        TypeError
            If a parameter cannot be stored as JSON, such as a transformer.
        """
        check_is_fitted(self)
        write_whole(path, text_of(document_of(self, functions)))

    # The HTML of scikit-learn for notebooks, with a table of the groups below.
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + groups_shown(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += groups_shown(self)
        return bundle

    def __getstate__(self) -> dict[str, Any]:
        # Plain arrays, so that the reducer is the only class of this package that skops must trust.
        return plain_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state_again(state))

    def __sklearn_is_fitted__(self) -> bool:
        # n_features_in_ alone is not enough: the fit may have failed after it was set.
        return "labels_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._takes_several_targets
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = self._takes_sparse()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _takes_sparse(self) -> bool:
        is_sum = isinstance(self.aggregation, str) and self.aggregation in ("mean", "sum")
        return is_sum and self.missing != "pairwise" and self._row_reason is None


def training_data(
    reducer: Reducer, X: Any, y: Any, given: Given, spec: FitSpec, pricing: Pricing
) -> TrainingData:
    """The training data of a reducer; this also sets the feature names of the reducer."""
    X, y, layout = table_of_field(X, y)
    if library_of(X) is not None:
        return lazy_data(X, y, given, spec, pricing, layout)
    table = read_table(reducer, X, y, given, spec, pricing, layout)
    if pricing.cv is None and table.rows.groups is not None:
        warn("groups of rows have no use without folds: give cv, such as GroupKFold().")
    return column_data(table, spec, pricing)


def problem_of(reducer: Reducer, X: Any, y: Any, given: Given = NOTHING) -> Problem:
    """The training data of a reducer, ready to be grouped at any tolerance."""
    spec, pricing = reducer._asked()
    return Problem.of(training_data(reducer, X, y, given, spec, pricing), spec, pricing)


def decisions_about(
    reducer: Reducer, inputs: IntArray, X: Any, y: Any, given: Given = NOTHING
) -> tuple[Trace, IntArray]:
    """All decisions about some inputs, from the same fit once more.

    Returns the trace, which has all merges besides, and for each of the inputs that by which the
    trace names it: the first of those that it must stay with.

    Raises ValueError if the fit finds other groups, because the data are not those of the first.
    """
    again = clone(reducer)
    asked, pricing = again._asked()
    spec = replace(asked, watched=inputs)
    data = training_data(again, X, y, given, spec, pricing)
    fit = fit_groups(data, spec, pricing)
    if not np.array_equal(fit.labels, reducer.labels_):
        raise ValueError(
            "X, y and the other arguments must be those that the reducer was fitted to: on these "
            "it finds other groups."
        )
    if data.must_link is None:
        return fit.trace, inputs
    return fit.trace, data.must_link.first_of_each[inputs]


def pricing_of(reducer: Reducer) -> Pricing:
    """How a reducer prices merges, according to its parameters."""
    return reducer._pricing()


def store(reducer: Any, fit: Fit) -> None:
    """Set the attributes of a reducer from a fit."""
    reducer.fit_ = fit
    reducer.labels_, reducer.groups_, reducer.n_groups_ = fit.labels, fit.groups, fit.n_groups
    reducer.signs_, reducer.trace_ = fit.signs, fit.trace
    reducer.n_features_in_ = fit.features.n_features
    found = {name: getattr(fit, name) for name in SOMETIMES_FOUND}
    # The names of a field are names of its cells, not of the features of a table.
    names = None if fit.features.layout is not None else fit.features.names
    for name, value in {**found, "feature_names_in": names}.items():
        reducer.__dict__.pop(f"{name}_", None)
        if value is not None:
            setattr(reducer, f"{name}_", value)


def shown_labels(reducer: Any) -> IntArray:
    """The group of each input for lists and pictures: what is left out has the next number."""
    labels: IntArray = reducer.labels_
    return np.where(labels < 0, reducer.n_groups_, labels)


def leaf_order(reducer: Any) -> IntArray | None:
    """The inputs in the order of the leaves of the tree of a reducer; None if it has no tree."""
    tree = getattr(reducer, "tree_", None)
    if tree is None or not len(tree):
        return None
    # Imported late: this imports much of scipy.
    from scipy.cluster.hierarchy import leaves_list

    return np.asarray(leaves_list(tree), dtype=np.intp)


def input_names_of(reducer: Any, input_features: Any = None) -> list[str]:
    """Names of the inputs of a fitted reducer: the columns that it groups."""
    return feature_names(reducer.fit_.features, reducer.fit_.n_inputs, input_features)


def _features_of(reducer: Reducer, X: Any) -> Any:
    """Features that have these aggregates, for any kind of array or table."""
    engine = engine_of(X)
    if engine is None:
        return _members_of(reducer, X)
    features = reducer.fit_.features
    names = checked_names(None, features.names, features.n_features)
    return engine.transformed(X, carried_back(reducer, _members_of, names))


def _members_of(reducer: Reducer, X: Any) -> Any:
    """Features that have these aggregates, for arrays in memory or on a device."""
    fit = reducer.fit_
    values = X if isinstance(X, OnDevice) else _checked_aggregates(reducer, X)
    if values.ndim != 2:
        raise ValueError(f"X must have 2 dimensions, got shape {values.shape}.")
    if values.shape[1] != fit.n_groups:
        raise ValueError(
            f"X must have one column per group, {fit.n_groups}, got {values.shape[1]}."
        )
    columns, inputs = fit.inverse_transform(values), fit.features.inputs
    return columns if inputs is None else inputs.inverse_transform(columns)


def _checked_aggregates(reducer: Reducer, X: Any) -> Any:
    return check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if reducer.fit_.features.missing else True,
        input_name="X",
        estimator=reducer,
    )
