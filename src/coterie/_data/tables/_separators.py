"""Guess the separator of a CSV file from its first lines."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

from coterie._data.tables._errors import TableError, quote

SEPARATORS = (",", ";", "\t", "|")
# Names for separators that are hard to type in a shell.
SEPARATOR_WORDS = {
    "\\t": "\t",
    "tab": "\t",
    "space": " ",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
}
NUMBER_PATTERN = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
# The guess uses this many lines, and at first this many bytes.
SAMPLE_LINES, SAMPLE_BYTES = 100, 2**16


def checked_separator(separator: str) -> str:
    """The separator as one character."""
    letter = SEPARATOR_WORDS.get(separator.lower(), separator)
    if len(letter) != 1 or not letter.isascii() or letter in '"\r\n\0':
        raise TableError(
            f"--separator must be one ASCII character, such as ';' or tab, got {quote(separator)}."
        )
    return letter


def first_lines(content: bytes) -> str:
    """The first whole lines of a text; all of it if it is short."""
    size = SAMPLE_BYTES
    while size < len(content) and _n_lines(content[:size]) < 10:
        size *= 8
    if size >= len(content):
        return content.decode("utf-8")
    end = max(content.rfind(b"\n", 0, size), content.rfind(b"\r", 0, size))
    return content[: end + 1].decode("utf-8")


def _n_lines(content: bytes) -> int:
    return max(content.count(b"\n"), content.count(b"\r"))


def parse_records(text: str, separator: str) -> list[list[str]]:
    """The first records of a text, without blank lines, up to a field that is too long."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows: list[list[str]] = []
    try:
        rows.extend(islice(filter(None, reader), SAMPLE_LINES))
    except csv.Error:
        # A field is longer than the csv module allows; Arrow may still read it.
        return rows
    return rows


def guess_separator(text: str, *, decimal: str | None = None) -> str:
    r"""Guess the separator from the first lines.

    Among comma, semicolon, tab and vertical bar, the one for which most lines have as many fields
    as the header; then the one with the larger share of numbers; then the one with more fields. If
    none of them is in the header: runs of spaces, if they fit all lines, else the comma.

    Examples
    --------
    >>> guess_separator("x;y\n1,5;2,5\n")
    ';'
    >>> guess_separator("height  weight\n 180      71\n")
    ' '
    """
    possible = [one for one in SEPARATORS if one != decimal]
    scores = {one: score for one in possible if (score := _separator_score(text, one))}
    if scores:
        return max(scores, key=lambda one: scores[one])
    return " " if _spaces_fit(text) else ","


def _separator_score(text: str, separator: str) -> tuple[float, float, int] | None:
    header, *rows = parse_records(text, separator) or [[]]
    if len(header) < 2:
        return None
    agreeing = sum(len(row) == len(header) for row in rows) / max(len(rows), 1)
    return agreeing, _share_of_numbers(rows, separator), len(header)


def _share_of_numbers(rows: list[list[str]], separator: str) -> float:
    cells = [cell if separator == "," else cell.replace(",", ".") for row in rows for cell in row]
    return sum(NUMBER_PATTERN.fullmatch(cell) is not None for cell in cells) / max(len(cells), 1)


def _spaces_fit(text: str) -> bool:
    """Whether runs of spaces split all lines into equally many fields, some of them numbers."""
    rows = [line.split() for line in text.splitlines()[:SAMPLE_LINES] if line.strip()]
    if '"' in text or len(rows) < 2 or len({*map(len, rows)}) > 1 or len(rows[0]) < 2:
        return False
    return any(NUMBER_PATTERN.fullmatch(cell) for cell in rows[1])
