"""The kernel for GPUs, run thread by thread in numba's simulator: decisions are those in memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
