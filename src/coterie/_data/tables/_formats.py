"""Which format a file has: by its name first, and by how it begins where that says otherwise."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from coterie._data.tables._column_names import did_you_mean
from coterie._data.tables._errors import TableError, place, shown

FORMATS = ("csv", "tsv", "parquet", "feather", "jsonl", "json", "excel")
SUFFIXES = {
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
# Names people use for the same thing.
ALSO = {"arrow": "feather", "ipc": "feather", "ndjson": "jsonl", "xlsx": "excel", "xls": "excel"}
PACKED = (".gz", ".bz2", ".xz", ".zst")
KNOWN_SUFFIXES = (*SUFFIXES, *PACKED)
BEGINNINGS = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\xff\xff\xff\xff", "feather"),
    (b"PK\x03\x04", "excel"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
)
# These always begin as above, so that another beginning is another format.
BINARY = ("parquet", "feather", "excel")


def format_of(source: str | Path, content: bytes, format: str | None) -> str:  # noqa: A002
    """The format of a file's content.

    Parameters
    ----------
    source : str or Path
        Its name, or `-`.
    content : bytes
        What it holds, unpacked.
    format : str or None
        The format, where it is known; it is believed.

    Examples
    --------
    >>> format_of("prices.tsv", b"a", None)
    'tsv'
    >>> format_of("-", b"PAR1...", None)
    'parquet'
    """
    if format is not None:
        return checked_format(format)
    named, seen = format_by_name(source), format_by_content(content)
    if seen in BINARY or named is None or (named == "csv" and seen in ("json", "jsonl")):
        return seen
    if named in BINARY:
        raise TableError(
            f"{place(source)} is not {NOUNS[named]}, whatever its name says; "
            f"if it is {NOUNS[seen]}, pass --format {seen}."
        )
    return named


NOUNS = {
    "csv": "CSV",
    "tsv": "TSV",
    "parquet": "Parquet",
    "feather": "Feather (Arrow IPC)",
    "jsonl": "JSON lines",
    "json": "JSON",
    "excel": "an Excel workbook",
}


def checked_format(name: str) -> str:
    """One of the formats, by any of its names."""
    word = name.strip().lstrip(".").lower()
    if word in FORMATS or word in ALSO:
        return ALSO.get(word, word)
    question = did_you_mean(word, [*FORMATS, *ALSO])
    raise TableError(f"--format must be one of {', '.join(FORMATS)}, got {shown(name)}.{question}")


def format_by_name(source: str | Path) -> str | None:
    """The format that a suffix stands for, or None; `.csv.gz` stands for CSV."""
    path = PurePath(source)
    if path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    return SUFFIXES.get(path.suffix.lower())


def format_by_content(content: bytes) -> str:
    """The format that a file begins like; CSV where it begins like nothing else."""
    for beginning, format_name in BEGINNINGS:
        if content.startswith(beginning):
            return format_name
    # More than a bracket: [mm] may be the name of a column.
    if re.match(rb"(\xef\xbb\xbf)?\s*\[\s*\{", content):
        return "json"
    return "jsonl" if re.match(rb'(\xef\xbb\xbf)?\s*\{\s*"', content) else "csv"
