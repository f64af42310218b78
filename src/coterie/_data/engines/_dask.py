"""The Dask engine: moments and aggregates of Dask arrays and data frames."""

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
from coterie._data.engines._block_offsets import (
    BlockOffset,
    BlockSize,
    block_offsets,
    measure_block,
)
from coterie._data.engines._count_blocks import CountBlocks, CountOptions, add_moments
from coterie._data.engines._dask_blocks import compute_blocks, zip_blocks
from coterie._data.engines._dask_tables import DaskTable, open_table
from coterie._data.engines._dask_transform import transform_dask
from coterie._data.engines._engine import Carried, Counting
from coterie._data.engines._folds import fold_rule
from coterie._data.engines._sizes import check_memory, group_blocks
from coterie._data.moments import Moments

# Number of moments that one task adds, as in Dask's own sums of arrays.
SPLIT_EVERY = 4


class DaskEngine:
    """Counts blocks of rows in separate tasks, and adds their moments in a tree."""

    def moments(self, X: Any, counting: Counting) -> Moments:
        """The moments of all rows, from one computation with a small result.

        If the lengths or weights of blocks are needed first, one more computation finds them.
        """
        table = open_table(X, counting)
        check_memory(table.n_features, _n_folds(counting), counting.max_bytes)
        with table.name_missing_columns():
            offsets, end = _find_offsets(table, counting)
            rule = None if end is None else fold_rule(counting.cv, counting.stratified, end)
            expected = end.count if end is not None and counting.spread else None
            total = _sum_moments(table, offsets, CountOptions(table.reader, rule, expected))
        if not total.n_samples_:
            raise ValueError("X has no rows with a weight above 0.")
        return total

    def transformed(self, X: Any, carried: Carried) -> Any:
        """The aggregates of all rows, as a lazy Dask collection."""
        return transform_dask(X, carried)


ENGINE = DaskEngine()


def _n_folds(counting: Counting) -> int:
    return int(counting.cv) if isinstance(counting.cv, Integral) else 1


def _find_offsets(
    table: DaskTable, counting: Counting
) -> tuple[list[BlockOffset], BlockOffset | None]:
    """The offset of each block, and that of the end of all rows; None if it is not needed."""
    by_number = callable(counting.cv) or isinstance(counting.cv, Integral)
    if not counting.spread and not by_number:
        if table.lengths is None:
            return [BlockOffset(number) for number in range(table.n_blocks)], None
        starts = [0, *accumulate(table.lengths)]
        pairs = zip(table.lengths, starts[:-1], strict=True)
        return [BlockOffset(number, *pair) for number, pair in enumerate(pairs)], None
    labels = counting.stratified and by_number and table.may_have_labels
    *offsets, end = block_offsets(_measure_blocks(table, labels=labels))
    if end.count == 0:
        raise ValueError("X has no rows with a weight above 0.")
    return offsets, end


def _measure_blocks(table: DaskTable, *, labels: bool) -> Sequence[BlockSize]:
    """The size of each block: known, or computed from as few columns as possible."""
    weights, targets = table.all_weights, table.targets if labels else None
    if weights is None and targets is None and table.lengths is not None:
        return [BlockSize(length, length, float(length), {}) for length in table.lengths]
    rows = table.cheapest_to_count if weights is None and targets is None else None
    blocks = zip_blocks([targets, weights, rows], table.n_blocks)
    words = [f"{table.reader.block_word} {number}" for number in range(table.n_blocks)]
    return compute_blocks(_measure, blocks, words)


def _measure(block: Sequence[Any], which: str) -> BlockSize:
    labels, weights, rows = block
    return measure_block(labels, weights, rows, which)


def _sum_moments(
    table: DaskTable, offsets: Sequence[BlockOffset], options: CountOptions
) -> Moments:
    """The moments of all blocks, computed."""
    lengths = [offset.n_rows for offset in offsets]
    known = None if None in lengths else [length or 0 for length in lengths]
    blocks, token = table.blocks(), uuid4().hex
    # The options have a key of their own, so that they are sent to each worker once.
    options_key = f"what-to-count-{token}"
    graph = {**blocks.graph, options_key: options}
    keys = []
    for number, some in enumerate(group_blocks(known, table.n_blocks, table.n_features)):
        key, count = (f"count-rows-{token}", number), CountBlocks([offsets[n] for n in some])
        graph[key] = (count, [blocks.keys[n] for n in some], options_key)
        keys.append(key)
    total = Delayed(_add_as_tree(graph, keys, token), graph)
    with _share_threads(len(keys)):
        return total.compute()


def _add_as_tree(graph: dict[Any, Any], keys: list[Any], token: str) -> Any:
    """Add tasks to the graph that sum all keys in a tree; the key of the total."""
    level = 0
    while len(keys) > 1:
        some = [keys[start : start + SPLIT_EVERY] for start in range(0, len(keys), SPLIT_EVERY)]
        keys = [(f"add-moments-{token}", level, number) for number in range(len(some))]
        graph.update({key: (add_moments, each) for key, each in zip(keys, some, strict=True)})
        level += 1
    return keys[0]


@contextmanager
def _share_threads(n_tasks: int) -> Iterator[None]:
    """With Dask's threaded scheduler, limit the threads of BLAS to the cores for each task."""
    from dask import threaded
    from dask.base import get_scheduler
    from dask.system import CPU_COUNT

    # Workers of dask.distributed already limit BLAS to one thread.
    if get_scheduler() not in (None, threaded.get):
        yield
        return
    n_threads = min(n_tasks, dask.config.get("num_workers", None) or CPU_COUNT)
    with at_most(max(1, CPU_COUNT // n_threads)):
        yield
