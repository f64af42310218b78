"""The phi of the paper: what is grouped may be functions of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import has_fit_parameter

from coterie._core.values import FloatArray, is_sparse


def is_transformer(inputs: object) -> bool:
    """Whether inputs are made by a scikit-learn transformer."""
    return hasattr(inputs, "fit") and hasattr(inputs, "transform")


def check_inputs(inputs: object) -> None:
    """Raise where inputs are neither None, a function nor a transformer."""
    if isinstance(inputs, type):
        name = inputs.__name__
        raise TypeError(f"inputs must be an instance, got the class {name}: write {name}().")
    if inputs is not None and not is_transformer(inputs) and not callable(inputs):
        raise TypeError(
            "inputs must be None, a function of the columns or a scikit-learn transformer, "
            f"got {inputs!r}."
        )


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
    if inputs is None:
        return X
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
