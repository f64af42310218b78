"""CSV as a table of text: every row as long as the header, or the line that is not."""

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

# Arrow reads so much at once, and no line may be longer.
MAX_ARROW_BLOCK_BYTES = 2**30
TAIL_BYTES = 2**16
# A quote that is open for so many lines was probably not meant to be.
MAX_QUOTED_LINES = 20
# Behind all lines: alone in its record where all quotes are closed.
END_MARK = "the end"


@dataclass(frozen=True)
class CsvLines:
    """The lines of a text in UTF-8 from its header on, and how to cut them."""

    content: bytes
    separator: str
    n_before: int
    where: str


def parse_csv(lines: CsvLines) -> polars.DataFrame:
    """All fields as text, with null where there is nothing between two separators.

    Names lose the spaces around them and are `unnamed_3` where they are blank; a blank name over
    an empty column, as a separator at the end of each line makes it, is no column.
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
    """The lines of a text from its header on, with their separator guessed where it is not given.

    A first line `sep=;`, as Excel writes it, is obeyed.
    """
    separator = None if separator is None else checked_separator(separator)
    said = re.match(rb"\s*sep=(.)\r?\n", content)
    body = content[said.end() :] if said else content
    if said:
        separator = separator or checked_separator(said[1].decode("ascii", "replace"))
    body = body.lstrip(b"\r\n")
    n_before = content[: len(content) - len(body)].count(b"\n")
    body = _strip_blank_end(body)
    text = first_lines(body)
    if not text.strip():
        raise TableError(f"{where} holds nothing but blank lines: there is no table in it.")
    if separator is None and is_tsv and "\t" in text.partition("\n")[0]:
        separator = "\t"
    separator = separator or guess_separator(text, decimal=decimal)
    if separator == " " and b'"' not in body:
        body = b"".join(b" ".join(line.split()) + b"\n" for line in body.splitlines())
    return CsvLines(body, separator, n_before, where)


def _strip_blank_end(content: bytes) -> bytes:
    """The same lines with an end to the last one, and no blank ones after it."""
    # A look at the end is enough, unless it is blank, and saves a copy of all the rest.
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
    # Names by number: those of the header may stand there twice.
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
    """Raise where a quote is opened and never closed, which Arrow would let pass."""
    if lines.content.count(b'"') % 2 == 0:
        return
    for line, row in _numbered_records(lines, END_MARK):
        if row != [END_MARK] and row[-1].endswith(END_MARK):
            raise TableError(
                f"{lines.where} opens a quote in line {line} that is never closed: close it there."
            )


def _check_multiline_cells(lines: CsvLines, frame: polars.DataFrame) -> None:
    """Raise where a quote out of place has made one cell of several lines.

    Two quotes that are left open close each other, and rows between them would be lost.
    """
    has_quotes = b'"' in lines.content
    if has_quotes and any(series.str.contains("[\r\n]").any() for series in frame):
        for _ in _numbered_records(lines, strict=True):
            continue


def _numbered_records(
    lines: CsvLines, *more: str, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, with the number of the line where it begins."""
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
            f"{lines.where} has a quote that is out of place or left open in line {line}: quote "
            "whole fields, and double the quotes in them."
        ) from None


def _uneven_line_error(lines: CsvLines, n_columns: int) -> TableError | None:
    """The first line that has more or fewer fields than the header."""
    for line, row in _numbered_records(lines):
        if len(row) == n_columns:
            continue
        if "".join(row).count("\n") > MAX_QUOTED_LINES:
            advice = "is a quote left open there?"
        elif n_columns == 1:
            advice = "pass --separator, or put quotes around that field."
        else:
            advice = "mend that line, or pass --separator."
        fields = f"{len(row)} field{'s' * (len(row) != 1)}"
        return TableError(
            f"{lines.where} has {fields} in line {line} where the header has {n_columns}: {advice}"
        )
    return None


def _too_long_error(lines: CsvLines) -> TableError:
    return TableError(
        f"{lines.where} has lines or fields too long to be read as CSV: is it CSV, with its "
        "quotes closed?"
    )
