import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
# Those that start processes of a library, and run in a process of their own.
LIBRARIES = {"ray_tasks": "ray", "spark": "pyspark"}


@pytest.mark.parametrize(
    "example", [path for path in EXAMPLES if path.stem not in LIBRARIES], ids=lambda path: path.stem
)
def test_examples_run(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", [path for path in EXAMPLES if path.stem in LIBRARIES], ids=lambda path: path.stem
)
def test_examples_with_processes_of_their_own_run(example):
    library = LIBRARIES[example.stem]
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed.")
    if library == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed.")
    run = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert "not as" not in run.stdout
