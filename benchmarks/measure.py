"""Time and memory of one thing, in a process of its own, on a machine that is watched."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from problems import wide_data
from timing import interleaved, seconds

__all__ = ["in_own_process", "interleaved", "seconds", "wide_data"]

HERE = Path(__file__).parent
# Share of the processors that others may take before figures are worth less.
IDLE = 0.1
PACKAGES = ("coterie", "numpy", "scipy", "scikit-learn", "numba", "pandas", "nilearn")


class TooLongError(Exception):
    """A job was stopped at its time limit."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"more than {limit:g} s")


class FailedError(Exception):
    """A job ended with an error, of which this is the last line."""


def in_own_process(
    job: str,
    *,
    limit: float | None = None,
    without_numba: bool = False,
    environment: dict[str, str] | None = None,
    **options: object,
) -> dict[str, Any]:
    """Run a job of benchmarks/jobs.py in a fresh process and read what it reports.

    It is stopped after ``limit`` seconds, with all that it has started.
    """
    command = [sys.executable, str(HERE / "jobs.py"), job, json.dumps(options)]
    run = subprocess.Popen(
        [*command, "--without-numba"] if without_numba else command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | (environment or {}),
        start_new_session=True,
    )
    try:
        out, err = run.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise TooLongError(limit or 0) from None
    finally:
        _stop_all(run)
    if run.returncode:
        raise FailedError(err.strip().splitlines()[-1] if err.strip() else f"exit {run.returncode}")
    return json.loads(out.splitlines()[-1])


def _stop_all(run: subprocess.Popen[str]) -> None:
    """Stop a process, and what it has left behind, such as a compiler."""
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.communicate()


class Others:
    """The share of the processors that others take while this process and its children work."""

    def __init__(self) -> None:
        self._busy, self._own, self._since = _busy_seconds(), _own_seconds(), time.perf_counter()

    def share(self) -> float | None:
        """The share since the start; None where the system does not tell."""
        if self._busy is None:
            return None
        busy = _busy_seconds() - self._busy - (_own_seconds() - self._own)
        return max(0.0, busy / (time.perf_counter() - self._since) / (os.cpu_count() or 1))


def _busy_seconds() -> float | None:
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _waiting, irq, softirq, *_ = map(
        int, stat.read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def load_now(watch: float = 3.0) -> float:
    """The share of the processors that is taken while this process waits."""
    others = Others()
    time.sleep(watch)
    taken = others.share()
    return os.getloadavg()[0] / (os.cpu_count() or 1) if taken is None else taken


def machine() -> str:
    """The machine in plain words."""
    words = [f"{os.cpu_count()} cores"]
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        words.append(f"{memory:.0f} GiB of memory")
    words.append(platform.system())
    if threads := os.environ.get("OMP_NUM_THREADS"):
        words.append(f"OMP_NUM_THREADS={threads}")
    return ", ".join(words)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that matter to speed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def commit() -> str:
    """The commit that is measured, and whether files differ from it; empty outside a clone."""
    words = ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=8"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
