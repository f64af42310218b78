"""Figures of speed on pages are those of committed results."""

import json
import re
import sys
from importlib import util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HERE = ROOT / "benchmarks"


def module(name):
    spec = util.spec_from_file_location(f"benchmarks_{name}", HERE / f"{name}.py")
    loaded = util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def page():
    return module("write_page")


@pytest.fixture(scope="module")
def suite():
    sys.path.insert(0, str(HERE))
    try:
        yield module("suite")
    finally:
        sys.path.remove(str(HERE))


def test_pages_have_the_figures_of_the_results(page):
    differing = page.differing(page.read_results())
    assert not differing, "run: python benchmarks/write_page.py"


def test_every_sentence_of_the_readme_about_speed_has_a_figure_behind_it(page):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for sentence in page.behind()["sentence"]:
        text, times = re.subn(sentence["pattern"], "", text)
        assert times == 1, sentence["pattern"]
    assert page.about_speed(text) == []


def test_every_page_with_figures_of_speed_names_a_file_behind_them(page):
    pages = page.behind()["pages"]
    about = {p.name: page.about_speed(p.read_text(encoding="utf-8")) for p in page.pages()}
    assert {name for name, words in about.items() if words} - {"README.md"} <= {*pages}
    for behind in pages.values():
        assert (ROOT / behind).exists(), behind


def test_the_suite_has_rows_for_each_figure_that_pages_ask_for(page, suite):
    keys = {row.key for row in suite.make_suite().rows}
    for path in page.pages():
        for _, key, _ in page.FIGURE.findall(path.read_text(encoding="utf-8")):
            assert key.removesuffix(".note") in keys
    for sentence in page.behind()["sentence"]:
        assert {*sentence.get("figures", {}).values()} <= keys


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It takes 3 s.", ["3 s"]),
        ("It is ten times faster.", ["times faster"]),
        ("It takes half a second.", ["half a second"]),
        ("It takes <!--= import -->1.1<!--=--> times as long.", []),
        ("There is no second pass.", []),
        ("```\nsleep 3 s\n```\n", []),
    ],
)
def test_sentences_about_speed_are_found(page, text, words):
    assert page.about_speed(text) == words


@pytest.mark.parametrize("quick", [True, False])
def test_keys_of_the_suite_are_unique_and_defaults_come_first(suite, quick):
    made = suite.make_suite(quick)
    for each in (made.jobs, made.rows):
        assert len({one.key for one in each}) == len(each)
    assert made.rows[0].configuration == "Coterie()"
    assert {job.after for job in made.jobs} <= {"", *(job.key for job in made.jobs)}


def test_a_job_that_was_stopped_is_a_row_without_a_figure(suite):
    rows = {row.key: row for row in suite.make_suite().rows}
    results = suite.Results({"wide-nonlin": {"limit": 75.0}, "wide-coterie": {"failed": "no"}})
    stopped = rows["nonlin-1000x50000-passes"].read(results)
    assert (stopped["figure"], stopped["status"]) == (None, "more than 75 s")
    assert stopped["reached"] is False
    failed = rows["coterie-1000x50000-passes"].read(results)
    assert (failed["figure"], failed["reached"], failed["status"]) == (None, None, "no")
    assert rows["import"].read(results)["status"] == "not run"
    json.dumps([stopped, failed])


def test_a_job_is_stopped_at_its_limit_and_an_error_is_told(suite):
    import measure

    with pytest.raises(measure.TooLongError, match=r"more than 0\.2 s"):
        measure.in_own_process("imports", limit=0.2, modules=["time"], repeats=1000)
    with pytest.raises(measure.FailedError, match="CalledProcessError"):
        measure.in_own_process("imports", limit=60, modules=["nothing_of_this_name"], repeats=1)


def test_without_numba_is_as_if_it_were_not_installed(suite):
    import measure

    found = measure.in_own_process("warm_up", limit=60, without_numba=True)
    assert not found["compiled"]


def test_growth_is_measured_as_far_as_fits_ended(suite):
    results = suite.Results({"a": {"seconds": 1.0}, "b": {"seconds": 2.0}, "c": {"limit": 40.0}})
    found = suite.points(results, ["a", "b", "c"], (10, 20, 40))
    assert found == [[10, 1.0], [20, 2.0]]
    assert suite.slope(found) == pytest.approx(1.0)


def test_figures_are_written_into_blocks_and_sentences(page):
    row = {"key": "a", "section": "first fit", "figure": 0.0123, "unit": "s", "status": "measured"}
    row |= {"configuration": "Coterie()", "what": "2 x 3", "note": "later 1 s"}
    text = "<!-- figures: first fit -->\n<!-- end -->\nTakes <!--= a -->?<!--=--> s.\n"
    new = page.written(text, {"rows": [row]})
    assert "| `Coterie()` | 2 x 3 | 0.012 s | later 1 s |\n<!-- end -->" in new
    assert "Takes <!--= a -->0.012<!--=--> s." in new
    assert page.written(new, {"rows": [row]}) == new


@pytest.mark.parametrize(
    ("figure", "text"), [(1234.5, "1,234"), (12.34, "12.3"), (1.234, "1.2"), (0.00123, "0.0012")]
)
def test_numbers_have_three_digits_at_most(page, figure, text):
    assert page.number(figure) == text
