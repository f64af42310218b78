"""What a summary says in sentences, as text."""

from __future__ import annotations

import math

from coterie.report.inspection._html import count, counted, decimal
from coterie.report.inspection._summary import Score, Summary

ALL = "all columns"
# A difference that two digits do not show.
SAME = 0.005
# Further scores stand in the table.
MOST_SPOKEN = 4


def metric_words(metric: str) -> str:
    """The name of a score, as it is printed."""
    return {"R2": "R\N{SUPERSCRIPT TWO}", "": "score"}.get(metric, metric)


def answer(summary: Summary) -> str:
    """What became of the columns and of the score, in one sentence."""
    change = change_of_score(summary.scores)
    change += _in_rows(summary) if " by " in change else ""
    return became(summary) + (f"; {change}." if change else ".")


def became(summary: Summary) -> str:
    """How many columns became how many."""
    before, after = len(summary.features), len(summary.groups)
    if before == after:
        return "No columns" if not before else f"{counted(before, 'column')} stayed apart"
    return f"{counted(before, 'column')} became {count(after)}"


def change_of_score(scores: list[Score]) -> str:
    """Whether the score was kept, and how much it changed if not; nothing if that is not known.

    A score below 0 is worse than guessing the mean, however far below it is, and counts as 0.

    Examples
    --------
    >>> change_of_score([Score("coterie", 7, 0.868), Score("all columns", 100, 0.865)])
    'the score was kept'
    >>> change_of_score([Score("coterie", 7, 0.80), Score("all columns", 100, 0.85)])
    'the score fell by 0.050'
    """
    whole = next((score for score in scores[1:] if score.name == ALL), None)
    if whole is None or not (math.isfinite(whole.score) and math.isfinite(scores[0].score)):
        return ""
    gain = max(scores[0].score, 0.0) - max(whole.score, 0.0)
    if abs(gain) <= SAME:
        return "the score was kept" if max(scores[0].score, whole.score) > 0 else ""
    return f"the score {'rose' if gain > 0 else 'fell'} by {decimal(abs(gain))}"


def _in_rows(summary: Summary) -> str:
    """How many rows a difference in accuracy is; nothing for other scores."""
    whole = next((score for score in summary.scores[1:] if score.name == ALL), None)
    if summary.metric != "accuracy" or not summary.n_test_rows or whole is None:
        return ""
    gain = abs(summary.scores[0].score - whole.score) * summary.n_test_rows
    return f", which is {counted(round(gain), 'row')} of {count(summary.n_test_rows)}"


def scores_sentence(summary: Summary) -> str:
    """The scores themselves; nothing where there are none."""
    spoken = [one for one in summary.scores[:MOST_SPOKEN] if math.isfinite(one.score)]
    if not spoken or spoken[0] is not summary.scores[0]:
        return ""
    parts = [f"{_value(one)} {_behind(one, place)}" for place, one in enumerate(spoken)]
    metric = metric_words(summary.metric)
    return f"{metric[:1].upper()}{metric[1:]}{_on_rows(summary)}: {', '.join(parts)}."


def _value(score: Score) -> str:
    return "below 0" if score.score < 0 else decimal(score.score)


def _on_rows(summary: Summary) -> str:
    if summary.n_test_rows is None:
        return " on held-out rows"
    return f" on {counted(summary.n_test_rows, 'held-out row')}"


def _behind(score: Score, place: int) -> str:
    columns = f"{count(score.n_columns)} column" + "s" * (score.n_columns != 1)
    if place == 0:
        return f"with {columns}"
    return (
        f"with all {count(score.n_columns)}"
        if score.name == ALL
        else f"with {score.name} ({columns})"
    )


def no_score_sentence(summary: Summary) -> str:
    """Why nothing is said of a score."""
    if summary.scores:
        return "The score of this fit could not be computed; the table says why."
    return "There is no score on held-out rows, so nothing is said of what the columns still tell."


def agreement_sentence(summary: Summary) -> str:
    """How far resamples gave the same groups."""
    n = summary.n_resamples
    told = (
        f"The fit was repeated {'often' if n is None else f'{count(n)} times'}, each time on a "
        "random draw of its rows. Held is the share of these in which two members were together, "
        "on average; for a single feature, in which it stayed alone."
    )
    if summary.agreement is None:
        return told
    return (
        f"{told} As a whole, the groups agree by {decimal(summary.agreement, 2)} (adjusted Rand "
        "index: 1 means the same groups, 0 what chance would give)."
    )
