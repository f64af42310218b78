"""The groups of a fit as a data frame, as text, and as an HTML table for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.values import FloatArray, IntArray, Trace, data_frame

Names = Sequence[str] | NDArray[np.object_]

# Text and tables show this many groups, the largest, and the number of the others.
MOST_ROWS = 12
STYLE = "text-align:left;padding:0.1em 0.8em 0.1em 0;border:0"
NUMBER = "text-align:right;padding:0.1em 0.8em 0.1em 0;border:0"


def groups_frame(
    names: Names, groups: Sequence[IntArray], trace: Trace, inputs: Sequence[str]
) -> Any:
    """A pandas data frame with one row for each group, in their order."""
    columns = {
        "group": list(names),
        "n_members": [len(members) for members in groups],
        "members": [[inputs[member] for member in members] for members in groups],
        "highest_price": highest_prices(trace, len(groups)),
    }
    return data_frame(columns)


def groups_text(headline: str, names: Names, groups: Sequence[IntArray]) -> str:
    """The largest groups in lines of text."""
    largest = _largest(groups)
    lines = [f"  {number}: {names[number]} ({len(groups[number])})" for number in largest]
    more = len(groups) - len(largest)
    return "\n".join([headline, *lines, *([f"  and {more:,} more"] if more else [])])


def groups_html(names: Names, groups: Sequence[IntArray], trace: Trace) -> str:
    """The largest groups as an HTML table: number, aggregate, size and highest price paid."""
    largest, highest = _largest(groups), highest_prices(trace, len(groups))
    rows = "".join(_row(g, names[g], len(groups[g]), highest[g]) for g in largest)
    more = len(groups) - len(largest)
    last = f'<tr><td colspan="4" style="{STYLE}">and {more:,} more</td></tr>' if more else ""
    head = _cells("th", "group", "column", "size", "highest price")
    return (
        '<div class="coterie-groups" style="margin:0.5em 0;overflow-x:auto">'
        f'<table style="border-collapse:collapse;font-size:0.9em">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}{last}</tbody></table></div>"
    )


def highest_prices(trace: Trace, n_groups: int) -> FloatArray:
    """The highest price of the merges of each group, shape (n_groups,); NaN without merges."""
    highest = np.full(n_groups, np.nan)
    merges = trace[trace.accepted]
    np.fmax.at(highest, merges.group, merges.price)
    return highest


def _largest(groups: Sequence[IntArray]) -> list[int]:
    sizes = np.array([len(members) for members in groups])
    return np.argsort(-sizes, kind="stable")[:MOST_ROWS].tolist()


def _row(number: int, name: object, size: int, price: float) -> str:
    paid = "" if np.isnan(price) else f"{price:.2g}"
    return f"<tr>{_cells('td', number, name, size, paid)}</tr>"


def _cells(tag: str, number: object, name: object, size: object, price: object) -> str:
    cells = [(number, NUMBER), (name, STYLE), (size, NUMBER), (price, NUMBER)]
    return "".join(f'<{tag} style="{style}">{escape(str(text))}</{tag}>' for text, style in cells)
