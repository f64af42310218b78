"""Data frames as sources, and iterables of batches: (X, y) tuples or tables with a target."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any

from coterie._data.sources._arrays import (
    check_arrays,
    expected_count,
    find_zero_weights,
    slice_rows,
)
from coterie._data.sources._arrow import (
    DEFAULT_OWNER,
    check_types,
    chunk_from_batches,
    import_pyarrow,
    is_arrow,
    wrap_read_errors,
)
from coterie._data.sources._chunks import (
    Chunk,
    ChunkedSource,
    Chunks,
    ColumnSpec,
    choose_chunk_rows,
    n_unique_folds,
    row_slices,
)


def is_pandas_frame(source: Any) -> bool:
    """Whether a source is a pandas data frame, or one with the same interface."""
    return hasattr(source, "iloc") and hasattr(source, "columns")


def open_batches(source: Iterable[Any], spec: ColumnSpec) -> ChunkedSource:
    """An iterable of (X, y), of (X, y, sample_weight), or of data frames as a source."""
    if spec.target is None and spec.named_options:
        raise ValueError(
            f"Batches of (X, y) have no column names for {' and '.join(spec.named_options)}: pass "
            "data frames and the name of y, or sample_weight as the third of each batch."
        )

    def chunks(_: int, __: int) -> Chunks:
        for batch in source:
            yield (
                _chunk_from_table(batch, spec)
                if spec.target is not None
                else _chunk_from_tuple(batch)
            )

    return ChunkedSource(chunks)


def open_frame(frame: Any, y: Any, sample_weight: Any, spec: ColumnSpec) -> ChunkedSource:
    """A pandas data frame as a source."""
    features = spec.select_features([str(name) for name in frame.columns])
    n_rows, step = len(frame), choose_chunk_rows(spec.chunk_rows, len(features))
    arrays = check_arrays(n_rows, y=y, sample_weight=sample_weight)
    counts = _frame_column(frame, spec.sample_weight)
    folds = _frame_column(frame, spec.folds)

    def chunks(start: int, edge: int) -> Chunks:
        for rows in row_slices(start, edge, n_rows, step):
            chunk = _chunk_from_frame(frame.iloc[rows], spec)
            yield chunk._replace(**{name: slice_rows(arrays, name, rows) for name in arrays})

    return ChunkedSource(
        chunks,
        n_rows,
        len(features),
        features,
        expected_count(arrays.get("sample_weight") if counts is None else counts, n_rows),
        step,
        None if folds is None else n_unique_folds(folds),
        arrays,
        zero_weight_rows=find_zero_weights(
            arrays.get("sample_weight") if counts is None else counts
        ),
    )


def _frame_column(frame: Any, name: str | None) -> Any:
    return None if name is None else frame[_column_keys(frame)[name]].to_numpy()


def _column_keys(frame: Any) -> dict[str, Any]:
    """The column keys of a data frame, by their names as text."""
    return {str(name): name for name in frame.columns}


def _chunk_from_tuple(batch: Any) -> Chunk:
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        raise TypeError(
            "Each batch must be (X, y) or (X, y, sample_weight), or a data frame together with y, "
            f"the name of its target column; got {type(batch).__name__}."
        )
    X, y, *weights = batch
    return Chunk(X, y, weights[0] if weights else None, None, _length(y))


def _chunk_from_table(batch: Any, spec: ColumnSpec) -> Chunk:
    """A chunk from a pandas or polars data frame, or from an Arrow table."""
    if is_pandas_frame(batch):
        return _chunk_from_frame(batch, spec)
    if not is_arrow(batch):
        raise TypeError(
            f"y names a column, so each batch must be a data frame; got {type(batch).__name__}."
        )
    with wrap_read_errors(DEFAULT_OWNER):
        table = import_pyarrow().table(batch)
    features = spec.select_features(table.schema.names)
    check_types(table.schema.names, table.schema.types, features, spec, DEFAULT_OWNER)
    return chunk_from_batches(table.to_batches(), features, spec, {}, slice(0, table.num_rows))


def _chunk_from_frame(frame: Any, spec: ColumnSpec) -> Chunk:
    key_of = _column_keys(frame)
    names = spec.select_features([str(name) for name in frame.columns])
    features = [key_of[name] for name in names]
    target = [key_of[name] for name in spec.target or ()]
    y = frame[target[0]] if len(target) == 1 else frame[target] if target else None
    return Chunk(
        frame[features],
        y,
        _frame_column(frame, spec.sample_weight),
        _frame_column(frame, spec.folds),
        len(frame),
    )


def _length(y: Any) -> int:
    shape = getattr(y, "shape", None)
    return int(shape[0]) if shape else len(y) if isinstance(y, Sized) else 0
