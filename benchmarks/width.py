"""What very many columns cost, measured up to 200,000 and worked out for a million.

    python benchmarks/width.py

For each width: one pass over the columns; the matrix of all pairs, from one block of it; the fit
that never forms it (``covariance="columns"``); how many pairs a screen by the target would leave;
and how far groups found from a sketch of the rows agree. Then what a cluster would take that
shares the columns out, from the merges that were counted.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
from measure import seconds, wide_data

from coterie import NonLinCFA

TOLERANCE = 0.001
# Columns of a block of the matrix of all pairs.
BLOCK = 10_000
# Seconds of one message there and back, and bytes a second, on an ordinary network.
LATENCY, BANDWIDTH = 5e-4, 1.25e9


def fitted(X: Any, y: Any) -> tuple[float, NonLinCFA]:
    start = time.perf_counter()
    reducer = NonLinCFA(TOLERANCE, cv=None, search="forward", covariance="columns").fit(X, y)
    return time.perf_counter() - start, reducer


def share_within_reach(X: Any, y: Any) -> float:
    """Share of pairs whose correlations with the target are so near that they might ever merge.

    Two standardised columns give up (r1 - r2)^2 / (2 (1 - r)) of R2, and 1 - r is at most 2.
    """
    centred = X - X.mean(axis=0)
    r = np.sort(np.abs((y - y.mean()) @ centred / (X.std(axis=0) * y.std() * len(y))))
    reach = np.searchsorted(r, r + 2 * np.sqrt(TOLERANCE), side="right") - np.arange(len(r)) - 1
    return 2 * float(reach.sum()) / (len(r) * (len(r) - 1))


def same_pairs(labels: Any, others: Any) -> float:
    """Share of pairs of features that are together in one partition, and in the other too."""
    both = np.unique(np.stack([labels, others]), axis=1, return_counts=True)[1]
    pairs = [np.square(count).sum() - count.sum() for count in (both, np.bincount(labels))]
    return float(pairs[0] / pairs[1])


def sketched(X: Any, y: Any, m: int) -> tuple[Any, Any]:
    """m random sums of the rows, by which products are kept on average."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(m, len(X))).astype(np.float32)
    signs /= np.sqrt(np.float32(m))
    return signs @ (X - X.mean(axis=0)), signs @ (y - y.mean())


def cluster(n: int, work: float, merges: float, workers: int) -> float:
    """Seconds where each worker has a share of the columns.

    A group is known by its n values: each merge sends them to all, and each worker answers with
    its first candidate that is welcome. One alone sends nothing.
    """
    if workers == 1:
        return work
    return work / workers + merges * (LATENCY + 8 * n / BANDWIDTH)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, nargs="*", default=[10_000, 50_000, 200_000])
    parser.add_argument("--groups", type=int, default=20)
    given = parser.parse_args()
    n = given.rows
    print("| columns | pass | all pairs | of memory | fit | passes | merges | decisions | peak |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    fits = {}
    for d in given.columns:
        X, y = wide_data(n, d, given.groups)
        one = seconds(lambda X=X: np.ones(n, dtype=np.float32) @ X)
        block = X[:, :BLOCK]
        pairs = seconds(lambda block=block: block.T @ block) * (d / block.shape[1]) ** 2
        took, reducer = fitted(X, y)
        merges = len(reducer.trace_)
        n_decisions = merges + reducer.n_refused_.sum()
        fits[d] = took, merges
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / X.nbytes
        print(
            f"| {d:,} | {one:.4f} s | {pairs:.1f} s | {8 * d * d / 1e9:,.1f} GB | {took:.1f} s | "
            f"{took / one:.0f} | {merges:,} | {n_decisions:,} | {peak:.1f} X |",
            flush=True,
        )
        if d == min(given.columns):
            reach = share_within_reach(X, y)
            agree = {
                m: same_pairs(reducer.labels_, fitted(*sketched(X, y, m))[1].labels_)
                for m in (n // 4, n // 2)
            }
    print(f"\nA screen by the target leaves {reach:.0%} of the pairs.")
    print("Pairs in one group that are together by a sketch of the rows:", end=" ")
    print(", ".join(f"{share:.0%} by {m} of {n}" for m, share in agree.items()))
    widest = max(fits)
    took, merges = fits[widest]
    print(f"\nA million columns, from what {widest:,} took, with the columns on several workers:\n")
    print("| rows | workers | columns of each | a message a merge | one for 32 foreseen |")
    print("| --- | --- | --- | --- | --- |")
    more = 1_000_000 / widest
    for rows in (n, 1_000_000):
        for workers in (1, 8, 64):
            one_by_one, foreseen = (
                cluster(rows, took * more * rows / n, merges * more / links, workers)
                for links in (1, 32)
            )
            each = 4 * rows * 1_000_000 / workers / 1e9
            took_each = f"{one_by_one:,.0f} s | {foreseen:,.0f} s"
            print(f"| {rows:,} | {workers} | {each:,.2f} GB | {took_each} |")


if __name__ == "__main__":
    main()
