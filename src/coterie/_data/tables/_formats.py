"""Detect the format of a file, by its name and its first bytes."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from coterie._data.tables._column_names import did_you_mean
from coterie._data.tables._errors import TableError, path_text, quote

FORMATS = ("csv", "tsv", "parquet", "feather", "jsonl", "json", "excel")
FORMAT_BY_SUFFIX = {
    ".csv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arrows": "feather",
    ".ipc": "feather",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xls": "excel",
}
# Other names of formats.
FORMAT_ALIASES = {
    "arrow": "feather",
    "ipc": "feather",
    "ndjson": "jsonl",
    "xlsx": "excel",
    "xls": "excel",
}
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
KNOWN_SUFFIXES = (*FORMAT_BY_SUFFIX, *COMPRESSED_SUFFIXES)
MAGIC_BYTES = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\xff\xff\xff\xff", "feather"),
    (b"PK\x03\x04", "excel"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
)
# Formats that always begin with their magic bytes.
BINARY_FORMATS = ("parquet", "feather", "excel")


def detect_format(source: str | Path, content: bytes, format: str | None) -> str:  # noqa: A002
    """The format of a file.

    Parameters
    ----------
    source : str or Path
        The name of the file, or `-`.
    content : bytes
        The decompressed content.
    format : str or None
        The format, if given; it is not checked against the content.

    Examples
    --------
    >>> detect_format("prices.tsv", b"a", None)
    'tsv'
    >>> detect_format("-", b"PAR1...", None)
    'parquet'
    """
    if format is not None:
        return checked_format(format)
    named, seen = format_by_name(source), format_by_content(content)
    if seen in BINARY_FORMATS or named is None or (named == "csv" and seen in ("json", "jsonl")):
        return seen
    if named in BINARY_FORMATS:
        raise TableError(
            f"{path_text(source)} is not {FORMAT_NAMES[named]}, despite its name; "
            f"if it is {FORMAT_NAMES[seen]}, pass --format {seen}."
        )
    return named


FORMAT_NAMES = {
    "csv": "CSV",
    "tsv": "TSV",
    "parquet": "Parquet",
    "feather": "Feather (Arrow IPC)",
    "jsonl": "JSON lines",
    "json": "JSON",
    "excel": "an Excel workbook",
}


def checked_format(name: str) -> str:
    """The format for any of its names."""
    word = name.strip().lstrip(".").lower()
    if word in FORMATS or word in FORMAT_ALIASES:
        return FORMAT_ALIASES.get(word, word)
    question = did_you_mean(word, [*FORMATS, *FORMAT_ALIASES])
    raise TableError(f"--format must be one of {', '.join(FORMATS)}, got {quote(name)}.{question}")


def format_by_name(source: str | Path) -> str | None:
    """The format of a suffix, or None; `.csv.gz` is CSV."""
    path = PurePath(source)
    if path.suffix.lower() in COMPRESSED_SUFFIXES:
        path = path.with_suffix("")
    return FORMAT_BY_SUFFIX.get(path.suffix.lower())


def format_by_content(content: bytes) -> str:
    """The format by the first bytes of a file; CSV if no other matches."""
    for beginning, format_name in MAGIC_BYTES:
        if content.startswith(beginning):
            return format_name
    # Not a bracket alone: [mm] may be a column name.
    if re.match(rb"(\xef\xbb\xbf)?\s*\[\s*\{", content):
        return "json"
    return "jsonl" if re.match(rb'(\xef\xbb\xbf)?\s*\{\s*"', content) else "csv"
