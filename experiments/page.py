"""The results as a page: tables.md, and index.html with everything in one file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pandas as pd

from experiments.comparison import HERE, KEYS
from experiments.drawing import INK
from experiments.fight_sections import fight_sections
from experiments.figures import write_figures
from experiments.paper_sections import paper_sections
from experiments.sections import Cell, Section, Table, paragraphs

TITLE = "The paper, table by table, and a fair fight"
# A symbol beside each colour, for readers who do not see colours and for printers.
MARKS = {
    "equal": "✓",
    "within a row": "≈",
    "erratum": "E",
    "within draws": "≍",
    "outside draws": "≭",
    "not comparable": "-",
    "not run": "○",
    "different": "✗",
}


def write_page(results: pd.DataFrame, folder: Path) -> None:
    """Write tables.md, index.html and the figures of some results, complete or not."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = write_figures(results, folder / "figures")
    told = sections(results, figures)
    drawn = {name: inline_svg(path.read_text("utf-8"), name) for name, path in figures.items()}
    (folder / "tables.md").write_text(as_markdown(told), "utf-8")
    (folder / "index.html").write_text(as_html(told, drawn), "utf-8")


def sections(results: pd.DataFrame, figures: Iterable[str] = ()) -> list[Section]:
    """Everything there is to say, without the sections that would be empty."""
    told = paper_sections(results, figures) + fight_sections(results, figures)
    told.append(run_again(results))
    return [section for section in told if section.text or section.tables or section.figures]


def run_again(results: pd.DataFrame) -> Section:
    """How to get these results, and what they were made with."""
    made_with = results[["version", "libraries"]].astype(object).fillna("").drop_duplicates()
    text = [
        f"{len(results)} rows; their fits took {_minutes(results):.0f} minutes of one core.",
        *(f"Made with coterie {row.version}, {row.libraries}." for row in made_with.itertuples()),
        "All tables and figures read one tidy file with a row for each fit.",
        "A run that was interrupted goes on where it stopped.",
    ]
    commands = ["make reproduce", "python -m experiments plans"]
    commands.append("python -m experiments run table-finance")
    return Section("Run it again", " ".join(text), code="\n".join(commands))


def as_markdown(told: list[Section]) -> str:
    """All sections in Markdown; figures as links to the files beside it."""
    marks = ", ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())
    parts = [f"# {TITLE}", f"{marks}."]
    for section in told:
        parts += [f"## {_markdown(section.title)}", *map(_markdown, paragraphs(section))]
        parts += [f"![{_markdown(text)}](figures/{name}.svg)" for name, text in section.figures]
        parts += [markdown_table(table) for table in section.tables]
        parts += [f"```\n{section.code}\n```"] * bool(section.code)
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """A table with its caption above and its notes below."""
    lines = [[_markdown(name) for name in table.columns], ["---"] * len(table.columns)]
    lines += [[_written(cell) for cell in row] for row in table.rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "\n".join(f"{i}. {_markdown(note)}" for i, note in enumerate(table.notes, 1))
    caption = f"**{_markdown(table.caption)}**" if table.caption else ""
    return "\n\n".join(part for part in (caption, body, notes) if part)


def as_html(told: list[Section], drawn: dict[str, str]) -> str:
    """One page that needs nothing else: style and figures are inside."""
    places = [(f"part-{i}", section) for i, section in enumerate(told)]
    contents = "".join(
        f'<li><a href="#{place}">{escape(section.title)}</a></li>' for place, section in places
    )
    marks = " ".join(html_mark(verdict, named=True) for verdict in MARKS)
    body = "\n".join(html_section(section, place, drawn) for place, section in places)
    style = (HERE / "page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(TITLE)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(TITLE)}</h1>\n<p class="marks">{marks}</p>\n'
        f"<nav><details open><summary>Contents</summary><ol>{contents}</ol></details></nav>\n"
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def html_section(section: Section, place: str, drawn: dict[str, str]) -> str:
    """Heading, text, figures, tables and code of a section."""
    parts = [f"<h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(text)}</p>" for text in paragraphs(section)]
    parts += [
        f'<figure><div class="wide">{drawn[name]}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
        for name, caption in section.figures
        if name in drawn
    ]
    parts += [html_table(table) for table in section.tables]
    parts += [f"<pre>{escape(section.code)}</pre>"] * bool(section.code)
    return f'<section id="{place}">\n' + "\n".join(parts) + "\n</section>"


def html_table(table: Table) -> str:
    """A table that scrolls sideways where it is too wide, folded away if asked."""
    kinds = [_is_numeric(column) for column in zip(*table.rows, strict=True)]
    kinds = kinds or [False] * len(table.columns)
    head = "".join(
        f"<th{' class=number' if numeric else ''}>{escape(name)}</th>"
        for name, numeric in zip(table.columns, kinds, strict=True)
    )
    rows = "\n".join(f"<tr>{''.join(map(html_cell, row))}</tr>" for row in table.rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    notes = f'<ol class="notes">{notes}</ol>' if notes else ""
    body = (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n'
        f"</table></div>\n{notes}"
    )
    if table.folded:
        return f"<details><summary>{escape(table.caption)}</summary>\n{body}</details>"
    return (f"<h3>{escape(table.caption)}</h3>\n" if table.caption else "") + body


def html_cell(cell: Cell) -> str:
    """A cell: verdicts as coloured marks, numbers to the right."""
    if cell.verdict:
        return f'<td class="mark">{html_mark(cell.verdict)}</td>'
    kind = ' class="number"' if _is_numeric([cell]) else ""
    text = escape(cell.text)
    return f"<td{kind}>{f'<b>{text}</b>' if cell.ours else text}</td>"


def html_mark(verdict: str, *, named: bool = False) -> str:
    """The symbol of a verdict in its colour; the word for who points at it or cannot see it."""
    kind = escape(verdict.replace(" ", "-"))
    word = f" {escape(verdict)}" if named else f'<span class="word">{escape(verdict)}</span>'
    symbol = escape(MARKS.get(verdict, verdict))
    return f'<span class="{kind}" title="{escape(verdict)}">{symbol}{word}</span>'


def inline_svg(text: str, name: str) -> str:
    """A figure to stand inside the page: own ids, the page's text colour, no background."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    text = text.replace(INK, "currentColor").replace("fill: #ffffff", "fill: none")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(name)}" ', 1)


def _minutes(results: pd.DataFrame) -> float:
    """Time of all fits: the rows of one curve come from one fit and repeat its seconds."""
    seconds = pd.to_numeric(results["seconds"], errors="coerce")
    fits = [results[key] for key in ("plan", *KEYS, "trial")] + [results["protocol"] == "honest"]
    return seconds.groupby(fits, dropna=False).max().sum() / 60


def _is_numeric(column: Iterable[Cell]) -> bool:
    """Whether cells hold numbers, or nothing."""
    texts = [cell.text for cell in column if cell.text]
    return bool(texts) and all(re.match(r"[-+]?\d", text) for text in texts)


def _written(cell: Cell) -> str:
    text = _markdown(MARKS.get(cell.verdict, cell.text))
    return f"**{text}**" if cell.ours else text


def _markdown(text: str) -> str:
    """Text in which nothing means anything to Markdown, on one line."""
    return re.sub(r"([\\`*<\[\]|~])", r"\\\1", " ".join(text.split()))
