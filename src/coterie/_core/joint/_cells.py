"""Near groups among very many, without a comparison of all pairs: groups in cells of like ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coterie._core.joint._likeness import Forbidden, Pairs, blocks, nearest_pairs
from coterie._core.values import FloatArray, IntArray

# All pairs within a cell of so many groups are compared.
CELL = 512
# A larger cell is split by which of so many of its groups each is most like.
N_PIVOTS = 32
# Numbers that are multiplied with the pivots at a time.
BLOCK = 2**22


def pairs_within_cells(
    sums: FloatArray,
    slots: IntArray,
    sizes: IntArray,
    forbidden: Forbidden,
    *,
    signs: bool,
    number: int,
) -> Pairs:
    """Each group with the few groups of its cell that are most alike.

    Parameters
    ----------
    sums : ndarray of shape (n_slots, n_samples)
    slots : ndarray of shape (n_groups,)
        The slots of the groups to compare.
    sizes : ndarray of shape (n_slots,)
    number : int
        Another number takes other pivots, so that groups at the border of a cell in one round are
        inside one in the next.
    """
    found = []
    for cell in cells_of(sums, slots, signs=signs, number=number):
        if len(cell) > 1:
            pairs = nearest_pairs(sums[cell], sizes[cell], _within(forbidden, cell), signs=signs)
            found.append(Pairs(cell[pairs.first], cell[pairs.second], pairs.covariance))
    none = np.empty(0, dtype=np.intp)
    if not found:
        return Pairs(none, none, np.empty(0))
    return Pairs(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _within(forbidden: Forbidden, cell: IntArray) -> Forbidden:
    return lambda a, b: forbidden(cell[a], cell[b])


def cells_of(
    sums: FloatArray, slots: IntArray, *, signs: bool, number: int = 0
) -> Iterator[IntArray]:
    """The slots in cells of like groups, each of at most CELL."""
    waiting = [slots]
    while waiting:
        some = waiting.pop()
        if len(some) <= CELL:
            yield some
            continue
        nearest = _nearest_pivot(sums, some, signs=signs, number=number)
        order = np.argsort(nearest, kind="stable")
        parts = np.split(some[order], np.flatnonzero(np.diff(nearest[order])) + 1)
        # Groups that are all most like one pivot cannot be split by it.
        if len(parts) == 1:
            parts = [some[start:stop] for start, stop in blocks(len(some), CELL)]
        waiting.extend(parts)


def _nearest_pivot(sums: FloatArray, some: IntArray, *, signs: bool, number: int) -> IntArray:
    """Which of some of these groups each is most correlated with."""
    step = len(some) // N_PIVOTS
    pivots = sums[some[(7 * number) % step :: step][:N_PIVOTS]]
    pivots = pivots / np.maximum(np.sqrt(np.square(pivots).sum(axis=1, keepdims=True)), 1e-300)
    nearest = np.empty(len(some), dtype=np.intp)
    for start, stop in blocks(len(some), max(1, BLOCK // sums.shape[1])):
        like = sums[some[start:stop]] @ pivots.T
        nearest[start:stop] = (np.abs(like) if signs else like).argmax(axis=1)
    return nearest
