"""Where rows come from, for error messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from coterie._core.values import IntArray
from coterie._data.validation import counted

# A row count larger than that of any table.
MAX_N_ROWS = 2**62
# Error messages name this many files and count the others.
MAX_FILES_NAMED = 3


@dataclass(frozen=True)
class RowLocation:
    """Where the rows of a batch come from: row numbers and files, for error messages.

    Parameters
    ----------
    name : str
        Name of the batch in error messages.
    start : int, default=0
        The number of its first row.
    n_rows : int, default=0
        Number of its rows; 0 if messages about the whole batch give no row numbers.
    files : tuple of (str, int), default=()
        Name and number of rows of each file, in order. Rows are numbered within each file;
        without files, from the first row of the source.
    array_names : mapping from str to str, default={}
        Names of the arrays that are separate from X ("y", "sample_weight", "folds"). In these, rows
        are numbered from the first row of the source.
    kept : ndarray of int, optional
        Positions in the batch of the rows that remain, if some were dropped.

    Examples
    --------
    >>> location = RowLocation("batch 1", 300, 200, (("a.parquet", 400), ("b.parquet", 400)))
    >>> str(location)
    'batch 1, row 300 of a.parquet to row 99 of b.parquet'
    >>> location.of_rows([100])
    'batch 1, row 0 of b.parquet'
    """

    name: str
    start: int = 0
    n_rows: int = 0
    files: tuple[tuple[str, int], ...] = ()
    array_names: Mapping[str, str] = field(default_factory=dict)
    kept: IntArray | None = None

    def __str__(self) -> str:
        """The name of the batch, and the numbers of all its rows."""
        if not self.n_rows:
            return self.name
        each = list(self._by_file(np.arange(self.start, self.start + self.n_rows)))
        if len(each) < 2:
            return f"{self.name}, {self._files_text(each)}"
        (first, rows), (last, others) = each[0], each[-1]
        return f"{self.name}, row {rows[0]:,} of {first} to row {others[-1]:,} of {last}"

    def among(self, kept: IntArray) -> RowLocation:
        """The location of the rows at some positions of the batch."""
        return replace(self, kept=kept)

    def of_rows(self, positions: object, what: str = "X") -> str:
        """The location of some rows in words, by their positions among the remaining rows.

        Parameters
        ----------
        positions : array-like of int, sorted
        what : {"X", "y", "sample_weight", "folds"}, default="X"
            The array that the message is about.
        """
        at = np.asarray(positions, dtype=np.intp)
        numbers = self.start + (at if self.kept is None else self.kept[at])
        if what in self.array_names:
            return f"{self.name}, {_rows_text(numbers)} of {self.array_names[what]}"
        return f"{self.name}, {self._files_text(list(self._by_file(numbers)))}"

    def _by_file(self, numbers: IntArray) -> Iterator[tuple[str, IntArray]]:
        """The files that contain these rows, and the row numbers within each."""
        if not self.files:
            yield "", numbers
        first = 0
        for name, n_rows in self.files:
            low, high = np.searchsorted(numbers, [first, first + n_rows])
            if low < high:
                yield name, numbers[low:high] - first
            first += n_rows

    def _files_text(self, each: list[tuple[str, IntArray]]) -> str:
        texts = [
            f"{_rows_text(rows)} of {name}" if name else _rows_text(rows) for name, rows in each
        ]
        more = len(texts) - MAX_FILES_NAMED
        if more > 0:
            texts = [*texts[:MAX_FILES_NAMED], f"{more} more file{'s' * (more > 1)}"]
        return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _rows_text(rows: IntArray) -> str:
    """Row numbers in words."""
    first, last = int(rows[0]), int(rows[-1])
    if len(rows) == 1:
        return f"row {first:,}"
    if last - first + 1 == len(rows):
        return f"rows {first:,} to {last:,}"
    return counted("row", rows.tolist())
