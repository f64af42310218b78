"""Blocks of what Dask holds, by their keys, and what is computed of each."""

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
    """Blocks by their keys in a graph of Dask, and the graph that computes them."""

    keys: list[Any]
    graph: dict[Any, Any]


def is_dask_array(X: Any) -> bool:
    """Whether X is an array of Dask."""
    return isinstance(X, array.Array)


def is_dask_frame(X: Any) -> bool:
    """Whether X is a frame of Dask."""
    # By name, since importing dask.dataframe takes seconds.
    return is_dask(X) and type(X).__name__ == "DataFrame"


def is_dask(X: Any) -> bool:
    """Whether X is one of Dask's collections."""
    return bool(dask.is_dask_collection(X))


def known_lengths(collection: Any) -> list[int] | None:
    """Number of rows of each block, where Dask knows them."""
    chunks = getattr(collection, "chunks", None)
    if chunks is None or np.isnan(chunks[0]).any():
        return None
    return [int(length) for length in chunks[0]]


def n_blocks_of(collection: Any) -> int:
    """Number of blocks along the rows."""
    return int(collection.numblocks[0] if is_dask_array(collection) else collection.npartitions)


def zip_blocks(collections: Iterable[Any], n_blocks: int) -> Blocks:
    """The blocks of several collections, each as a list; None for what is not there."""
    keys: list[list[Any]] = []
    graph: dict[Any, Any] = {}
    for collection in collections:
        some = _blocks_of(collection, n_blocks)
        keys.append(some.keys)
        graph.update(some.graph)
    return Blocks([list(block) for block in zip(*keys, strict=True)], graph)


def _blocks_of(collection: Any, n_blocks: int) -> Blocks:
    """The blocks of a collection, optimised no further than they stay what they are."""
    if collection is None:
        return Blocks([None] * n_blocks, {})
    if is_dask_array(collection):
        keys = list(flatten(collection.__dask_keys__()))
        graph = collection.__dask_optimize__(collection.__dask_graph__(), keys)
        return Blocks(keys, ensure_dict(graph))
    # Dask would read files of few columns together, which then are no longer those of X.
    simple = collection.simplify()
    return Blocks(list(simple.__dask_keys__()), ensure_dict(simple.__dask_graph__()))


def zip_array_blocks(*arrays: Any) -> Blocks:
    """Blocks of several arrays side by side, so that what they share is computed once."""
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
    """What a function makes of each block, and of what else there is for each."""
    name = f"{function.__name__.strip('_')}-{uuid4().hex}"
    rest = list(zip(*more, strict=True)) if more else [()] * len(blocks.keys)
    graph = dict(blocks.graph)
    keys = [(name, number) for number in range(len(blocks.keys))]
    for key, block, others in zip(keys, blocks.keys, rest, strict=True):
        graph[key] = (function, block, *others)
    graph[f"all-{name}"] = (list, keys)
    return Delayed(f"all-{name}", graph).compute()
