"""X and y of a reducer, validated with scikit-learn: for fit, and for new rows."""

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
from coterie._data.parameters import check_on_device, check_shape
from coterie._data.training._lazy import check_in_memory
from coterie._data.training._rows import Given, Rows, checked_rows
from coterie._data.validation import check_finite, check_table, counted


class Table(NamedTuple):
    """What fit was given: X and y in shape, of the rows that count."""

    X: Any
    y: Any
    rows: Rows
    n_features: int
    names: Any  # of the features, None where X had none
    layout: Any  # how a field became columns


def table_of_field(X: Any, y: Any) -> tuple[Any, Any, Layout | None]:
    """The columns of a labelled field, and how they are laid out; other data as they are."""
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
    """What fit was given, validated; the reducer learns how many features, and their names."""
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
    # The transformer may take what we would not: text, missing values, sparse columns.
    X, y = validate_data(reducer, X, y, skip_check_array=True)
    check_consistent_length(X, y)
    return X, check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=reducer)


def checked_array(reducer: Any, X: Any, **checks: Any) -> Any:
    """Validated data; missing values are left in, to be refused by name."""
    if isinstance(X, OnDevice):
        return validate_data(reducer, X, skip_check_array=True, reset=checks.get("reset", True))
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
    """What is grouped, of rows that may be new: validated, and inputs applied.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like, data frame or field of shape (n_samples, n_features)
    """
    features = reducer.fit_.features
    if is_field(X):
        X = table_as_in_fit(features, X)
    check_in_memory(X, "This looks at rows")
    if features.inputs is not None and is_transformer(features.inputs):
        X = validate_data(reducer, X, reset=False, skip_check_array=True)
    else:
        X = checked_array(reducer, X, reset=False)
    columns = input_columns(features, X, reducer.fit_.aggregation)
    if columns.shape[1] != reducer.fit_.n_inputs:
        raise ValueError(
            f"inputs must give {reducer.fit_.n_inputs} columns, as in fit, got {columns.shape[1]}."
        )
    return columns


def table_as_in_fit(features: Features, field: Any) -> Any:
    """The columns of a field that is laid out as the one in fit."""
    if features.layout is None:
        raise ValueError("X is an xarray field, and fit saw a table: pass X as one, too.")
    return features.layout.table(field)


def taken_to_apply(reducer: Any, X: Any) -> Any:
    """An array of another library, where it lies if all that is asked for can be done there."""
    taken = taken_in(X)
    if isinstance(taken, OnDevice):
        features = reducer.fit_.features
        reason = reason_for_rows(
            reducer.fit_.aggregation, features.inputs, missing=features.missing
        )
        check_on_device(reason, None)
    return taken


def check_complete(y: Any) -> None:
    """Raise where a column or a frame of pandas has missing values, whatever stands for them."""
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna()).reshape(len(y), -1).any(axis=1)
        if missing.any():
            bad = np.flatnonzero(missing).tolist()
            raise ValueError(f"y has None or NaN in {counted('row', bad)}.")


def reason_for_rows(aggregation: Aggregation, inputs: Any, *, missing: bool) -> str | None:
    """What needs the rows themselves, and not only sums of their products, if anything."""
    if not isinstance(aggregation, LinearSum):
        return f"aggregation='{aggregation.name}' looks at the rows of each group"
    if inputs is not None:
        return "inputs is a function of rows"
    return "missing='pairwise' looks at the rows that have a value" if missing else None


def input_columns(
    features: Features, X: Any, aggregation: Aggregation, *, by_row: bool = False
) -> Any:
    """What is grouped, of shape (n_samples, n_inputs): two or more, finite but for missing values.

    The same for training rows, of which a criterion may look at each (`by_row`), and for new ones.
    """
    missing, inputs, columns = features.missing, features.inputs, X
    if inputs is None or not is_transformer(inputs):
        _check_sparse(X, aggregation, missing=missing, by_row=by_row)
        check_finite(X, lambda: features.names, "X", missing=missing)
    if inputs is not None:
        is_sum = isinstance(aggregation, LinearSum) and not missing and not by_row
        columns = applied_inputs(inputs, X, may_be_sparse=is_sparse(X) and is_sum)
        names = partial(feature_names, features, columns.shape[1])
        check_finite(columns, names, "What inputs makes of X", missing=missing)
    if columns.shape[1] < 2:
        raise ValueError("inputs must give 2 or more columns to group, got 1.")
    return columns


def _check_sparse(X: Any, aggregation: Aggregation, *, missing: bool, by_row: bool) -> None:
    """Raise where sparse columns would have to be made dense."""
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
    """Names of the inputs: those of the features, as seen or given, and what became of them."""
    names = checked_names(given, features.names, features.n_features)
    return input_names(features.inputs, names, n_inputs)


def is_transformer(inputs: object) -> bool:
    """Whether inputs are made by a scikit-learn transformer."""
    return hasattr(inputs, "fit") and hasattr(inputs, "transform")


def fitted_inputs(inputs: Any, X: Any, y: Any, weights: FloatArray | None = None) -> Any:
    """The transformer fitted to copies of the data; functions need no fitting.

    Weights go to those that take them.
    """
    if not is_transformer(inputs):
        return inputs
    if weights is not None and has_fit_parameter(inputs, "sample_weight"):
        return clone(inputs).fit(X, y, sample_weight=weights)
    return clone(inputs).fit(X, y)


def applied_inputs(inputs: Any, X: Any, *, may_be_sparse: bool = False) -> Any:
    """What is to be grouped, of shape (n_samples, n_inputs)."""
    # A function gets a copy: it may work in place.
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
    """Names of what is grouped: those of the transformer, or ``function(feature)``."""
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
        # Neither it nor some step inside it can tell names.
        return [f"{type(inputs).__name__.lower()}{number}" for number in range(n_inputs)]


def _word(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else "inputs"
