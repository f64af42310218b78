"""Measure moments against plain products: time, memory, and what a second tolerance costs.

Run ``python benchmarks/moments.py`` (a few minutes), or with ``--quick`` for a share of it. Writes
``benchmarks/results/moments.md``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from measure import in_own_process, seconds

from coterie import Moments, NonLinCFA
from coterie.datasets import make_paper_data


def update_over_product(n_rows: int, n_features: int, far: float, repeats: int) -> float:
    """Time of one update of moments, in units of ``chunk.T @ chunk``; turn by turn."""
    rng = np.random.default_rng(0)
    chunk, y = rng.normal(size=(n_rows, n_features)) + far, rng.normal(size=n_rows)
    moments = Moments().update(chunk, y)
    updates, products = [], []
    # On one thread, so that the ratio does not depend on who else is at work.
    with threadpool_limits(1):
        for _ in range(repeats):
            updates.append(seconds(lambda: moments.update(chunk, y), repeats=1))
            products.append(seconds(lambda: chunk.T @ chunk, repeats=1))
    return min(updates) / min(products)


def chunk_by_chunk(n_chunks: int, n_rows: int, n_features: int) -> tuple[float, float]:
    """Seconds for moments of many chunks, and for adding up their plain products."""
    rng = np.random.default_rng(0)
    chunk, y = rng.normal(size=(n_rows, n_features)), rng.normal(size=n_rows)

    def ours() -> None:
        moments = Moments()
        for number in range(n_chunks):
            moments.update(chunk, y, fold=number % 5)

    def plain() -> None:
        total = np.zeros((5, n_features, n_features))
        for number in range(n_chunks):
            total[number % 5] += chunk.T @ chunk

    with threadpool_limits(1):
        return seconds(ours, repeats=2), seconds(plain, repeats=2)


def second_tolerance(n_samples: int, n_features: int) -> tuple[float, float]:
    """Seconds for moments and a first fit, and for a fit at another tolerance."""
    X, y = make_paper_data(n_features, noise=n_features / 10, n_samples=n_samples)
    NonLinCFA(0.01).fit_moments(_counted(X[:500, :80], y[:500]))
    start = time.perf_counter()
    moments = _counted(X, y)
    NonLinCFA(0.01).fit_moments(moments)
    first = time.perf_counter() - start
    return first, seconds(lambda: NonLinCFA(0.003).fit_moments(moments), repeats=5)


def _counted(X: np.ndarray, y: np.ndarray) -> Moments:
    moments = Moments(len(X))
    for fold, rows in enumerate(np.array_split(np.arange(len(X)), 5)):
        for some in np.array_split(rows, max(1, len(rows) // 10_000)):
            part = slice(int(some[0]), int(some[-1]) + 1)
            moments.update(X[part], y[part], fold=fold)
    return moments


def measured(quick: bool) -> list[tuple[str, str, str]]:
    """Rows of a table: what, how much, and what was to be reached."""
    repeats = 7 if quick else 25
    near, far = (update_over_product(10_000, 1_000, mean, repeats) for mean in (0.0, 100.0))
    ours, plain = chunk_by_chunk(*((10, 5_000, 500) if quick else (100, 10_000, 1_000)))
    size = {"n_samples": 40_000 if quick else 400_000, "n_features": 400 if quick else 1_000}
    with tempfile.TemporaryDirectory() as folder:
        in_own_process("make_rows", path=folder, **size)
        peaks = {
            kind: in_own_process("count_rows", path=folder, n_folds=5, kind=kind)
            for kind in ("npy", "Parquet")
        }
    first, second = second_tolerance(*((100_000, 200) if quick else (200_000, 500)))
    return [
        ("update, 10,000 x 1,000, means near 0", f"{near:.2f} products", "1.15"),
        ("update, 10,000 x 1,000, means far from 0", f"{far:.2f} products", "1.15"),
        ("chunk by chunk in 5 folds", f"{ours / plain:.2f} of numpy ({ours:.1f} s)", ""),
        *(
            (
                f"peak memory of moments_from, {kind}",
                f"{peak['over_stated']:.2f} of what is stated",
                "1",
            )
            for kind, peak in peaks.items()
        ),
        ("a second tolerance", f"{100 * second / first:.2f} % of the first fit", "1 %"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    quick = parser.parse_args().quick
    rows = measured(quick)
    lines = [f"Measured{' with --quick' if quick else ''}; times of products on one thread.", ""]
    lines += ["| what | measured | to reach |", "| --- | --- | --- |"]
    text = "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"
    (HERE / "results" / "moments.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
