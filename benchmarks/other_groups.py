"""How often an automatic tolerance finds other groups from moments than from rows in memory.

Run ``python benchmarks/other_groups.py`` (about ten minutes on one core). Problems differ in size,
number of groups, correlation, noise and tails; a third have at most 1,024 rows.
"""

from __future__ import annotations

import argparse

import numpy as np

from coterie import Moments, NonLinCFA
from coterie.datasets import make_groups


def problem(rng: np.random.Generator, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    is_small = number % 3 == 0
    n_samples = int(rng.integers(50, 1024) if is_small else rng.integers(1100, 6000))
    n_features, n_groups = int(rng.integers(20, 120)), int(rng.integers(2, 12))
    X, y, _ = make_groups(
        n_samples,
        n_features,
        n_groups,
        correlation=rng.uniform(0.2, 0.95),
        noise=rng.uniform(0.5, 5),
        random_state=10_000 * seed + number,
    )
    if number % 4 == 0:
        X = X + 0.5 * rng.standard_t(4, size=X.shape)
    if number % 5 == 0:
        X = np.exp(0.7 * X)
    return X, y


def from_moments(X: np.ndarray, y: np.ndarray, n_expected: int | None) -> NonLinCFA:
    moments = Moments(n_expected)
    for rows in np.array_split(np.arange(len(y)), 5):
        moments.update(X[rows], y[rows])
    return NonLinCFA().fit_moments(moments)


def counted(n_problems: int, seed: int) -> dict[str, tuple[int, int]]:
    """Problems with other groups, and all problems, by what is known of the number of rows."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[bool]] = {"up to 1,024 rows": [], "told": [], "not told": []}
    for number in range(n_problems):
        X, y = problem(rng, number, seed)
        labels = NonLinCFA().fit(X, y).labels_
        kinds = {"told": len(y), "not told": None} if number % 3 else {"up to 1,024 rows": None}
        for kind, n_expected in kinds.items():
            found[kind].append(not np.array_equal(from_moments(X, y, n_expected).labels_, labels))
    return {kind: (sum(others), len(others)) for kind, others in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=450, help="problems for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 11])
    options = parser.parse_args()
    for seed in options.seeds:
        print(seed, counted(options.problems, seed), flush=True)


if __name__ == "__main__":
    main()
