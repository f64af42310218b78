"""Number of blocks for each task, and the memory that moments take."""

from __future__ import annotations

from collections.abc import Sequence

from coterie._core.evidence import ROWS
from coterie._data.moments import format_bytes

# A task counts several blocks until it has this many rows and bytes, so that adding matrices of all
# pairs takes a small share of the time.
TASK_ROWS, TASK_BYTES = 2**12, 2**23


def group_blocks(lengths: Sequence[int] | None, n_blocks: int, n_features: int) -> list[range]:
    """The blocks for each task: small ones together, or one each if lengths are unknown."""
    if lengths is None:
        return [range(number, number + 1) for number in range(n_blocks)]
    enough = max(TASK_ROWS, TASK_BYTES // (8 * max(1, n_features)))
    joined, start, n_rows = [], 0, 0
    for number, length in enumerate(lengths):
        if n_rows and n_rows + length > enough:
            joined.append(range(start, number))
            start, n_rows = number, 0
        n_rows += length
    return [*joined, range(start, n_blocks)]


def check_memory(n_features: int, n_folds: int, max_bytes: float | None) -> None:
    """Raise if moments would take more memory than allowed."""
    needed = 8 * n_features * n_features * n_folds + 8 * n_features * ROWS
    if max_bytes is not None and needed > max_bytes:
        raise ValueError(
            f"Moments of {n_features:,} features in {n_folds} fold{'s' * (n_folds > 1)} take "
            f"{format_bytes(needed)} here, and max_bytes allows {format_bytes(max_bytes)}. Use "
            f"fewer columns{' or fewer folds' * (n_folds > 1)}, or raise max_bytes."
        )
