"""Batches that somebody else cuts: tuples of X and y, or frames with the target in a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from coterie.sources._arrays import beside, expected
from coterie.sources._pieces import Opened, Piece, Wanted, rows_at_a_time


def opened_batches(source: Iterable[Any], wanted: Wanted) -> Opened:
    """An iterable of (X, y), of (X, y, weights), or of frames."""

    def pieces(_: int, skipped: int) -> Iterator[Piece]:
        for batch in islice(iter(source), skipped, None):
            yield _of_frame(batch, wanted) if wanted.target is not None else _of_tuple(batch)

    return Opened(pieces)


def opened_frame(frame: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A frame of pandas, cut into pieces."""
    features = wanted.features_among([str(name) for name in frame.columns])
    n_rows, step = len(frame), rows_at_a_time(wanted.chunk_rows, len(features))
    y, weights = beside("y", y, n_rows), beside("weights", weights, n_rows)
    counted = frame[wanted.weights].to_numpy() if wanted.weights else weights

    def pieces(rows: int, _: int) -> Iterator[Piece]:
        for start in range(rows, n_rows, step):
            at = slice(start, min(start + step, n_rows))
            piece = _of_frame(frame.iloc[at], wanted)
            if wanted.target is None:
                piece = piece._replace(y=y[at])
            if weights is not None:
                piece = piece._replace(weights=weights[at])
            yield piece

    return Opened(pieces, n_rows, len(features), expected(counted, n_rows), step)


def _of_tuple(batch: Any) -> Piece:
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise TypeError(
            "Each batch must be (X, y) or (X, y, weights), or a frame with the target in a column "
            f"that target names; got {type(batch).__name__}."
        )
    X, y, *weights = batch
    return Piece(X, y, weights[0] if weights else None, None, _length(y))


def _of_frame(frame: Any, wanted: Wanted) -> Piece:
    names = getattr(frame, "columns", None)
    if names is None:
        raise TypeError(
            f"target names a column, so each batch must be a frame; got {type(frame).__name__}."
        )
    features = wanted.features_among([str(name) for name in names])
    target = wanted.target or []
    y = frame[target[0]] if len(target) == 1 else frame[target] if target else None
    weights = None if wanted.weights is None else frame[wanted.weights]
    folds = None if wanted.folds is None else frame[wanted.folds]
    return Piece(frame[features], y, weights, folds, len(frame))


def _length(y: Any) -> int:
    return len(y) if hasattr(y, "__len__") else 0
