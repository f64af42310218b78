"""Results as data frames."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from coterie._core.values import data_frame
from coterie.report.inspection import Score, Summary, format_count, light_word, pluralise

# Groups in a printed result; the table of a summary has all.
MAX_LINES = 12


def scores_frame(scores: Sequence[Score], metric: str) -> Any:
    """The scores of methods as a pandas data frame, one row for each."""
    more = {name: [(one.others or {}).get(name) for one in scores] for name in _more(scores)}
    columns = {
        "method": [one.name for one in scores],
        "n_columns": [one.n_columns for one in scores],
        metric: [one.score for one in scores],
        "std_error": [one.std_error for one in scores],
    }
    return data_frame(columns | more)


def score_line(score: Score) -> str:
    """A score in one line of text."""
    error = "" if score.std_error is None else f" (standard error {score.std_error:.4f})"
    return f"  {score.name}, {format_count(score.n_columns)} columns: {score.score:.4f}{error}"


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


def scores_html(headline: str, scores: Sequence[Score], more: Sequence[str] = ()) -> str:
    """A sentence, the scores and further lines as HTML, for notebooks."""
    cells = (
        f"<tr><td>{escape(one.name)}</td><td>{format_count(one.n_columns)}</td>"
        f"<td>{one.score:.4f}</td></tr>"
        for one in scores
    )
    head = "<tr><th>method</th><th>columns</th><th>score</th></tr>"
    lines = "".join(f"<li>{escape(line.strip())}</li>" for line in more)
    below = f"<ul>{lines}</ul>" if lines else ""
    return f"<p>{escape(headline)}</p><table>{head}{''.join(cells)}</table>{below}"


def _more(scores: Sequence[Score]) -> list[str]:
    return list(scores[0].others or {}) if scores else []
