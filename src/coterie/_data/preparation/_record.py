"""What was done to each column, as plain values and in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

KINDS = ("number", "date", "text", "other")
TREATMENTS = ("as it is", "read as numbers", "one-hot", "counts", "calendar", "left out")
CALENDAR = ("days", "year", "month", "yearday", "weekday", "hour")
# More columns are told of by their number.
MAX_TOLD, MAX_NAMED = 12, 6


@dataclass(frozen=True)
class PreparedColumn:
    """What was done to one column of a table.

    Parameters
    ----------
    name : str
    kind : str
        What the column holds: "number", "date", "text" or "other".
    treatment : str
        "as it is", "read as numbers", "one-hot", "counts", "calendar" or "left out".
    reason : str
        The treatment in words.
    outputs : list of str
        Names of the columns that it became; none if it was left out.
    levels : list of str
        Levels with a 0/1 column each; those of "counts" come first in the order of `counts`.
    counts : list of int
        How often each level occurs, for "counts".
    flags_missing : bool
        Whether the last 0/1 column is 1 where the value is missing.
    parts : list of str
        Calendar parts of a date.
    origin : str
        The first day of a date column, from which days are counted; else empty.
    leaks : bool
        Whether it was left out because it gives the target away.
    """

    name: str
    kind: str
    treatment: str
    reason: str
    outputs: list[str]
    levels: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    flags_missing: bool = False
    parts: list[str] = field(default_factory=list)
    origin: str = ""
    leaks: bool = False

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        if self.treatment not in TREATMENTS or self.kind not in KINDS:
            raise ValueError(f"no column is {self.treatment!r} and of kind {self.kind!r}.")
        n_outputs = {
            "left out": 0,
            "as it is": 1,
            "read as numbers": 1,
            "calendar": len(self.parts),
            "one-hot": len(self.levels) + self.flags_missing,
        }.get(self.treatment)
        if n_outputs is not None and len(self.outputs) != n_outputs:
            raise ValueError(f"column {self.name!r} has {len(self.outputs)} outputs.")
        n_flagged = self.n_flags - self.flags_missing
        if self.treatment == "counts" and not 0 <= n_flagged <= len(self.levels):
            raise ValueError(f"column {self.name!r} has {len(self.outputs)} outputs.")
        if self.treatment == "counts" and len(self.counts) != len(self.levels):
            raise ValueError(f"column {self.name!r} lacks counts of levels.")
        if self.treatment == "calendar":
            np.datetime64(self.origin, "D")
            if not {*self.parts} <= {*CALENDAR}:
                raise ValueError(f"column {self.name!r} has unknown parts of dates.")

    @property
    def is_left_out(self) -> bool:
        """Whether nothing of the column is left."""
        return self.treatment == "left out"

    @property
    def n_flags(self) -> int:
        """Number of 0/1 columns."""
        return len(self.outputs) - (self.treatment == "counts")


@dataclass(frozen=True)
class Preparation:
    """A fitted preparer as plain values, for files.

    Parameters
    ----------
    text : str
    max_levels : int
    keep : list of str
        The parameters of the preparer.
    columns : list of PreparedColumn
    """

    text: str
    max_levels: int
    keep: list[str]
    columns: list[PreparedColumn]


def left_out(name: str, kind: str, reason: str, *, leaks: bool = False) -> PreparedColumn:
    """The record of a column that was left out."""
    return PreparedColumn(name, kind, "left out", reason, [], leaks=leaks)


# Names of what a column became: city=Rome, days(day), count(shop).
ENCODED = re.compile(
    rf"(?P<level>.+?)=.*|(?:count|{'|'.join(CALENDAR)})\((?P<part>.+)\)", re.DOTALL
)


def source_of(output: str) -> str:
    """The column that one of the names of a prepared table came from.

    Examples
    --------
    >>> source_of("city=Rome"), source_of("days(sold)"), source_of("size")
    ('city', 'sold', 'size')
    """
    found = ENCODED.fullmatch(output)
    return output if found is None else found["level"] or found["part"]


def named(names: Sequence[str], most: int = MAX_NAMED) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def sentences(columns: Sequence[PreparedColumn]) -> list[str]:
    """What was done, in sentences: one per reason for columns left out, else one per column.

    Columns that are as they were are not told of.

    Examples
    --------
    >>> sentences([left_out(name, "number", "a key of rows") for name in ("id", "nr")])
    ["Left out (a key of rows): 'id', 'nr'."]
    """
    out = sorted((one for one in columns if one.is_left_out), key=lambda one: one.reason)
    told = [
        f"Left out ({reason}): {named([one.name for one in same])}."
        for reason, same in groupby(out, key=lambda one: one.reason)
    ]
    changed = [one for one in columns if one.treatment not in ("left out", "as it is")]
    told += [f"Column {one.name!r}: {one.reason}." for one in changed[:MAX_TOLD]]
    if len(changed) > MAX_TOLD:
        told.append(f"{len(changed) - MAX_TOLD:,} more columns were encoded likewise.")
    return told
