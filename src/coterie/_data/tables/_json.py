"""JSON: a row in each line, or a list of rows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from coterie._data.tables._errors import TableError, guarded, reason_of
from coterie._data.tables._optional_imports import library

if TYPE_CHECKING:
    import polars

ROWS = 'write it as a list of rows like [{"a": 1}, {"a": 2}], or one such row in each line'


def json_table(content: bytes, where: str) -> polars.DataFrame:
    """The rows in a text of JSON, in lines or in a list; a key is a column.

    Polars reads most of it fast; what it cannot, such as NaN, Python reads.
    """
    pl = library("polars")
    is_list = content.lstrip().startswith(b"[")
    read = pl.read_json if is_list else pl.read_ndjson
    try:
        with guarded(where, "no JSON"):
            frame = read(io.BytesIO(content), infer_schema_length=None)
            rows = json.loads(content) if is_list else map(json.loads, content.splitlines())
            return frame.select(pl.nth(_in_order(frame.columns, rows)))
    except TableError:
        rows = _whole(content, where) if is_list else _lines(content, where)
    with guarded(f"{where} holds values that no columns can hold", ROWS):
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _in_order(names: list[str], rows: Iterable[dict[str, Any]]) -> list[int]:
    """Places of the names in the order in which they first come, which polars does not keep."""
    places = {name: place for place, name in enumerate(names)}
    order: dict[int, None] = {}
    for row in rows:
        order.update(dict.fromkeys(places[name] for name in row))
        if len(order) == len(names):
            break
    return list(order)


def _whole(content: bytes, where: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{where} is no JSON, or not all of it ({reason_of(error)}): mend it, or get it again."
        ) from None
    if not all(isinstance(row, dict) for row in rows):
        raise TableError(f"{where} is JSON, but no table: {ROWS}.")
    return rows


def _lines(content: bytes, where: str) -> list[dict[str, Any]]:
    lines = enumerate(content.split(b"\n"), 1)
    return [_row(line, number, where) for number, line in lines if line.strip()]


def _row(line: bytes, number: int, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{where} has no JSON in line {number} ({reason_of(error)}): mend that line."
        ) from None
    if not isinstance(row, dict):
        raise TableError(f"{where} has no row in line {number}: {ROWS}.")
    return row
