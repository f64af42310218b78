"""Oldest versions are declared in one file and run with in another: both say the same."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

HERE = Path(__file__).parents[1]
# What needs a GPU, and tools whose version changes no result.
NOT_RUN = {"cuda12", "cuda13", "docs", "asv", "fight", "package"}
TOOLS = {"mypy", "pytest-cov", "ruff", "scipy-stubs"}
# Not declared, but held at a version that goes with the others; the file gives the reasons.
HELD = {"onnx", "pyparsing"}


def project():
    return tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def constraints(name):
    lines = (HERE / "requirements" / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def oldest():
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in constraints("oldest.txt")}


def declared():
    """The lowest bound of each name; an extra may ask for more than the others."""
    extras = project()["optional-dependencies"]
    lines = list(project()["dependencies"])
    lines += [line for name, needs in extras.items() if name not in NOT_RUN for line in needs]
    bounds = {}
    for requirement in map(Requirement, lines):
        if requirement.name not in TOOLS | {"coterie"}:
            (bound,) = requirement.specifier
            assert bound.operator in {">=", "=="}
            bounds.setdefault(requirement.name, set()).add(bound.version)
    return bounds


@pytest.mark.parametrize("name", declared())
def test_the_oldest_version_that_is_declared_is_the_one_that_is_run(name):
    (bound,) = declared()[name]
    assert Version(oldest()[name]) == Version(bound)


def test_everything_that_is_pinned_is_declared():
    assert set(oldest()) - set(declared()) == HELD


def test_what_the_newest_are_held_at_is_declared():
    assert {pin.name for pin in constraints("newest.txt")} <= set(declared())


@pytest.mark.parametrize("extra", ["cuda12", "cuda13"])
def test_no_extra_brings_a_compiler_for_gpus_beside_a_numpy_that_it_cannot_bear(extra):
    asked = [Requirement(line) for line in project()["optional-dependencies"][extra]]
    versions = {requirement.name: requirement.specifier for requirement in asked}
    assert "0.24.0" not in versions["numba-cuda"]
