"""What happens where the rows lie: blocks become moments, and moments are added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import is_sparse
from coterie._data.engines._block_offsets import Place
from coterie._data.engines._folds import FoldRule
from coterie._data.moments import Moments, NamedColumns, RowLocation
from coterie._data.validation import check_table, counted

# Bytes of rows, in double precision, that are counted at a time.
AT_A_TIME = 2**27


class Block(NamedTuple):
    """Some rows in memory, and what lies beside them; None for what is a column, or missing."""

    X: Any
    y: Any = None
    weights: Any = None
    folds: Any = None


@dataclass(frozen=True)
class Reading:
    """How blocks are read.

    Parameters
    ----------
    word : str
        What errors call a block.
    features : list or None
        The columns of a frame that are features; None for arrays.
    names : list of str or None
        Names of the features.
    targets : list or None
        The columns of a frame that are targets.
    weights, folds : Any
        The columns of a frame that have these.
    """

    word: str
    features: list[Any] | None = None
    names: list[str] | None = None
    targets: list[Any] | None = None
    weights: Any = None
    folds: Any = None

    @property
    def beside(self) -> list[Any]:
        """The columns of a frame that are no features."""
        named = [*(self.targets or ()), self.weights, self.folds]
        return [name for name in named if name is not None]

    def read(self, block: Block, which: str) -> Block:
        """A block, and beside it what lies in columns of its frame."""
        if self.features is None:
            return block
        frame, there = block.X, {*block.X.columns}
        missing = [name for name in (*self.features, *self.beside) if name not in there]
        if missing:
            raise ValueError(f"X has no {counted('column', missing, most=3)} in {which}.")
        return Block(
            _chosen(frame, self.features),
            block.y if self.targets is None else _column_or_more(frame, self.targets),
            block.weights if self.weights is None else frame[self.weights],
            block.folds if self.folds is None else frame[self.folds],
        )

    def numbers(self, X: Any) -> Any:
        """Some rows as numbers, with names where there are names."""
        if self.features is not None:
            check_table(X)
            X = _numbers(X)
        return X if self.names is None or is_sparse(X) else NamedColumns(X, self.names)


def _column_or_more(frame: Any, names: list[Any]) -> Any:
    return frame[names[0]] if len(names) == 1 else frame[names]


def _chosen(frame: Any, names: list[Any]) -> Any:
    """Columns of a frame by name, without a copy where they lie side by side."""
    start = frame.columns.get_loc(names[0])
    if isinstance(start, int) and list(frame.columns[start : start + len(names)]) == names:
        return frame.iloc[:, start : start + len(names)]
    return frame[names]


def _numbers(frame: Any) -> Any:
    """A frame as an array of double precision, gaps as NaN."""
    is_plain = all(isinstance(dtype, np.dtype) for dtype in frame.dtypes)
    options = {} if is_plain else {"na_value": np.nan}
    numbers = frame.to_numpy(dtype=np.float64, **options)
    # Rows cut out of columns that lie one after the other are copied once, and as they lie.
    return numbers if numbers.flags.forc else numbers.copy(order="K")


@dataclass(frozen=True)
class Shared:
    """What all blocks need to be counted."""

    reading: Reading
    rule: FoldRule | None
    n_expected: float | None


@dataclass(frozen=True)
class Count:
    """Blocks that follow each other become moments."""

    places: Sequence[Place]

    def __call__(self, blocks: Sequence[Sequence[Any]], shared: Shared) -> Moments:
        """The moments of some blocks."""
        moments = Moments(shared.n_expected, n_before=self.places[0].count)
        for place, block in zip(self.places, blocks, strict=True):
            which = f"{shared.reading.word} {place.number}"
            rows = shared.reading.read(Block(*block), which)
            _check_lengths(rows, place, which)
            rows = rows._replace(folds=_folds(rows, place, shared.rule))
            _take(moments, rows, shared, place.location(which))
        return moments


def _check_lengths(rows: Block, place: Place, which: str) -> None:
    """Raise where what lies side by side is not as long, or not as long as it was."""
    n_rows = rows.X.shape[0]
    beside = {"y": rows.y, "sample_weight": rows.weights, "folds": rows.folds}
    for name, column in beside.items():
        if column is not None and column.shape[0] != n_rows:
            raise ValueError(
                f"X has {n_rows} rows in {which}, and {name} has {column.shape[0]}: cut both into "
                "parts of the same rows."
            )
    if place.n_rows not in (None, n_rows):
        raise ValueError(
            f"X had {place.n_rows} rows in {which} when they were counted first, and now has "
            f"{n_rows}: it must not change in between."
        )


def _folds(rows: Block, place: Place, rule: FoldRule | None) -> Any:
    """The fold of each row, if there are folds."""
    if rule is None:
        return None if rows.folds is None else np.asarray(rows.folds)
    counts = np.ones(rows.X.shape[0], dtype=bool)
    if rows.weights is not None:
        counts = np.asarray(rows.weights) != 0
    return rule.of(place, rows.y, counts)


def _take(moments: Moments, rows: Block, shared: Shared, location: RowLocation) -> None:
    """Count a block, so much of it at a time that copies stay small."""
    n_rows, n_features = rows.X.shape
    step = max(1, AT_A_TIME // (8 * max(1, n_features)))
    for start in range(0, n_rows, step):
        some = Block(*(_part(each, slice(start, start + step)) for each in rows))
        X = shared.reading.numbers(some.X)
        here = replace(location, start=location.start + start)
        moments.take(X, some.y, some.weights, some.folds, here)


def _part(column: Any, rows: slice) -> Any:
    if column is None:
        return None
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def added(parts: Iterable[Moments]) -> Moments:
    """The moments of all parts, which stay as they are: another may need them again."""
    total = Moments()
    for part in parts:
        total += part
    return total
