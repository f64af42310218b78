import ast
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))
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


@pytest.mark.slow
@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_worked_examples_run(script, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    runpy.run_path(str(script), run_name="__main__")
    pyplot.close("all")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_worked_examples_are_pages_of_the_gallery(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert line == "=" * len(title)
    assert "plt.subplots(" in script.read_text(encoding="utf-8"), "no picture for the thumbnail"
