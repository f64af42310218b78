"""What every source gives: pieces of a table, one after the other."""

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
    """Some rows of a source, as they lie there."""

    X: Any
    y: Any
    weights: Any = None
    folds: Any = None
    n_rows: int = 0


Chunks = Generator[Chunk, None, None]


class ColumnSpec(NamedTuple):
    """What is wanted of a table by name, and of how many rows at a time."""

    target: list[str] | None = None
    columns: list[str] | None = None
    weights: str | None = None
    folds: str | None = None
    chunk_rows: int | None = None

    @property
    def other_columns(self) -> list[str]:
        """The columns that are no features."""
        others = [*(self.target or ()), self.weights, self.folds]
        return [name for name in others if name is not None]

    @property
    def named_options(self) -> list[str]:
        """What was asked for that only tables with names of columns have."""
        asked = {"columns": self.columns, "weights": self.weights, "folds": self.folds}
        return [name for name, value in asked.items() if value is not None]

    def select_features(self, names: list[str], owner: str = "The source") -> list[str]:
        """The names of the features, all but the others unless some are wanted."""
        times = Counter(names)
        missing = [name for name in [*self.other_columns, *(self.columns or ())] if not times[name]]
        if missing:
            raise ValueError(f"{owner} has no {counted('column', missing, most=3)}.")
        features = self.columns
        if features is None:
            # What pandas calls an index without a name is none of its columns.
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
                f"{counted('Column', twice, most=3)} can be a feature, a target, weights or folds, "
                "and one of these only."
            )
        if not features:
            raise ValueError(f"{owner} has no columns that could be features.")
        return features


class SourceFile(NamedTuple):
    """A file that is some of the rows of a source."""

    name: str
    n_rows: int
    size: int
    modified_ns: int  # when, in nanoseconds

    @property
    def fingerprint(self) -> list[Any]:
        """By what to tell whether the file is still the same."""
        return [self.name, self.n_rows, self.size, self.modified_ns]


class ReadCost(NamedTuple):
    """What it takes to read a chunk, beside the memory for the chunk itself."""

    n_bytes: int = 0
    what: str = ""  # that has to be read at once
    advice: str = ""  # on how to make it smaller


NO_READ_COST = ReadCost()


@dataclass(frozen=True)
class ChunkedSource:
    """A source once it is opened.

    Parameters
    ----------
    pieces : callable
        Gives the pieces from a row on, the second argument: a row where one of them ends. Only
        where there are parts may a source begin elsewhere than at row 0.
    n_rows : int or None
        Number of rows, where it is known.
    n_features : int or None
    names : list of str or None
        Those of the features.
    n_expected : float or None
        The number of rows, as often as each counts, where it is known.
    chunk_rows : int or None
        Rows of each piece but the last; None where pieces are what they are.
    n_folds : int or None
        The number of folds that a column tells, where it is known beforehand.
    beside : mapping of str to array
        "y" and "weights", where they are no columns of the source.
    parts : tuple of Part
        The files that rows come from, where we have opened them.
    n_held : float
        How many chunks are in memory at once.
    reading : Reading
        What it takes to read a chunk, beside it.
    idle : ndarray of int or None
        The rows of weight 0, where it is known that there are some.
    is_alien : bool
        Whether somebody else reads, and takes memory that we know nothing about.
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
        """The rows of the largest piece, 0 where that is not known."""
        rows = [each for each in (self.chunk_rows, self.n_rows) if each is not None]
        return 0 if self.chunk_rows is None else min(rows)

    def n_chunks(self, start: int, edge: int) -> int:
        """Number of pieces from a row on, if one ends at the edge; 0 where it is not known."""
        if self.n_rows is None or self.chunk_rows is None:
            return 0
        lengths = (edge - start, self.n_rows - edge)
        return sum(-(-length // self.chunk_rows) for length in lengths)

    def location(self, name: str, start: int, chunk: Chunk) -> RowLocation:
        """Where the rows of a piece lie, for a sentence about them."""
        files = tuple((file.name, file.n_rows) for file in self.files)
        names = {what: _display_name(what, values) for what, values in self.arrays.items()}
        if chunk.folds is None:
            names["folds"] = "folds"
        return RowLocation(name, start, chunk.n_rows, files or (("the source", MAX_N_ROWS),), names)


def _display_name(what: str, values: Any) -> str:
    """What something beside a source is called: the name of its file, if it has one."""
    path = getattr(values, "path", None)
    return path.name if isinstance(path, Path) else what


def row_slices(start: int, edge: int, n_rows: int, step: int) -> Iterator[slice]:
    """So many rows at a time, one of the slices ending at the edge.

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


# Bytes of a piece where nobody says how many rows it has.
CHUNK_BYTES = 2**26
# Labels take a column each, so rows are not too many even where features are few.
MAX_CHUNK_ROWS = 2**14


def choose_chunk_rows(chunk_rows: int | None, n_features: int, block_rows: int = 1) -> int:
    """Rows of a piece: as asked for, or as many as make a moderate table.

    Where rows lie in blocks that are read together, whole ones if they are small enough.
    """
    if chunk_rows is not None:
        return chunk_rows
    rows = int(np.clip(CHUNK_BYTES // (8 * max(1, n_features)), 1, MAX_CHUNK_ROWS))
    return rows - rows % block_rows if block_rows <= rows else rows
