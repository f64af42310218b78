"""Validates X and y with scikit-learn, for fit and for new rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, has_fit_parameter, validate_data

from coterie._core.aggregations import Aggregation, LinearSum
from coterie._core.devices import OnDevice, host, is_foreign, taken_in
from coterie._core.fit import Features, FitSpec, Pricing, checked_names
from coterie._core.values import FloatArray, is_sparse
from coterie._data.fields import Layout, is_field, sample_dim_of, samples_first
from coterie._data.frames import known_frame
from coterie._data.parameters import check_on_device, check_shape
from coterie._data.training._lazy import check_in_memory
from coterie._data.training._rows import Given, Rows, checked_rows
from coterie._data.validation import check_finite, check_table, counted


class Table(NamedTuple):
    """Validated X and y of fit, without rows of weight 0."""

    X: Any
    y: Any
    rows: Rows
    n_features: int
    names: Any  # of the features; None if X has none
    layout: Any  # how a field became columns


def table_of_field(X: Any, y: Any) -> tuple[Any, Any, Layout | None]:
    """X and y of an xarray field as a table, and its layout; other data unchanged."""
    if not is_field(X):
        return X, y, None
    sample_dim = sample_dim_of(X, y)
    layout = Layout.of(X, sample_dim)
    return layout.table(X), samples_first(y, X, sample_dim), layout


def read_table(
    reducer: Any,
    X: Any,
    y: Any,
    given: Given,
    spec: FitSpec,
    pricing: Pricing,
    layout: Layout | None,
) -> Table:
    """The validated arguments of fit; sets number and names of the features on the reducer."""
    X = known_frame(X)
    if not isinstance(X, np.ndarray) and is_foreign(X):
        X = taken_in(X)
        if isinstance(X, OnDevice):
            reason = pricing.row_reason or reason_for_rows(
                spec.aggregation, spec.inputs, missing=spec.missing
            )
            check_on_device(reason, spec.compute.covariance)
    y = y.toarray() if is_sparse(y) else y
    y = y if isinstance(y, np.ndarray) else host(y)
    rows = Rows()
    if any(one is not None for one in given):
        rows = checked_rows(Given(*(host(one) for one in given)), X, y)
        X, y = rows.of(X), rows.of(y)
    check_complete(y)
    y = with_plain_booleans(y)
    X, y = _validated(reducer, X, y, spec.inputs)
    names = getattr(reducer, "feature_names_in_", None)
    if layout is not None:
        names = np.array(layout.names, dtype=object)
    return Table(X, y, rows, reducer.n_features_in_, names, layout)


def _validated(reducer: Any, X: Any, y: Any, inputs: Any) -> tuple[Any, Any]:
    if isinstance(X, OnDevice):
        check_shape(X)
    elif inputs is None or not is_transformer(inputs):
        return checked_array(
            reducer, X, y=y, multi_output=True, ensure_min_samples=2, ensure_min_features=2
        )
    # The transformer may accept more than reducers do: text, missing values, sparse columns.
    X, y = validate_data(reducer, X, y, skip_check_array=True)
    check_consistent_length(X, y)
    return X, check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=reducer)


def checked_array(reducer: Any, X: Any, **checks: Any) -> Any:
    """Validated data. Missing values are checked later, to name their columns in the error."""
    if isinstance(X, OnDevice):
        return validate_data(reducer, X, skip_check_array=True, reset=checks.get("reset", True))
    X = known_frame(X)
    check_table(X)
    return validate_data(
        reducer,
        X,
        accept_sparse=["csr", "csc"],
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        **checks,
    )


def inputs_of(reducer: Any, X: Any) -> Any:
    """The inputs of a fitted reducer for rows of X: validated, with `inputs` applied.

    Parameters
    ----------
    reducer : reducer
        A fitted reducer.
    X : array-like, data frame or field of shape (n_samples, n_features)
    """
    features = reducer.fit_.features
    if is_field(X):
        X = table_as_in_fit(features, X)
    check_in_memory(X, "This looks at rows")
    X = known_frame(X)
    if features.inputs is not None and is_transformer(features.inputs):
        X = validate_data(reducer, X, reset=False, skip_check_array=True)
    else:
        X = checked_array(reducer, X, reset=False)
    pairwise = getattr(reducer, "missing", None) != "filled"
    columns = input_columns(features, X, reducer.fit_.aggregation, pairwise=pairwise)
    if columns.shape[1] != reducer.fit_.n_inputs:
        raise ValueError(
            f"inputs must give {reducer.fit_.n_inputs} columns, as in fit, got {columns.shape[1]}."
        )
    return columns


def table_as_in_fit(features: Features, field: Any) -> Any:
    """The columns of a field, in the layout of the field in fit."""
    if features.layout is None:
        raise ValueError("X is an xarray field, and fit saw a table: pass X as one, too.")
    return features.layout.table(field)


def taken_to_apply(reducer: Any, X: Any) -> Any:
    """An array of another library, left on its device; raises if that is not possible."""
    taken = taken_in(X)
    if isinstance(taken, OnDevice):
        features = reducer.fit_.features
        reason = reason_for_rows(
            reducer.fit_.aggregation, features.inputs, missing=features.missing
        )
        check_on_device(reason, None)
    return taken


def check_complete(y: Any) -> None:
    """Raise if a pandas series or data frame has missing values of any kind."""
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna()).reshape(len(y), -1).any(axis=1)
        if missing.any():
            bad = np.flatnonzero(missing).tolist()
            raise ValueError(f"y has None or NaN in {counted('row', bad)}.")


def with_plain_booleans(y: Any) -> Any:
    """Targets with booleans of pandas, and those beside numbers in a frame, as plain booleans.

    Other values are unchanged. scikit-learn would make numbers of them.
    """
    if not (hasattr(y, "iloc") or hasattr(y, "get_columns")):
        return y
    if len(y.shape) == 1:
        return np.asarray(y, dtype=bool) if _are_booleans(y) else y
    columns = (
        y.get_columns() if hasattr(y, "get_columns") else [y.iloc[:, j] for j in range(y.shape[1])]
    )
    if not any(map(_are_booleans, columns)):
        return y
    made = np.empty((len(y), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        made[:, place] = np.asarray(column, dtype=bool if _are_booleans(column) else None).tolist()
    return made.astype(bool) if all(map(_are_booleans, columns)) else made


def _are_booleans(column: Any) -> bool:
    """Whether a column of pandas or polars has the type of booleans, or categories of them."""
    dtype = column.dtype
    if str(dtype) == "Boolean":  # of polars
        return not column.has_nulls()
    of_categories = getattr(getattr(dtype, "categories", None), "dtype", None)
    return "b" in (getattr(dtype, "kind", None), getattr(of_categories, "kind", None))


def reason_for_rows(aggregation: Aggregation, inputs: Any, *, missing: bool) -> str | None:
    """Why rows are needed; None if moments are enough."""
    if not isinstance(aggregation, LinearSum):
        return f"aggregation='{aggregation.name}' looks at the rows of each group"
    if inputs is not None:
        return "inputs is a function of rows"
    return "missing='pairwise' looks at the rows that have a value" if missing else None


def input_columns(
    features: Features,
    X: Any,
    aggregation: Aggregation,
    *,
    by_row: bool = False,
    pairwise: bool = False,
) -> Any:
    """The checked inputs, of shape (n_samples, n_inputs): two columns or more, finite values.

    NaN is allowed if the features may have missing values. Used for training rows and for new
    rows. `by_row` says whether the criterion needs rows, and `pairwise` whether the reducer has
    missing="pairwise".
    """
    missing, inputs, columns = features.missing, features.inputs, X
    if inputs is None or not is_transformer(inputs):
        _check_sparse(X, aggregation, missing=missing, by_row=by_row)
        check_finite(X, lambda: features.names, "X", missing=missing, pairwise=pairwise)
    if inputs is not None:
        is_sum = isinstance(aggregation, LinearSum) and not missing and not by_row
        columns = applied_inputs(inputs, X, may_be_sparse=is_sparse(X) and is_sum)
        names = partial(feature_names, features, columns.shape[1])
        check_finite(columns, names, "What inputs makes of X", missing=missing, pairwise=pairwise)
    if columns.shape[1] < 2:
        raise ValueError("inputs must give 2 or more columns to group, got 1.")
    return columns


def _check_sparse(X: Any, aggregation: Aggregation, *, missing: bool, by_row: bool) -> None:
    """Raise if sparse columns would have to be made dense."""
    if not is_sparse(X):
        return
    if not isinstance(aggregation, LinearSum):
        raise ValueError(
            f"X is sparse, and aggregation='{aggregation.name}' needs dense columns: use 'mean' or "
            "'sum', or pass X.toarray()."
        )
    if missing or by_row:
        why = "missing='pairwise'" if missing else "a criterion that looks at rows"
        raise ValueError(f"X is sparse, and {why} needs dense columns: pass X.toarray().")


def feature_names(features: Features, n_inputs: int, given: Any = None) -> list[str]:
    """Names of the inputs, from the feature names seen in fit or given here."""
    names = checked_names(given, features.names, features.n_features)
    return input_names(features.inputs, names, n_inputs)


def is_transformer(inputs: object) -> bool:
    """Whether `inputs` is a scikit-learn transformer."""
    return hasattr(inputs, "fit") and hasattr(inputs, "transform")


def fitted_inputs(inputs: Any, X: Any, y: Any, weights: FloatArray | None = None) -> Any:
    """A fitted clone of the transformer; functions are returned unchanged.

    Weights are passed on if the transformer accepts them.
    """
    if not is_transformer(inputs):
        return inputs
    if weights is not None and has_fit_parameter(inputs, "sample_weight"):
        return clone(inputs).fit(X, y, sample_weight=weights)
    return clone(inputs).fit(X, y)


def applied_inputs(inputs: Any, X: Any, *, may_be_sparse: bool = False) -> Any:
    """The result of `inputs` for X, of shape (n_samples, n_inputs)."""
    # A function gets a copy, because it may work in place.
    result = inputs.transform(X) if is_transformer(inputs) else inputs(X.copy())
    if is_sparse(result) and not may_be_sparse:
        result = result.toarray()
    if np.ndim(result) != 2 or np.shape(result)[0] != np.shape(X)[0]:
        raise ValueError(
            f"inputs must give a table of {np.shape(X)[0]} rows, got shape {np.shape(result)}."
        )
    if getattr(getattr(result, "dtype", None), "kind", "f") not in "biufO":
        raise ValueError(f"inputs must give real numbers, got an array of {result.dtype}.")
    return check_array(
        result,
        accept_sparse=["csr", "csc"],
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        input_name="inputs of X",
    )


def input_names(inputs: Any, names: Sequence[str], n_inputs: int) -> list[str]:
    """Names of the inputs: those of the transformer, or ``function(feature)``."""
    if inputs is None:
        return list(names)
    if is_transformer(inputs):
        return _transformer_names(inputs, names, n_inputs)
    word = _word(inputs)
    if n_inputs == len(names):
        return [f"{word}({name})" for name in names]
    return [f"{word}{number}" for number in range(n_inputs)]


def _transformer_names(inputs: Any, names: Sequence[str], n_inputs: int) -> list[str]:
    try:
        return [str(name) for name in inputs.get_feature_names_out(np.asarray(names, dtype=object))]
    except AttributeError:
        # The transformer, or a step inside it, has no get_feature_names_out.
        return [f"{type(inputs).__name__.lower()}{number}" for number in range(n_inputs)]


def _word(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else "inputs"
