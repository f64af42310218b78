"""Read JSON: one row per line, or a list of rows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from coterie._data.tables._errors import TableError, as_table_error, short_reason
from coterie._data.tables._optional_imports import import_optional

if TYPE_CHECKING:
    import polars

ROWS_ADVICE = 'write it as a list of rows like [{"a": 1}, {"a": 2}], or one such row in each line'


def read_json(content: bytes, where: str) -> polars.DataFrame:
    """Read rows in JSON lines or in a JSON list; each key is a column.

    Polars reads most files fast; Python reads the others, such as those with NaN.
    """
    pl = import_optional("polars")
    is_list = content.lstrip().startswith(b"[")
    read = pl.read_json if is_list else pl.read_ndjson
    try:
        with as_table_error(where, "not JSON"):
            frame = read(io.BytesIO(content), infer_schema_length=None)
            rows = json.loads(content) if is_list else map(json.loads, content.splitlines())
            return frame.select(pl.nth(_column_order(frame.columns, rows)))
    except TableError:
        rows = _parse_list(content, where) if is_list else _parse_lines(content, where)
    with as_table_error(f"{where} has values that do not fit into columns", ROWS_ADVICE):
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _column_order(names: list[str], rows: Iterable[dict[str, Any]]) -> list[int]:
    """Indices of the columns in the order of their first occurrence, which polars does not keep."""
    places = {name: place for place, name in enumerate(names)}
    order: dict[int, None] = {}
    for row in rows:
        order.update(dict.fromkeys(places[name] for name in row))
        if len(order) == len(names):
            break
    return list(order)


def _parse_list(content: bytes, where: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{where} is not JSON, or truncated ({short_reason(error)}): "
            "correct it, or get it again."
        ) from None
    if not all(isinstance(row, dict) for row in rows):
        raise TableError(f"{where} is JSON, but not a table: {ROWS_ADVICE}.")
    return rows


def _parse_lines(content: bytes, where: str) -> list[dict[str, Any]]:
    lines = enumerate(content.split(b"\n"), 1)
    return [_parse_line(line, number, where) for number, line in lines if line.strip()]


def _parse_line(line: bytes, number: int, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{where} has invalid JSON in line {number} ({short_reason(error)}): correct that line."
        ) from None
    if not isinstance(row, dict):
        raise TableError(f"{where} has no JSON object in line {number}: {ROWS_ADVICE}.")
    return row
