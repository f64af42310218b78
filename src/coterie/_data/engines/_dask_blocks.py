"""Blocks of Dask collections by their keys, and functions computed for each block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from dask import array
from dask.core import flatten
from dask.delayed import Delayed
from dask.utils import ensure_dict


class Blocks(NamedTuple):
    """Keys of blocks in a Dask graph, and the graph that computes them."""

    keys: list[Any]
    graph: dict[Any, Any]


def is_dask_array(X: Any) -> bool:
    """Whether X is a Dask array."""
    return isinstance(X, array.Array)


def is_dask_frame(X: Any) -> bool:
    """Whether X is a Dask data frame."""
    # By name, since importing dask.dataframe takes seconds.
    return is_dask(X) and type(X).__name__ == "DataFrame"


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return bool(dask.is_dask_collection(X))


def known_lengths(collection: Any) -> list[int] | None:
    """Number of rows of each block, if Dask knows them."""
    chunks = getattr(collection, "chunks", None)
    if chunks is None or np.isnan(chunks[0]).any():
        return None
    return [int(length) for length in chunks[0]]


def n_blocks_of(collection: Any) -> int:
    """Number of blocks along the rows."""
    return int(collection.numblocks[0] if is_dask_array(collection) else collection.npartitions)


def zip_blocks(collections: Iterable[Any], n_blocks: int) -> Blocks:
    """Corresponding blocks of several collections as lists; None for a missing collection."""
    keys: list[list[Any]] = []
    graph: dict[Any, Any] = {}
    for collection in collections:
        some = _blocks_of(collection, n_blocks)
        keys.append(some.keys)
        graph.update(some.graph)
    return Blocks([list(block) for block in zip(*keys, strict=True)], graph)


def _blocks_of(collection: Any, n_blocks: int) -> Blocks:
    """The blocks of a collection, after optimisations that keep its blocks."""
    if collection is None:
        return Blocks([None] * n_blocks, {})
    if is_dask_array(collection):
        keys = list(flatten(collection.__dask_keys__()))
        graph = collection.__dask_optimize__(collection.__dask_graph__(), keys)
        return Blocks(keys, ensure_dict(graph))
    # Full optimisation may read several files with few columns as one block, unlike those of X.
    simple = collection.simplify()
    return Blocks(list(simple.__dask_keys__()), ensure_dict(simple.__dask_graph__()))


def zip_array_blocks(*arrays: Any) -> Blocks:
    """Corresponding blocks of several arrays as tuples, so that shared work is done once."""
    pairs: list[Any] = []
    for number, each in enumerate(arrays):
        pairs += [each, None if each is None else (0, number + 1)[: each.ndim]]
    zipped = array.blockwise(
        _as_tuple,
        (0,),
        *pairs,
        concatenate=True,
        align_arrays=False,
        dtype=object,
        meta=np.empty(0, dtype=object),
    )
    return _blocks_of(zipped, zipped.numblocks[0])


def _as_tuple(*arrays: Any) -> tuple[Any, ...]:
    return arrays


def compute_blocks(function: Callable[..., Any], blocks: Blocks, *more: Sequence[Any]) -> list[Any]:
    """The results of a function for each block, with further arguments for each block."""
    name = f"{function.__name__.strip('_')}-{uuid4().hex}"
    rest = list(zip(*more, strict=True)) if more else [()] * len(blocks.keys)
    graph = dict(blocks.graph)
    keys = [(name, number) for number in range(len(blocks.keys))]
    for key, block, others in zip(keys, blocks.keys, rest, strict=True):
        graph[key] = (function, block, *others)
    graph[f"all-{name}"] = (list, keys)
    return Delayed(f"all-{name}", graph).compute()
