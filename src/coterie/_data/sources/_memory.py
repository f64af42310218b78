"""Memory that moments of a source need, and an error if it exceeds the limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from coterie._core.evidence import ROWS, half_of_memory
from coterie._data.moments import format_bytes
from coterie._data.sources._chunks import ChunkedSource, ReadCost


@dataclass(frozen=True)
class MemoryBudget:
    """Memory limit for the moments of a source.

    Parameters
    ----------
    source : ChunkedSource
    max_bytes : float or None
        Limit in bytes; None for half the memory of the machine.
    writes_checkpoint : bool, default=False
        Whether moments are saved to a checkpoint.
    """

    source: ChunkedSource
    max_bytes: float | None = None
    writes_checkpoint: bool = False

    def check(self, n_features: int, chunk_rows: int, n_folds: int) -> float:
        """Bytes needed for so many features, rows and folds; raise if they exceed the limit."""
        matrix = 8 * n_features**2
        needed = _MemoryNeed(
            n_features,
            n_folds,
            chunk_rows,
            matrix,
            # To write a matrix, its lower triangle is copied.
            self.writes_checkpoint * matrix / 2 + 8 * n_features * ROWS,
            self.source.chunks_in_memory * 8 * n_features,
            self.source.read_cost,
            self.source.chunk_rows is not None,
        )
        max_bytes = half_of_memory() if self.max_bytes is None else self.max_bytes
        if needed.total > max_bytes:
            raise ValueError(needed.message(max_bytes))
        return needed.total


@dataclass(frozen=True)
class _MemoryNeed:
    """Bytes that moments need, by purpose."""

    n_features: int
    n_folds: int
    chunk_rows: int
    matrix: float  # bytes for each fold
    fixed: float  # bytes for sampled rows, and to write a checkpoint
    row: float  # bytes for each row of a chunk
    read_cost: ReadCost
    can_resize: bool  # whether chunk_rows sets the size of chunks

    @property
    def matrices(self) -> float:
        return self.matrix * self.n_folds + self.fixed

    @property
    def total(self) -> float:
        return self.matrices + self.row * self.chunk_rows + self.read_cost.n_bytes

    def message(self, max_bytes: float) -> str:
        """The error message: what needs how much memory, and how to need less."""
        chunks = self.row * self.chunk_rows
        each = [
            f"{format_bytes(self.matrices)} for all pairs of features",
            f"{format_bytes(chunks)} for chunks of {self.chunk_rows:,} rows",
        ]
        if self.read_cost.n_bytes:
            each.append(f"{format_bytes(self.read_cost.n_bytes)} to read {self.read_cost.what}")
        remedies = ", or ".join([*self._remedies(max_bytes), "fewer columns", "raise max_bytes"])
        return (
            f"Moments of {_format_count(self.n_features, 'feature')} in "
            f"{_format_count(self.n_folds, 'fold')} take {format_bytes(self.total)}, and "
            f"max_bytes allows {format_bytes(max_bytes)}: {', '.join(each)}. Use {remedies}."
        )

    def _remedies(self, max_bytes: float) -> Iterator[str]:
        """Changes that are each sufficient, or else a sufficient combination if there is one."""
        excess = self.total - max_bytes
        n_rows = int(self.chunk_rows - math.ceil(excess / self.row))
        n_folds = int(self.n_folds - math.ceil(excess / self.matrix))
        if n_rows >= 1:
            yield (
                f"chunk_rows={n_rows}"
                if self.can_resize
                else f"batches of {_format_count(n_rows, 'row')}"
            )
        elif self.read_cost.n_bytes >= excess:
            yield self.read_cost.advice
        if n_folds >= 1:
            yield _format_count(n_folds, "fold")
        if n_rows < 1 and n_folds < 1 and self.read_cost.n_bytes < excess:
            yield from self._combined_remedies(excess)

    def _combined_remedies(self, excess: float) -> Iterator[str]:
        """Changes that are sufficient together, the largest saving first."""
        saved = {
            "a smaller chunk_rows" if self.can_resize else "smaller batches": (
                self.row * (self.chunk_rows - 1)
            ),
            "fewer folds": self.matrix * (self.n_folds - 1),
            self.read_cost.advice: float(self.read_cost.n_bytes),
        }
        if sum(saved.values()) < excess:
            return
        needed: list[str] = []
        for remedy in sorted(saved, key=lambda remedy: -saved[remedy]):
            if excess > 0:
                needed.append(remedy)
                excess -= saved[remedy]
        yield " with ".join(needed)


def _format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number > 1)}"
