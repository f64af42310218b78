"""Moments to a JSON header and arrays, and back with validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from coterie._core.evidence import Accumulated
from coterie._core.values import FloatArray
from coterie._data.moments._sampled_rows import SampledRows
from coterie._data.moments._targets import TargetColumn
from coterie._persist.files import Entry, UnreadableError, number_in, plain_numbers

MOMENTS_FORMAT, MOMENTS_VERSION = "coterie moments", 1


class ArrayLoader(Protocol):
    """Loads arrays of float64 by name."""

    def __call__(self, name: str, shape: tuple[int | None, ...], /) -> FloatArray:
        """The array of the given shape; None stands for any length."""


def moment_arrays(moments: Any) -> Iterator[tuple[str, FloatArray]]:
    """The name and value of each array to save."""
    kept, n_features = moments.kept, _n_features(moments)
    yield "first", kept.first
    yield "numbers", np.concatenate([np.empty(0), *kept.numbers]).astype(np.float64)
    yield "rows", np.vstack([np.empty((0, n_features)), *kept.rows])
    for position, fold in enumerate(moments._folds.values()):
        yield f"origin{position}", fold.origin
        yield f"sums{position}", fold.sums
        yield f"features{position}", _pack_triangle(fold.features)
        yield f"cross{position}", fold.cross
        yield f"targets{position}", fold.targets


def header_to_json(moments: Any) -> dict[str, Any]:
    """Everything but the arrays, as values that JSON can hold."""
    kept, folds = moments.kept, moments._folds
    return {
        "format": MOMENTS_FORMAT,
        "version": MOMENTS_VERSION,
        "n_features": _n_features(moments),
        "names": moments._names,
        "targets": [_target_to_json(target) for target in moments.target_columns],
        "folds": list(folds),
        "counts": plain_numbers([fold.count for fold in folds.values()]),
        "n_samples": moments.n_samples_,
        "n_read": moments.n_read,
        "n_batches": moments.n_batches,
        "is_weighted": moments.is_weighted,
        "n_expected": kept.n_expected,
        "n_before": kept.n_before,
    }


def _n_features(moments: Any) -> int:
    return moments.n_features_in_ if moments._folds else 0


def _target_to_json(target: TargetColumn) -> dict[str, Any]:
    return {
        "name": target.name,
        "is_text": target.is_text,
        "values": None if target.values is None else list(target.values),
        "low": plain_numbers(target.low),
        "high": plain_numbers(target.high),
        "fraction": target.fraction,
        "dtype": target.dtype,
    }


def _pack_triangle(lower: FloatArray) -> FloatArray:
    """The lower triangle of a matrix, row by row."""
    rows = [row[: position + 1] for position, row in enumerate(lower)]
    return np.concatenate([np.empty(0), *rows])


def _unpack_triangle(packed: FloatArray, n: int) -> FloatArray:
    matrix, start = np.zeros((n, n)), 0
    for position, row in enumerate(matrix):
        row[: position + 1] = packed[start : start + position + 1]
        start += position + 1
    return matrix


def attributes_from_json(
    header: dict[str, Any], arrays: Mapping[str, FloatArray]
) -> dict[str, Any]:
    """The attributes of moments, from a header and arrays in memory."""
    return attributes_from_header(Entry(header), lambda name, _: arrays[name])


def attributes_from_header(header: Entry, load_array: ArrayLoader) -> dict[str, Any]:
    """The attributes of moments, from a header and a function that loads arrays by name."""
    _check_moments_format(header)
    n_features = header["n_features"].whole(0, 2**31)
    targets = tuple(_load_target(entry) for entry in header["targets"].items())
    names = None if header["names"].is_null else header["names"].texts(n_features)
    numbers = [_load_fold(entry) for entry in header["folds"].items()]
    if len({*numbers}) < len(numbers) or (None in numbers and len(numbers) > 1):
        raise header["folds"].wrong("a list of different numbers, or of null alone")
    counts = [entry.number() for entry in header["counts"].items(len(numbers))]
    if counts and min(counts) <= 0:
        raise header["counts"].wrong("a list of numbers above 0")
    sizes = n_features, sum(target.n_columns for target in targets)
    folds = {
        number: _load_sums(load_array, position, count, *sizes)
        for position, (number, count) in enumerate(zip(numbers, counts, strict=True))
    }
    return {
        "kept": _load_sampled_rows(load_array, header, n_features),
        "target_columns": targets,
        "is_weighted": header["is_weighted"].truth(),
        "n_samples_": header["n_samples"].whole(0, 2**62),
        "n_read": header["n_read"].whole(0, 2**62),
        "n_batches": header["n_batches"].whole(0, 2**62),
        "_names": names,
        "_folds": folds,
    }


def _check_moments_format(header: Entry) -> None:
    if not header.is_object or header.value.get("format") != MOMENTS_FORMAT:
        raise UnreadableError("it contains no moments saved by coterie")
    version = header["version"].whole(1, 2**31)
    if version > MOMENTS_VERSION:
        raise UnreadableError(
            f"it was made by a newer coterie (format {version}, this one reads {MOMENTS_VERSION}): "
            "pip install --upgrade coterie"
        )


def _load_fold(entry: Entry) -> int | None:
    return None if entry.is_null else entry.whole(0, 2**62)


def _load_target(entry: Entry) -> TargetColumn:
    is_text = entry["is_text"].truth()
    values = None if entry["values"].is_null else tuple(entry["values"].values())
    kinds = (str,) if is_text else (bool, int, float)
    if values is not None and not all(type(value) in kinds for value in values):
        raise entry["values"].wrong("a list of text" if is_text else "a list of numbers")
    if is_text if values is None else not 0 < len({*values}) == len(values):
        raise entry["values"].wrong("a list of different values")
    fraction = entry["fraction"]
    return TargetColumn(
        entry["name"].text(),
        is_text,
        values,
        number_in(entry["low"]),
        number_in(entry["high"]),
        None if fraction.is_null else fraction.number(),
        _load_dtype(entry["dtype"], is_text),
    )


def _load_dtype(entry: Entry, is_text: bool) -> str:
    """The name of a NumPy type of numbers or of text; other types are an error."""
    try:
        dtype = np.dtype(entry.text())
    except (TypeError, ValueError, SyntaxError):
        raise entry.wrong("a type of numbers or of text") from None
    if dtype.kind not in ("OU" if is_text else "biuf") or dtype.names is not None:
        raise entry.wrong("a type of numbers or of text")
    return entry.text()


def _load_sums(
    load_array: ArrayLoader, position: int, count: float, n_features: int, n_targets: int
) -> Accumulated:
    n_all = n_features + n_targets
    packed = load_array(f"features{position}", (n_features * (n_features + 1) // 2,))
    return Accumulated(
        count,
        # Copies, since these arrays are updated in place.
        load_array(f"origin{position}", (n_all,)).copy(),
        load_array(f"sums{position}", (n_all,)).copy(),
        _unpack_triangle(packed, n_features),
        load_array(f"cross{position}", (n_features, n_targets)).copy(),
        load_array(f"targets{position}", (n_targets, n_targets)).copy(),
    )


def _load_sampled_rows(load_array: ArrayLoader, header: Entry, n_features: int) -> SampledRows:
    expected = header["n_expected"]
    first = load_array("first", (None, n_features))
    numbers = load_array("numbers", (None,)).astype(np.intp)
    rows = load_array("rows", (len(numbers), n_features))
    return SampledRows(
        None if expected.is_null else expected.number(),
        header["n_before"].number(),
        first,
        [numbers] if len(numbers) else [],
        [rows] if len(numbers) else [],
    )
