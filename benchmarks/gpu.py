"""A fit on a GPU beside one product of all columns there: seconds, ratios and memory.

    python benchmarks/gpu.py --rows 20000 --columns 20000
    taskset -c 0,1 python benchmarks/gpu.py --host --times 1 --models "NonLinCFA()"
    python benchmarks/gpu.py --out gpu.json          # the lines as JSON, with versions

Needs torch with CUDA, array-api-compat and numba-cuda. The data are made on the device: groups of
noisy copies of latent series, the members of all groups mixed, and a target that is a sum of them.
With --host they are fitted in the memory of the host, by as many cores as the process may use.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measure import versions
from peers import made


def problem(n: int, d: int, n_groups: int, seed: int = 0) -> tuple[Any, Any]:
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


# The defaults first; then a fixed tolerance, on the training rows and in five folds.
MODELS = (
    "NonLinCFA()",
    'NonLinCFA(search="forward")',
    'NonLinCFA(0.001, cv=None, search="forward")',
    "NonLinCFA(0.001, cv=None)",
    'NonLinCFA(0.001, search="forward")',
    "NonLinCFA(0.001)",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--groups", type=int, default=50)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--out", type=Path, help="file to add the lines to")
    given = parser.parse_args()
    X, y = problem(given.rows, given.columns, given.groups)
    small, small_y = problem(1000, 300, 5)
    product = best_of(given.times, lambda: X.T @ X)
    if given.host:
        X, y, small, small_y = (each.cpu().numpy() for each in (X, y, small, small_y))
    for name in given.models:
        made(name).fit(small, small_y)
    print(f"{torch.cuda.get_device_name()}; {given.rows:,} x {given.columns:,} float32")
    print(f"one X.T @ X: {product:.3f} s")
    lines = []
    for name in given.models:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        seconds, model = timed(lambda name=name: made(name).fit(X, y))
        for _ in range(given.times - 1):
            if seconds < 20:
                seconds = min(seconds, timed(lambda name=name: made(name).fit(X, y))[0])
        peak = torch.cuda.max_memory_allocated() / 1e9
        n_decisions = len(model.trace_) + model.n_refused_.sum()
        print(
            f"{name}: {seconds:.2f} s, {seconds / product:.2f} products, {model.n_groups_} groups, "
            f"{n_decisions:,} decisions, up to {peak:.1f} GB on the device",
            flush=True,
        )
        line = {"configuration": name, "rows": given.rows, "columns": given.columns}
        line |= {"seconds": seconds, "product": product, "groups": model.n_groups_}
        lines.append(line | {"decisions": int(n_decisions), "peak_gb": peak, "host": given.host})
    if given.out:
        before = json.loads(given.out.read_text())["lines"] if given.out.exists() else []
        where = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        found = where | {"versions": versions(), "lines": [*before, *lines]}
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
