"""What is public is documented, and what is documented runs."""

import doctest
import inspect
import re
import runpy
from pathlib import Path

import pytest

import coterie
from coterie._core.values import PAGE_OF_ESTIMATOR

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


def addresses():
    """The addresses of the site, from the one file that has them."""
    return runpy.run_path(str(DOCS / "addresses.py"))


def source_of(page):
    """The file from which a page of the site is made."""
    stem = page.removesuffix(".html")
    folder, _, name = stem.rpartition("/")
    if folder == "gallery":
        return (
            ROOT
            / "examples"
            / "gallery"
            / ("GALLERY_HEADER.rst" if name == "index" else f"{name}.py")
        )
    return next(
        (file for suffix in (".md", ".rst") if (file := DOCS / f"{stem}{suffix}").exists()),
        DOCS / stem,
    )


def test_links_of_the_readme_lead_somewhere_from_a_package_index():
    known = addresses()
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 10
    for link in links:
        assert re.match("https://|#", link), f"{link} does not work on a package index"
        if link.startswith(known["SITE"]):
            assert source_of(link.removeprefix(known["SITE"]).partition("#")[0]).exists(), link
        for base in (known["FILES"], known["FOLDERS"], known["RAW"]):
            if link.startswith(base):
                assert (ROOT / link.removeprefix(base)).exists(), link


def test_estimators_link_to_the_same_site():
    assert PAGE_OF_ESTIMATOR.startswith(addresses()["SITE"])


def test_the_readme_is_a_screen_and_a_half():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_what_the_demo_prints_is_what_the_page_says(capsys):
    page = (DOCS / "contributing" / "index.md").read_text(encoding="utf-8")
    shown = re.search(r"```\n(Tecator: fat.*?)```", page, flags=re.DOTALL)[1].splitlines()
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert len(shown) > 10
    assert {line.strip() for line in shown} - {"..."} <= {line.strip() for line in printed}
    for number in re.findall(
        r"0\.\d{4}", page.partition("It prints the same for")[2].partition("```")[0]
    ):
        assert any(number in line for line in printed), number
