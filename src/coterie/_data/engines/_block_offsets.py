"""Sizes of blocks of rows, and their offsets from the first row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._data.moments import MAX_N_ROWS, RowLocation, TargetColumn, read_weights


@dataclass(frozen=True)
class BlockSize:
    """Size of a block of rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_counted : int
        Number of rows with a weight above 0.
    count : float
        Sum of the weights.
    labels : mapping from labels to int
        Number of rows with each label and a weight above 0, if the target is text.
    """

    n_rows: int
    n_counted: int
    count: float
    labels: Mapping[str, int]


def measure_block(labels: Any, weights: Any, rows: Any, which: str) -> BlockSize:
    """The size of a block, from its labels, its weights or other columns."""
    some = next(each for each in (labels, weights, rows) if each is not None)
    n_rows = some.shape[0]
    known = read_weights(weights, n_rows, RowLocation(which))
    n_counted = n_rows if known is None else int(np.count_nonzero(known))
    count = float(n_rows if known is None else known.sum())
    return BlockSize(n_rows, n_counted, count, _label_counts(labels, known))


def _label_counts(labels: Any, weights: Any) -> Mapping[str, int]:
    """Number of rows with each label, in order of appearance; empty for numbers."""
    if labels is None:
        return {}
    column = np.asarray(labels).ravel()
    column = column if weights is None else column[weights != 0]
    found = Counter(value for value in column.tolist() if isinstance(value, str))
    check_labels(found)
    return found


def check_labels(labels: Mapping[str, int]) -> None:
    """Raise if there are too many labels."""
    if labels:
        TargetColumn.of("y", np.array(list(labels), dtype=object))


@dataclass(frozen=True)
class BlockOffset:
    """Number of rows before a block, as far as it is known.

    Parameters
    ----------
    number : int
        The number of the block.
    n_rows : int or None
        Number of rows of the block, if known.
    n_rows_before : int
        Number of rows before the block, if `n_rows` is known.
    n_counted_before : int
        Number of these with a weight above 0.
    count : float
        Sum of their weights.
    labels : mapping from labels to int
        Number of these with each label and a weight above 0.
    """

    number: int
    n_rows: int | None = None
    n_rows_before: int = 0
    n_counted_before: int = 0
    count: float = 0.0
    labels: Mapping[str, int] = field(default_factory=dict)

    def location(self, name: str) -> RowLocation:
        """Where its rows come from, for error messages: numbered in X if known, else in the block.

        Numbers in X are better, since X may have been rechunked.
        """
        is_known = self.n_rows is not None
        return (
            RowLocation(name, self.n_rows_before, files=(("X", MAX_N_ROWS),))
            if is_known
            else RowLocation(name)
        )


def block_offsets(blocks: Iterable[BlockSize]) -> list[BlockOffset]:
    """The offset of each block, and as the last one that of the end of all rows."""
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
