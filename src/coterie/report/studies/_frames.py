"""Results as data frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from coterie._core.values import data_frame
from coterie.report.inspection import (
    Difference,
    Score,
    Summary,
    difference_text,
    format_count,
    light_word,
    pluralise,
)

# Groups in a printed result; the table of a summary has all.
MAX_LINES = 12
# How notes begin that a reader must not miss.
WARNING = "Warning: "


def scores_frame(scores: Sequence[Score], metric: str, differences: Sequence[Difference]) -> Any:
    """The scores of methods as a pandas data frame, one row for each.

    ``difference`` is by how much the first method, coterie, is better, ``log-loss difference`` the
    same by that score; ``low`` and ``high`` are the ends of 95 % intervals.
    """
    ends = [one.half_width if one.half_width is not None else math.nan for one in scores]
    columns: dict[str, Any] = {
        "method": [one.name for one in scores],
        "n_columns": [one.n_columns for one in scores],
        metric: [one.score for one in scores],
        "interval_low": [one.score - end for one, end in zip(scores, ends, strict=True)],
        "interval_high": [one.score + end for one, end in zip(scores, ends, strict=True)],
    }
    columns |= {name: [(one.others or {}).get(name) for one in scores] for name in _more(scores)}
    for judged in dict.fromkeys(one.metric for one in differences):
        named = "difference" if judged == metric else f"{judged} difference"
        beside = {one.rival: one for one in differences if one.metric == judged}
        found = [beside.get(one.name) for one in scores]
        columns[named] = [None if one is None else one.gain for one in found]
        for place, end in enumerate(("low", "high")):
            columns[f"{named}_{end}"] = [
                None if one is None else one.interval[place] for one in found
            ]
    return data_frame(columns)


def score_line(score: Score, differences: Sequence[Difference] = ()) -> str:
    """A score in one line of text, with its 95 % interval and what coterie is beside it."""
    columns = f"{format_count(score.n_columns)} column" + "s" * (score.n_columns != 1)
    beside = beside_text(score, differences)
    beside = f"; coterie is {beside}" if beside else ""
    return f"  {score.name}, {columns}: {interval_text(score)}{beside}"


def beside_text(score: Score, differences: Sequence[Difference]) -> str:
    """What coterie is beside a method."""
    return difference_text([one for one in differences if one.rival == score.name])


def interval_text(score: Score) -> str:
    """A score with half the width of its 95 % interval."""
    error = "" if score.half_width is None else f" \N{PLUS-MINUS SIGN} {score.half_width:.4f}"
    return f"{score.score:.4f}{error}"


def warnings_in(notes: Sequence[str]) -> list[str]:
    """The notes that are warnings."""
    return [note for note in notes if note.startswith(WARNING)]


def group_lines(summary: Summary) -> list[str]:
    """The groups in a line each, the largest first, and what is left out."""
    groups = sorted(summary.groups[: summary.n_columns], key=lambda one: -len(one.members))
    told = [f"  {group_words(one.name, len(one.members), one.stability)}" for one in groups]
    more = [f"  and {len(told) - MAX_LINES:,} more"] if len(told) > MAX_LINES else []
    rest = [] if summary.rest is None else summary.groups[summary.rest].members
    left_out = [f"  left out: {pluralise(len(rest), 'feature')}"] if rest else []
    return [*told[:MAX_LINES], *more, *left_out]


def group_words(name: str, n_members: int, stability: float | None) -> str:
    """A group in words: its name, its size and how stable it is."""
    light = light_word(stability)
    return f"{name}: {pluralise(n_members, 'feature')}" + (f", {light}" if light else "")


def scores_html(
    headline: str,
    scores: Sequence[Score],
    more: Sequence[str] = (),
    differences: Sequence[Difference] = (),
) -> str:
    """A sentence, the scores and further lines as HTML, for notebooks."""
    head = ["method", "columns", "score (\N{PLUS-MINUS SIGN}: 95 % interval)"]
    head += [*_more(scores), *(["coterie is"] if differences else [])]
    rows = [
        [
            one.name,
            format_count(one.n_columns),
            interval_text(one),
            *(f"{(one.others or {}).get(name, math.nan):.4f}" for name in _more(scores)),
            *([beside_text(one, differences)] if differences else []),
        ]
        for one in scores
    ]
    lines = "".join(f"<li>{escape(line.strip())}</li>" for line in more)
    below = f"<ul>{lines}</ul>" if lines else ""
    table = "".join([_html_row("th", head), *(_html_row("td", row) for row in rows)])
    return f"<p>{escape(headline)}</p><table>{table}</table>{below}"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _more(scores: Sequence[Score]) -> list[str]:
    return list(scores[0].others or {}) if scores else []
