"""Results as printed lines and tables."""

from __future__ import annotations

import math
from typing import Any

from coterie.cli._console import add_table_row, empty_table, print_line, print_table
from coterie.cli._options import ColumnOptions
from coterie.cli._roles import PreparedTable
from coterie.report.inspection import (
    Difference,
    Group,
    PathSummary,
    Score,
    Summary,
    columns_sentence,
    metric_label,
    pluralise,
    result_sentence,
    scores_sentence,
)
from coterie.report.studies import Comparison

# Further groups are printed with --all only.
MAX_PRINTED_GROUPS = 25


def target_message(data: PreparedTable, columns: ColumnOptions) -> str:
    """Which task was inferred for the target, or given."""
    names = ", ".join(columns.target)
    if columns.task is not None:
        return f"Target {names}: {data.task.name}."
    return f"Target {names}: {data.task.name} ({data.task.reason}; use --task to change it)."


def missing_values_notes(data: PreparedTable, reducer: Any) -> list[str]:
    """How missing values are handled, if there are any."""
    if not data.n_missing:
        return []
    judged = "Each merge is judged on the rows that have all of its values."
    if reducer.missing == "filled":
        judged = "To find groups, they are taken to be at the mean of their feature."
    note = (
        f"Features lack {pluralise(data.n_missing, 'value')}. {judged} In an aggregate, a missing "
        "value is filled in: it deviates from the mean of its feature as the other members "
        "deviate from theirs."
    )
    return [note]


def headline(summary: Summary) -> str:
    """The result in one line, worded as in the report."""
    if summary.verdict is not None:
        return str(summary.verdict)
    return " ".join(filter(None, [result_sentence(summary), scores_sentence(summary)]))


def print_summary(summary: Summary, *, show_all: bool = False) -> None:
    """Print the result, the scores and the groups."""
    print_line(headline(summary))
    if summary.verdict is not None:
        print_line(f"{columns_sentence(summary)}.")
        print_scores(summary)
    print_line(
        "Groups: alike is the mean correlation of two members, price the highest of a merge, "
        "effect the change of the target per standard deviation, stable the share of repeated fits."
    )
    print_table(_printable_groups(summary, show_all))
    if len(summary.groups) > MAX_PRINTED_GROUPS and not show_all:
        n_left = len(summary.groups) - MAX_PRINTED_GROUPS
        print_line(f"... and {n_left:,} smaller ones: coterie inspect MODEL --all.")
    for note in [*summary.notes, *_score_notes(summary.scores)]:
        print_line(f"Note: {note}")


def print_scores(summary: Summary) -> None:
    """Print the scores of all methods, and how far coterie is from each."""
    verdict = summary.verdict
    assert verdict is not None
    label = metric_label(summary.metric)
    more = list(summary.scores[0].others or {})
    names = [label, *map(metric_label, more)]
    print_line(
        f"Columns by each method, its mean {label} on held-out rows, and by how much coterie is "
        "better (+- is a 95 % interval):"
    )
    table = empty_table(
        ("method", "left"),
        ("columns", "right"),
        *((name, "right") for name in names),
        ("coterie is", "left"),
    )
    for score in summary.scores:
        beside = [one for one in verdict.differences if one.rival == score.name]
        add_table_row(
            table,
            score.name,
            f"{score.n_columns:.1f}",
            f"{score.score:.4f}",
            *(f"{(score.others or {}).get(name, math.nan):.4f}" for name in more),
            _difference_text(beside[0]) if beside else "",
            bold=score is summary.scores[0],
        )
    print_table(table)


def _score_notes(scores: list[Score]) -> list[str]:
    return [f"{score.name}: {score.note}." for score in scores if score.note]


def _printable_groups(summary: Summary, show_all: bool) -> Any:
    """A table of the groups, largest first."""
    has_weights = any(group.effects for group in summary.groups) and len(summary.outputs) == 1
    has_stability = any(group.stability is not None for group in summary.groups)
    numbers = ["members", "alike", "price"]
    numbers += ["effect"] * has_weights + ["stable"] * has_stability
    table = empty_table(("group", "left"), *((name, "right") for name in numbers))
    order = sorted(range(len(summary.groups)), key=lambda g: -len(summary.groups[g].members))
    for number in order if show_all else order[:MAX_PRINTED_GROUPS]:
        group = summary.groups[number]
        cells = [
            group.name,
            f"{len(group.members):,}",
            _format_number(group.likeness),
            _highest_price_text(group),
        ]
        cells += [_format_number(group.effects[0] if group.effects else None)] * has_weights
        cells += [_format_number(group.stability)] * has_stability
        add_table_row(table, *cells)
    return table


def _highest_price_text(group: Group) -> str:
    """The highest price of a merge in the group."""
    return _format_number(max((merge.price for merge in group.merges), default=None))


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def print_path(path: PathSummary, metric: str) -> None:
    """Print the tolerance path as a table."""
    print_line(f"Number of groups and {metric} on held-out folds for each tolerance:")
    table = empty_table(
        ("tolerance", "right"),
        ("groups", "right"),
        (metric, "right"),
        ("std. error", "right"),
        ("", "left"),
    )
    for step, tolerance in enumerate(path.tolerances):
        marks = ["best"] * (step == path.best) + ["simplest"] * (step == path.simplest)
        add_table_row(
            table,
            f"{tolerance:.3g}",
            f"{path.n_groups[step]:,}",
            f"{path.cv_scores[step]:.4f}",
            f"{path.cv_std_errors[step]:.4f}",
            ", ".join(marks),
            bold=bool(marks),
        )
    print_table(table)


def path_columns(path: PathSummary) -> dict[str, list[Any]]:
    """The tolerance path as columns of a table."""
    return {
        "tolerance": path.tolerances,
        "n_groups": path.n_groups,
        "train_score": path.train_scores,
        "cv_score": path.cv_scores,
        "cv_std_error": path.cv_std_errors,
    }


def print_comparison(comparison: Comparison) -> None:
    """Print the score of each method, and the difference to coterie."""
    print_line(f"{comparison.metric} on held-out folds; all methods are fitted to the same rows:")
    table = empty_table(
        ("columns by", "left"),
        ("columns", "right"),
        (comparison.metric, "right"),
        ("std. error", "right"),
        ("coterie is", "left"),
    )
    for score in comparison.scores:
        numbers = f"{score.n_columns:.1f}", f"{score.score:.4f}", f"{score.std_error:.4f}"
        is_ours = score is comparison.scores[0]
        add_table_row(
            table,
            score.name,
            *numbers,
            "" if is_ours else _difference_text(comparison.beside(score.name)),
            bold=is_ours,
        )
    print_table(table)
    for remark in _score_notes(comparison.scores):
        print_line(f"Note: {remark}")


def _difference_text(beside: Difference) -> str:
    """The difference and its 95 % interval; "about the same" if this includes 0."""
    if not math.isfinite(beside.gain):
        return ""
    if beside.error is None:
        return f"{beside.gain:+.3f}"
    word = "better" if beside.is_gain else "worse" if beside.is_loss else "about the same"
    return f"{word} ({beside.gain:+.3f} +- {beside.error:.3f})"
