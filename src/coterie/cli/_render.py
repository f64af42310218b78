"""Answers as sentences and tables, and as plain values for machines."""

from __future__ import annotations

import math
from typing import Any

from coterie.cli._console import console, row, say, table
from coterie.cli._options import Columns
from coterie.cli._roles import Chosen
from coterie.report.inspection import (
    Group,
    PathSummary,
    Score,
    Summary,
    answer,
    counted,
    scores_sentence,
)
from coterie.report.studies import Comparison

# More groups than this fill the screen.
MOST_GROUPS = 25


def about_target(data: Chosen, columns: Columns) -> str:
    """What the target is taken for."""
    names = ", ".join(columns.target)
    if columns.task is not None:
        return f"Target {names}: {data.task.name}."
    return f"Target {names}: {data.task.name} ({data.task.reason}; --task to say otherwise)."


def about_gaps(data: Chosen) -> list[str]:
    """What becomes of gaps, if there are any."""
    if not data.gaps:
        return []
    told = (
        f"Features lack {counted(data.gaps, 'value')}: each question is asked of the rows that "
        "have both, and in an aggregate a member without a value differs from its mean as the "
        "others do."
    )
    return [told]


def headline(summary: Summary) -> str:
    """The answer first, in the words of the report."""
    return " ".join(filter(None, [answer(summary), scores_sentence(summary)]))


def show_summary(summary: Summary, *, every: bool = False) -> None:
    """The answer, the scores and the groups, for people."""
    say(headline(summary))
    screen = console()
    screen.print(_groups(summary, every))
    if len(summary.groups) > MOST_GROUPS and not every:
        left = len(summary.groups) - MOST_GROUPS
        say(f"... and {left:,} smaller ones: coterie inspect MODEL --all.")
    for note in [*summary.notes, *_remarks(summary.scores)]:
        say(f"Note: {note}")


def _remarks(scores: list[Score]) -> list[str]:
    return [f"{score.name}: {score.note}." for score in scores if score.note]


def _groups(summary: Summary, every: bool) -> Any:
    """A table of the groups, the largest first."""
    has_weights = any(group.effects for group in summary.groups) and len(summary.outputs) == 1
    has_stability = any(group.stability is not None for group in summary.groups)
    numbers = ["members", "alike", "price"]
    numbers += ["effect"] * has_weights + ["stable"] * has_stability
    made = table(("group", "left"), *((name, "right") for name in numbers))
    order = sorted(range(len(summary.groups)), key=lambda g: -len(summary.groups[g].members))
    for number in order if every else order[:MOST_GROUPS]:
        group = summary.groups[number]
        cells = [group.name, f"{len(group.members):,}", _number(group.likeness), _paid(group)]
        cells += [_number(group.effects[0] if group.effects else None)] * has_weights
        cells += [_number(group.stability)] * has_stability
        row(made, *cells)
    return made


def _paid(group: Group) -> str:
    """The highest price that was paid."""
    return _number(max((merge.price for merge in group.merges), default=None))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def show_path(path: PathSummary, metric: str) -> None:
    """The path as a table."""
    say(f"What each tolerance leads to, with {metric} on held-out folds:")
    made = table(
        ("tolerance", "right"),
        ("groups", "right"),
        (metric, "right"),
        ("std. error", "right"),
        ("", "left"),
    )
    for step, tolerance in enumerate(path.tolerances):
        marks = ["best"] * (step == path.best) + ["simplest"] * (step == path.simplest)
        row(
            made,
            f"{tolerance:.3g}",
            f"{path.n_groups[step]:,}",
            f"{path.cv_scores[step]:.4f}",
            f"{path.cv_std_errors[step]:.4f}",
            ", ".join(marks),
            bold=bool(marks),
        )
    console().print(made)


def path_columns(path: PathSummary) -> dict[str, list[Any]]:
    """The path as columns of a table."""
    return {
        "tolerance": path.tolerances,
        "n_groups": path.n_groups,
        "train_score": path.train_scores,
        "cv_score": path.cv_scores,
        "cv_std_error": path.cv_std_errors,
    }


def show_comparison(found: Comparison) -> None:
    """Everyone's score, and how far ours is from it."""
    say(f"{found.metric} on held-out folds; all learned from the same rows:")
    made = table(
        ("columns by", "left"),
        ("columns", "right"),
        (found.metric, "right"),
        ("std. error", "right"),
        ("coterie is", "left"),
    )
    for score in found.scores:
        numbers = f"{score.n_columns:.1f}", f"{score.score:.4f}", f"{score.std_error:.4f}"
        is_ours = score is found.scores[0]
        row(
            made,
            score.name,
            *numbers,
            "" if is_ours else _beside(*found.beside(score.name)),
            bold=is_ours,
        )
    console().print(made)
    for remark in _remarks(found.scores):
        say(f"Note: {remark}")


def _beside(gain: float, error: float) -> str:
    """How much better or worse, and whether that is more than chance would do."""
    if not (math.isfinite(gain) and math.isfinite(error)):
        return ""
    if abs(gain) <= 2 * error:
        return f"about the same ({gain:+.3f} +- {error:.3f})"
    return f"{'better' if gain > 0 else 'worse'} ({gain:+.3f} +- {error:.3f})"
