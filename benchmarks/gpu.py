"""A fit on a GPU beside one product of all columns there: seconds, ratios and memory.

    python benchmarks/gpu.py --rows 20000 --columns 20000
    taskset -c 0,1 python benchmarks/gpu.py --host --times 1 --models "forward, in-sample"

Needs torch with CUDA, array-api-compat and numba-cuda. The data are made on the device: groups of
noisy copies of latent series, the members of all groups mixed, and a target that is a sum of them.
With --host they are fitted in the memory of the host, by as many cores as the process may use.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch

from coterie import NonLinCFA


def made(n: int, d: int, n_groups: int, seed: int = 0) -> tuple[Any, Any]:
    """Features in single precision, and a target."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    options = {"device": "cuda", "generator": generator}
    series = torch.randn(n, n_groups, **options)
    labels = torch.randint(n_groups, (d,), **options)
    X = torch.empty(n, d, device="cuda")
    for start in range(0, d, 4096):
        some = labels[start : start + 4096]
        noise = torch.randn(n, len(some), **options)
        X[:, start : start + 4096] = series[:, some] + 0.5 * noise
    y = series @ torch.randn(n_groups, **options) + torch.randn(n, **options)
    return X, y


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds until the device is done, and the result."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def best_of(times: int, function: Callable[[], Any]) -> float:
    return min(timed(function)[0] for _ in range(times))


MODELS = {
    "forward, in-sample": lambda: NonLinCFA(0.001, cv=None, search="forward"),
    "restart, in-sample": lambda: NonLinCFA(0.001, cv=None),
    "forward, 5 folds": lambda: NonLinCFA(0.001, search="forward"),
    "restart, 5 folds": lambda: NonLinCFA(0.001),
    "forward, auto": lambda: NonLinCFA(search="forward"),
    "restart, auto": lambda: NonLinCFA(),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--groups", type=int, default=50)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    given = parser.parse_args()
    X, y = made(given.rows, given.columns, given.groups)
    small, small_y = made(1000, 300, 5)
    product = best_of(given.times, lambda: X.T @ X)
    if given.host:
        X, y, small, small_y = (each.cpu().numpy() for each in (X, y, small, small_y))
    for model in MODELS.values():
        model().fit(small, small_y)
    print(f"{torch.cuda.get_device_name()}; {given.rows:,} x {given.columns:,} float32")
    print(f"one X.T @ X: {product:.3f} s")
    for name in given.models:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        seconds, model = timed(lambda name=name: MODELS[name]().fit(X, y))
        for _ in range(given.times - 1):
            if seconds < 20:
                seconds = min(seconds, timed(lambda name=name: MODELS[name]().fit(X, y))[0])
        peak = torch.cuda.max_memory_allocated() / 1e9
        n_decisions = len(model.trace_) + model.n_refused_.sum()
        print(
            f"{name}: {seconds:.2f} s, {seconds / product:.2f} products, {model.n_groups_} groups, "
            f"{n_decisions:,} decisions, up to {peak:.1f} GB on the device",
            flush=True,
        )


if __name__ == "__main__":
    main()
