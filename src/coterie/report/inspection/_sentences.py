"""Sentences about a summary."""

from __future__ import annotations

import math
from collections.abc import Sequence

from coterie.report.inspection._html import format_count, format_decimal, pluralise
from coterie.report.inspection._lights import lights_sentence
from coterie.report.inspection._summary import Score, Summary
from coterie.report.inspection._verdict import Difference, decisive

ALL_COLUMNS = "all columns"
# Smaller differences count as no change.
EQUAL_SCORE_TOLERANCE = 0.005
# Further scores are only in the table.
MAX_SCORES_IN_SENTENCE = 4


def metric_label(metric: str) -> str:
    """The name of a score as printed."""
    return {"R2": "R\N{SUPERSCRIPT TWO}", "": "score"}.get(metric, metric)


def difference_text(
    differences: Sequence[Difference], plus_minus: str = "\N{PLUS-MINUS SIGN}"
) -> str:
    r"""What the groups are beside one other method, by the score that decides.

    Examples
    --------
    >>> difference_text([Difference("PCA", "R2", 0.1, 0.02)])
    'better (+0.100 \xb1 0.020)'
    >>> both = Difference("PCA", "ROC AUC", 0.0, 0.01), Difference("PCA", "log-loss", -0.2, 0.1)
    >>> difference_text(both, "+-")
    'worse (log-loss: -0.200 +- 0.100)'
    """
    if not differences:
        return ""
    one = decisive(differences)
    if not one.word:
        return ""
    # Adding 0 turns -0.0 into 0.0.
    told = f"{round(one.gain, 3) + 0.0:+.3f}"
    told = told if one.error is None else f"{told} {plus_minus} {one.error:.3f}"
    label = "" if one is differences[0] else f"{metric_label(one.metric)}: "
    return f"{one.word} ({label}{told})"


def result_sentence(summary: Summary) -> str:
    """The verdict; without one, the number of columns and the change of the score."""
    if summary.verdict is not None:
        return summary.verdict.sentence
    change = score_change(summary.scores)
    if summary.metric == "accuracy":
        # Where a class is rare, an accuracy is kept by never predicting it.
        change = change + _change_in_rows(summary) if " by " in change else ""
    return columns_sentence(summary) + (f"; {change}." if change else ".")


def columns_sentence(summary: Summary) -> str:
    """The number of columns before and after."""
    before, after = len(summary.features), summary.n_columns
    if before == after:
        return "No columns" if not before else f"{pluralise(before, 'column')} stayed apart"
    became = f"{pluralise(before, 'column')} became {format_count(after)}"
    if summary.rest is None:
        return became
    n_left_out = len(summary.groups[summary.rest].members)
    are = "is" if n_left_out == 1 else "are"
    return f"{became}; {format_count(n_left_out)} of the {format_count(before)} {are} left out"


def score_change(scores: list[Score]) -> str:
    """Whether the score changed compared with all columns; empty if unknown.

    A score below 0 is worse than predicting the mean, and counts as 0.

    Examples
    --------
    >>> score_change([Score("coterie", 7, 0.868), Score("all columns", 100, 0.865)])
    'the score was kept'
    >>> score_change([Score("coterie", 7, 0.80), Score("all columns", 100, 0.85)])
    'the score fell by 0.050'
    """
    all_columns = next((score for score in scores[1:] if score.name == ALL_COLUMNS), None)
    if all_columns is None or not (
        math.isfinite(all_columns.score) and math.isfinite(scores[0].score)
    ):
        return ""
    gain = max(scores[0].score, 0.0) - max(all_columns.score, 0.0)
    if abs(gain) <= EQUAL_SCORE_TOLERANCE:
        return "the score was kept" if max(scores[0].score, all_columns.score) > 0 else ""
    return f"the score {'rose' if gain > 0 else 'fell'} by {format_decimal(abs(gain))}"


def _change_in_rows(summary: Summary) -> str:
    """A difference in accuracy as a number of rows; empty for other scores."""
    all_columns = next((score for score in summary.scores[1:] if score.name == ALL_COLUMNS), None)
    if summary.metric != "accuracy" or not summary.n_test_rows or all_columns is None:
        return ""
    gain = abs(summary.scores[0].score - all_columns.score) * summary.n_test_rows
    return f", which is {pluralise(round(gain), 'row')} of {format_count(summary.n_test_rows)}"


def scores_sentence(summary: Summary) -> str:
    """The scores; empty if there are none."""
    named = [one for one in summary.scores[:MAX_SCORES_IN_SENTENCE] if math.isfinite(one.score)]
    if not named or named[0] is not summary.scores[0]:
        return ""
    parts = [
        f"{_score_text(one)} {_columns_text(one, position)}" for position, one in enumerate(named)
    ]
    metric = metric_label(summary.metric)
    return f"{metric[:1].upper()}{metric[1:]}{_test_rows_text(summary)}: {', '.join(parts)}."


def _score_text(score: Score) -> str:
    return "below 0" if score.score < 0 else format_decimal(score.score)


def _test_rows_text(summary: Summary) -> str:
    if summary.n_test_rows is None:
        return " on held-out rows"
    return f" on {pluralise(summary.n_test_rows, 'held-out row')}"


def _columns_text(score: Score, position: int) -> str:
    columns = f"{format_count(score.n_columns)} column" + "s" * (score.n_columns != 1)
    if position == 0:
        return f"with {columns}"
    return (
        f"with all {format_count(score.n_columns)}"
        if score.name == ALL_COLUMNS
        else f"with {score.name} ({columns})"
    )


def no_score_sentence(summary: Summary) -> str:
    """Why there is no score."""
    if summary.scores:
        return "The score of this fit could not be computed; the table says why."
    return "There is no score on held-out rows, so it is unknown how well the groups predict."


def is_resampled(summary: Summary) -> bool:
    """Whether stability is that of resamples; if not, the fit has measured it itself."""
    return summary.n_resamples is not None or summary.agreement is not None


def stability_meaning(summary: Summary) -> str:
    """What the stability of a group is."""
    if is_resampled(summary):
        return (
            "the share of repeated fits in which two members were in the same group; for a "
            "single feature, in which it was alone"
        )
    return (
        "how well the group is found again from half of the rows: the members in both it "
        "and its counterpart there, divided by those in either, averaged over five draws"
    )


def stability_sentence(summary: Summary) -> str:
    """How far the groups found from some of the rows agree with these."""
    meaning = f"Stability is {stability_meaning(summary)}. {lights_sentence()}"
    if not is_resampled(summary):
        return meaning
    n = summary.n_resamples
    repeated = (
        f"The fit was repeated {'often' if n is None else f'{format_count(n)} times'}, each time "
        "on a random draw of its rows."
    )
    if summary.agreement is None:
        return f"{repeated} {meaning}"
    return (
        f"{repeated} {meaning} As a whole, the groups agree by "
        f"{format_decimal(summary.agreement, 2)} "
        "(adjusted Rand index: 1 means the same groups, 0 no more than by chance)."
    )


def effect_sentence(summary: Summary) -> str:
    """In which units effects are."""
    unit = {"classes": "in log-odds", "counts": "in logarithms of the count"}.get(
        summary.task, "in units of the target"
    )
    return f"how much the prediction changes with one standard deviation of the group, {unit}"


def lost_sentence(summary: Summary) -> str:
    """What the contribution of a group is; empty if none was computed."""
    if all(group.contribution is None for group in summary.groups):
        return ""
    return (
        f"by how much {metric_label(summary.metric)} on held-out rows falls if the group is left "
        "out, with its 95 % interval; groups that predict the same can replace each other, and "
        f"each then loses little{_levels_text(summary)}"
    )


def _levels_text(summary: Summary) -> str:
    """That levels of one column are left out together, if two groups are such."""
    groups = summary.groups[: summary.n_columns]
    names = [summary.features[one.members[0]] for one in groups if len(one.members) == 1]
    columns = [name.partition("=")[0] for name in names if "=" in name]
    if len({*columns}) == len(columns):
        return ""
    return "; levels of one column are left out together"
