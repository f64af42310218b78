"""Results as data frames."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from coterie._core.values import data_frame
from coterie.report.inspection import Score, format_count


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


def scores_html(headline: str, scores: Sequence[Score]) -> str:
    """A sentence and the scores as HTML, for notebooks."""
    cells = (
        f"<tr><td>{escape(one.name)}</td><td>{format_count(one.n_columns)}</td><td>{one.score:.4f}</td></tr>"
        for one in scores
    )
    head = "<tr><th>method</th><th>columns</th><th>score</th></tr>"
    return f"<p>{escape(headline)}</p><table>{head}{''.join(cells)}</table>"


def _more(scores: Sequence[Score]) -> list[str]:
    return list(scores[0].others or {}) if scores else []
