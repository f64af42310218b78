"""Where blocks of rows begin, from a first look at how long each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._data.moments import MAX_N_ROWS, RowLocation, TargetColumn, read_weights


@dataclass(frozen=True)
class BlockSize:
    """How long a block of rows is.

    Parameters
    ----------
    n_rows : int
    n_kept : int
        Rows that count: those of weight 0 do not.
    count : float
        The same, as often as each counts.
    labels : mapping from labels to int
        How many of the rows that count have each label, where these are text and asked for.
    """

    n_rows: int
    n_counted: int
    count: float
    labels: Mapping[str, int]


def measure_block(labels: Any, weights: Any, rows: Any, which: str) -> BlockSize:
    """How long a block is, by its labels, its weights or anything else, whichever is there."""
    some = next(each for each in (labels, weights, rows) if each is not None)
    n_rows = some.shape[0]
    known = read_weights(weights, n_rows, RowLocation(which))
    n_counted = n_rows if known is None else int(np.count_nonzero(known))
    count = float(n_rows if known is None else known.sum())
    return BlockSize(n_rows, n_counted, count, _label_counts(labels, known))


def _label_counts(labels: Any, weights: Any) -> Mapping[str, int]:
    """How many rows have each label, in the order of their first rows; none for numbers."""
    if labels is None:
        return {}
    column = np.asarray(labels).ravel()
    column = column if weights is None else column[weights != 0]
    found = Counter(value for value in column.tolist() if isinstance(value, str))
    check_labels(found)
    return found


def check_labels(labels: Mapping[str, int]) -> None:
    """Raise where there are so many labels that they must be names of rows."""
    if labels:
        TargetColumn.of("y", np.array(list(labels), dtype=object))


@dataclass(frozen=True)
class BlockOffset:
    """Where a block of rows begins, as far as that is known.

    Parameters
    ----------
    number : int
        The number of the block.
    n_rows : int or None
    before : int
        Number of rows before it, where `n_rows` is known.
    kept, count, labels
        Of these, the number of those that count, of these as often as each counts, and of those
        with each label, where somebody must know.
    """

    number: int
    n_rows: int | None = None
    n_rows_before: int = 0
    n_counted_before: int = 0
    count: float = 0.0
    labels: Mapping[str, int] = field(default_factory=dict)

    def location(self, name: str) -> RowLocation:
        """Where its rows lie, for a sentence: in all of X, or where nobody knows in the block."""
        # Blocks may have been cut anew, so that their numbers tell little.
        is_known = self.n_rows is not None
        return (
            RowLocation(name, self.n_rows_before, files=(("X", MAX_N_ROWS),))
            if is_known
            else RowLocation(name)
        )


def block_offsets(blocks: Iterable[BlockSize]) -> list[BlockOffset]:
    """Where each block begins, and last where one more would."""
    offsets = [BlockOffset(0)]
    for number, block in enumerate(blocks):
        offset = offsets.pop()
        offsets.append(
            BlockOffset(
                number,
                block.n_rows,
                offset.n_rows_before,
                offset.n_counted_before,
                offset.count,
                offset.labels,
            )
        )
        labels = Counter(offset.labels)
        labels.update(block.labels)
        after = (
            offset.n_rows_before + block.n_rows,
            offset.n_counted_before + block.n_counted,
            offset.count + block.count,
        )
        offsets.append(
            BlockOffset(number + 1, None, *after, labels if block.labels else offset.labels)
        )
    return offsets
