"""The kernel for GPUs, run thread by thread in numba's simulator: decisions are those in memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie._core import compiled

pytest.importorskip("numba")
pytest.importorskip("array_api_strict")
HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_kernel_decides_as_the_search_in_memory():
    # The simulator must be chosen before numba is imported.
    ran = subprocess.run(
        [sys.executable, str(HERE / "simulated.py")],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.split()[-2:] == ["9", "agree"]


def test_numpy_has_row_stack_only_while_the_compiler_is_imported():
    from coterie._core.compiled import _import_cuda

    before = "row_stack" in vars(np)
    with _import_cuda._with_row_stack():
        assert np.vstack([[1], [2]]).tolist() == [[1], [2]]
    assert ("row_stack" in vars(np)) == before


def test_a_compiler_that_cannot_be_imported_is_told_with_the_versions_that_work(monkeypatch):
    def broken(name):
        raise AttributeError("module 'numpy' has no attribute 'row_stack'")

    monkeypatch.setattr(compiled, "import_module", broken)
    compiled._kernels.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="row_stack'. What works is numba-cuda .*: pip"):
            assert compiled._kernels() is None
    finally:
        compiled._kernels.cache_clear()
