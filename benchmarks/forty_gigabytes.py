"""Fit 5,000,000 x 1,000 numbers in Parquet, 40 GB, beside a plain loop that only forms X'X.

Run ``python benchmarks/forty_gigabytes.py`` (a quarter of an hour, and 41 GB of disk that are given
back also when it fails), or with ``--rows 200000`` for a share of it. Each of the two runs in a
process of its own; before each, the files are dropped from the page cache, so that both read from
the disk. Writes ``benchmarks/results/forty_gigabytes.md`` where all rows were counted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ALL_ROWS, N_FEATURES, N_FACTORS = 5_000_000, 1_000, 40
FILE_ROWS, GROUP_ROWS = 125_000, 12_500
MOST_MEMORY, MOST_TIMES = 3.0, 1.5


def make(folder: Path, n_rows: int) -> dict[str, float]:
    """Write the files: noisy copies of a few hidden series, and a noisy sum of some of these."""
    from concurrent.futures import ThreadPoolExecutor

    starts = range(0, n_rows, FILE_ROWS)
    begin = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(_make_file, folder / f"part-{number:03d}.parquet", number, n_rows - start)
            for number, start in enumerate(starts)
        ]
        for job in jobs:
            job.result()
    size = sum(path.stat().st_size for path in folder.iterdir())
    return {"seconds": time.perf_counter() - begin, "gigabytes": size / 1e9}


def _make_file(path: Path, number: int, n_left: int) -> None:
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(number)
    names = [*(f"x{j:03d}" for j in range(N_FEATURES)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    options: dict[str, Any] = {"use_dictionary": False, "compression": "none"}
    with parquet.ParquetWriter(path, schema, write_statistics=False, **options) as file:
        for start in range(0, min(FILE_ROWS, n_left), GROUP_ROWS):
            n = min(GROUP_ROWS, n_left - start)
            factors = rng.standard_normal((N_FACTORS, n))
            columns = rng.standard_normal((N_FEATURES, n))
            for place, column in enumerate(columns):
                column += 2.0 * factors[place % N_FACTORS]
            y = factors[:10].sum(axis=0) + rng.standard_normal(n)
            file.write_table(pa.table([*columns, y], names=names))
    with path.open("rb") as written:
        os.fsync(written.fileno())


def plain(folder: Path) -> dict[str, float]:
    """Read all batches and add up their products, and nothing else."""
    import numpy as np
    from pyarrow import parquet

    begin = time.perf_counter()
    products: Any = 0.0
    for path in sorted(folder.glob("*.parquet")):
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=GROUP_ROWS):
            X = np.array([column.to_numpy() for column in batch.columns[:-1]]).T
            products += X.T @ X
    seconds = time.perf_counter() - begin
    np.save(folder / "products.npy", products)
    return {"seconds": seconds, "gibibytes": _peak()}


def ours(folder: Path) -> dict[str, float]:
    """Moments in five folds, and fits from these."""
    import numpy as np

    from coterie import NonLinCFA, moments_from

    begin = time.perf_counter()
    moments = moments_from(folder, y="y", cv=5)
    seconds = time.perf_counter() - begin
    peak = _peak()
    begin = time.perf_counter()
    reducer = NonLinCFA(0.01).fit_moments(moments)
    fitted = time.perf_counter() - begin
    begin = time.perf_counter()
    automatic = NonLinCFA().fit_moments(moments)
    again = time.perf_counter() - begin
    products = np.load(folder / "products.npy")
    found = moments.scatter() + moments.count * np.outer(moments.mean, moments.mean)
    return {
        "seconds": seconds,
        "gibibytes": peak,
        "fit_seconds": fitted,
        "again_seconds": again,
        "fit_gibibytes": _peak(),
        "groups": reducer.n_groups_,
        "automatic_groups": automatic.n_groups_,
        "difference": float(np.abs(found - products).max() / np.abs(products).max()),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


JOBS = {"make": make, "plain": plain, "ours": ours}


def in_own_process(job: str, folder: Path, *more: int) -> dict[str, float]:
    """What a job of this file reports; this process stays small, so that peaks are theirs."""
    command = [sys.executable, __file__, "--job", job, str(folder), *map(str, more)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    return json.loads(run.stdout.splitlines()[-1])


def forget(folder: Path) -> None:
    """Drop the files from the page cache."""
    for path in folder.glob("*.parquet"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measured(folder: Path, n_rows: int) -> dict[str, dict[str, float]]:
    made = in_own_process("make", folder, n_rows)
    print(f"made {made['gigabytes']:.1f} GB in {made['seconds']:.0f} s", flush=True)
    found = {"make": made}
    for job in ("plain", "ours"):
        forget(folder)
        found[job] = in_own_process(job, folder)
        report = ", ".join(f"{name} {value:.3g}" for name, value in found[job].items())
        print(f"{job}: {report}", flush=True)
    return found


def told(found: dict[str, dict[str, float]], n_rows: int) -> str:
    plain, ours = found["plain"], found["ours"]
    rows = [
        ("", "plain loop", "moments_from", "to reach"),
        ("---", "---", "---", "---"),
        ("seconds", f"{plain['seconds']:.0f}", f"{ours['seconds']:.0f}", ""),
        (
            "times the plain loop",
            "1",
            f"{ours['seconds'] / plain['seconds']:.2f}",
            f"{MOST_TIMES}",
        ),
        (
            "peak memory, GiB",
            f"{plain['gibibytes']:.2f}",
            f"{ours['gibibytes']:.2f}",
            f"{MOST_MEMORY}",
        ),
        ("then NonLinCFA(0.01).fit_moments, s", "", f"{ours['fit_seconds']:.2f}", ""),
        ("then NonLinCFA().fit_moments, s", "", f"{ours['again_seconds']:.2f}", ""),
        ("peak memory with the fits, GiB", "", f"{ours['fit_gibibytes']:.2f}", f"{MOST_MEMORY}"),
        ("largest difference of X'X", "", f"{ours['difference']:.0e} of its largest entry", ""),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    what = (
        f"{n_rows:,} x {N_FEATURES:,} in Parquet, {found['make']['gigabytes']:.1f} GB, on "
        f"{os.cpu_count()} cores; files dropped from the page cache before each run. The plain "
        "loop reads batches and adds up X.T @ X; moments_from checks all numbers and keeps five "
        "folds, sums and products with the target."
    )
    return "\n".join([what, "", *lines]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ALL_ROWS, help="fewer, to try it")
    parser.add_argument("--folder", type=Path, help="where there is room; by default the temporary")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, folder, *more = options.job
        print(json.dumps(JOBS[job](Path(folder), *map(int, more))))
        return
    place = Path(tempfile.gettempdir()) if options.folder is None else options.folder
    needed = 8.2 * options.rows * N_FEATURES
    if shutil.disk_usage(place).free < needed:
        sys.exit(f"{place} has less than {needed / 1e9:.0f} GB left: name another with --folder.")
    # A stop ends the block, and so removes the files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with tempfile.TemporaryDirectory(dir=place, prefix="coterie-") as folder:
        found = measured(Path(folder), options.rows)
    text = told(found, options.rows)
    print(f"\n{text}")
    if options.rows >= ALL_ROWS:
        (HERE / "results" / "forty_gigabytes.md").write_text(text)


if __name__ == "__main__":
    main()
