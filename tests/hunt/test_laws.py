"""A few problems for each law; ``make hunt`` tries as many as there is time for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hunt.laws import LAWS
from hunt.running import Tally

TESTS = Path(__file__).parents[1]
# Those that take longer, or need more to see all there is.
CASES = {"every source gives the same fit": 30, "threads give the fits that come one by one": 3}
ELSEWHERE = {"every decision is that of the oracle", "fits that overlap leave blas its threads"}


@pytest.mark.parametrize("name", [name for name in LAWS if name not in ELSEWHERE])
def test_a_law_holds(name):
    tally = Tally()
    for seed in range(CASES.get(name, 12)):
        tally.run(name, LAWS[name], seed)
    assert not tally.failures, str(tally.failures[0])
    assert not tally.skips_too_many(name)


def test_fits_that_overlap_leave_blas_its_threads():
    """In a process of its own, which has some threads to begin with."""
    two = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL")}
    hunt = subprocess.run(
        [sys.executable, "-m", "hunt", "--law", "fits that overlap", "--cases", "3"],
        env={**os.environ, **two, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert hunt.returncode == 0, hunt.stdout + hunt.stderr
