"""What every source gives: pieces of a table, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coterie.doors import counted


class Piece(NamedTuple):
    """Some rows of a source, as they lie there."""

    X: Any
    y: Any
    weights: Any = None
    folds: Any = None
    n_rows: int = 0


class Wanted(NamedTuple):
    """What is wanted of a table by name, and of how many rows at a time."""

    target: list[str] | None = None
    columns: list[str] | None = None
    weights: str | None = None
    folds: str | None = None
    chunk_rows: int | None = None

    @property
    def beside(self) -> list[str]:
        """The columns that are no features."""
        named = [*(self.target or ()), self.weights, self.folds]
        return [name for name in named if name is not None]

    def features_among(self, names: list[str]) -> list[str]:
        """The names of the features, all but the others unless some are wanted."""
        missing = [name for name in [*self.beside, *(self.columns or ())] if name not in {*names}]
        if missing:
            raise ValueError(f"The source has no {counted('column', missing, most=3)}.")
        if self.columns is not None:
            return self.columns
        return [name for name in names if name not in self.beside]


@dataclass(frozen=True)
class Opened:
    """A source once it is opened.

    Parameters
    ----------
    pieces : callable
        Gives the pieces, from a number of rows and of pieces on that are known already.
    n_rows : int or None
        Number of rows, where it is known.
    n_features : int or None
    n_expected : float or None
        The same, as often as each row counts, where it is known.
    chunk_rows : int or None
        Rows of each piece but the last; None where pieces are what they are.
    """

    pieces: Callable[[int, int], Iterator[Piece]]
    n_rows: int | None = None
    n_features: int | None = None
    n_expected: float | None = None
    chunk_rows: int | None = None

    @property
    def n_pieces(self) -> int:
        """Number of pieces, 0 where it is not known."""
        if self.n_rows is None or self.chunk_rows is None:
            return 0
        return -(-self.n_rows // self.chunk_rows)


# Bytes of a piece where nobody says how many rows it has.
PIECE = 2**26
MOST_ROWS = 2**16


def rows_at_a_time(chunk_rows: int | None, n_features: int) -> int:
    """Rows of a piece: as asked for, or as many as make a moderate table."""
    if chunk_rows is not None:
        return chunk_rows
    return int(np.clip(PIECE // (8 * max(1, n_features)), 1, MOST_ROWS))
