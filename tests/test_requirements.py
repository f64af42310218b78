"""Lowest versions are declared in one file and run with in another: both say the same."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

HERE = Path(__file__).parents[1]
# Run with their lowest versions, as docs/contributing/index.md says.
EXTRAS = ["arrow", "cli", "plot", "progress", "tables"]
TOOLS = ["hypothesis", "pandas", "pytest", "pytest-xdist"]


def project():
    return tomllib.loads((HERE / "pyproject.toml").read_text())["project"]


def floors():
    lines = (HERE / "requirements" / "floors.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in pins}


def declared():
    extras = project()["optional-dependencies"]
    lines = [*project()["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    lines += [line for line in extras["dev"] if Requirement(line).name in TOOLS]
    return {Requirement(line).name: Requirement(line).specifier for line in lines}


@pytest.mark.parametrize("name", declared())
def test_the_lowest_version_that_is_declared_is_the_one_that_is_run(name):
    version = floors()[name]
    assert version in declared()[name]
    (bound,) = declared()[name]
    assert bound.operator == ">="
    assert Version(version) == Version(bound.version)


def test_everything_that_is_pinned_is_declared():
    # It belongs to matplotlib.
    assert set(floors()) - set(declared()) == {"pyparsing"}


@pytest.mark.parametrize("extra", ["cuda12", "cuda13"])
def test_no_extra_brings_a_compiler_for_gpus_beside_a_numpy_that_it_cannot_bear(extra):
    asked = [Requirement(line) for line in project()["optional-dependencies"][extra]]
    versions = {requirement.name: requirement.specifier for requirement in asked}
    assert "0.24.0" not in versions["numba-cuda"]
