"""Every source gives the groups that a fit in memory gives, with folds and weights."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from coterie import GenLinCFA, LinCFA, NonLinCFA, moments_from
from coterie.datasets import make_groups

N, NAMES = 2500, [f"c{i}" for i in range(8)]
REDUCERS = [NonLinCFA(0.01), NonLinCFA(), GenLinCFA(0.01), LinCFA()]


@pytest.fixture(scope="module")
def frame():
    X, y, _ = make_groups(N, 8, 3, noise=3.0, random_state=0)
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y, w=np.arange(N) % 3 + 1.0)
    return frame.assign(fold=np.arange(N) // 500)


@pytest.fixture(scope="module")
def table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.fixture(scope="module")
def expected(frame):
    X, y, w = frame[NAMES].to_numpy(), frame["y"].to_numpy(), frame["w"].to_numpy()
    return [reducer.fit(X, y, w).labels_.tolist() for reducer in REDUCERS]


BY_NAME = {"y": "y", "columns": NAMES, "sample_weight": "w"}


def parquet_file(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=400)
    return moments_from(folder / "rows.parquet", **BY_NAME, cv=5, chunk_rows=300)


def large_row_groups(table, folder):
    pq.write_table(table, folder / "rows.parquet", compression="zstd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie._data.sources._parquet.LARGE_GROUP_BYTES", 10)
        return moments_from(folder / "rows.parquet", **BY_NAME, cv=5, chunk_rows=300)


def folder_of_files(table, folder):
    for number, start in enumerate([0, 700, 701, 701, 2100]):
        stop = [700, 701, 701, 2100, N][number]
        pq.write_table(table.slice(start, stop - start), folder / f"part-{number}.parquet")
    (folder / "README.txt").write_text("beside")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.parquet.crc").write_text("beside")
    return moments_from(str(folder), **BY_NAME, cv="fold")


def hive(table, folder):
    ds.write_dataset(
        table, folder, format="parquet", partitioning=["fold"], partitioning_flavor="hive"
    )
    (folder / "fold=0" / "notes.csv").write_text("a,b")
    return moments_from(folder, **BY_NAME, cv="fold")


def numpy_files(table, folder, order="C"):
    for name, columns in {"X": NAMES, "y": "y", "w": "w"}.items():
        np.save(folder / f"{name}.npy", np.asarray(table.to_pandas()[columns], order=order))
    beside = {"y": folder / "y.npy", "sample_weight": str(folder / "w.npy")}
    return moments_from(str(folder / "X.npy"), **beside, cv=5, chunk_rows=999)


def mapped(table, folder):
    numpy_files(table, folder)
    X, y, w = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "Xyw")
    return moments_from(X, y, sample_weight=w, cv=5, chunk_rows=333)


def hdf5(table, folder):
    h5py = pytest.importorskip("h5py")
    frame = table.to_pandas()
    with h5py.File(folder / "rows.h5", "w") as file:
        file.create_dataset("X", data=frame[NAMES], chunks=(100, 4), compression="gzip")
        file["y"], file["w"] = frame["y"], frame["w"]
        file["fold"] = frame["fold"]
    with h5py.File(folder / "rows.h5") as file:
        beside = {"sample_weight": file["w"], "cv": file["fold"]}
        return moments_from(file["X"], file["y"], **beside, chunk_rows=256)


def zarr_arrays(table, folder):
    zarr = pytest.importorskip("zarr")
    frame = table.to_pandas()
    group = zarr.open_group(folder / "rows.zarr", mode="w")
    for name, columns in {"X": NAMES, "y": "y", "w": "w"}.items():
        values = frame[columns].to_numpy()
        chunks = (100, 3)[: values.ndim]
        group.create_array(name, shape=values.shape, chunks=chunks, dtype="f8")[:] = values
    group = zarr.open_group(folder / "rows.zarr", mode="r")
    return moments_from(group["X"], group["y"], sample_weight=group["w"], cv=5)


def duckdb_query(table, folder):
    duckdb = pytest.importorskip("duckdb")
    pq.write_table(table, folder / "rows.parquet")
    query = duckdb.connect().sql(f"select *, 'text' as note from '{folder}/rows.parquet'")
    return moments_from(query, **BY_NAME, cv=5, chunk_rows=300)


def stream(table, _):
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=77))
    return moments_from(reader, **BY_NAME, cv=lambda rows: rows // 500, chunk_rows=256)


def anything_with_a_stream(table, _):
    class Capsule:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    return moments_from(Capsule(), **BY_NAME, cv="fold")


def dataset(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=400)
    return moments_from(ds.dataset(folder), **BY_NAME, cv=5, chunk_rows=300)


def scanner(table, _):
    scanned = ds.dataset(table).scanner(columns=[*NAMES, "y", "w", "fold"], batch_size=99)
    return moments_from(scanned, **BY_NAME, cv="fold", chunk_rows=300)


def scanner_that_scans_once(table, _):
    batches = iter(table.to_batches(max_chunksize=200))
    return moments_from(ds.Scanner.from_batches(batches, schema=table.schema), **BY_NAME, cv="fold")


def arrow_with_arrays_beside(table, _):
    return moments_from(
        table.select(NAMES),
        table["y"],
        sample_weight=table["w"].to_pylist(),
        cv=np.arange(N) // 500,
        chunk_rows=700,
    )


def chunks_of_csv(table, folder):
    table.to_pandas().to_csv(folder / "rows.csv", index=False, float_format="%.17g")
    chunks = pd.read_csv(folder / "rows.csv", chunksize=600)
    return moments_from(chunks, **BY_NAME, cv="fold")


def tuples(table, _):
    frame = table.to_pandas()
    X, y, w = frame[NAMES].to_numpy(), frame["y"].to_numpy(), frame["w"].to_numpy()
    batches = ((X[rows], y[rows], w[rows]) for rows in np.split(np.arange(N), [600, 601, 1900]))
    return moments_from(batches, cv=lambda rows: rows // 500)


def numbered_columns(table, _):
    frame = table.to_pandas().rename(columns=dict(zip(NAMES, range(8), strict=True)))
    return moments_from(frame, y="y", columns=range(8), sample_weight="w", cv=5, chunk_rows=400)


def compressed_rows(table, _):
    frame = table.to_pandas()
    X = sparse.csc_array(frame[NAMES].to_numpy())
    return moments_from(X, frame["y"], sample_weight=frame["w"], cv=5, chunk_rows=400)


SOURCES = {
    "a Parquet file": parquet_file,
    "a Parquet file of large row groups": large_row_groups,
    "a folder": folder_of_files,
    "a folder partitioned as by Hive": hive,
    ".npy": numpy_files,
    ".npy by column": lambda table, folder: numpy_files(table, folder, "F"),
    "a mapped .npy": mapped,
    "HDF5": hdf5,
    "Zarr": zarr_arrays,
    "DuckDB": duckdb_query,
    "a stream": stream,
    "anything with a stream": anything_with_a_stream,
    "a dataset": dataset,
    "a scanner": scanner,
    "a scanner that scans once": scanner_that_scans_once,
    "Arrow": lambda table, _: moments_from(table, **BY_NAME, cv=5, chunk_rows=600),
    "Arrow, and arrays": arrow_with_arrays_beside,
    "polars": lambda table, _: moments_from(pl.from_arrow(table), **BY_NAME, cv="fold"),
    "lazy polars": lambda table, _: moments_from(
        pl.from_arrow(table).lazy().filter(pl.col("y") < 1e9), **BY_NAME, cv=5, chunk_rows=300
    ),
    "pandas": lambda table, _: moments_from(table.to_pandas(), **BY_NAME, cv="fold", chunk_rows=70),
    "chunks of a text file": chunks_of_csv,
    "tuples": tuples,
    "batches of Arrow": lambda table, _: moments_from(
        table.to_batches(max_chunksize=300), **BY_NAME, cv="fold"
    ),
    "frames of polars": lambda table, _: moments_from(
        pl.from_arrow(table).iter_slices(300), **BY_NAME, cv="fold"
    ),
    "pandas with numbered columns": numbered_columns,
    "sparse": compressed_rows,
}


@pytest.mark.parametrize("read", SOURCES.values(), ids=SOURCES)
def test_groups_are_those_of_all_rows_in_memory(frame, table, expected, tmp_path, read):
    moments = read(table, tmp_path)
    assert (moments.n_samples_, moments.count) == (N, frame["w"].sum())
    assert moments.n_folds == 5
    X, w = frame[NAMES].to_numpy(), frame["w"].to_numpy()
    covariance = np.cov(X.T, ddof=0, fweights=w.astype(int))
    np.testing.assert_allclose(moments.scatter() / w.sum(), covariance, rtol=1e-9)
    for reducer, labels in zip(REDUCERS, expected, strict=True):
        assert reducer.fit_moments(moments).labels_.tolist() == labels


def test_chunks_across_fold_borders_are_counted_once(table, tmp_path):
    # Contiguous folds of 7 cut chunks anywhere.
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=999)
    moments = moments_from(tmp_path / "rows.parquet", y="y", cv=7, chunk_rows=801)
    sizes = [len(rows) for rows in np.array_split(np.arange(N), 7)]
    assert [part.count for part in moments.accumulated] == sizes


def many_kinds():
    """Columns of all number types, and targets of all types."""
    rng = np.random.default_rng(1)
    factor = rng.normal(size=N)
    columns = {
        "half": pa.array((factor + rng.normal(size=N)).astype(np.float16)),
        "single": pa.array((factor + rng.normal(size=N)).astype(np.float32)),
        "whole": pa.array(np.round(10 * factor + 10 * rng.normal(size=N)).astype(np.int16)),
        "large": pa.array(np.round(1e17 * factor + 1e18 * rng.random(N)).astype(np.uint64)),
        "truth": pa.array(rng.normal(size=N) + factor > 0),
        "decimal": pa.array(np.round(factor + rng.normal(size=N), 2)).cast(pa.decimal128(9, 2)),
        "coded": pa.array(np.round(factor + rng.normal(size=N), 1)).dictionary_encode(),
    }
    level = np.select([factor < -1, factor < 1], ["low", "middle"], "high")
    targets = {
        "text": pa.array(level).dictionary_encode(),
        "wide": pa.array(level.tolist(), pa.large_string()),
        "seen": pa.array(level.tolist(), pa.string_view())
        if hasattr(pa, "string_view")
        else pa.array(level),
        "true": pa.array(factor > 0),
        "cents": pa.array(np.round(factor, 2)).cast(pa.decimal128(9, 2)),
        "count": pa.array(np.round(2 * factor).astype(np.int8)),
    }
    return pa.table({**columns, **targets}), list(columns)


@pytest.mark.parametrize("kind", ["table", "file", "polars", "stream"])
@pytest.mark.parametrize("target", ["text", "wide", "seen", "true", "cents", "count"])
def test_columns_and_targets_of_all_kinds(tmp_path, kind, target):
    table, features = many_kinds()
    X = np.column_stack([np.array(table[name].to_pylist(), dtype=float) for name in features])
    y = np.array(table[target].to_pylist(), dtype=object)
    y = y if isinstance(y[0], str) else y.astype(bool if target == "true" else float)
    source = {"table": table, "stream": pa.RecordBatchReader.from_stream(table)}.get(kind)
    if kind == "polars":
        source = pl.from_arrow(table)
    if source is None:
        source = tmp_path / "rows.parquet"
        # Not all versions write views, and none reads them from there.
        seen = table.schema.get_field_index("seen")
        table = table.set_column(seen, "seen", pa.array(table["seen"].to_pylist()))
        pq.write_table(table, source, row_group_size=700)
    reducer = (
        NonLinCFA(n_groups=3)
        if target in ("cents", "count")
        else GenLinCFA(n_groups=3, family="bernoulli")
    )
    moments = moments_from(source, y=target, columns=features, chunk_rows=600)
    expected = reducer.fit(X, y)
    labels, classes = expected.labels_, getattr(expected, "classes_", None)
    again = reducer.fit_moments(moments)
    assert (again.labels_ == labels).all()
    if classes is not None:
        assert (again.classes_ == classes).all()
        assert again.classes_.dtype.kind == classes.dtype.kind
