"""Escaped text, formatted numbers, tables and small SVG marks for the report."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence

# Characters that are not allowed in HTML, or that change the writing direction; they are
# replaced by a visible mark.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufdd0-\ufdef\ufffe\uffff]"
)
MINUS = "\N{MINUS SIGN}"
MISSING_MARK = "\N{EN DASH}"
MAX_NAME_LENGTH = 120


def escape(text: str) -> str:
    """Text escaped for HTML content and quoted attributes, in ASCII.

    Examples
    --------
    >>> escape('<b> & "x"')
    '&lt;b&gt; &amp; &quot;x&quot;'
    """
    shown = UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return html.escape(shown).encode("ascii", "xmlcharrefreplace").decode("ascii")


def isolate_name(name: str) -> str:
    """A name from the data as HTML, with its writing direction isolated."""
    if not name.strip():
        return '<i class="nameless">no name</i>'
    return f"<bdi>{escape(name)}</bdi>"


def shorten_name(name: str) -> str:
    """A name, shortened to its beginning and end if it is long.

    Examples
    --------
    >>> len(shorten_name("x" * 3000)), shorten_name("short")
    (113, 'short')
    """
    return (
        name
        if len(name) <= MAX_NAME_LENGTH
        else f"{name[:80]} \N{HORIZONTAL ELLIPSIS} {name[-30:]}"
    )


def format_count(number: float) -> str:
    """A count with thousands separators; a mean count has one decimal.

    Examples
    --------
    >>> format_count(5000), format_count(7.0), format_count(7.25)
    ('5,000', '7', '7.2')
    """
    if not math.isfinite(number):
        return MISSING_MARK
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.1f}"


def pluralise(number: int, what: str) -> str:
    """A count and its noun, in the plural unless the count is 1.

    Examples
    --------
    >>> pluralise(1, "column"), pluralise(1200, "column")
    ('1 column', '1,200 columns')
    """
    return f"{format_count(number)} {what}" + "s" * (number != 1)


def format_decimal(number: float | None, digits: int = 3) -> str:
    """A score or correlation; a dash for None and NaN.

    Examples
    --------
    >>> format_decimal(0.86849), format_decimal(12345.678), format_decimal(None) == MISSING_MARK
    ('0.868', '12,346', True)
    """
    if number is None or not math.isfinite(number):
        return MISSING_MARK
    shown = f"{number:,.{digits}f}" if abs(number) < 1000 else f"{number:,.0f}"
    return (
        MINUS + shown[1:]
        if shown.startswith("-") and _has_nonzero_digit(shown)
        else shown.lstrip("-")
    )


def _has_nonzero_digit(shown: str) -> bool:
    return any(digit in shown for digit in "123456789")


def format_significant(number: float | None) -> str:
    """A number with three significant digits.

    Examples
    --------
    >>> format_significant(0.0123456), format_significant(123456.0), format_significant(1.5e-07)
    ('0.0123', '123,456', '1.5e-07')
    """
    if number is None or math.isnan(number):
        return MISSING_MARK
    if math.isinf(number):
        return "\N{INFINITY}" if number > 0 else f"{MINUS}\N{INFINITY}"
    shown = f"{number:,.0f}" if 1000 <= abs(number) < 1e9 else f"{number:.3g}"
    return shown.replace("-", MINUS, 1) if shown.startswith("-") else shown


def html_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> str:
    """A table of HTML cells; the first cell of each row is its heading."""
    kinds = ["number" if one else "text" for one in numeric]
    heads = "".join(
        f'<th scope="col" class="{k}">{h}</th>' for h, k in zip(header, kinds, strict=True)
    )
    body = "\n".join(_html_row(row, kinds) for row in rows)
    return (
        f'<div class="scroll" role="region" aria-label="{caption}" tabindex="0"><table>'
        f"<caption>{caption}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _html_row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    first, *others = zip(cells, kinds, strict=True)
    rest = "".join(f'<td class="{kind}">{cell}</td>' for cell, kind in others)
    return f'<tr><th scope="row" class="{first[1]}">{first[0]}</th>{rest}</tr>'


def light(word: str, stability: float | None) -> str:
    """A stability with its word, which has the colour of a traffic light."""
    if not word:
        return escape(MISSING_MARK)
    return f'<span class="light {word}">{word}</span> {format_decimal(stability, 2)}'


def svg_bar(share: float) -> str:
    """A bar for a share of 0 to 1."""
    width = 100 * min(max(share, 0.0), 1.0)
    return (
        '<svg class="bar" aria-hidden="true"><rect class="ground" width="100%" height="100%"/>'
        f'<rect class="full" width="{width:.2f}%" height="100%"/></svg>'
    )


def svg_dot(position: float, low: float, high: float) -> str:
    """A dot at a position of 0 to 1, with a whisker from low to high."""
    x, x1, x2 = (f"{4 + 92 * one:.2f}%" for one in (position, low, high))
    return (
        '<svg class="dot" aria-hidden="true">'
        '<line class="ground" x1="0" x2="100%" y1="50%" y2="50%"/>'
        f'<line class="whisker" x1="{x1}" x2="{x2}" y1="50%" y2="50%"/>'
        f'<circle cx="{x}" cy="50%" r="5"/></svg>'
    )
