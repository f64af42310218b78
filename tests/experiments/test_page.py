"""The page stands alone, escapes what it is given and copes with missing plans."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from experiments.drawing import styles
from experiments.figures import real_figure
from experiments.page import MARKS, as_html, as_markdown, inline_svg, markdown_table, sections
from experiments.page import write_page as write
from experiments.results import COLUMNS
from experiments.sections import Section, Table, cells

HOSTILE = '<script src="http://example.com/x.js">alert(1)</script> | *b* `c` & "d"'
VOID = {"meta", "br", "hr", "img", "path", "use", "rect", "circle"}


def frame(*rows):
    return pd.DataFrame([dict.fromkeys(COLUMNS, "") | row for row in rows], columns=COLUMNS)


def fight(methods=("NonLinCFA auto", "GenLinCFA auto", "lasso"), datasets=("a", "b", "c")):
    rng = np.random.default_rng(0)
    shared = {"plan": "beyond", "protocol": "honest", "seconds": 1.5, "n_measured": 7}
    shared |= {"stability": 0.5, "version": "0.1", "libraries": "numpy 2"}
    return [
        shared | {"dataset": d, "method": m, "trial": t, "n_groups": 3 + i, "score": rng.random()}
        for d in datasets
        for i, m in enumerate(methods)
        for t in range(2)
    ]


def paper_runs():
    shared = {"plan": "table-linear-regression", "dataset": "lin-100-reg", "inputs": "x"}
    shared |= {"aggregation": "mean", "protocol": "paper", "method": "NonLinCFA"}
    return [
        shared | {"tolerance": e, "trial": t, "n_groups": d, "score": 0.8664 + 0.001 * t}
        for e, d in (("0.01", 1), ("0.001", 8))
        for t in range(10)
    ]


class Checker(HTMLParser):
    """Notes everything that would be loaded, and whether tags close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.tags, self.ids = [], [], set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        given = dict(attributes)
        self.loaded += [v for k, v in attributes if k in ("src", "href", "xlink:href", "data")]
        self.ids += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(page):
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return checker


def well_formed(markdown):
    """Every line of a table has as many bars as its first."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", markdown, flags=re.MULTILINE)
    for block in blocks:
        bars = [len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()]
        assert len(set(bars)) == 1, block
        assert set(block.splitlines()[1]) <= set("|- ")
    return len(blocks)


@pytest.mark.slow
def test_the_page_loads_nothing_and_holds_its_figures(tmp_path):
    methods = ["NonLinCFA auto", "lasso", HOSTILE]
    results = frame(*paper_runs(), *fight(methods))
    write(results, tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    checker = checked(page)
    assert all(link.startswith("#") for link in checker.loaded)
    assert not re.search(r"url\((?!#)|@import", page)
    assert "svg" in checker.tags
    assert len(checker.ids) == len(set(checker.ids))
    assert checker.tags.isdisjoint({"script", "link", "img", "iframe"})
    assert well_formed((tmp_path / "tables.md").read_text("utf-8")) > 10
    assert (tmp_path / "figures" / "linear.png").stat().st_size > 1000
    assert sum(p.stat().st_size for p in tmp_path.rglob("*.svg")) < 1_500_000


def test_hostile_names_are_only_text():
    told = sections(frame(*fight(["NonLinCFA auto", HOSTILE])))
    page, markdown = as_html(told, {}), as_markdown(told)
    assert checked(page).tags.isdisjoint({"script"})
    assert "<script" not in page
    assert "&lt;script" in page
    well_formed(markdown)
    assert not re.search(r"(?<!\\)<script", markdown)


@pytest.mark.parametrize("rows", [[], paper_runs(), paper_runs()[:3], fight()[:1], fight()])
def test_missing_plans_do_not_matter(rows):
    told = sections(frame(*rows))
    checked(as_html(told, {}))
    assert well_formed(as_markdown(told)) >= 1
    assert told[0].title == "Summary"
    assert told[-1].title == "Run it again"


def test_skipped_combinations_are_no_results():
    skipped = {"plan": "beyond", "protocol": "honest", "dataset": "a", "note": "needs classes"}
    titles = [section.title for section in sections(frame(skipped | {"method": "LDA"}))]
    assert "A fair fight" not in titles


def test_verdicts_show_in_colour_and_symbol():
    told = sections(frame(*paper_runs()))
    page, markdown = as_html(told, {}), as_markdown(told)
    assert 'class="different" title="different">✗' in page
    assert "| ✗ |" in markdown
    assert len(set(MARKS.values())) == len(MARKS)


def test_a_loss_is_listed_with_its_numbers():
    rows = fight(["NonLinCFA auto", "lasso"], ["a"])
    for row in rows:
        row["score"] = 0.5 if row["method"] == "lasso" else 0.4
    (section,) = (s for s in sections(frame(*rows)) if s.title == "Where the method loses")
    assert "1 of 1 data sets" in section.text
    assert [cell.text for cell in section.tables[0].rows[0]][:6] == [
        "a",
        "NonLinCFA auto",
        "0.4000",
        "lasso",
        "0.5000",
        "0.1000",
    ]


def test_markdown_tables_keep_their_columns():
    table = Table("a|b", ("x|y", "z"), (cells("1|2", "line\nbreak"),), ("note*",))
    assert markdown_table(table).splitlines() == [
        "**a\\|b**",
        "",
        "| x\\|y | z |",
        "| --- | --- |",
        "| 1\\|2 | line break |",
        "",
        "1. note\\*",
    ]


def test_figures_get_their_own_ids_and_the_colour_of_the_text():
    svg = '<?xml?><svg id="a"><use xlink:href="#b" style="fill: #1b1c1d"/><g clip-path="url(#c)"/>'
    inside = inline_svg(svg, "one")
    assert inside.startswith("<svg ")
    assert 'id="one-a"' in inside
    assert 'href="#one-b"' in inside
    assert "url(#one-c)" in inside
    assert "currentColor" in inside


def test_code_is_escaped():
    assert "&lt;b&gt;" in as_html([Section("t", code="<b>")], {})


def test_no_two_methods_look_the_same():
    names = [f"method {i}" for i in range(40)] + ["NonLinCFA auto", "NonLinCFA best", "LinCFA"]
    looks = [tuple(look.values()) for look in styles(names).values()]
    assert len(set(looks)) == len(names)


def test_the_legend_shows_the_colours_of_the_curves():
    shared = {"plan": "table-finance", "dataset": "finance_fundamentals", "protocol": "sizes"}
    rows = [
        shared | {"method": m, "trial": 0, "n_groups": d, "score": s + 0.1 * d}
        for m, s in (("Isomap", 0.1), ("PCA", 0.3))
        for d in (1, 2)
    ]
    skipped = shared | {"method": "LDA", "trial": 0, "note": "needs classes"}
    figure = real_figure(frame(*rows, skipped), "finance")
    legend = {line.get_label(): line.get_color() for line in figure.legends[0].get_lines()}
    curves = {line.get_ydata()[0]: line.get_color() for line in figure.axes[0].get_lines()}
    assert legend == {"Isomap": curves[0.2], "PCA": curves[0.4]}
