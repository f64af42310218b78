"""Rows of Dask become aggregates, block by block and not before somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

from coterie._data.engines._dask_blocks import is_array
from coterie._data.engines._dask_tables import check_columns, check_kind, whole_rows
from coterie._data.engines._engine import Carried
from coterie._data.validation import counted


def transformed(X: Any, carried: Carried) -> Any:
    """The aggregates of an array as an array, and those of a frame as a frame."""
    check_kind(X)
    return _array(whole_rows(X), carried) if is_array(X) else _frame(X, carried)


def _array(X: Any, carried: Carried) -> Any:
    _check_number(X.shape[1], carried)
    work = Work.of(carried, [X.dtype])
    return X.map_blocks(
        _of_array,
        _once(work),
        token="aggregates",
        dtype=work.dtype,
        chunks=(X.chunks[0], (len(carried.names_out),)),
        meta=np.empty((0, 0), dtype=work.dtype),
    )


def _frame(X: Any, carried: Carried) -> Any:
    names = carried.names_in
    if names is None:
        _check_number(len(X.columns), carried)
        names = list(X.columns)
    check_columns(X, names)
    X = X if list(X.columns) == names else X[names]
    work = Work.of(carried, list(X.dtypes))
    nothing = np.empty((0, len(carried.names_out)), dtype=work.dtype)
    meta = work.as_frame(nothing, X._meta.index)
    options = {"meta": meta, "enforce_metadata": False, "token": "aggregates"}
    return X.map_partitions(_of_frame, _once(work), **options)


def _check_number(n_columns: int, carried: Carried) -> None:
    if n_columns != carried.n_in:
        raise ValueError(f"X has {n_columns} columns, and {carried.n_in} are expected.")


@dataclass(frozen=True)
class Work:
    """What is done to each block."""

    of_rows: Callable[[Any], Any]
    names_in: list[str] | None
    names_out: list[str]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, carried: Carried, dtypes: list[Any]) -> Work:
        """The work on columns of some types; aggregates are in double precision, or all single."""
        is_single = carried.keeps_single and all(dtype == np.float32 for dtype in dtypes)
        dtype = np.dtype(np.float32 if is_single else np.float64)
        return cls(carried.of_rows, carried.names_in, carried.names_out, dtype)

    def values(self, rows: Any) -> Any:
        """The aggregates of some rows; those of none, too."""
        if not rows.shape[0]:
            return np.empty((0, len(self.names_out)), dtype=self.dtype)
        return self.of_rows(rows).astype(self.dtype, copy=False)

    def of_frame(self, frame: Any) -> Any:
        """The aggregates of a frame, whose columns are found by name."""
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
        """Aggregates as a frame."""
        import pandas

        return pandas.DataFrame(values, index=index, columns=self.names_out)


def _once(work: Work) -> Delayed:
    """What goes to each worker once, whatever the number of blocks."""
    return delayed(work, pure=True, traverse=False)


def _of_array(rows: Any, work: Work) -> Any:
    return work.values(rows)


def _of_frame(frame: Any, work: Work) -> Any:
    return work.of_frame(frame)
