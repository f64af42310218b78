"""The walls of the house: who may import whom, and what importing must not bring in."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

HOME = Path(coterie.__file__).parent
PLAN = (HOME.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
# What stands at the door: everything that users are shown.
DOORS = {"__init__", "__main__"}


def table_of_rooms():
    """The rooms of the plan, and which others each may import."""
    lines = [line.strip("|").split("|") for line in PLAN.splitlines() if line.startswith("| `")]
    rooms = {}
    for room, _, imports, _ in lines:
        short = {full.rpartition(".")[2]: full for full in rooms}
        words = [] if imports.strip() == "-" else imports.strip().split(", ")
        above = set(rooms) if words == ["all above"] else {short[word] for word in words}
        rooms[room.strip(" `")] = above
    return rooms


ROOMS = table_of_rooms()
FILES = sorted(path.relative_to(HOME) for path in HOME.rglob("*.py"))


def room_of(parts):
    """The room that a module is in: two words for rooms that lie in a package of several."""
    two, one = ".".join(parts[:2]), parts[0]
    return two if two in ROOMS else one


def imported_modules(path):
    for node in ast.walk(ast.parse((HOME / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            first, *parts = node.module.split(".")
            if first == "coterie":
                yield from ([*parts, alias.name] for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                assert not alias.name.startswith("coterie."), "write from coterie.room import name"


@pytest.mark.parametrize("path", FILES, ids=str)
def test_each_room_imports_only_those_below(path):
    room = room_of(path.with_suffix("").parts)
    others = {room_of(module) for module in imported_modules(path)} - {room}
    assert others <= (set(ROOMS) if room in DOORS else ROOMS.get(room, set()))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_nobody_imports_what_is_private_to_another_room(path):
    room = room_of(path.with_suffix("").parts)
    for module in imported_modules(path):
        other = room_of(module)
        inside = module[len(other.split(".")) :]
        assert other == room or not any(re.match("_[^_]", name) for name in inside), module


def test_the_rooms_are_those_of_the_plan():
    packages = {room.partition(".")[0] for room in ROOMS}
    found = {room_of(path.with_suffix("").parts) for path in FILES}
    assert found - DOORS - packages == set(ROOMS) - packages
    assert set(ROOMS) <= found | packages


def test_few_names_lie_at_the_top():
    assert len({path.parts[0] for path in FILES} - {"__init__.py", "__main__.py"}) <= 12


def test_importing_brings_in_nothing_but_what_is_required():
    # scikit-learn imports pandas by itself where it is installed.
    code = (
        "import sys, sklearn.model_selection; before = set(sys.modules); import coterie;"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    required = {"coterie", "numpy", "scipy", "sklearn", *sys.stdlib_module_names}
    assert set(run.stdout.split()) <= required
