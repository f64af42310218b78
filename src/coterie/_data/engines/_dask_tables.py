"""Dask arrays and data frames as tables of row blocks, with aligned y, weights and folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import dask
import numpy as np
from dask import array
from dask.utils import parse_bytes
from sklearn.utils.validation import _get_feature_names

from coterie._data.engines._count_blocks import BlockReader
from coterie._data.engines._dask_blocks import (
    Blocks,
    compute_blocks,
    is_dask,
    is_dask_array,
    is_dask_frame,
    known_lengths,
    n_blocks_of,
    zip_array_blocks,
    zip_blocks,
)
from coterie._data.engines._engine import Counting
from coterie._data.validation import check_table, counted


@dataclass(frozen=True)
class DaskTable:
    """A Dask table with its targets, weights and folds, in the same number of row blocks.

    Parameters
    ----------
    X : Dask array or data frame
        Each block of an array has all columns.
    y, weights, folds : Dask array, data frame or series, or None
        None for a column of X, or if not given.
    reader : BlockReader
    n_features : int
    lengths : sequence of int or None
        Number of rows of each block, if known.
    """

    X: Any
    y: Any
    weights: Any
    folds: Any
    reader: BlockReader
    n_features: int
    lengths: Sequence[int] | None

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return n_blocks_of(self.X)

    def blocks(self) -> Blocks:
        """The blocks of X, y, weights and folds."""
        collections = (self.X, self.y, self.weights, self.folds)
        if all(each is None or is_dask_array(each) for each in collections):
            return zip_array_blocks(*collections)
        return zip_blocks(collections, self.n_blocks)

    @contextmanager
    def name_missing_columns(self) -> Iterator[None]:
        """Turn Dask's KeyError for a column missing in a partition into a ValueError."""
        try:
            yield
        except KeyError as error:
            wanted = [*(self.reader.features or ()), *self.reader.other_columns]
            missing = [name for name in wanted if repr(name) in str(error)]
            if not missing:
                raise
            names = counted("column", missing, most=3)
            raise ValueError(f"X has no {names} in one of its partitions.") from error

    @property
    def cheapest_to_count(self) -> Any:
        """The cheapest collection from which the rows of each block can be counted."""
        return _cheapest_to_count(self.X, self.targets)

    @property
    def all_weights(self) -> Any:
        """The weights, as a column of X or separate; None if there are none."""
        name = self.reader.weights
        return self.weights if name is None else self.X[name]

    @property
    def targets(self) -> Any:
        """The targets, as columns of X or separate."""
        names = self.reader.targets
        if names is None:
            return self.y
        return self.X[names[0]] if len(names) == 1 else self.X[names]

    @property
    def may_have_labels(self) -> bool:
        """Whether there is a single target that may hold text."""
        target = self.targets
        if target.ndim == 2 and target.shape[1] != 1:
            return False
        dtypes = [target.dtype] if hasattr(target, "dtype") else list(target.dtypes)
        return any(getattr(dtype, "kind", "O") not in "biuf" for dtype in dtypes)


def open_table(X: Any, counting: Counting) -> DaskTable:
    """A Dask table with y, weights and folds in the same blocks."""
    if counting.y is None:
        raise ValueError("y is missing: which columns may be merged depends on a target.")
    check_dask_type(X)
    return _table_from_array(X, counting) if is_dask_array(X) else _table_from_frame(X, counting)


def check_dask_type(X: Any) -> None:
    """Raise if X is not a Dask array or data frame."""
    if not is_dask_array(X) and not is_dask_frame(X):
        kind = type(X)
        raise TypeError(
            "X must be a Dask array or data frame, got "
            f"{kind.__module__.partition('.')[0]}'s {kind.__name__}."
        )


def _table_from_array(X: Any, counting: Counting) -> DaskTable:
    X = rechunk_columns(X)
    for what in ("y", "sample_weight", "cv", "columns"):
        given = getattr(counting, what)
        if isinstance(given, str) or (what == "columns" and given is not None):
            raise ValueError(f"X is an array without column names, and {what} names a column.")
    reader = BlockReader("chunk", names=counting.names)
    return _align_blocks(X, reader, X.shape[1], counting.y, counting.sample_weight, counting.cv)


def _table_from_frame(X: Any, counting: Counting) -> DaskTable:
    named = [_name_or_array(each) for each in (counting.y, counting.sample_weight, counting.cv)]
    (targets, y), (weights, w), (folds, f) = named
    reader = BlockReader("partition", [], None, _as_name_list(targets), weights, folds)
    check_columns(X, [*reader.other_columns, *(counting.columns or ())])
    others = [name for name in X.columns if name not in {*reader.other_columns}]
    features = others if counting.columns is None else list(counting.columns)
    wanted = [*features, *reader.other_columns]
    if {*wanted} != {*X.columns}:
        X = X[wanted]
    # Dask's _meta is a table without rows: enough to check names and types.
    meta = X._meta[features]
    check_table(meta)
    names = _get_feature_names(meta)
    reader = replace(reader, features=features, names=None if names is None else list(names))
    return _align_blocks(X, reader, len(features), y, w, f)


def _name_or_array(given: Any) -> tuple[Any, Any]:
    """A pair (column names, array), one of which is None."""
    return (given, None) if is_column_names(given) else (None, given)


def _as_name_list(names: Any) -> list[Any] | None:
    return [names] if isinstance(names, str) else None if names is None else list(names)


def is_column_names(given: Any) -> bool:
    """Whether a value is the name of a column, or a list of names."""
    if isinstance(given, str):
        return True
    is_list = isinstance(given, list | tuple) and len(given) > 0
    return is_list and all(isinstance(name, str) for name in given)


def check_columns(X: Any, names: Iterable[Any]) -> None:
    """Raise if a data frame lacks columns."""
    there = {*X.columns}
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(f"X has no {counted('column', missing, most=3)}.")


def rechunk_columns(X: Any) -> Any:
    """An array rechunked so that each block has all columns, within Dask's chunk size."""
    if X.ndim != 2:
        raise ValueError(f"X must have 2 dimensions, got shape {X.shape}.")
    if np.isnan(X.shape[1]):
        raise ValueError("X must have a known number of columns: call compute_chunk_sizes() first.")
    if X.numblocks[1] == 1:
        return X
    row_chunks = known_lengths(X)
    if row_chunks is None or X.dtype.kind == "O":
        return X.rechunk({1: -1})
    largest = max(row_chunks) * X.shape[1] * X.dtype.itemsize
    is_large = largest > parse_bytes(dask.config.get("array.chunk-size"))
    return X.rechunk({0: "auto", 1: -1} if is_large else {1: -1})


def _align_blocks(
    X: Any, reader: BlockReader, n_features: int, y: Any, sample_weight: Any, cv: Any
) -> DaskTable:
    """A table with y, weights and folds rechunked to its blocks."""
    is_rule = callable(cv) or isinstance(cv, Integral)
    arrays = {"y": y, "sample_weight": sample_weight, "cv": None if is_rule else cv}
    given = {name: _unwrap_xarray(each) for name, each in arrays.items()}
    lengths = known_lengths(X)
    if lengths is None and any(_needs_lengths(each) for each in given.values()):
        lengths = compute_blocks(
            _n_rows, zip_blocks([_cheapest_to_count(X, given["y"])], n_blocks_of(X))
        )
    y, weights, folds = (_chunk_like(X, lengths, name, each) for name, each in given.items())
    return DaskTable(X, y, weights, folds, reader, n_features, lengths)


def _unwrap_xarray(given: Any) -> Any:
    """The array in an xarray object; anything else unchanged."""
    is_field = type(given).__module__.partition(".")[0] == "xarray"
    return given.data if is_field else given


def _needs_lengths(given: Any) -> bool:
    """Whether the lengths of the blocks of X are needed to rechunk this."""
    return given is not None and (not is_dask(given) or known_lengths(given) is not None)


def _n_rows(block: Sequence[Any]) -> int:
    return int(block[0].shape[0])


def _chunk_like(X: Any, lengths: list[int] | None, name: str, given: Any) -> Any:
    """An array with one entry for each row, in the blocks of X."""
    if given is None:
        return None
    if lengths is not None and _needs_lengths(given):
        return _rechunk_rows(lengths, name, given)
    if n_blocks_of(given) != n_blocks_of(X):
        raise ValueError(
            f"X has {n_blocks_of(X)} blocks of rows, and {name} has {n_blocks_of(given)}: split "
            "both into the same blocks, give their lengths with to_dask_array(lengths=True), or "
            f"make {name} a column of X."
        )
    return given.rechunk({1: -1}) if is_dask_array(given) and given.ndim == 2 else given


def _rechunk_rows(lengths: list[int], name: str, given: Any) -> Any:
    values: Any = given if is_dask(given) else np.asarray(given)
    if values.ndim not in (1, 2):
        raise ValueError(f"{name} must have 1 or 2 dimensions, got shape {values.shape}.")
    if values.shape[0] != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows, and {name} has {values.shape[0]}.")
    chunks = (tuple(lengths), *((size,) for size in values.shape[1:]))
    if is_dask(values):
        return values.rechunk(chunks)
    return array.from_array(values, chunks=chunks, name=False)


def _cheapest_to_count(X: Any, y: Any) -> Any:
    """The cheapest collection from which the rows of each block of X can be counted."""
    if is_dask_frame(X) and (not is_dask(y) or known_lengths(y) is not None):
        return X[X.columns[0]]
    # If y is not as long as X, an error is raised later.
    return y if is_dask(y) and n_blocks_of(y) == n_blocks_of(X) else X
