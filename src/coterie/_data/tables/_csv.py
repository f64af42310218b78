"""Parse CSV into columns of text; errors name the line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from coterie._data.tables._column_names import check_names, header_names
from coterie._data.tables._errors import DAMAGED_ADVICE, TableError, as_table_error
from coterie._data.tables._optional_imports import import_optional
from coterie._data.tables._separators import (
    checked_separator,
    first_lines,
    guess_separator,
    parse_records,
)

if TYPE_CHECKING:
    import polars

# Largest block that Arrow reads at once; no line may be longer.
MAX_ARROW_BLOCK_BYTES = 2**30
TAIL_BYTES = 2**16
# A quoted field with more lines is probably an unclosed quote.
MAX_QUOTED_LINES = 20
# Appended after all lines: it is a record of its own if all quotes are closed.
END_MARK = "the end"


@dataclass(frozen=True)
class CsvLines:
    """The lines of a CSV text in UTF-8 from the header on, and their separator."""

    content: bytes
    separator: str
    n_before: int
    where: str


def parse_csv(lines: CsvLines) -> polars.DataFrame:
    """All columns as text, with null for empty fields.

    Names are stripped of spaces; a blank third name becomes `unnamed_3`. An empty column with a
    blank name, as from a separator at the end of each line, is left out.
    """
    header = _read_header(lines)
    _check_quotes(lines)
    try:
        frame = _parse_with_arrow(lines, len(header))
    except TableError:
        raise _uneven_line_error(lines, len(header)) or _too_long_error(lines) from None
    _check_multiline_cells(lines, frame)
    keep = [j for j, name in enumerate(header) if name.strip() or _has_values(frame, j)]
    frame = frame[:, keep]
    names = header_names(header)
    check_names([names[j] for j in keep], lines.where)
    frame.columns = [names[j] for j in keep]
    return frame


def _has_values(frame: polars.DataFrame, column: int) -> bool:
    return frame.height == 0 or frame.to_series(column).null_count() < frame.height


def prepare_csv(
    content: bytes, separator: str | None, decimal: str | None, where: str, *, is_tsv: bool
) -> CsvLines:
    """The lines of a text from the header on, with the separator guessed if not given.

    A first line `sep=;`, as Excel writes it, sets the separator.
    """
    separator = None if separator is None else checked_separator(separator)
    declared = re.match(rb"\s*sep=(.)\r?\n", content)
    body = content[declared.end() :] if declared else content
    if declared:
        separator = separator or checked_separator(declared[1].decode("ascii", "replace"))
    body = body.lstrip(b"\r\n")
    n_before = content[: len(content) - len(body)].count(b"\n")
    body = _strip_blank_end(body)
    text = first_lines(body)
    if not text.strip():
        raise TableError(f"{where} has only blank lines: it holds no table.")
    if separator is None and is_tsv and "\t" in text.partition("\n")[0]:
        separator = "\t"
    separator = separator or guess_separator(text, decimal=decimal)
    if separator == " " and b'"' not in body:
        body = b"".join(b" ".join(line.split()) + b"\n" for line in body.splitlines())
    return CsvLines(body, separator, n_before, where)


def _strip_blank_end(content: bytes) -> bytes:
    """The content without blank lines at the end, and with one final line break."""
    # Unless it is blank, looking at the tail is enough and avoids a copy of the content.
    end = content[-TAIL_BYTES:] if content[-TAIL_BYTES:].strip() else content
    last = end.rstrip(b" \r\n\x1a")
    spaces = re.match(b" *", end[len(last) :])
    n_kept = len(content) - len(end) + len(last) + (spaces.end() if spaces else 0)
    return content if content[n_kept:] in (b"\n", b"\r\n") else content[:n_kept] + b"\n"


def _read_header(lines: CsvLines) -> list[str]:
    first = parse_records(first_lines(lines.content), lines.separator)[:1]
    if not first:
        raise _too_long_error(lines)
    return first[0]


def _parse_with_arrow(lines: CsvLines, n_columns: int) -> polars.DataFrame:
    reading, arrow, pl = (
        import_optional("pyarrow.csv"),
        import_optional("pyarrow"),
        import_optional("polars"),
    )
    # Numbers as names, since names of the header may be duplicates.
    names = [str(column) for column in range(n_columns)]
    with as_table_error(f"{lines.where} cannot be read as CSV", DAMAGED_ADVICE):
        table = reading.read_csv(
            arrow.BufferReader(lines.content),
            read_options=reading.ReadOptions(
                column_names=names,
                skip_rows_after_names=1,
                block_size=min(len(lines.content) + 1, MAX_ARROW_BLOCK_BYTES),
            ),
            parse_options=reading.ParseOptions(
                delimiter=lines.separator, newlines_in_values=b'"' in lines.content
            ),
            convert_options=reading.ConvertOptions(
                column_types=dict.fromkeys(names, arrow.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return pl.from_arrow(table)


def _check_quotes(lines: CsvLines) -> None:
    """Raise if a quote is never closed, which Arrow does not report."""
    if lines.content.count(b'"') % 2 == 0:
        return
    for line, row in _numbered_records(lines, END_MARK):
        if row != [END_MARK] and row[-1].endswith(END_MARK):
            raise TableError(
                f"{lines.where} has a quote in line {line} that is never closed: close it."
            )


def _check_multiline_cells(lines: CsvLines, frame: polars.DataFrame) -> None:
    """Raise if a misplaced quote has merged several lines into one cell.

    Two unclosed quotes close each other, and the rows between them would be lost.
    """
    has_quotes = b'"' in lines.content
    if has_quotes and any(series.str.contains("[\r\n]").any() for series in frame):
        for _ in _numbered_records(lines, strict=True):
            continue


def _numbered_records(
    lines: CsvLines, *more: str, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, with the number of its first line."""
    text = io.TextIOWrapper(io.BytesIO(lines.content), encoding="utf-8", newline="")
    reader = csv.reader(chain(text, more), delimiter=lines.separator, strict=strict)
    line = lines.n_before + 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = lines.n_before + reader.line_num + 1
    except csv.Error:
        raise TableError(
            f"{lines.where} has a misplaced or unclosed quote in line {line}: quote whole fields, "
            "and double the quotes in them."
        ) from None


def _uneven_line_error(lines: CsvLines, n_columns: int) -> TableError | None:
    """The error for the first line with more or fewer fields than the header, or None."""
    for line, row in _numbered_records(lines):
        if len(row) == n_columns:
            continue
        if "".join(row).count("\n") > MAX_QUOTED_LINES:
            advice = "is a quote not closed there?"
        elif n_columns == 1:
            advice = "pass --separator, or put quotes around that field."
        else:
            advice = "correct that line, or pass --separator."
        fields = f"{len(row)} field{'s' * (len(row) != 1)}"
        return TableError(
            f"{lines.where} has {fields} in line {line} where the header has {n_columns}: {advice}"
        )
    return None


def _too_long_error(lines: CsvLines) -> TableError:
    return TableError(
        f"{lines.where} has lines or fields that are too long for CSV: is it CSV, with all "
        "quotes closed?"
    )
