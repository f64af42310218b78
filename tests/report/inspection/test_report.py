"""The page without a browser: it is one file, says the answer, and no name becomes markup."""

import base64
import hashlib
import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.inspection.summaries import (
    HOSTILE,
    chain_of,
    joint_summary,
    path_of,
    scores,
    spectrum_of,
    summary_of,
    whole_summary,
)

from coterie._persist.files import Entry, plain_record, record_in
from coterie.report.inspection import Merge, Score, Summary
from coterie.report.inspection._report import report_html

SECTIONS = ["scores", "path", "places", "correlation", "stability", "numbers", "tree"]


class Page(HTMLParser):
    """Elements, their attributes, and the text that a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"script", "style"} & {*self.open}:
            self.text += data


def summary_in(page):
    """The summary that stands in a page, read as a browser reads it."""
    found = re.findall(r'<script id="summary" type="application/json">(.*?)</script>', page)
    assert len(found) == 1
    return record_in(Entry(json.loads(found[0])), Summary)


def tags_of(page):
    return sorted(Page(page).tags)


def test_the_page_holds_the_whole_summary():
    summary = whole_summary(30, 7)
    assert summary_in(report_html(summary)) == summary


def test_a_joint_fit_is_held_and_told_as_one():
    summary = joint_summary(tree=chain_of(12, exit_prices=[0.001] * 12))
    page = report_html(summary)
    assert summary_in(page) == summary
    text = Page(page).text
    assert "Each member has a correlation of at least 0.7 with its group" in text
    assert "can be in one group if neither helps" not in text
    assert "First a tree of likeness is grown" in text
    assert "this fit" in text
    assert "3 left out" not in text


def test_a_summary_without_the_parts_of_a_joint_fit_still_loads():
    plain = plain_record(whole_summary())
    old = {name: one for name, one in plain.items() if name not in ("numbers", "tree", "rest")}
    assert record_in(Entry(json.loads(json.dumps(old))), Summary) == whole_summary()


def test_a_tree_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"^a summary must have each node once\.$"):
        joint_summary(tree=chain_of(12, first=[0] * 11))
    with pytest.raises(ValueError, match=r"^a summary must have a whole tree\.$"):
        joint_summary(tree=chain_of(11))


def test_equal_summaries_give_equal_pages():
    assert report_html(whole_summary()) == report_html(whole_summary())


def test_the_page_is_ascii():
    names = [*HOSTILE, "na\u00efve \u03bb"]
    assert report_html(summary_of(names=names)).isascii()


def test_numbers_that_json_lacks_are_words():
    endless = whole_summary()
    first = replace(endless.groups[0], merges=[Merge(1, float("-inf"), float("inf"))])
    page = report_html(replace(endless, groups=[first, *endless.groups[1:]]))
    assert '"price":"-Infinity","allowance":"Infinity"' in page


def test_only_the_own_style_and_script_may_run():
    page = report_html(whole_summary())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    for kind, text in [
        ("style-src", re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)),
        ("script-src", re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)),
    ]:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_nothing_is_fetched_and_no_attribute_is_a_program():
    for tag, name, value in Page(report_html(whole_summary())).attributes:
        assert not name.startswith("on"), tag
        assert name not in ("src", "srcset", "action", "style", "ping"), tag
        if name == "href":
            assert value.startswith("#") or value == "data:,", value
    style = re.search(r"<style>(.*?)</style>", report_html(summary_of()), re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_scripts_never_read_markup():
    script = re.search(r"<script>(.*?)</script>", report_html(summary_of()), re.DOTALL).group(1)
    for way in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function("]:
        assert way not in script
    for way in ["fetch(", "XMLHttp", "import(", "localStorage", "WebSocket", "sendBeacon"]:
        assert way not in script


def test_the_answer_is_there_without_scripts():
    text = Page(report_html(whole_summary(names=[f"channel {one}" for one in range(12)]))).text
    assert "12 columns became 3; the score was kept." in text
    assert "0.868 with 3 columns, 0.865 with all 12, 0.851 with PCA (3 columns)" in text
    assert all(f"channel {one}" in text for one in range(12))
    assert "stopped early" in text
    assert "Columns were standardised." in text
    assert "does not exceed its allowance" in text
    assert "\N{MINUS SIGN}" in text


def test_many_groups_are_cut_off_with_a_word():
    page = report_html(summary_of(1000, 700))
    assert "400 more groups" in page
    assert page.count('<tr><th scope="row"') == 300


def test_long_groups_are_cut_off_with_a_word():
    assert "and 160 more" in report_html(summary_of(200, 1))


def test_parts_that_are_missing_have_no_section():
    page = report_html(summary_of())
    for name in SECTIONS:
        assert f'id="{name}"' not in page
        assert f'href="#{name}"' not in page
    assert "<h3>Notes" not in page


@pytest.mark.parametrize("name", SECTIONS)
def test_parts_that_are_there_have_a_section_and_a_link(name):
    summary = joint_summary() if name in ("numbers", "tree") else whole_summary()
    if name == "places":
        summary = replace(summary, path=None)
    page = report_html(summary)
    assert page.count(f'<section id="{name}"') == 1
    assert page.count(f'href="#{name}"') == 1


def test_every_link_leads_somewhere():
    for summary in [whole_summary(), summary_of(), summary_of(spectrum=spectrum_of(12))]:
        page = Page(report_html(summary))
        ids = [value for _, name, value in page.attributes if name == "id"]
        links = [
            value[1:] for _, name, value in page.attributes if name == "href" and value[0] == "#"
        ]
        assert len(ids) == len({*ids})
        assert {*links} <= {*ids}


def test_headings_go_down_by_one():
    levels = [
        int(tag[1]) for tag in Page(report_html(whole_summary())).tags if re.match(r"h\d", tag)
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def test_no_features_make_a_page():
    empty = replace(summary_of(), features=[], labels=[], signs=[], groups=[])
    assert "No columns." in report_html(empty)


def test_a_path_keeps_its_marks_when_steps_are_left_out():
    steps = path_of(12, [12] * 500)
    page = report_html(summary_of(path=replace(steps, best=137, simplest=301)))
    assert ">best</td>" in page
    assert ">simplest</td>" in page
    assert page.count("</tr>") < 120


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -1e300])
def test_scores_that_cannot_be_drawn_break_nothing(score):
    assert "nan%" not in report_html(summary_of(scores=scores(score, 0.5, float("nan")))).lower()


TEXTS = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(HOSTILE)


@given(st.lists(TEXTS, min_size=12, max_size=12), TEXTS)
def test_no_text_becomes_markup(names, other):
    def told(names, other):
        plain = summary_of(names=names, outputs=(other,))
        return replace(
            plain,
            title=f"a{other}",
            method=f"a{other}",
            parameters={f"a{other}": f"a{other}"},
            aggregation=f"a{other}",
            task=f"a{other}",
            targets=[f"a{other}", "b"],
            metric=f"a{other}",
            groups=[replace(group, name=other) for group in plain.groups],
            scores=[Score(f"a{other}", 3, 0.5, None, f"a{other}")],
            notes=[other],
        )

    is_blank = [not name.strip() for name in names]
    plain_names = ["" if blank else "x" for blank in is_blank]
    page = report_html(told(names, other))
    harmless = report_html(told(plain_names, "x" if other.strip() else ""))
    assert tags_of(page) == tags_of(harmless)
    assert page.isascii()
    held = re.findall(r'<script id="summary" type="application/json">(.*?)</script>', page)
    assert len(held) == 1
    assert not {*"<>&"} & {*held[0]}
    assert json.loads(held[0]) == json.loads(json.dumps(plain_record(told(names, other))))
