"""Batches that somebody else cuts: tuples of X and y, or frames with the target in a column."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any

from coterie._data.sources._arrays import beside, expected, idle_rows, rows_of
from coterie._data.sources._arrow import (
    OWNER,
    check_kinds,
    is_arrow,
    needs_pyarrow,
    piece_of,
    told,
)
from coterie._data.sources._chunks import (
    Opened,
    Piece,
    Pieces,
    Wanted,
    n_different,
    rows_at_a_time,
    spans,
)


def is_frame(source: Any) -> bool:
    """Whether a source is a frame as pandas has them."""
    return hasattr(source, "iloc") and hasattr(source, "columns")


def opened_batches(source: Iterable[Any], wanted: Wanted) -> Opened:
    """An iterable of (X, y), of (X, y, weights), or of frames."""
    if wanted.target is None and wanted.with_names:
        raise ValueError(
            f"{' and '.join(wanted.with_names)} name columns, and batches of (X, y) have no names: "
            "pass frames and target, or weights as the third of each batch."
        )

    def pieces(_: int, __: int) -> Pieces:
        for batch in source:
            yield _of_table(batch, wanted) if wanted.target is not None else _of_tuple(batch)

    return Opened(pieces)


def opened_frame(frame: Any, y: Any, weights: Any, wanted: Wanted) -> Opened:
    """A frame of pandas, cut into pieces."""
    features = wanted.features_among([str(name) for name in frame.columns])
    n_rows, step = len(frame), rows_at_a_time(wanted.chunk_rows, len(features))
    given = beside(n_rows, y=y, weights=weights)
    counts = _column(frame, wanted.weights)
    folds = _column(frame, wanted.folds)

    def pieces(start: int, edge: int) -> Pieces:
        for rows in spans(start, edge, n_rows, step):
            piece = _of_frame(frame.iloc[rows], wanted)
            yield piece._replace(**{name: rows_of(given, name, rows) for name in given})

    return Opened(
        pieces,
        n_rows,
        len(features),
        features,
        expected(given.get("weights") if counts is None else counts, n_rows),
        step,
        None if folds is None else n_different(folds),
        given,
        idle=idle_rows(given.get("weights") if counts is None else counts),
    )


def _column(frame: Any, name: str | None) -> Any:
    return None if name is None else frame[_places(frame)[name]].to_numpy()


def _places(frame: Any) -> dict[str, Any]:
    """The columns as the frame calls them, by their names as text."""
    return {str(name): name for name in frame.columns}


def _of_tuple(batch: Any) -> Piece:
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise TypeError(
            "Each batch must be (X, y) or (X, y, weights), or a frame with the target in a column "
            f"that target names; got {type(batch).__name__}."
        )
    X, y, *weights = batch
    return Piece(X, y, weights[0] if weights else None, None, _length(y))


def _of_table(batch: Any, wanted: Wanted) -> Piece:
    """A piece of a frame of pandas, or of a table of Arrow or polars."""
    if is_frame(batch):
        return _of_frame(batch, wanted)
    if not is_arrow(batch):
        raise TypeError(
            f"target names a column, so each batch must be a frame; got {type(batch).__name__}."
        )
    with told(OWNER):
        table = needs_pyarrow().table(batch)
    features = wanted.features_among(table.schema.names)
    check_kinds(table.schema.names, table.schema.types, features, wanted, OWNER)
    return piece_of(table.to_batches(), features, wanted, {}, slice(0, table.num_rows))


def _of_frame(frame: Any, wanted: Wanted) -> Piece:
    place_of = _places(frame)
    names = wanted.features_among([str(name) for name in frame.columns])
    features = [place_of[name] for name in names]
    target = [place_of[name] for name in wanted.target or ()]
    y = frame[target[0]] if len(target) == 1 else frame[target] if target else None
    return Piece(
        frame[features], y, _column(frame, wanted.weights), _column(frame, wanted.folds), len(frame)
    )


def _length(y: Any) -> int:
    shape = getattr(y, "shape", None)
    return int(shape[0]) if shape else len(y) if isinstance(y, Sized) else 0
