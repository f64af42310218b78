"""Array sources, in memory or on disk: NumPy, .npy files, HDF5, Zarr, anything with slices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray, IntArray, is_sparse
from coterie._data.sources._chunks import (
    Chunk,
    ChunkedSource,
    Chunks,
    ColumnSpec,
    SourceFile,
    choose_chunk_rows,
    row_slices,
)
from coterie._data.sources._prefetch import prefetch


def is_array_like(source: Any) -> bool:
    """Whether a source has a shape, a dtype and slices."""
    return hasattr(source, "shape") and hasattr(source, "dtype") and hasattr(source, "__getitem__")


@dataclass(frozen=True)
class NumpyFile:
    """An array in a .npy file, whose rows are read on demand.

    A memory map would not do: its pages count as memory of this process.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    offset: int

    @classmethod
    def of(cls, path: Path) -> NumpyFile:
        """The array in a file; an error says why it cannot be read."""
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise _unreadable(path, "it is not a NumPy array, or it is truncated") from error
        is_fortran = mapped.flags.f_contiguous and not mapped.flags.c_contiguous
        return cls(path, mapped.shape, mapped.dtype, is_fortran, mapped.offset)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, _ = rows.indices(self.shape[0])
        n_rows, itemsize = max(stop - start, 0), self.dtype.itemsize
        with self.path.open("rb") as file:
            if not self.is_fortran:
                n_columns = prod(self.shape[1:])
                found = self._read(file, start * n_columns * itemsize, n_rows * n_columns)
                return found.reshape(n_rows, *self.shape[1:])
            transposed = np.empty((self.shape[1], n_rows), dtype=self.dtype)
            for position, column in enumerate(transposed):
                at = (position * self.shape[0] + start) * itemsize
                column[:] = self._read(file, at, n_rows)
            return transposed.T

    def _read(self, file: Any, at: int, count: int) -> NDArray[Any]:
        file.seek(self.offset + at)
        found = np.fromfile(file, dtype=self.dtype, count=count)
        if len(found) < count:
            raise _unreadable(self.path, "it was truncated while it was read")
        return found


def _unreadable(path: Path, reason: str) -> ValueError:
    return ValueError(f"{path} cannot be read: {reason}.")


def open_npy(path: Path, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """A .npy file as a source."""
    array, state = NumpyFile.of(path), path.stat()
    n_rows = array.shape[0] if array.shape else 0
    file = SourceFile(path.name, n_rows, state.st_size, state.st_mtime_ns)
    return open_array(array, y, sample_weight, spec, (file,))


def open_array(
    source: Any, y: Any, sample_weight: Any, spec: ColumnSpec, files: tuple[SourceFile, ...] = ()
) -> ChunkedSource:
    """An array of shape (n_rows, n_features) as a source; the target is a separate array."""
    if len(source.shape) != 2:
        raise ValueError(f"The source must have 2 dimensions, got shape {tuple(source.shape)}.")
    if y is None or spec != ColumnSpec(chunk_rows=spec.chunk_rows):
        raise ValueError(
            "An array has no column names: pass y and sample_weight as NumPy arrays or as paths of "
            ".npy files, cv as a number, an array or a function, and leave columns out."
        )
    n_rows, n_features = (int(size) for size in source.shape)
    source = source.tocsr() if is_sparse(source) else source
    arrays = check_arrays(n_rows, y=y, sample_weight=sample_weight)
    blocks = getattr(source, "chunks", None) or (1,)
    step = choose_chunk_rows(spec.chunk_rows, n_features, _block_rows(blocks))

    def chunks(start: int, edge: int) -> Chunks:
        for rows in row_slices(start, edge, n_rows, step):
            X = source[rows] if is_sparse(source) else np.asanyarray(source[rows])
            y, weights = (slice_rows(arrays, name, rows) for name in ("y", "sample_weight"))
            yield Chunk(X, y, weights, None, X.shape[0])

    def read_prefetched(start: int, edge: int) -> Chunks:
        return prefetch(chunks(start, edge))

    return ChunkedSource(
        read_prefetched if files else chunks,
        n_rows,
        n_features,
        n_expected=expected_count(arrays.get("sample_weight"), n_rows),
        zero_weight_rows=find_zero_weights(arrays.get("sample_weight")),
        chunk_rows=step,
        arrays=arrays,
        files=files,
        chunks_in_memory=4.0,
    )


def _block_rows(blocks: Any) -> int:
    """Number of rows in each block of a chunked array, such as those of HDF5 and Zarr."""
    return int(blocks[0]) if isinstance(blocks[0], int | np.integer) and blocks[0] > 0 else 1


def check_y_is_given(y: Any) -> None:
    """Raise if there is no target."""
    if y is None:
        raise ValueError("y is missing: pass the name of a column, a list of names, or an array.")


def check_arrays(n_rows: int | None, **arrays: Any) -> dict[str, Any]:
    """The arrays given with a source (y, sample_weight), opened and with their lengths checked."""
    return {
        name: _as_row_array(name, values, n_rows)
        for name, values in arrays.items()
        if values is not None
    }


def _as_row_array(name: str, given: Any, n_rows: int | None) -> Any:
    """An array with one entry for each row, from an array or the path of a .npy file."""
    if isinstance(given, str | os.PathLike):
        given = NumpyFile.of(_npy_path(name, given))
    elif hasattr(given, "iloc"):
        given = given.to_numpy()
    elif not is_array_like(given):
        given = np.asarray(given)
    if not given.shape:
        raise ValueError(f"{name} must have one entry for each row, got a single one.")
    if len(given.shape) > 2:
        raise ValueError(f"{name} must have 1 or 2 dimensions, got shape {tuple(given.shape)}.")
    if n_rows is not None:
        check_length(name, given.shape[0], n_rows)
    return given


def _npy_path(name: str, given: str | os.PathLike[str]) -> Path:
    path = Path(given)
    if path.suffix != ".npy":
        raise ValueError(
            f"{name} must be an array, the name of a column or the path of a .npy file, got the "
            f"path {os.fspath(given)!r}."
        )
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    return path


def check_length(name: str, length: int, n_rows: int) -> None:
    """Raise if an array does not have one entry for each row of the source."""
    if length != n_rows:
        raise ValueError(f"The source has {n_rows} rows, and {name} has {length}.")


def slice_rows(arrays: Mapping[str, Any], name: str, rows: slice) -> Any:
    """Some rows of one of the arrays given with a source; None if it is not given."""
    return np.asanyarray(arrays[name][rows]) if name in arrays else None


def find_zero_weights(weights: Any) -> IntArray | None:
    """Numbers of the rows of weight 0; None if there are none."""
    if weights is None:
        return None
    rows = np.flatnonzero(np.asarray(weights[:]) == 0)
    return rows if len(rows) else None


def expected_count(weights: Any, n_rows: int | None) -> float | None:
    """The sum of the weights, or the number of rows without weights; None if unknown."""
    if weights is None or n_rows is None:
        return float(n_rows) if n_rows else None
    try:
        values: FloatArray = np.asarray(weights[:], dtype=np.float64)
    except (TypeError, ValueError):
        return None
    total = float(values.sum())
    return total if np.isfinite(total) and (values >= 0).all() and total > 0 else None
