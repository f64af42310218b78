"""Every measured figure in the pages has a source among the committed results."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("docs_figures", ROOT / "docs" / "figures.py")
figures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(figures)

MADE = {
    "one": {"share": 0.0267, "count": 20000},
    "table": {"columns": ["data", "score"], "rows": [["a", "0.5"], ["b", 0.25]]},
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Results of a name, and nothing else."""
    (tmp_path / "made.json").write_text(json.dumps(MADE), encoding="utf-8")
    monkeypatch.setattr(figures, "RESULTS", (tmp_path,))
    figures.source.cache_clear()
    yield
    figures.source.cache_clear()


@pytest.mark.skipif(
    not (ROOT / "experiments" / "published_curves.csv").exists(),
    reason="released archives go without the authors' results",
)
@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: page.name)
def test_figures_are_those_of_the_results(page):
    text = page.read_text("utf-8")
    assert figures.rewritten(text) == text, "make figures"


def test_numbers_have_a_source_or_are_no_figures():
    assert figures.unsourced() == {}


def test_what_is_allowed_is_there():
    known = figures.tomllib.loads((ROOT / "docs" / "figures.toml").read_text("utf-8"))
    pages = {page.name: page.read_text("utf-8") for page in figures.pages()}
    assert set(known["later"]["pages"]) <= set(pages)
    for name, pieces in known["allowed"].items():
        plain = figures.plain(pages[name])
        assert [piece for piece in pieces if piece not in plain] == [], name


def test_figures_and_tables_are_written_from_results(made):
    page = "in <!--=made/one/share:.1%-->9 %<!--=--> of <!--=made/one/count:,d--><!--=--> cases\n"
    page += "<!--table made/table-->\n| old |\n<!--/table-->\n"
    new = figures.rewritten(page)
    assert "-->2.7 %<!--=--> of" in new
    assert "-->20,000<!--=--> cases" in new
    assert "| data | score |\n| --- | --- |\n| a | 0.5 |\n| b | 0.25 |\n<!--/table-->" in new
    assert figures.rewritten(new) == new


def test_figures_without_results_are_named(made):
    of_speed = "<!--= import -->1.1<!--=-->"
    assert figures.rewritten(of_speed) == of_speed
    with pytest.raises(KeyError, match="no results 'other'"):
        figures.rewritten("<!--=other/one-->1<!--=-->")


@pytest.mark.parametrize(
    ("line", "flagged"),
    [
        ("| Tecator | 0.96 |", True),
        ("| Tecator | <!--=made/one/share:.1%-->2.7 %<!--=--> |", False),
        ("| `tolerance=0.001` | a number |", False),
        ("It takes 0.7 s at most.", True),
        ("It takes <!--=made/one/share-->0.7<!--=--> s at most.", False),
        ("It takes <!--= import -->0.7<!--=--> s at most.", False),  # of benchmarks/write_page.py
        ("R2 is .83 here.", True),
        ("Algorithm 1 asks d * D questions; k is 2.", False),
        ("| an example | 3 |", False),
    ],
)
def test_numbers_without_a_source_are_seen(line, flagged):
    assert bool(list(figures.without_source(line, ["an example"]))) is flagged
