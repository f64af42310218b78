"""Validation of one batch of rows: numbers and names, or an error."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from coterie._core.devices import check_on_host, host
from coterie._core.evidence import some_rows, sum_of_squares
from coterie._core.values import FloatArray, IntArray, is_sparse
from coterie._data.frames import known_frame
from coterie._data.moments._location import RowLocation
from coterie._data.validation import by_column, check_table, counted

# Squares of larger numbers overflow a float.
MAX_ABS_VALUE = 1e150


class NamedColumns(NamedTuple):
    """A table and the names of its columns."""

    values: NDArray[Any]  # (n_rows, n_columns)
    names: list[str]


class Batch(NamedTuple):
    """Validated rows, without those of weight 0."""

    features: FloatArray  # (n_rows, n_features), float64 and finite
    names: list[str] | None
    targets: dict[str, NDArray[Any]]  # (n_rows,) each, finite numbers, or text as objects
    weights: FloatArray | None  # (n_rows,), None if all are 1
    folds: IntArray | int | None
    n_read: int  # number of rows, including those of weight 0


def read_batch(
    X: Any, y: Any, sample_weight: Any, fold: Any, names: list[str] | None, location: RowLocation
) -> Batch:
    """A validated batch, with its columns in the order of `names` if these are given."""
    check_on_host(X)
    X, y, sample_weight = known_frame(host(X)), host(y), host(sample_weight)
    X, names = _align_columns(X, names, location)
    check_table(X)
    table = X.toarray() if is_sparse(X) else X
    features = check_array(
        table, dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_samples=0
    )
    targets, n_rows = _read_targets(y, location), len(features)
    for what, rows in {"y": len(next(iter(targets.values()))), **_fold_length(fold)}.items():
        if rows != n_rows:
            raise ValueError(f"X has {n_rows} rows in {location}, and {what} has {rows}.")
    weights, folds = read_weights(sample_weight, n_rows, location), _read_folds(fold, location)
    if weights is not None:
        kept = np.flatnonzero(weights)
        if len(kept) < n_rows:
            location = location.among(kept)
            features = some_rows(features, kept)
            targets = {name: target[kept] for name, target in targets.items()}
            weights = weights[kept]
            folds = folds[kept] if isinstance(folds, np.ndarray) else folds
        weights = None if (weights == 1).all() else weights
    features = features.astype(np.float64, copy=False)
    _check_features(features, names, location)
    for name, target in targets.items():
        _check_target(name, target, location)
    return Batch(features, names, targets, weights, folds, n_rows)


def _align_columns(
    X: Any, names: list[str] | None, location: RowLocation
) -> tuple[Any, list[str] | None]:
    """A table with its columns in the order of `names`, if it has column names."""
    X, given = _split_names(X)
    if names is None or given is None or given == names:
        return X, given
    here, before = {*given}, {*names}
    missing = [name for name in names if name not in here]
    added = [name for name in given if name not in before]
    if missing or added:
        problems = [
            *([f"no {counted('column', missing, most=3)}"] if missing else []),
            *(
                [f"{counted('column', added, most=3)}, which earlier batches lack,"]
                if added
                else []
            ),
        ]
        raise ValueError(f"X has {' and '.join(problems)} in {location}.")
    if hasattr(X, "columns"):
        return X[names], names
    position_of = {name: position for position, name in enumerate(given)}
    return X[:, [position_of[name] for name in names]], names


def _split_names(X: Any) -> tuple[Any, list[str] | None]:
    if isinstance(X, NamedColumns):
        return X
    names = _get_feature_names(X)
    return X, None if names is None else [str(name) for name in names]


def _fold_length(fold: Any) -> dict[str, int]:
    return {} if fold is None or isinstance(fold, Integral) else {"fold": len(fold)}


def _check_features(features: FloatArray, names: list[str] | None, location: RowLocation) -> None:
    """Raise if a product of columns would not be finite, naming the columns."""
    if np.isfinite(sum_of_squares(features)):
        return
    checks: dict[str, Callable[[FloatArray], Any]] = {
        "NaN": np.isnan,
        "infinity (inf)": np.isinf,
        f"numbers beyond {MAX_ABS_VALUE:g}": lambda columns: np.abs(columns) > MAX_ABS_VALUE,
    }
    advice = {
        "NaN": "Fill the missing values first, for example with sklearn.impute.SimpleImputer.",
        "infinity (inf)": "Replace it first.",
    }
    for kind, is_bad in checks.items():
        bad = np.flatnonzero(by_column(features, is_bad)).tolist()
        if bad:
            columns = bad if names is None else [names[position] for position in bad]
            rows = np.flatnonzero(is_bad(features[:, bad]).any(axis=1))
            remedy = advice.get(kind, "Use other units.")
            raise ValueError(
                f"X has {kind} in {counted('column', columns)} of {location.of_rows(rows)}. "
                f"{remedy}"
            )


def _read_targets(y: Any, location: RowLocation) -> dict[str, NDArray[Any]]:
    """One array for each target, keyed by its name."""
    if y is None:
        raise ValueError(f"y is missing in {location}: moments need a target as well as X.")
    if isinstance(y, NamedColumns):
        return dict(zip(y.names, y.values.T, strict=True))
    if np.ma.is_masked(y):
        raise ValueError(f"y is a masked array in {location}: fill the masked values first.")
    names = [str(name) for name in getattr(y, "columns", ())]
    values = np.asarray(y.toarray() if is_sparse(y) else y)
    if values.dtype.kind == "T":
        values = values.astype(object)
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        raise ValueError(f"y must have 1 or 2 dimensions, got shape {values.shape} in {location}.")
    columns = values.T if values.ndim == 2 else values[None]
    if not names:
        alone = [str(getattr(y, "name", None) or "y")]
        names = alone if len(columns) == 1 else [f"y{position}" for position in range(len(columns))]
    if len({*names}) < len(names):
        raise ValueError(f"y has several targets of one name in {location}: names must be unique.")
    return dict(zip(names, columns, strict=True))


def _check_target(name: str, column: NDArray[Any], location: RowLocation) -> None:
    """Raise if a target has missing values or an unsupported type."""
    if column.dtype.kind in "biu":
        return
    if column.dtype.kind == "f":
        bad = ~np.isfinite(column)
    elif column.dtype.kind in "OU":
        bad = np.array([_is_missing(value) for value in column.tolist()], dtype=bool)
    else:
        raise ValueError(f"{name} must hold numbers or text, got {column.dtype} in {location}.")
    if bad.any():
        rows = location.of_rows(np.flatnonzero(bad), "y")
        raise ValueError(f"{name} has NaN, None or infinity in {rows}.")


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return False
    if isinstance(value, Real):
        return not np.isfinite(float(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def read_weights(sample_weight: Any, n_rows: int, location: RowLocation) -> FloatArray | None:
    """The weight of each row of a batch; None if no weights are given."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError(f"sample_weight is a masked array in {location}: fill it first.")
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must hold numbers, got {weights.dtype} in {location}.")
    weights = weights.astype(np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), got {weights.shape} in {location}."
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be 0 or more, got {weights[bad[0]]:g} in "
            f"{location.of_rows(bad, 'sample_weight')}."
        )
    return weights


def _read_folds(fold: Any, location: RowLocation) -> IntArray | int | None:
    if fold is None:
        return None
    if isinstance(fold, Integral) and not isinstance(fold, bool) and int(fold) >= 0:
        return int(fold)
    folds = np.asarray(fold)
    if folds.ndim == 1 and folds.dtype.kind in "iuf":
        bad = np.flatnonzero(~(np.isfinite(folds) & (folds >= 0) & (folds == np.floor(folds))))
        if len(bad):
            raise ValueError(
                "fold must be a whole number of 0 or more in each row, got "
                f"{folds[bad[0]]:g} in {location.of_rows(bad, 'folds')}."
            )
    if folds.ndim != 1 or folds.dtype.kind not in "iu":
        raise ValueError(
            f"fold must be a number of 0 or more, or one for each row, got {_describe_fold(fold)}."
        )
    return folds.astype(np.intp)


def _describe_fold(fold: Any) -> str:
    return repr(fold) if np.ndim(fold) == 0 else f"an array of {np.asarray(fold).dtype}"


def normalise_target(name: str, column: NDArray[Any], location: RowLocation) -> NDArray[Any]:
    """A target as numbers if it holds only numbers, else as text."""
    if column.dtype.kind != "O":
        return column
    values = column.tolist()
    if all(isinstance(value, Real) for value in values):
        return np.array(values)
    if not all(isinstance(value, str) for value in values):
        kinds = sorted({type(value).__name__ for value in values})
        advice = " Decode them first, in h5py with asstr()." if kinds == ["bytes"] else ""
        raise ValueError(
            f"{name} must hold numbers or text, got {', '.join(kinds)} in one column, in "
            f"{location}.{advice}"
        )
    return column
