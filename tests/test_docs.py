"""What is public is documented, and what is documented runs."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(DOCS / "api").glob("*.rst")])
PUBLIC = [name for name in coterie.__all__ if not name.startswith("__")]


def public_things():
    """Every public name, with dots, and what it stands for."""
    for name in PUBLIC:
        thing = getattr(coterie, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{inner}", getattr(thing, inner)) for inner in thing.__all__)
        else:
            yield name, thing


THINGS = dict(public_things())
# Constants and types are documented on the pages of the API themselves.
DOCUMENTED = [
    (name, thing)
    for name, thing in THINGS.items()
    if inspect.isclass(thing) or inspect.isfunction(thing)
]
IDS = [name for name, _ in DOCUMENTED]
# Protocols, whose methods have the parameters, and a category of warnings.
WITHOUT_PARAMETERS = {
    "FitWarning",
    *(name for name, thing in DOCUMENTED if getattr(thing, "_is_protocol", False)),
}


@pytest.mark.parametrize(("name", "thing"), DOCUMENTED, ids=IDS)
def test_every_public_thing_has_an_example_that_runs(name, thing):
    assert ">>>" in inspect.getdoc(thing), f"{name} has no example"


@pytest.mark.parametrize("name", [name for name in IDS if name not in WITHOUT_PARAMETERS])
def test_every_parameter_is_documented_with_a_sentence(name):
    doc = inspect.getdoc(THINGS[name])
    for parameter in inspect.signature(THINGS[name]).parameters:
        entry = rf"^(?:[\w, ]+, |\*\*)?{parameter}(?:, [\w, ]+)?(?: : .*)?\n    +\S"
        assert re.search(entry, doc, flags=re.MULTILINE), parameter


@pytest.mark.parametrize("name", THINGS)
def test_every_public_name_has_an_api_page(name):
    module, _, short = f"coterie.{name}".rpartition(".")
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.rst")]
    lists = [page for page in pages if f".. currentmodule:: {module}\n" in page]
    is_listed = any(re.search(rf"^   {short}$", page, flags=re.MULTILINE) for page in lists)
    by_hand = rf"^\.\. py:(class|data):: coterie\.{re.escape(name)}$"
    assert is_listed or any(re.search(by_hand, page, flags=re.MULTILINE) for page in pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_on_the_pages_run_and_print_what_they_say(page):
    results = doctest.testfile(
        str(page),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert results.failed == 0


@pytest.mark.parametrize("page", [p for p in PAGES if p.suffix == ".md"], ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
