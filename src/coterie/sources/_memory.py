"""How much memory moments will take, and whether that is allowed."""

from __future__ import annotations

from dataclasses import dataclass

from coterie.accumulating import told_bytes
from coterie.gathering import half_the_memory
from coterie.sources._pieces import Opened
from coterie.statistics import ROWS


@dataclass(frozen=True)
class Budget:
    """Bytes that may be taken, for a source that is read in a certain way.

    Parameters
    ----------
    opened : Opened
    allowed : float or None
        None for half the memory of the machine.
    saves : bool, default=False
        Whether moments are written to a file now and then.
    """

    opened: Opened
    allowed: float | None = None
    saves: bool = False

    def checked(self, n_features: int, chunk_rows: int, n_folds: int) -> float:
        """Bytes that so many features and folds take, if there are as many."""
        matrix, chunk = 8 * n_features**2, 8 * n_features * chunk_rows
        # Of a matrix that is written, the half that counts is copied.
        matrices = matrix * n_folds + self.saves * matrix / 2 + 8 * n_features * ROWS
        chunks = self.opened.n_held * chunk + self.opened.reading
        allowed = half_the_memory() if self.allowed is None else self.allowed
        if matrices + chunks > allowed:
            raise ValueError(
                f"Moments of {n_features:,} features in {n_folds} fold{'s' * (n_folds > 1)} take "
                f"{told_bytes(matrices + chunks)}, of which {told_bytes(chunks)} are for chunks of "
                f"{chunk_rows:,} rows, and memory allows {told_bytes(allowed)}. "
                f"Use {'fewer folds' if matrices > chunks else 'a smaller chunk_rows'} or fewer "
                "columns, or raise memory."
            )
        return matrices + chunks
