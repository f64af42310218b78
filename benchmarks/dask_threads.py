"""Measure moments by Dask's threads against the plain loop over chunks, on the same files.

Run ``python benchmarks/dask_threads.py`` (a minute or two and 2 GB in a temporary folder), or with
``--quick`` for a share of it. Compare the ratios: seconds depend on who else is at work.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from measure import seconds

from coterie import Moments, moments_from

N_FILES, N_FOLDS = 8, 5


def make_files(folder: Path, n_rows: int, n_columns: int) -> None:
    """The same rows in files of Parquet and of numpy, made a file at a time."""
    names = [f"c{number}" for number in range(n_columns)]
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n_rows, n_columns))
    y = np.empty(n_rows)
    (folder / "parquet").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(n_rows), N_FILES)):
        rng = np.random.default_rng(number)
        factors = rng.normal(size=(len(rows), 20))
        values = np.repeat(factors, -(-n_columns // 20), axis=1)[:, :n_columns]
        values = values + rng.normal(size=values.shape)
        target = factors.sum(axis=1) + rng.normal(size=len(rows))
        X[rows[0] : rows[-1] + 1], y[rows] = values, target
        frame = pd.DataFrame(values, columns=names).assign(target=target)
        frame.to_parquet(folder / "parquet" / f"{number}.parquet")
    X.flush()
    np.save(folder / "y.npy", y)


def ways(folder: Path) -> dict[str, Callable[[], Moments]]:
    """What is measured, by name."""

    def arrays_of_parquet() -> Moments:
        frame = dd.read_parquet(folder / "parquet")
        X = frame.drop(columns="target").to_dask_array()
        return moments_from(X, frame["target"], cv=N_FOLDS)

    def arrays() -> Moments:
        X, y = (np.load(folder / name, mmap_mode="r") for name in ("X.npy", "y.npy"))
        rows = -(-len(X) // (2 * N_FILES))
        blocks = da.from_array(X, chunks=(rows, -1), name=False)
        return moments_from(blocks, y, cv=N_FOLDS)

    return {
        "Parquet: loop over chunks": lambda: moments_from(
            folder / "parquet", y="target", cv=N_FOLDS
        ),
        "Parquet: dask.dataframe": lambda: moments_from(
            dd.read_parquet(folder / "parquet"), y="target", cv=N_FOLDS
        ),
        "Parquet: dask.array": arrays_of_parquet,
        "numpy: loop over chunks": lambda: moments_from(
            folder / "X.npy", folder / "y.npy", cv=N_FOLDS
        ),
        "numpy: dask.array": arrays,
    }


def measured(folder: Path, repeats: int) -> dict[str, float]:
    """Shortest time of each way, turn by turn."""
    times: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, way in ways(folder).items():
            times.setdefault(name, []).append(seconds(way, repeats=1))
    return {name: min(each) for name, each in times.items()}


def check_same(folder: Path) -> None:
    """Raise where one way finds other moments."""
    first, *others = (way() for way in ways(folder).values())
    for other in others:
        assert other.n_folds == first.n_folds == N_FOLDS
        np.testing.assert_allclose(other.scatter(), first.scatter(), rtol=1e-7, atol=1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    n_rows = 24_000 if parser.parse_args().quick else 240_000
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set(scheduler="threads"),
    ):
        make_files(Path(folder), n_rows, 400)
        check_same(Path(folder))
        times = measured(Path(folder), repeats=3)
    print(f"{n_rows:,} rows, 400 features and a target, {N_FOLDS} folds, {N_FILES} files\n")
    print("| way | seconds | of the loop |\n| --- | --- | --- |")
    for name, time in times.items():
        loop = times[f"{name.partition(':')[0]}: loop over chunks"]
        print(f"| {name} | {time:.2f} | {time / loop:.2f} |")


if __name__ == "__main__":
    main()
