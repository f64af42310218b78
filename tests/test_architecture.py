"""The walls of the house: who may import whom, and what importing must not bring in."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

HOME = Path(coterie.__file__).parent
BELOW_GROUPING = {
    "values",
    "statistics",
    "aggregations",
    "gathering",
    "criteria",
    "search",
    "compiled",
    "units",
    "families",
    "threads",
}
MAY_IMPORT = {
    "values": set(),
    "statistics": {"values"},
    "aggregations": {"values"},
    "families": {"values"},
    "files": {"values"},
    "doors": {"values", "devices"},
    "devices": {"values"},
    "accumulating": {"values", "devices", "doors", "files", "statistics"},
    "engines": {"values", "doors", "progress", "statistics", "accumulating", "threads"},
    "fields": {"values", "neighbours", "files"},
    "criteria": {"values", "statistics", "families"},
    "search": {"values"},
    "theory": {"values"},
    "datasets": {"values"},
    "neighbours": {"values"},
    "gathering": {"values", "statistics", "aggregations", "devices"},
    "compiled": {"values", "statistics", "criteria", "search"},
    "units": {"values", "search"},
    "threads": {"values"},
    "grouping": BELOW_GROUPING,
    "estimators": BELOW_GROUPING - {"compiled"}
    | {"accumulating", "devices", "doors", "engines", "grouping", "fields", "files"},
    "sources": {
        "values",
        "doors",
        "progress",
        "statistics",
        "gathering",
        "accumulating",
        "devices",
        "engines",
        "threads",
    },
    "tables": {"values", "files"},
    "resampling": {"values", "estimators", "fields", "progress"},
    "tuning": {
        "values",
        "progress",
        "criteria",
        "families",
        "fields",
        "files",
        "grouping",
        "threads",
        "estimators",
    },
    "saving": {"values", "files", "inspection", "estimators", "tuning"},
    "places": {"values"},
    "progress": {"values"},
    "inspection": {"values", "files", "fields", "places", "resampling", "tuning", "estimators"},
    "studies": {"values", "progress", "inspection", "estimators", "resampling", "tuning"},
    "exporting": {"values", "aggregations", "estimators", "tuning"},
    "plot": {
        "values",
        "fields",
        "places",
        "inspection",
        "estimators",
        "resampling",
        "tuning",
    },
    "cli": {
        "values",
        "files",
        "tables",
        "places",
        "neighbours",
        "inspection",
        "estimators",
        "saving",
        "studies",
        "datasets",
    },
    "__main__": {"cli"},
    "__init__": {
        "accumulating",
        "sources",
        "datasets",
        "theory",
        "estimators",
        "exporting",
        "families",
        "fields",
        "inspection",
        "neighbours",
        "plot",
        "resampling",
        "saving",
        "studies",
        "tuning",
        "values",
    },
}


def room_of(path):
    return path.relative_to(HOME).with_suffix("").parts[0]


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            parts = node.module.split(".")
            if parts[0] == "coterie":
                yield from parts[1:2] or (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                assert not alias.name.startswith("coterie."), "write from coterie.room import name"


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda p: str(p.relative_to(HOME)))
def test_each_room_imports_only_those_below(path):
    room = room_of(path)
    assert set(imported_rooms(path)) - {room} <= MAY_IMPORT[room]


def test_the_rooms_are_those_of_the_plan():
    assert {room_of(path) for path in HOME.rglob("*.py")} == set(MAY_IMPORT)
    plan = (HOME.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for room in set(MAY_IMPORT) - {"__init__", "__main__"}:
        assert f"`{room}`" in plan


def test_importing_brings_in_nothing_but_what_is_required():
    # scikit-learn imports pandas by itself where it is installed.
    code = (
        "import sys, sklearn.model_selection; before = set(sys.modules); import coterie;"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    required = {"coterie", "numpy", "scipy", "sklearn", *sys.stdlib_module_names}
    assert set(run.stdout.split()) <= required
