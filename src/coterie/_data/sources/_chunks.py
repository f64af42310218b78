"""The interface of all sources: a table that is read in chunks of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import IntArray
from coterie._data.moments import MAX_N_ROWS, RowLocation
from coterie._data.validation import counted


class Chunk(NamedTuple):
    """Some rows of a source, not yet validated."""

    X: Any
    y: Any
    sample_weight: Any = None
    folds: Any = None
    n_rows: int = 0


Chunks = Generator[Chunk, None, None]


class ColumnSpec(NamedTuple):
    """Which columns are target, features, sample weights and folds, and the chunk size."""

    target: list[str] | None = None
    columns: list[str] | None = None
    sample_weight: str | None = None
    folds: str | None = None
    chunk_rows: int | None = None

    @property
    def other_columns(self) -> list[str]:
        """The columns that are not features."""
        others = [*(self.target or ()), self.sample_weight, self.folds]
        return [name for name in others if name is not None]

    @property
    def named_options(self) -> list[str]:
        """The options given, beside y, that need a table with column names."""
        asked = {"columns": self.columns, "sample_weight": self.sample_weight, "cv": self.folds}
        return [name for name, value in asked.items() if value is not None]

    def select_features(self, names: list[str], owner: str = "The source") -> list[str]:
        """The names of the features: `columns` if given, else all columns without another role."""
        times = Counter(names)
        missing = [name for name in [*self.other_columns, *(self.columns or ())] if not times[name]]
        if missing:
            raise ValueError(f"{owner} has no {counted('column', missing, most=3)}.")
        features = self.columns
        if features is None:
            # pandas writes an unnamed index as a column with such a name.
            indices = [name for name in names if name.startswith("__index_level_")]
            features = [name for name in names if name not in {*self.other_columns, *indices}]
        repeated = [
            name for name in dict.fromkeys([*features, *self.other_columns]) if times[name] > 1
        ]
        if repeated:
            raise ValueError(
                f"{owner} has {counted('column', repeated, most=3)} more than once: names must be "
                "unique."
            )
        used = Counter([*features, *self.other_columns])
        if twice := [name for name, count in used.items() if count > 1]:
            raise ValueError(
                f"{counted('Column', twice, most=3)} can be only one of feature, target, weights "
                "and folds."
            )
        if not features:
            raise ValueError(f"{owner} has no columns that can be features.")
        return features


class SourceFile(NamedTuple):
    """A file of a source."""

    name: str
    n_rows: int
    size: int
    modified_ns: int  # time of the last change

    @property
    def fingerprint(self) -> list[Any]:
        """Values that change if the file changes."""
        return [self.name, self.n_rows, self.size, self.modified_ns]


class ReadCost(NamedTuple):
    """Memory needed to read a chunk, in addition to the chunk itself."""

    n_bytes: int = 0
    what: str = ""  # what must be read at once
    advice: str = ""  # how to need less


NO_READ_COST = ReadCost()


@dataclass(frozen=True)
class ChunkedSource:
    """An open source, which is read chunk by chunk.

    Parameters
    ----------
    read_chunks : callable
        Gives the chunks from a row on (first argument). One chunk ends at the row of the second
        argument. Only sources with `files` can start at a row other than 0.
    n_rows : int or None
        Number of rows, if known.
    n_features : int or None
        Number of features, if known.
    names : list of str or None
        Names of the features.
    n_expected : float or None
        Sum of the weights, or the number of rows without weights, if known.
    chunk_rows : int or None
        Number of rows in each chunk but the last; None if the source determines it.
    n_folds : int or None
        Number of folds in a column, if known before the rows are read.
    arrays : mapping of str to array
        "y" and "sample_weight", if they are given as arrays and not as columns.
    files : tuple of SourceFile
        The files that rows are read from, if coterie opens them itself.
    chunks_in_memory : float
        How many chunks are in memory at once.
    read_cost : ReadCost
        Memory needed to read a chunk, in addition to the chunk itself.
    zero_weight_rows : ndarray of int or None
        Numbers of the rows of weight 0, if there are any and they are known.
    is_external : bool
        Whether another library reads the rows, and takes an unknown amount of memory.
    """

    read_chunks: Callable[[int, int], Chunks]
    n_rows: int | None = None
    n_features: int | None = None
    names: list[str] | None = None
    n_expected: float | None = None
    chunk_rows: int | None = None
    n_folds: int | None = None
    arrays: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[SourceFile, ...] = ()
    chunks_in_memory: float = 4.0
    read_cost: ReadCost = NO_READ_COST
    zero_weight_rows: IntArray | None = None
    is_external: bool = False

    @property
    def max_chunk_rows(self) -> int:
        """Number of rows in the largest chunk, 0 if unknown."""
        rows = [each for each in (self.chunk_rows, self.n_rows) if each is not None]
        return 0 if self.chunk_rows is None else min(rows)

    def n_chunks(self, start: int, edge: int) -> int:
        """Number of chunks from a row on, if one ends at the row `edge`; 0 if unknown."""
        if self.n_rows is None or self.chunk_rows is None:
            return 0
        lengths = (edge - start, self.n_rows - edge)
        return sum(-(-length // self.chunk_rows) for length in lengths)

    def location(self, name: str, start: int, chunk: Chunk) -> RowLocation:
        """Where the rows of a chunk come from, for error messages."""
        files = tuple((file.name, file.n_rows) for file in self.files)
        names = {what: _display_name(what, values) for what, values in self.arrays.items()}
        if chunk.folds is None:
            names["folds"] = "cv"
        return RowLocation(name, start, chunk.n_rows, files or (("the source", MAX_N_ROWS),), names)


def _display_name(what: str, values: Any) -> str:
    """The name of an array in error messages: the name of its file, if it has one."""
    path = getattr(values, "path", None)
    return path.name if isinstance(path, Path) else what


def row_slices(start: int, edge: int, n_rows: int, step: int) -> Iterator[slice]:
    """Slices of `step` rows, one of which ends at the row `edge`.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in row_slices(0, 5, 10, 3)]
    [(0, 3), (3, 5), (5, 8), (8, 10)]
    """
    while start < n_rows:
        stop = min(start + step, n_rows if start >= edge else edge)
        yield slice(start, stop)
        start = stop


def n_unique_folds(folds: Any) -> int:
    """The number of different folds."""
    return max(1, len(np.unique(folds)))


# Default size of a chunk in bytes.
CHUNK_BYTES = 2**26
# Largest default number of rows in a chunk. Labels add one column each, so even a table with few
# features needs a limit.
MAX_CHUNK_ROWS = 2**14


def choose_chunk_rows(chunk_rows: int | None, n_features: int, block_rows: int = 1) -> int:
    """Number of rows in a chunk: `chunk_rows` if given, else a default by the number of features.

    If rows are stored in blocks of `block_rows`, the default is a multiple of it where possible.
    """
    if chunk_rows is not None:
        return chunk_rows
    rows = int(np.clip(CHUNK_BYTES // (8 * max(1, n_features)), 1, MAX_CHUNK_ROWS))
    return rows - rows % block_rows if block_rows <= rows else rows
