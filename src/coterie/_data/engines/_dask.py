"""Dask: arrays and frames that are cut into blocks, and whatever scheduler computes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from numbers import Integral
from typing import Any
from uuid import uuid4

import dask
from dask.delayed import Delayed

from coterie._core.threads import at_most
from coterie._data.engines._block_offsets import Measured, Place, measured, places_of
from coterie._data.engines._count_blocks import Count, Shared, added
from coterie._data.engines._dask_blocks import computed, side_by_side
from coterie._data.engines._dask_tables import Table, opened
from coterie._data.engines._dask_transform import transformed
from coterie._data.engines._engine import Carried, Counting
from coterie._data.engines._folds import fold_rule
from coterie._data.engines._sizes import check_bytes, joined_blocks
from coterie._data.moments import Moments

# So many moments are added by one task, as Dask's own sums do it for arrays.
SPLIT_EVERY = 4


class DaskEngine:
    """Counts blocks of rows in tasks of their own, and adds up their moments as a tree."""

    def moments(self, X: Any, counting: Counting) -> Moments:
        """The moments of all rows: one small result of one computation.

        Before it, where the lengths of blocks or the weights in them must be known, these are
        computed.
        """
        table = opened(X, counting)
        check_bytes(table.n_features, _n_folds(counting), counting.memory)
        with table.columns_told():
            places, end = _placed(table, counting)
            rule = None if end is None else fold_rule(counting.folds, counting.stratified, end)
            expected = end.count if end is not None and counting.spread else None
            total = _total(table, places, Shared(table.reading, rule, expected))
        if not total.n_samples_:
            raise ValueError("X has no rows that count.")
        return total

    def transformed(self, X: Any, carried: Carried) -> Any:
        """The aggregates of all rows, block by block, when they are asked for."""
        return transformed(X, carried)


ENGINE = DaskEngine()


def _n_folds(counting: Counting) -> int:
    return int(counting.folds) if isinstance(counting.folds, Integral) else 1


def _placed(table: Table, counting: Counting) -> tuple[list[Place], Place | None]:
    """Where each block begins, and where they end; the latter None where nobody must know."""
    by_number = callable(counting.folds) or isinstance(counting.folds, Integral)
    if not counting.spread and not by_number:
        if table.lengths is None:
            return [Place(number) for number in range(table.n_blocks)], None
        starts = [0, *accumulate(table.lengths)]
        pairs = zip(table.lengths, starts[:-1], strict=True)
        return [Place(number, *pair) for number, pair in enumerate(pairs)], None
    labels = counting.stratified and by_number and table.may_have_labels
    *places, end = places_of(_measured(table, labels=labels))
    if end.count == 0:
        raise ValueError("X has no rows that count.")
    return places, end


def _measured(table: Table, *, labels: bool) -> Sequence[Measured]:
    """How long each block is: known, or found by one look at as few columns as will do."""
    weights, targets = table.all_weights, table.targets if labels else None
    if weights is None and targets is None and table.lengths is not None:
        return [Measured(length, length, float(length), {}) for length in table.lengths]
    rows = table.cheapest if weights is None and targets is None else None
    blocks = side_by_side([targets, weights, rows], table.n_blocks)
    words = [f"{table.reading.word} {number}" for number in range(table.n_blocks)]
    return computed(_look, blocks, words)


def _look(block: Sequence[Any], which: str) -> Measured:
    labels, weights, rows = block
    return measured(labels, weights, rows, which)


def _total(table: Table, places: Sequence[Place], shared: Shared) -> Moments:
    """The moments of all blocks, computed."""
    lengths = [place.n_rows for place in places]
    known = None if None in lengths else [length or 0 for length in lengths]
    blocks, token = table.blocks(), uuid4().hex
    # What all need has a key, so that it goes to each worker once.
    common = f"what-to-count-{token}"
    graph = {**blocks.graph, common: shared}
    parts = []
    for number, some in enumerate(joined_blocks(known, table.n_blocks, table.n_features)):
        key, count = (f"count-rows-{token}", number), Count([places[n] for n in some])
        graph[key] = (count, [blocks.keys[n] for n in some], common)
        parts.append(key)
    total = Delayed(_added_as_tree(graph, parts, token), graph)
    with _threads_to_spare(len(parts)):
        return total.compute()


def _added_as_tree(graph: dict[Any, Any], parts: list[Any], token: str) -> Any:
    """The key of the sum of all parts, for which neighbours are added first."""
    level = 0
    while len(parts) > 1:
        some = [parts[start : start + SPLIT_EVERY] for start in range(0, len(parts), SPLIT_EVERY)]
        parts = [(f"add-moments-{token}", level, number) for number in range(len(some))]
        graph.update({key: (added, each) for key, each in zip(parts, some, strict=True)})
        level += 1
    return parts[0]


@contextmanager
def _threads_to_spare(n_tasks: int) -> Iterator[None]:
    """On Dask's threads, leave BLAS as many threads as there are cores for each."""
    from dask import threaded
    from dask.base import get_scheduler
    from dask.system import CPU_COUNT

    # Workers of distributed are told by their nannies to have one thread each.
    if get_scheduler() not in (None, threaded.get):
        yield
        return
    n_threads = min(n_tasks, dask.config.get("num_workers", None) or CPU_COUNT)
    with at_most(max(1, CPU_COUNT // n_threads)):
        yield
