"""The static tables of the report, for print and for browsers without scripts."""

from __future__ import annotations

import math

from coterie.report.inspection._html import (
    MISSING_MARK,
    escape,
    format_count,
    format_decimal,
    format_significant,
    html_table,
    isolate_name,
    light,
    pluralise,
    shorten_name,
    svg_bar,
    svg_dot,
)
from coterie.report.inspection._lights import light_word
from coterie.report.inspection._sentences import difference_text, metric_label
from coterie.report.inspection._summary import Group, Score, Summary
from coterie.report.inspection._verdict import Difference

# Limits of the static tables; the scripts of the page show everything.
MAX_TABLE_GROUPS = 300
MAX_TABLE_MEMBERS = 40
MAX_TABLE_STEPS = 60
MAX_UNSTABLE_GROUPS = 10
# The axis of the scores covers at least this range, so that small differences look small.
MIN_AXIS_RANGE = 0.1
TASK_LABELS = {"regression": "numbers (regression)", "classes": "classes (classification)"}


def scores_table(summary: Summary) -> str:
    """The scores as numbers and as dots on one axis, with remarks."""
    if not summary.scores:
        return ""
    low, high = _axis_range(summary.scores)
    metric = escape(metric_label(summary.metric))
    axis = escape(f"from {format_decimal(low, 2)} to {format_decimal(high, 2)}")
    has_errors = any(one.half_width is not None for one in summary.scores)
    meaning = "; \N{PLUS-MINUS SIGN} is half the width of a 95 % interval" if has_errors else ""
    differences = [] if summary.verdict is None else summary.verdict.differences
    judged = {one.metric for one in differences} - {summary.metric}
    others = [name for name in summary.scores[0].others or {} if name in judged]
    last = ["Coterie is"] if differences else []
    return html_table(
        escape(f"{metric_label(summary.metric)}, higher is better{meaning}"),
        ["Columns from", "Number", metric, axis, *map(escape, others), *last],
        [
            [
                *_score_row(one, low, high),
                *(escape(format_decimal((one.others or {}).get(name))) for name in others),
                *([escape(_beside(one, differences))] if differences else []),
            ]
            for one in summary.scores
        ],
        [False, True, True, False, *[True] * len(others), *[False] * len(last)],
    )


def _beside(score: Score, differences: list[Difference]) -> str:
    """What the groups are beside a method."""
    return difference_text([one for one in differences if one.rival == score.name])


def _axis_range(scores: list[Score]) -> tuple[float, float]:
    """Ends of the axis of the scores, including their errors."""
    # A score below 0 would make all others look the same.
    finite = [one for one in scores if math.isfinite(one.score) and one.score >= 0]
    ends = [one.score + sign * _finite_error(one) for one in finite for sign in (-1, 1)] or [
        0.0,
        1.0,
    ]
    short = max(MIN_AXIS_RANGE - (max(ends) - min(ends)), 0.0)
    high = max(ends) + short / 2
    # No score is above 1.
    high = min(high, max(1.0, *ends))
    return min(min(ends), high - MIN_AXIS_RANGE), high


def _finite_error(score: Score) -> float:
    error = score.half_width or 0.0
    return error if math.isfinite(error) else 0.0


def _format_with_error(score: float, half_width: float | None, digits: int = 3) -> str:
    known = half_width is not None and math.isfinite(half_width)
    error = f" \N{PLUS-MINUS SIGN} {format_decimal(half_width, digits)}" if known else ""
    return escape(format_decimal(score, digits) + error)


def _score_row(score: Score, low: float, high: float) -> list[str]:
    places = [
        (score.score + sign * _finite_error(score) - low) / (high - low) for sign in (0, -1, 1)
    ]
    remark = f'<span class="remark">{escape(score.note)}</span>' if score.note else ""
    return [
        isolate_name(score.name) + remark,
        escape(format_count(score.n_columns)),
        _format_with_error(score.score, score.half_width),
        svg_dot(*places) if math.isfinite(score.score) and score.score >= 0 else "",
    ]


def groups_table(summary: Summary) -> str:
    """The largest groups and their members."""
    ranked = sorted(
        enumerate(summary.groups),
        key=lambda item: (item[0] == summary.rest, -len(item[1].members)),
    )
    header = ["Group", "Size", "Members", "Likeness", "Weakest", "Effect", "Lost", "Stability"]
    rows = [_group_row(summary, number, group) for number, group in ranked[:MAX_TABLE_GROUPS]]
    nothing = escape(MISSING_MARK)
    has_values = [any(row[place] != nothing for row in rows) for place in range(len(header))]
    shown = [place for place, has in enumerate(has_values) if place < 3 or has]
    n_left = len(ranked) - len(rows)
    rest = (
        f"<p>{pluralise(n_left, 'more group')}, the smallest, are not in this table.</p>"
        if n_left
        else ""
    )
    return rest + html_table(
        "Groups, the largest first",
        [header[place] for place in shown],
        [[row[place] for place in shown] for row in rows],
        [place not in (0, 2) for place in shown],
    )


def _group_row(summary: Summary, number: int, group: Group) -> list[str]:
    numbered = "" if number == summary.rest else f"{number} "
    return [
        f"{numbered}{isolate_name(shorten_name(group.name))}",
        format_count(len(group.members)),
        _members_cell(summary, group),
        escape(format_decimal(group.likeness, 2)),
        escape(format_decimal(group.weakest, 2)),
        _effect_cell(summary, group),
        _contribution_cell(group),
        light(light_word(group.stability), group.stability),
    ]


def _contribution_cell(group: Group) -> str:
    if group.contribution is None:
        return escape(MISSING_MARK)
    return _format_with_error(group.contribution, group.contribution_error, digits=4)


def _members_cell(summary: Summary, group: Group) -> str:
    """The members, what their names share, and the best of them."""
    told = [_member_names(summary, group)]
    if group.shared:
        told.append(f"Names share: {isolate_name(shorten_name(group.shared))}")
    if group.representative is not None and len(group.members) > 1:
        best = isolate_name(shorten_name(summary.features[group.representative]))
        told.append(f"Best single member: {best}")
    names, *remarks = told
    return names + "".join(f'<span class="remark">{remark}</span>' for remark in remarks)


def _member_names(summary: Summary, group: Group) -> str:
    signs = {-1: escape("\N{MINUS SIGN}"), 1: ""}
    names = [
        signs[summary.signs[one]] + isolate_name(shorten_name(summary.features[one]))
        for one in group.members[:MAX_TABLE_MEMBERS]
    ]
    n_left = len(group.members) - len(names)
    return ", ".join(names) + (f" and {format_count(n_left)} more" if n_left else "")


def _effect_cell(summary: Summary, group: Group) -> str:
    """The largest effect, with its output if there are several."""
    finite = [one for one in range(len(group.effects)) if math.isfinite(group.effects[one])]
    if not finite:
        return escape(MISSING_MARK)
    largest = max(finite, key=lambda one: abs(group.effects[one]))
    of = (
        f" ({isolate_name(shorten_name(summary.outputs[largest]))})"
        if len(summary.outputs) > 1
        else ""
    )
    return escape(format_significant(group.effects[largest])) + of


def path_table(summary: Summary) -> str:
    """The steps of the tolerance path, or every n-th step if there are many."""
    if summary.path is None:
        return ""
    path, n_steps = summary.path, len(summary.path.tolerances)
    marked = {path.best: "best", path.simplest: "simplest"}
    if path.best == path.simplest:
        marked = {path.best: "best and simplest"}
    kept = {*range(0, n_steps, math.ceil(n_steps / MAX_TABLE_STEPS)), n_steps - 1, *marked}
    rows = [
        [
            escape(format_significant(path.tolerances[step])),
            format_count(path.n_groups[step]),
            escape(format_decimal(path.cv_scores[step])),
            escape(format_decimal(path.cv_std_errors[step])),
            escape(format_decimal(path.train_scores[step])),
            marked.get(step, ""),
        ]
        for step in sorted(kept)
    ]
    header = ["Tolerance", "Groups", "Cross-validated", "Standard error"]
    header += ["On the rows of the fit", "Mark"]
    caption = "What each tolerance leads to"
    return html_table(caption, header, rows, [*[True] * 5, False])


def numbers_table(summary: Summary) -> str:
    """The score and the stability of each number of groups."""
    if summary.numbers is None:
        return ""
    path = summary.numbers
    rows = [
        [
            format_count(count),
            escape(format_decimal(score)),
            escape(format_decimal(error)),
            escape(format_decimal(stable, 2)),
            "this fit" if count == summary.n_columns else "",
        ]
        for count, score, error, stable in zip(
            path.n_groups, path.scores, path.std_errors, path.stability, strict=True
        )
    ]
    header = [
        "Groups",
        escape("Cross-validated R\N{SUPERSCRIPT TWO}"),
        "Standard error",
        "Stability",
        "Mark",
    ]
    caption = "What each number of groups leads to"
    return html_table(caption, header, rows, [*[True] * 4, False])


def stability_table(summary: Summary) -> str:
    """The least stable groups."""
    known = [
        (group.stability, number, group)
        for number, group in enumerate(summary.groups)
        if group.stability is not None
        and math.isfinite(group.stability)
        # What is left out is no group.
        and number != summary.rest
    ]
    known.sort(key=lambda item: item[:2])
    rows = [
        [
            f"{number} {isolate_name(shorten_name(group.name))}",
            format_count(len(group.members)),
            light(light_word(share), share),
            svg_bar(share),
        ]
        for share, number, group in known[:MAX_UNSTABLE_GROUPS]
    ]
    if not rows:
        return ""
    few = len(known) > len(rows)
    return html_table(
        "The least stable groups" if few else "The groups, the least stable first",
        ["Group", "Size", "Stability", "from 0 to 1"],
        rows,
        [False, True, True, False],
    )


def facts_list(summary: Summary) -> str:
    """Method, data and parameters, as a list of terms and descriptions."""
    facts = [
        ("Method", summary.method),
        (
            "A group becomes",
            f"the {summary.aggregation} of its features" if summary.aggregation else "",
        ),
        ("Predicts", TASK_LABELS.get(summary.task, summary.task)),
        ("Targets", _join_targets(summary.targets)),
        ("Rows of the fit", "" if summary.n_rows is None else format_count(summary.n_rows)),
        ("Held-out rows", "" if summary.n_test_rows is None else format_count(summary.n_test_rows)),
        ("Tolerance", "" if summary.tolerance is None else format_significant(summary.tolerance)),
        ("Penalty", "" if summary.penalty is None else format_significant(summary.penalty)),
    ]
    pairs = [
        f"<div><dt>{term}</dt><dd>{isolate_name(text)}</dd></div>" for term, text in facts if text
    ]
    pairs += [
        f"<div><dt><code>{isolate_name(name)}</code></dt><dd><code>{isolate_name(value)}</code></dd></div>"
        for name, value in summary.parameters.items()
        if not (name == "tolerance" and summary.tolerance is not None)
    ]
    return "\n".join(pairs)


def _join_targets(names: list[str]) -> str:
    n_left = len(names) - MAX_TABLE_MEMBERS
    return ", ".join(names[:MAX_TABLE_MEMBERS]) + (
        f" and {format_count(n_left)} more" if n_left > 0 else ""
    )


def notes_list(summary: Summary) -> str:
    """The notes with their heading; empty if there are none."""
    items = "\n".join(f"<li>{escape(note)}</li>" for note in summary.notes)
    return f'<h3>Notes</h3>\n<ul class="notes">\n{items}\n</ul>' if items else ""
