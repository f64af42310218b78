"""Moments of blocks of rows, computed by the workers of an engine, and their sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import is_sparse
from coterie._data.engines._block_offsets import BlockOffset
from coterie._data.engines._folds import FoldRule
from coterie._data.moments import Moments, NamedColumns, RowLocation
from coterie._data.validation import check_table, counted

# Size in double precision of the rows that are counted at a time.
BYTES_PER_UPDATE = 2**27


class Block(NamedTuple):
    """Rows in memory with their y, weights and folds; None for columns of X or if not given."""

    X: Any
    y: Any = None
    weights: Any = None
    folds: Any = None


@dataclass(frozen=True)
class BlockReader:
    """Extracts features, targets, weights and folds from a block.

    Parameters
    ----------
    block_word : str
        The word for a block in error messages.
    features : list or None
        The feature columns of a data frame; None for arrays.
    names : list of str or None
        Names of the features.
    targets : list or None
        The target columns of a data frame.
    weights, folds : Any
        The columns of a data frame with weights and folds.
    """

    block_word: str
    features: list[Any] | None = None
    names: list[str] | None = None
    targets: list[Any] | None = None
    weights: Any = None
    folds: Any = None

    @property
    def other_columns(self) -> list[Any]:
        """The columns of a data frame that are not features."""
        named = [*(self.targets or ()), self.weights, self.folds]
        return [name for name in named if name is not None]

    def read(self, block: Block, which: str) -> Block:
        """A block, with y, weights and folds taken from columns of its data frame."""
        if self.features is None:
            return block
        frame, there = block.X, {*block.X.columns}
        missing = [name for name in (*self.features, *self.other_columns) if name not in there]
        if missing:
            raise ValueError(f"X has no {counted('column', missing, most=3)} in {which}.")
        return Block(
            _select_columns(frame, self.features),
            block.y if self.targets is None else _column_or_more(frame, self.targets),
            block.weights if self.weights is None else frame[self.weights],
            block.folds if self.folds is None else frame[self.folds],
        )

    def to_numbers(self, X: Any) -> Any:
        """Rows as numbers, with the names of the features if there are any."""
        if self.features is not None:
            check_table(X)
            X = _frame_to_numbers(X)
        return X if self.names is None or is_sparse(X) else NamedColumns(X, self.names)


def _column_or_more(frame: Any, names: list[Any]) -> Any:
    return frame[names[0]] if len(names) == 1 else frame[names]


def _select_columns(frame: Any, names: list[Any]) -> Any:
    """Columns of a data frame by name, without a copy if they are adjacent."""
    start = frame.columns.get_loc(names[0])
    if isinstance(start, int) and list(frame.columns[start : start + len(names)]) == names:
        return frame.iloc[:, start : start + len(names)]
    return frame[names]


def _frame_to_numbers(frame: Any) -> Any:
    """A data frame as an array in double precision, missing values as NaN."""
    is_plain = all(isinstance(dtype, np.dtype) for dtype in frame.dtypes)
    options = {} if is_plain else {"na_value": np.nan}
    numbers = frame.to_numpy(dtype=np.float64, **options)
    # A slice of rows of a column-major table is not contiguous: copy it once, in its own order.
    return numbers if numbers.flags.forc else numbers.copy(order="K")


@dataclass(frozen=True)
class CountOptions:
    """What is needed to count any block."""

    reader: BlockReader
    rule: FoldRule | None
    n_expected: float | None


@dataclass(frozen=True)
class CountBlocks:
    """Computes the moments of consecutive blocks; the instance is sent to a worker."""

    offsets: Sequence[BlockOffset]

    def __call__(self, blocks: Sequence[Sequence[Any]], options: CountOptions) -> Moments:
        """The moments of these blocks."""
        moments = Moments(options.n_expected, n_before=self.offsets[0].count)
        for offset, block in zip(self.offsets, blocks, strict=True):
            which = f"{options.reader.block_word} {offset.number}"
            rows = options.reader.read(Block(*block), which)
            _check_lengths(rows, offset, which)
            rows = rows._replace(folds=_row_folds(rows, offset, options.rule))
            _count_rows(moments, rows, options, offset.location(which))
        return moments


def _check_lengths(rows: Block, offset: BlockOffset, which: str) -> None:
    """Raise if X, y, weights and folds differ in length, or if the length has changed."""
    n_rows = rows.X.shape[0]
    arrays = {"y": rows.y, "sample_weight": rows.weights, "cv": rows.folds}
    for name, column in arrays.items():
        if column is not None and column.shape[0] != n_rows:
            raise ValueError(
                f"X has {n_rows} rows in {which}, and {name} has {column.shape[0]}: split both "
                "into the same chunks of rows."
            )
    if offset.n_rows not in (None, n_rows):
        raise ValueError(
            f"X had {offset.n_rows} rows in {which} when they were first counted, and now has "
            f"{n_rows}: it must not change during the computation."
        )


def _row_folds(rows: Block, offset: BlockOffset, rule: FoldRule | None) -> Any:
    """The fold of each row, if there are folds."""
    if rule is None:
        return None if rows.folds is None else np.asarray(rows.folds)
    counts = np.ones(rows.X.shape[0], dtype=bool)
    if rows.weights is not None:
        counts = np.asarray(rows.weights) != 0
    return rule.of(offset, rows.y, counts)


def _count_rows(
    moments: Moments, rows: Block, options: CountOptions, location: RowLocation
) -> None:
    """Count a block, in chunks so that copies stay small."""
    n_rows, n_features = rows.X.shape
    step = max(1, BYTES_PER_UPDATE // (8 * max(1, n_features)))
    for start in range(0, n_rows, step):
        chunk = Block(*(_take_rows(each, slice(start, start + step)) for each in rows))
        X = options.reader.to_numbers(chunk.X)
        here = replace(location, start=location.start + start)
        moments.take(X, chunk.y, chunk.weights, chunk.folds, here)


def _take_rows(column: Any, rows: slice) -> Any:
    if column is None:
        return None
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def add_moments(all_moments: Iterable[Moments]) -> Moments:
    """The sum of moments; the inputs do not change, since another task may need them again."""
    total = Moments()
    for moments in all_moments:
        total += moments
    return total
