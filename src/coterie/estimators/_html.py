"""The groups of a fitted reducer as an HTML table, for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

# The table shows this many groups, and the number of the others.
MOST_ROWS = 12
STYLE = "text-align:left;padding:0.1em 0.8em 0.1em 0;border:0"
NUMBER = "text-align:right;padding:0.1em 0.8em 0.1em 0;border:0"


def groups_shown(reducer: Any) -> str:
    """The largest groups as an HTML table: number, aggregate, size and highest price paid.

    An empty string for a reducer that is not fitted.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> groups_shown(NonLinCFA())
    ''
    >>> groups_shown(NonLinCFA().fit(X, y)).count("<tr>")
    4
    """
    try:
        names = reducer.get_feature_names_out()
    except (AttributeError, ValueError, IndexError):
        # Not fitted, or the last fit failed: scikit-learn's diagram is still shown.
        return ""
    sizes = np.bincount(reducer.labels_[reducer.labels_ >= 0])
    largest = np.argsort(-sizes, kind="stable")[:MOST_ROWS]
    highest = _highest_prices(reducer.trace_, len(sizes))
    rows = "".join(_row(g, names[g], sizes[g], highest[g]) for g in largest.tolist())
    more = len(sizes) - len(largest)
    last = f'<tr><td colspan="4" style="{STYLE}">and {more:,} more</td></tr>' if more else ""
    head = _cells("th", "group", "column", "size", "highest price")
    return (
        '<div class="coterie-groups" style="margin:0.5em 0;overflow-x:auto">'
        f'<table style="border-collapse:collapse;font-size:0.9em">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}{last}</tbody></table></div>"
    )


def _highest_prices(trace: Any, n_groups: int) -> Any:
    """The highest price of the merges of each group, shape (n_groups,); NaN without merges."""
    highest = np.full(n_groups, np.nan)
    merges = trace[trace.accepted]
    np.fmax.at(highest, merges.group, merges.price)
    return highest


def _row(number: int, name: object, size: int, price: float) -> str:
    paid = "" if np.isnan(price) else f"{price:.2g}"
    return f"<tr>{_cells('td', number, name, size, paid)}</tr>"


def _cells(tag: str, number: object, name: object, size: object, price: object) -> str:
    cells = [(number, NUMBER), (name, STYLE), (size, NUMBER), (price, NUMBER)]
    return "".join(f'<{tag} style="{style}">{escape(str(text))}</{tag}>' for text, style in cells)
