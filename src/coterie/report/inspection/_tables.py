"""The tables of the page that need no scripts: on paper, and for readers who allow none."""

from __future__ import annotations

import math

from coterie.report.inspection._html import (
    NOTHING,
    bar,
    count,
    counted,
    decimal,
    dot,
    escaped,
    isolated,
    shortened,
    significant,
    table,
)
from coterie.report.inspection._sentences import metric_words
from coterie.report.inspection._summary import Group, Score, Summary

# Scripts show all that there is.
MOST_GROUPS = 300
MOST_MEMBERS = 40
MOST_STEPS = 60
MOST_SHAKY = 10
# Scores that differ by less are not drawn as far apart as the page is wide.
NARROWEST = 0.1
TASKS = {"regression": "numbers (regression)", "classes": "classes (classification)"}


def scores_table(summary: Summary) -> str:
    """The scores, a dot for each on one axis, and remarks."""
    if not summary.scores:
        return ""
    low, high = _span(summary.scores)
    metric = escaped(metric_words(summary.metric))
    axis = escaped(f"from {decimal(low, 2)} to {decimal(high, 2)}")
    return table(
        f"{metric}, higher is better",
        ["Columns from", "Number", metric, axis],
        [_score_row(one, low, high) for one in summary.scores],
        [False, True, True, False],
    )


def _span(scores: list[Score]) -> tuple[float, float]:
    """Ends of the axis: all scores and their errors, and never so near that noise looks large."""
    # One that is worse than guessing would make all others look the same.
    finite = [one for one in scores if math.isfinite(one.score) and one.score >= 0]
    ends = [one.score + sign * _error(one) for one in finite for sign in (-1, 1)] or [0.0, 1.0]
    short = max(NARROWEST - (max(ends) - min(ends)), 0.0)
    high = max(ends) + short / 2
    # None of our scores is above 1.
    high = min(high, max(1.0, *ends))
    return min(min(ends), high - NARROWEST), high


def _error(score: Score) -> float:
    error = score.std_error or 0.0
    return error if math.isfinite(error) else 0.0


def _with_error(score: float, std_error: float | None) -> str:
    known = std_error is not None and math.isfinite(std_error)
    return escaped(decimal(score) + (f" \N{PLUS-MINUS SIGN} {decimal(std_error)}" if known else ""))


def _score_row(score: Score, low: float, high: float) -> list[str]:
    places = [(score.score + sign * _error(score) - low) / (high - low) for sign in (0, -1, 1)]
    remark = f'<span class="remark">{escaped(score.note)}</span>' if score.note else ""
    return [
        isolated(score.name) + remark,
        escaped(count(score.n_columns)),
        _with_error(score.score, score.std_error),
        dot(*places) if math.isfinite(score.score) and score.score >= 0 else "",
    ]


def groups_table(summary: Summary) -> str:
    """The largest groups with their members, as a table."""
    ranked = sorted(enumerate(summary.groups), key=lambda item: -len(item[1].members))
    header = ["Group", "Size", "Members", "Likeness", "Weakest", "Effect", "Stability"]
    rows = [_group_row(summary, number, group) for number, group in ranked[:MOST_GROUPS]]
    nothing = escaped(NOTHING)
    shown = [place for place in range(7) if place < 3 or any(row[place] != nothing for row in rows)]
    left = len(ranked) - len(rows)
    rest = (
        f"<p>{counted(left, 'more group')}, the smallest, are not in this table.</p>"
        if left
        else ""
    )
    return rest + table(
        "Groups, the largest first",
        [header[place] for place in shown],
        [[row[place] for place in shown] for row in rows],
        [place not in (0, 2) for place in shown],
    )


def _group_row(summary: Summary, number: int, group: Group) -> list[str]:
    return [
        f"{number} {isolated(shortened(group.name))}",
        count(len(group.members)),
        _members(summary, group),
        escaped(decimal(group.likeness, 2)),
        escaped(decimal(group.weakest, 2)),
        _effect(summary, group),
        escaped(decimal(group.stability, 2)),
    ]


def _members(summary: Summary, group: Group) -> str:
    signs = {-1: escaped("\N{MINUS SIGN}"), 1: ""}
    names = [
        signs[summary.signs[one]] + isolated(shortened(summary.features[one]))
        for one in group.members[:MOST_MEMBERS]
    ]
    left = len(group.members) - len(names)
    return ", ".join(names) + (f" and {count(left)} more" if left else "")


def _effect(summary: Summary, group: Group) -> str:
    """The largest effect, and on which output where there are several."""
    finite = [one for one in range(len(group.effects)) if math.isfinite(group.effects[one])]
    if not finite:
        return escaped(NOTHING)
    largest = max(finite, key=lambda one: abs(group.effects[one]))
    of = f" ({isolated(shortened(summary.outputs[largest]))})" if len(summary.outputs) > 1 else ""
    return escaped(significant(group.effects[largest])) + of


def path_table(summary: Summary) -> str:
    """The steps as a table; every other one, and so on, where there are many."""
    if summary.path is None:
        return ""
    path, n_steps = summary.path, len(summary.path.tolerances)
    marked = {path.best: "best", path.simplest: "simplest"}
    if path.best == path.simplest:
        marked = {path.best: "best and simplest"}
    kept = {*range(0, n_steps, math.ceil(n_steps / MOST_STEPS)), n_steps - 1, *marked}
    rows = [
        [
            escaped(significant(path.tolerances[step])),
            count(path.n_groups[step]),
            _with_error(path.cv_scores[step], path.cv_std_errors[step]),
            escaped(decimal(path.train_scores[step])),
            marked.get(step, ""),
        ]
        for step in sorted(kept)
    ]
    header = ["Tolerance", "Groups", "Cross-validated", "On the rows of the fit", "Mark"]
    return table("What each tolerance leads to", header, rows, [True, True, True, True, False])


def stability_table(summary: Summary) -> str:
    """The groups that held least often."""
    known = [
        (group.stability, number, group)
        for number, group in enumerate(summary.groups)
        if group.stability is not None and math.isfinite(group.stability)
    ]
    known.sort(key=lambda item: item[:2])
    rows = [
        [
            f"{number} {isolated(shortened(group.name))}",
            count(len(group.members)),
            escaped(decimal(held, 2)),
            bar(held),
        ]
        for held, number, group in known[:MOST_SHAKY]
    ]
    if not rows:
        return ""
    few = len(known) > len(rows)
    return table(
        "The groups that held least often" if few else "How often each group held",
        ["Group", "Size", "Held", "from 0 to 1"],
        rows,
        [False, True, True, False],
    )


def facts_list(summary: Summary) -> str:
    """Method, data and parameters, as pairs of terms and descriptions."""
    told = [
        ("Method", summary.method),
        (
            "A group becomes",
            f"the {summary.aggregation} of its features" if summary.aggregation else "",
        ),
        ("Predicts", TASKS.get(summary.task, summary.task)),
        ("Targets", _listed(summary.targets)),
        ("Rows of the fit", "" if summary.n_rows is None else count(summary.n_rows)),
        ("Held-out rows", "" if summary.n_test_rows is None else count(summary.n_test_rows)),
        ("Tolerance", "" if summary.tolerance is None else significant(summary.tolerance)),
        ("Penalty", "" if summary.penalty is None else significant(summary.penalty)),
    ]
    pairs = [f"<div><dt>{term}</dt><dd>{isolated(said)}</dd></div>" for term, said in told if said]
    pairs += [
        f"<div><dt><code>{isolated(name)}</code></dt><dd><code>{isolated(value)}</code></dd></div>"
        for name, value in summary.parameters.items()
        if not (name == "tolerance" and summary.tolerance is not None)
    ]
    return "\n".join(pairs)


def _listed(names: list[str]) -> str:
    left = len(names) - MOST_MEMBERS
    return ", ".join(names[:MOST_MEMBERS]) + (f" and {count(left)} more" if left > 0 else "")


def notes_list(summary: Summary) -> str:
    """The notes under their heading; nothing where there are none."""
    items = "\n".join(f"<li>{escaped(note)}</li>" for note in summary.notes)
    return f'<h3>Notes</h3>\n<ul class="notes">\n{items}\n</ul>' if items else ""
