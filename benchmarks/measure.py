"""Time and memory of one thing: best of a few repeats, or peak in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def seconds(run: Callable[[], object], *, repeats: int = 5, at_most: float = 20.0) -> float:
    """Shortest time of a few runs; fewer if they are long."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < at_most:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def in_own_process(job: str, **options: object) -> dict[str, float]:
    """Run a job of benchmarks/jobs.py in a fresh process and read what it reports."""
    command = [sys.executable, str(HERE / "jobs.py"), job, json.dumps(options)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return json.loads(run.stdout.splitlines()[-1])


def wide_data(n_samples: int, n_features: int, n_groups: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Features of a few hidden factors, in float32, made a block at a time."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_samples, n_groups)).astype(np.float32)
    labels = rng.integers(n_groups, size=n_features)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    for start in range(0, n_features, 4096):
        block = slice(start, start + 4096)
        noise = rng.standard_normal(size=X[:, block].shape, dtype=np.float32)
        X[:, block] = factors[:, labels[block]] + np.float32(0.3) * noise
    y = factors.astype(np.float64) @ rng.normal(size=n_groups) + 0.5 * rng.normal(size=n_samples)
    return X, y
