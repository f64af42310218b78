"""Where rows lie, for a sentence about them."""

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
    """Where the rows of a batch lie.

    Parameters
    ----------
    name : str
        What errors call the batch.
    start : int, default=0
        The number of its first row.
    n_rows : int, default=0
        How many rows it has, where errors about all of it tell which these are.
    files : tuple of (str, int), default=()
        Names and numbers of rows of what the rows lie in, one after the other. Rows are numbered in
        each of them; without any, from the first row of all.
    beside : mapping from str to str, default={}
        What lies elsewhere than X ("y", "weights", "folds"), and the name of the place. There, rows
        are numbered from the first one of all.
    kept : ndarray of int, optional
        The places in the batch of the rows that are left, where some are not.

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
        """All rows of the batch."""
        if not self.n_rows:
            return self.name
        each = list(self._by_file(np.arange(self.start, self.start + self.n_rows)))
        if len(each) < 2:
            return f"{self.name}, {self._files_text(each)}"
        (first, rows), (last, others) = each[0], each[-1]
        return f"{self.name}, row {rows[0]:,} of {first} to row {others[-1]:,} of {last}"

    def among(self, kept: IntArray) -> RowLocation:
        """The location of some rows of the batch, by their places in it."""
        return replace(self, kept=kept)

    def of_rows(self, places: object, what: str = "X") -> str:
        """The location of some rows, by their places among those that are left.

        Parameters
        ----------
        places : array-like of int, in order
        what : {"X", "y", "weights", "folds"}, default="X"
            What it is that has something wrong in these rows.
        """
        at = np.asarray(places, dtype=np.intp)
        numbers = self.start + (at if self.kept is None else self.kept[at])
        if what in self.array_names:
            return f"{self.name}, {_rows_text(numbers)} of {self.array_names[what]}"
        return f"{self.name}, {self._files_text(list(self._by_file(numbers)))}"

    def _by_file(self, numbers: IntArray) -> Iterator[tuple[str, IntArray]]:
        """The files that have some of these rows, and which of theirs they are."""
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
    """Some rows in words, by their numbers."""
    first, last = int(rows[0]), int(rows[-1])
    if len(rows) == 1:
        return f"row {first:,}"
    if last - first + 1 == len(rows):
        return f"rows {first:,} to {last:,}"
    return counted("row", rows.tolist())
