"""What several files of a release say is the same, and the release check notices faults."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import coterie

ROOT = Path(__file__).parents[1]
check = runpy.run_path(str(ROOT / "release" / "check.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "conda" / "recipe" / "recipe.yaml").read_text(encoding="utf-8")


def test_the_version_is_read_from_the_package():
    assert check["version"]() == coterie.__version__


def test_the_changelog_has_an_entry_for_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert check["changelog_faults"](text, coterie.__version__, None) == []


@pytest.mark.parametrize(
    ("text", "tag", "fault"),
    [
        ("## 0.9.0 (2026-12-01)", None, "has no entry"),
        ("## 1.0.0", None, "has no entry"),
        ("## 1.0.0 (unreleased)", None, None),
        ("## 1.0.0 (unreleased)", "v1.0.0", "needs a date"),
        ("## 1.0.0 (2026-12-01)", "v1.0.1", "The tag is v1.0.1 and the version 1.0.0"),
        ("## 1.0.0 (2026-12-01)", "v1.0.0", None),
    ],
)
def test_a_release_needs_a_dated_entry_of_its_version(text, tag, fault):
    faults = check["changelog_faults"](text, "1.0.0", tag)
    assert len(faults) == (fault is not None)
    assert fault is None or fault in faults[0]


def test_an_sdist_is_what_is_under_version_control():
    faults = check["sdist_faults"]({"a", "c", "PKG-INFO"}, {"a", "b", ".ci/run"})
    assert faults == [
        "The sdist lacks b.",
        "The sdist has c, which is not under version control.",
    ]


def test_a_wheel_has_its_data_and_licences():
    whole = {name.format(version="1.0.0") for name in check["IN_WHEEL"]}
    assert check["wheel_faults"](whole, "1.0.0") == []
    faults = check["wheel_faults"](whole - {"coterie/py.typed"}, "1.0.0")
    assert faults == ["The wheel lacks coterie/py.typed."]


def test_the_conda_recipe_needs_what_the_package_needs():
    run = RECIPE.partition("  run:\n")[2].partition("\n\n")[0]
    listed = {re.sub(r"^\s+- ", "", line).replace(" ", "") for line in run.splitlines()}
    needs = {str(Requirement(line)) for line in PROJECT["dependencies"]}
    assert listed == needs | {"python>=${{python_min}}"}
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in RECIPE


@pytest.mark.parametrize("name", ["CITATION.cff", "conda/recipe/recipe.yaml"])
def test_addresses_are_those_of_the_package(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert PROJECT["urls"]["Homepage"] + "\n" in text
    assert PROJECT["urls"]["Documentation"] + "\n" in text
