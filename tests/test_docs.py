"""What is public is documented, and what is documented runs."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PUBLIC = [name for name in coterie.__all__ if not name.startswith("__")]


def public_things():
    for name in PUBLIC:
        thing = getattr(coterie, name)
        if not inspect.ismodule(thing):
            yield name, thing
            continue
        for inner, value in inspect.getmembers(thing, inspect.isfunction):
            if value.__module__.startswith(thing.__name__) and not inner.startswith("_"):
                yield f"{name}.{inner}", value


@pytest.mark.parametrize(("name", "thing"), list(public_things()))
def test_every_public_thing_has_an_example_that_runs(name, thing):
    assert ">>>" in inspect.getdoc(thing), f"{name} has no example"


@pytest.mark.parametrize(
    "estimator",
    [
        coterie.NonLinCFA,
        coterie.GenLinCFA,
        coterie.LinCFA,
        coterie.MutualCFA,
        coterie.ToleranceCV,
    ],
)
def test_every_parameter_is_documented(estimator):
    doc = inspect.getdoc(estimator)
    for parameter in estimator().get_params():
        assert re.search(rf"^{parameter} : ", doc, flags=re.MULTILINE), parameter


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_in_the_reference(name):
    assert f"`{name}" in (ROOT / "docs" / "api" / "parameters.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_on_the_pages_run_and_print_what_they_say(page):
    results = doctest.testfile(
        str(page),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert results.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
