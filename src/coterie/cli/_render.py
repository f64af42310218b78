"""Results as printed lines and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from coterie.cli._console import Side, add_table_row, empty_table, print_line, print_table
from coterie.cli._options import ColumnOptions
from coterie.cli._roles import PreparedTable
from coterie.report.inspection import (
    Group,
    PathSummary,
    Score,
    Summary,
    columns_sentence,
    difference_text,
    effect_sentence,
    light_word,
    lights_sentence,
    lost_sentence,
    metric_label,
    pluralise,
    result_sentence,
    scores_sentence,
    stability_meaning,
)
from coterie.report.studies import WARNING, Comparison

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
    warned = [note for note in summary.notes if note.startswith(WARNING)]
    for note in warned:
        print_line(note)
    columns = _group_columns(summary)
    print_line("Groups:")
    for column in columns:
        if column.meaning:
            print_line(f"  {column.name}: {column.meaning}.")
    print_table(_printable_groups(summary, columns, show_all))
    if len(summary.groups) > MAX_PRINTED_GROUPS and not show_all:
        n_left = len(summary.groups) - MAX_PRINTED_GROUPS
        print_line(f"... and {n_left:,} smaller ones: coterie inspect MODEL --all.")
    others = [note for note in summary.notes if note not in warned]
    print_notes([*others, *_score_notes(summary.scores)])


def print_notes(notes: Sequence[str]) -> None:
    """Print each note in a line."""
    for note in notes:
        print_line(f"Note: {note}")


def print_scores(summary: Summary) -> None:
    """Print the scores of all methods, and how far coterie is from each."""
    verdict = summary.verdict
    assert verdict is not None
    label = metric_label(summary.metric)
    more = list(summary.scores[0].others or {})
    names = [label, *map(metric_label, more)]
    print_line(
        f"Columns by each method, its mean {label} on held-out rows, and what coterie is beside "
        "it, by how much (+- is half the width of a 95 % interval):"
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
            _with_interval(score),
            *(f"{(score.others or {}).get(name, math.nan):.4f}" for name in more),
            difference_text(beside, "+-"),
            bold=score is summary.scores[0],
        )
    print_table(table)


def _with_interval(score: Score) -> str:
    """A score and half the width of its 95 % interval."""
    error = "" if score.half_width is None else f" +- {score.half_width:.4f}"
    return f"{score.score:.4f}{error}"


def _score_notes(scores: list[Score]) -> list[str]:
    return [f"{score.name}: {score.note}." for score in scores if score.note]


class GroupColumn(NamedTuple):
    """A column of the table of groups.

    Parameters
    ----------
    name : str
    meaning : str
        What it shows; empty if the name says it.
    text : callable
        From a group to its cell.
    side : {"left", "right"}
    """

    name: str
    meaning: str
    text: Callable[[Group], str]
    side: Side = "right"


def _group_columns(summary: Summary) -> list[GroupColumn]:
    """The columns of the table of groups for which there are values."""
    has_effects = len(summary.outputs) == 1
    columns = [
        GroupColumn("group", "", lambda one: one.name, "left"),
        GroupColumn("members", "", lambda one: f"{len(one.members):,}"),
        GroupColumn(
            "alike",
            "mean correlation of two members",
            lambda one: _format_number(one.likeness),
        ),
        GroupColumn("price", "the highest price of a merge", _highest_price_text),
        GroupColumn(
            "effect",
            effect_sentence(summary),
            lambda one: _format_number(one.effects[0] if one.effects and has_effects else None),
        ),
        GroupColumn("lost", lost_sentence(summary), _lost_text),
        GroupColumn(
            "stable",
            f"{stability_meaning(summary)}. {lights_sentence()[:-1]}",
            _stability_text,
        ),
        GroupColumn("names share", "", lambda one: one.shared, "left"),
        GroupColumn(
            "best member",
            "the member that is most correlated with the group",
            lambda one: summary.name_of(one.representative) or "",
            "left",
        ),
    ]
    return [one for one in columns if any(map(one.text, summary.groups))]


def _printable_groups(summary: Summary, columns: list[GroupColumn], show_all: bool) -> Any:
    """A table of the groups, largest first; what is left out comes last."""
    table = empty_table(*((one.name, one.side) for one in columns))
    order = sorted(
        range(len(summary.groups)),
        key=lambda g: (g == summary.rest, -len(summary.groups[g].members)),
    )
    for number in order if show_all else order[:MAX_PRINTED_GROUPS]:
        add_table_row(table, *(one.text(summary.groups[number]) for one in columns))
    return table


def _lost_text(group: Group) -> str:
    """What the score loses without the group, with its interval."""
    if group.contribution is None:
        return ""
    # Adding 0 turns -0.0 into 0.0.
    lost = f"{round(group.contribution, 4) + 0.0:.4f}"
    error = group.contribution_error
    return lost if error is None else f"{lost} +- {error:.4f}"


def _stability_text(group: Group) -> str:
    """The stability with its word."""
    if group.stability is None:
        return ""
    return f"{group.stability:.2f} {light_word(group.stability)}"


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
        (f"{comparison.metric} (+-: 95 %)", "right"),
        ("coterie is", "left"),
    )
    for score in comparison.scores:
        numbers = f"{score.n_columns:.1f}", _with_interval(score)
        is_ours = score is comparison.scores[0]
        add_table_row(
            table,
            score.name,
            *numbers,
            "" if is_ours else difference_text([comparison.beside(score.name)], "+-"),
            bold=is_ours,
        )
    print_table(table)
    print_notes(_score_notes(comparison.scores))
