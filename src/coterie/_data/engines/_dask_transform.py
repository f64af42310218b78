"""Lazy transform of Dask arrays and data frames to aggregates, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

from coterie._data.engines._dask_blocks import is_dask_array
from coterie._data.engines._dask_tables import check_columns, check_dask_type, rechunk_columns
from coterie._data.engines._engine import Carried
from coterie._data.validation import counted


def transform_dask(X: Any, carried: Carried) -> Any:
    """The aggregates of a Dask array or data frame, as one of the same kind."""
    check_dask_type(X)
    return (
        _transform_array(rechunk_columns(X), carried)
        if is_dask_array(X)
        else _transform_frame(X, carried)
    )


def _transform_array(X: Any, carried: Carried) -> Any:
    _check_n_columns(X.shape[1], carried)
    transform = BlockTransform.of(carried, [X.dtype])
    return X.map_blocks(
        _apply_to_array,
        _send_once(transform),
        token="aggregates",
        dtype=transform.dtype,
        chunks=(X.chunks[0], (len(carried.names_out),)),
        meta=np.empty((0, 0), dtype=transform.dtype),
    )


def _transform_frame(X: Any, carried: Carried) -> Any:
    names = carried.names_in
    if names is None:
        _check_n_columns(len(X.columns), carried)
        names = list(X.columns)
    check_columns(X, names)
    X = X if list(X.columns) == names else X[names]
    transform = BlockTransform.of(carried, list(X.dtypes))
    no_rows = np.empty((0, len(carried.names_out)), dtype=transform.dtype)
    meta = transform.as_frame(no_rows, X._meta.index)
    options = {"meta": meta, "enforce_metadata": False, "token": "aggregates"}
    return X.map_partitions(_apply_to_frame, _send_once(transform), **options)


def _check_n_columns(n_columns: int, carried: Carried) -> None:
    if n_columns != carried.n_in:
        raise ValueError(f"X has {n_columns} columns, and {carried.n_in} are expected.")


@dataclass(frozen=True)
class BlockTransform:
    """The transform of one block; the instance is sent to the workers."""

    of_rows: Callable[[Any], Any]
    names_in: list[str] | None
    names_out: list[str]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, carried: Carried, dtypes: list[Any]) -> BlockTransform:
        """The transform for columns of these dtypes: single precision if all are, else double."""
        is_single = carried.keeps_single and all(dtype == np.float32 for dtype in dtypes)
        dtype = np.dtype(np.float32 if is_single else np.float64)
        return cls(carried.of_rows, carried.names_in, carried.names_out, dtype)

    def values(self, rows: Any) -> Any:
        """The aggregates of some rows, of which there may be none."""
        if not rows.shape[0]:
            return np.empty((0, len(self.names_out)), dtype=self.dtype)
        return self.of_rows(rows).astype(self.dtype, copy=False)

    def of_frame(self, frame: Any) -> Any:
        """The aggregates of a data frame, whose columns are matched by name."""
        names = self.names_in
        if names is None:
            return self.as_frame(self.values(frame.to_numpy()), frame.index)
        if list(frame.columns) != names:
            there = {*frame.columns}
            if missing := [name for name in names if name not in there]:
                raise ValueError(f"X has no {counted('column', missing, most=3)} in a partition.")
            frame = frame[names]
        return self.as_frame(self.values(frame), frame.index)

    def as_frame(self, values: Any, index: Any) -> Any:
        """Aggregates as a pandas data frame."""
        import pandas

        return pandas.DataFrame(values, index=index, columns=self.names_out)


def _send_once(transform: BlockTransform) -> Delayed:
    """The transform as one task, so that it is sent to each worker once."""
    return delayed(transform, pure=True, traverse=False)


def _apply_to_array(rows: Any, transform: BlockTransform) -> Any:
    return transform.values(rows)


def _apply_to_frame(frame: Any, transform: BlockTransform) -> Any:
    return transform.of_frame(frame)
