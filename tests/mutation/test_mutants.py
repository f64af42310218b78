import subprocess
import sys
from pathlib import Path

import pytest
from mutation.mutants import ROOMS, ROOT, modules_named, mutants_of, watching

SOURCE = '''"""A price of 1 is no code."""

LIMIT: int = 3


def price(values: list[int | None], most: float = 0.5) -> float:
    """Nor is this 2."""
    if not values:
        raise ValueError(f"at least {1 + 1}")
    total = sum(values[1:4]) * 2
    return max(total, most) if total >= LIMIT and most else -total
'''
EXPECTED = {
    "LIMIT: int = (4)",
    "def price(values: list[int | None], most: float = (1.0)) -> float:",
    "if (values):",
    "total = (sum(values[1:4]) / 2)",
    "total = (sum(values[1:4]))",
    "total = (2)",
    "total = sum(values[1:4]) * (3)",
    "total = sum(values[:4]) * 2",
    "total = sum(values[1:]) * 2",
    "total = sum(values[(2):4]) * 2",
    "total = sum(values[1:(5)]) * 2",
    "return None",
    "return (-total if total >= LIMIT and most else max(total, most))",
    "return (min(total, most)) if total >= LIMIT and most else -total",
    "return max(total, most) if (total >= LIMIT or most) else -total",
    "return max(total, most) if (total >= LIMIT) else -total",
    "return max(total, most) if (most) else -total",
    "return max(total, most) if (total > LIMIT) and most else -total",
    "return max(total, most) if total >= LIMIT and most else (total)",
}


def test_each_mutant_is_one_change_of_what_is_computed():
    mutants = mutants_of(SOURCE)
    assert {mutant.after for mutant in mutants} == EXPECTED
    for mutant in mutants:
        lines, changed = SOURCE.splitlines(), mutant.text.splitlines()
        differing = [
            k for k, pair in enumerate(zip(lines, changed, strict=True)) if len({*pair}) > 1
        ]
        assert differing == [mutant.line - 1]
        assert lines[differing[0]].strip() == mutant.before


def test_every_module_is_watched_by_tests_that_there_are():
    modules = modules_named(ROOMS)
    assert len(modules) > len(ROOMS)
    for module in modules:
        tests = watching(module)
        assert any(Path(test).parts[0] == "tests" for test in tests)
        for test in tests:
            assert (ROOT / test).exists(), test


@pytest.mark.slow
def test_a_mutant_is_tried_elsewhere_and_the_result_written_down(tmp_path):
    module = ROOT / "src/coterie/_core/must_link.py"
    before, result = module.read_bytes(), tmp_path / "result.txt"
    options = ["--number=1", "--nearest=2", "--at-once=1", "--unchecked", f"--into={result}"]
    script = ROOT / "tests/mutation/mutants.py"
    command = [sys.executable, str(script), "_core/must_link.py", *options]
    subprocess.run(command, check=True, capture_output=True)
    assert result.read_text().startswith("1 of ")
    assert "mutants tried, seed 0: 1 " in result.read_text()
    assert module.read_bytes() == before
