"""Numbers in text: with units of money, per cent and thousands separators, and odd cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray

# Before and after a number; a minus may be before or after the unit.
UNIT = r"(?:[$\u20ac\u00a3\u00a5]|USD|EUR|CHF|GBP)?"


def _notation(separators: str, decimal: str) -> re.Pattern[str]:
    """Numbers with these characters between thousands, and this one before decimals."""
    whole = rf"(?:\d{{1,3}}(?:[{separators}' \u00a0]\d{{3}})+|\d+)"
    number = rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?"
    return re.compile(
        rf"(?P<sign>[+-]?){UNIT}\s*(?P<again>[+-]?)(?P<number>{number})\s*{UNIT}(?P<percent>\s*%)?"
    )


POINTS, COMMAS = _notation(",", r"\."), _notation(r"\.", ",")
# At most this share of the cells, and this many different ones, may be no numbers.
MAX_ODD, MAX_DIFFERENT_ODD = 0.1, 5
# Fewer different numbers may be codes.
MIN_DIFFERENT = 10
MAX_SHOWN = 3
# As in 00123, which is a code.
LEADING_ZERO = re.compile(r"0\d")


@dataclass(frozen=True, eq=False)
class NumbersInText:
    """The numbers of a column of text.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        NaN where a cell is empty or odd.
    odd : list of str
        The different cells that are no numbers.
    n_odd : int
        In how many rows.
    example : str
        A cell that is written as plain numbers are not; empty if there is none.
    """

    values: FloatArray
    odd: list[str]
    n_odd: int
    example: str

    @property
    def reason(self) -> str:
        """What was read, in words."""
        words = f"text such as {self.example!r}, read as numbers" if self.example else "numbers"
        if not self.n_odd:
            return words
        shown = ", ".join(map(repr, self.odd[:MAX_SHOWN])) + ", ..." * (len(self.odd) > MAX_SHOWN)
        rows = "1 row" if self.n_odd == 1 else f"{self.n_odd:,} rows"
        return f"{words} except in {rows} ({shown}), taken as missing"


def numbers_in_text(text: NDArray[Any]) -> NumbersInText | None:
    """The numbers of a column of text; None if it is text, or codes.

    Text of nothing but plain numbers stays text: whoever wrote it so means codes.

    Examples
    --------
    >>> cells = [f"${k},000.50" for k in range(1, 20)]
    >>> found = numbers_in_text(np.array([*cells, "n.a."], dtype=object))
    >>> found.values[:2].tolist(), found.reason
    ([1000.5, 2000.5], "text such as '$1,000.50', read as numbers except in 1 row ('n.a.'), taken \
as missing")
    """
    read = any_numbers_in_text(text)
    if read is None:
        return None
    n_present = sum(one is not None for one in text)
    known = read.values[~np.isnan(read.values)]
    is_odd = read.n_odd > 0 or bool(read.example)
    few = read.n_odd <= max(1, MAX_ODD * n_present) and len(read.odd) <= MAX_DIFFERENT_ODD
    are_codes = len(np.unique(known)) < MIN_DIFFERENT or any(
        one is not None and LEADING_ZERO.match(one) for one in text
    )
    return read if is_odd and few and not are_codes else None


def any_numbers_in_text(text: NDArray[Any]) -> NumbersInText | None:
    """The numbers of a column of text, however few; None if there are none."""
    different = {one for one in text if one is not None}
    found = max((_read(pattern, different) for pattern in (POINTS, COMMAS)), key=len)
    if not found:
        return None
    values = np.array([found.get(one, np.nan) for one in text], dtype=np.float64)
    odd = sorted(different - found.keys())
    examples = sorted(one for one in found if not _is_plain(one))
    n_odd = sum(one is not None and one not in found for one in text)
    return NumbersInText(values, odd, n_odd, examples[0] if examples else "")


def _read(pattern: re.Pattern[str], different: set[str]) -> dict[str, float]:
    """The texts that are numbers in this notation. Per cent count only if all of them are."""
    separator, decimal = (",", ".") if pattern is POINTS else (".", ",")
    plain: dict[str, float] = {}
    percent: dict[str, float] = {}
    for text in different:
        match = pattern.fullmatch(_with_plain_signs(text))
        if match is None:
            continue
        digits = re.sub(r"[' \u00a0]", "", match["number"].replace(separator, ""))
        value = float(digits.replace(decimal, "."))
        if not np.isfinite(value):
            continue
        value = -value if "-" in (match["sign"], match["again"]) else value
        (percent if match["percent"] else plain)[text] = value
    return max(plain, percent, key=len)


def _with_plain_signs(text: str) -> str:
    """The text with a hyphen for a minus, and a usual space; (1.5) is -1.5, as in accounts."""
    text = text.replace("\u2212", "-").replace("\u202f", "\u00a0")
    in_brackets = re.fullmatch(r"\(([^()]+)\)", text)
    return f"-{in_brackets[1]}" if in_brackets else text


def _is_plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
