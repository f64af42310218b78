"""Fit to rows that come in chunks: by hand, and from files, HDF5, Zarr and DuckDB.

Run with ``python examples/chunks.py``. All sources have the same rows here, so all groups are the
same. With larger data, only a chunk and, for each fold, a matrix of all pairs of features are in
memory.
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from coterie import Coterie, Moments, moments_from
from coterie.datasets import make_groups

X, y, _ = make_groups(20_000, 30, 5, noise=3.0, random_state=0)
names = [f"station {i}" for i in range(30)]


def show(source, moments):
    reducer = Coterie().fit_moments(moments)
    sizes = ", ".join(str(len(members)) for members in reducer.groups_)
    print(f"{source:22s} {moments}\n{'':22s} {reducer.n_groups_} groups of {sizes} features")
    return reducer


# Batches by hand, from any source. The folds are those that cv= makes of the other sources.
moments = Moments(n_expected=len(X))
for start in range(0, len(X), 1000):
    rows = slice(start, start + 1000)
    moments.update(X[rows], y[rows], fold=start // 4000)
reducer = show("batches", moments)

with tempfile.TemporaryDirectory() as place:
    folder = Path(place)

    # NumPy files, read some rows at a time.
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    show(".npy", moments_from(folder / "X.npy", folder / "y.npy", cv=5, chunk_rows=2000))

    if find_spec("pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

        # A folder of Parquet files, in the order of their names.
        (folder / "rows").mkdir()
        table = pa.table([*X.T.copy(), y], names=[*names, "rain"])
        for number in range(4):
            part = table.slice(5000 * number, 5000)
            parquet.write_table(part, folder / "rows" / f"{number}.parquet")

        # With a checkpoint, the same call continues where an earlier one was stopped.
        saved = {"cv": 5, "chunk_rows": 1000, "checkpoint": folder / "moments.npz"}

        def stop(done, of_all):
            if done > of_all / 2:
                raise KeyboardInterrupt

        try:
            moments_from(folder / "rows", y="rain", **saved, progress=stop)
        except KeyboardInterrupt:
            print(f"{'stopped':22s} {Moments.load(folder / 'moments.npz')}")
        moments = moments_from(folder / "rows", y="rain", **saved)
        show("a folder of Parquet", moments)

    if find_spec("pyarrow") and find_spec("duckdb"):
        import duckdb

        # Anything that gives an Arrow stream: queries, polars and pyarrow tables.
        query = duckdb.connect().sql(f"select * from '{folder}/rows/*.parquet' where rain < 1000")
        show("a query of DuckDB", moments_from(query, y="rain", cv=5))

    if find_spec("h5py"):
        import h5py

        with h5py.File(folder / "rows.h5", "w") as file:
            file.create_dataset("X", data=X, chunks=(1000, 30), compression="gzip")
            file["y"] = y
            show("HDF5", moments_from(file["X"], file["y"], cv=5))

    if find_spec("zarr"):
        import zarr

        group = zarr.open_group(folder / "rows.zarr", mode="w")
        for name, values in {"X": X, "y": y}.items():
            group.create_array(name, data=values, chunks=(1000, 30)[: values.ndim])
        show("Zarr", moments_from(group["X"], group["y"], cv=5))

# Other parameters need another fit, but no other pass over the rows.
print("\nmin_correlation  groups")
for floor in (0.5, 0.7, 0.99):
    other = Coterie(min_correlation=floor).fit_moments(moments)
    print(f"{floor:15g}  {other.n_groups_:6d}")

# Another number of groups needs not even that.
print("\ngroups  features in them")
for n_groups in (2, 3, 8):
    other = reducer.with_n_groups(n_groups)
    print(f"{n_groups:6d}  {sum(map(len, other.groups_)):15d}")
