"""Moments of files, streams and batches."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_info

from coterie import GenLinCFA, Moments, NonLinCFA, moments_from
from coterie._data.sources._chunks import choose_chunk_rows
from coterie.datasets import make_groups

NAMES = [f"c{i}" for i in range(8)]


class Slices:
    """An array that is not in memory, as those of HDF5 and Zarr."""

    def __init__(self, values):
        self._values, self.shape, self.dtype = values, values.shape, values.dtype
        self.longest = 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        part = self._values[rows]
        self.longest = max(self.longest, len(part))
        return part


@pytest.fixture
def frame():
    X, y, _ = make_groups(2500, 8, 3, noise=3.0, random_state=0)
    return pd.DataFrame(X, columns=NAMES).assign(y=y)


@pytest.fixture
def table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def test_an_array_on_disk_is_read_in_slices(frame):
    source = Slices(frame[NAMES].to_numpy())
    moments = moments_from(source, frame["y"], chunk_rows=100)
    assert (source.longest, moments.n_samples_) == (100, 2500)


def test_chunks_are_whole_blocks_if_blocks_are_small():
    assert choose_chunk_rows(None, 1000, 500) == 8000
    assert choose_chunk_rows(None, 1000, 10_000) == choose_chunk_rows(None, 1000) == 8388
    assert choose_chunk_rows(77, 1000, 500) == 77


def test_the_same_rows_are_sampled_if_their_number_is_known(frame, table):
    X, y = frame[NAMES], frame["y"]
    expected = NonLinCFA().fit(X, y).penalty_
    assert NonLinCFA().fit_moments(moments_from(table, y="y")).penalty_ == expected
    weights = np.arange(2500) % 3
    weighted = moments_from(frame, y="y", sample_weight=weights)
    expected = NonLinCFA().fit(X, y, weights).penalty_
    assert NonLinCFA().fit_moments(weighted).penalty_ == expected


@pytest.mark.parametrize("kind", ["arrow", "pandas", "parquet"])
def test_columns_may_be_weights_and_folds(frame, tmp_path, kind):
    frame = frame.assign(w=np.arange(2500) % 3, fold=np.arange(2500) % 4, note="text")
    source = {"arrow": pa.Table.from_pandas(frame), "pandas": frame}.get(kind)
    if source is None:
        source = tmp_path / "rows.parquet"
        frame.to_parquet(source)
    moments = moments_from(source, y="y", columns=NAMES, sample_weight="w", cv="fold")
    direct = Moments().update(frame[NAMES], frame["y"], frame["w"], frame["fold"].to_numpy())
    np.testing.assert_allclose(moments.scatter(), direct.scatter(), rtol=1e-9)
    assert (moments.count, moments.n_folds) == (direct.count, 4)
    assert moments.feature_names_in_.tolist() == NAMES


def test_text_is_a_column_name_unless_it_ends_in_npy(frame, tmp_path):
    """Paths as text or as objects, for all sources; and a name that a file has too."""
    for name, values in {"y": frame["y"], "w": 1.0 + np.arange(2500) % 3}.items():
        np.save(tmp_path / f"{name}.npy", values)
    (tmp_path / "y").write_text("a file, and not the column")
    X, path = frame[NAMES], tmp_path / "rows.parquet"
    frame.to_parquet(path)
    expected = Moments().update(X, frame["y"], np.load(tmp_path / "w.npy")).scatter()
    named = {"columns": NAMES, "chunk_rows": 900}
    for kind in (str, Path):
        y, weights = kind(tmp_path / "y.npy"), kind(tmp_path / "w.npy")
        for found in (
            moments_from(frame, "y", sample_weight=weights, **named),
            moments_from(frame, y, sample_weight=weights, **named),
            moments_from(path, ["y"], sample_weight=weights, **named),
            moments_from(path, y, sample_weight=weights, **named),
            moments_from(pa.Table.from_pandas(frame), y, sample_weight=weights, **named),
            moments_from(X.to_numpy(), y, sample_weight=weights),
        ):
            np.testing.assert_allclose(found.scatter(), expected, rtol=1e-9)


def test_several_targets_and_labels(frame):
    frame = frame.assign(level=np.where(frame["y"] > 0, "much", "little"))
    both = moments_from(frame, y=["y", "level"], columns=NAMES)
    expected = NonLinCFA().fit(frame[NAMES], frame[["y", "level"]].to_numpy())
    assert (NonLinCFA().fit_moments(both).labels_ == expected.labels_).all()
    one = moments_from(pa.Table.from_pandas(frame), y="level", columns=NAMES)
    reducer = GenLinCFA(family="bernoulli").fit_moments(one)
    assert reducer.classes_.tolist() == ["little", "much"]


def test_the_scale_of_weights_does_not_change_the_sampled_rows(frame, rng):
    weights = rng.random(2500) + 0.1
    moments = moments_from(frame, y="y", sample_weight=weights, chunk_rows=77)
    expected = NonLinCFA().fit(frame[NAMES], frame["y"], weights).penalty_
    assert NonLinCFA().fit_moments(moments).penalty_ == expected


# Early versions of zarr 3 say that text is not in the specification of its format.
@pytest.mark.filterwarnings("ignore:The codec `vlen-utf8` is currently not part")
@pytest.mark.parametrize("kind", ["h5py", "zarr", "numpy"])
def test_labels_may_be_a_separate_array_of_text(frame, tmp_path, kind):
    X, labels = frame[NAMES].to_numpy(), np.where(frame["y"] > 0, "much", "little")
    if kind == "h5py":
        file = pytest.importorskip("h5py").File(tmp_path / "rows.h5", "w")
        text = pytest.importorskip("h5py").string_dtype()
        beside = file.create_dataset("labels", data=labels.astype(object), dtype=text).asstr()
    elif kind == "zarr":
        zarr = pytest.importorskip("zarr")
        beside = zarr.create_array(tmp_path / "rows.zarr", shape=(2500,), chunks=(100,), dtype=str)
        beside[:] = labels
    else:
        beside = (
            labels.astype(np.dtypes.StringDType()) if hasattr(np.dtypes, "StringDType") else labels
        )
    moments = moments_from(X, beside, chunk_rows=600, checkpoint=tmp_path / "moments.npz")
    expected = GenLinCFA(0.01, family="bernoulli").fit(X, labels)
    for each in (moments, Moments.load(tmp_path / "moments.npz")):
        again = GenLinCFA(0.01, family="bernoulli").fit_moments(each)
        assert (again.labels_ == expected.labels_).all()
        assert again.classes_.tolist() == ["little", "much"]
    if kind == "h5py":
        file.close()


def test_batches_may_contain_weights(frame):
    X, y = frame[NAMES].to_numpy(), frame["y"].to_numpy()
    weights = np.arange(2500) % 2 + 1.0
    moments = moments_from([(X[:900], y[:900], weights[:900]), (X[900:], y[900:], weights[900:])])
    assert moments.count == weights.sum()


def test_progress_is_reported(frame):
    told = []
    moments_from(frame, y="y", chunk_rows=1000, progress=lambda *done: told.append(done))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_small_products_use_one_thread(frame):
    def threads(*_):
        pools = threadpool_info()
        return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]

    before, within = threads(), []
    moments_from(frame, y="y", progress=lambda *_: within.extend(threads()))
    assert {*within} == {1}
    assert threads() == before


def test_the_progress_bar_shows_the_memory(frame, capsys):
    moments_from(frame, y="y", chunk_rows=1000, cv=5, progress=True)
    assert "chunks, up to 324 kB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("frame", {"y": "z"}, "The source has no column 'z'"),
        ("frame", {"y": "y", "columns": ["c0", "d"]}, "The source has no column 'd'"),
        ("frame", {}, "y is missing: pass the name of a column, a list of names, or an array"),
        ("frame", {"y": "y", "max_bytes": 1000}, "Moments of 8 features in 1 fold take .* 1 kB"),
        ("frame", {"y": "y", "max_bytes": 4e5, "cv": 99}, r"take .* Use chunk_rows=\d+, or"),
        (
            "frame",
            {"y": "y", "max_bytes": 4e5, "cv": 1200},
            "take .* Use a smaller chunk_rows with fewer folds, or",
        ),
        ("frame", {"y": Path("y.csv")}, r"the path of a .npy file, got the path 'y\.csv'\."),
        ("frame", {"y": "y", "sample_weight": Path("w")}, r"sample_weight must be an array, .*'w'"),
        ("frame", {"y": "y", "sample_weight": np.ones(3)}, "rows, and sample_weight has 3"),
        ("frame", {"y": []}, "The source has 2500 rows, and y has 0"),
        ("frame", {"y": "y", "cv": np.arange(9)}, "has 2500 rows, and cv has 9"),
        ("frame", {"y": "y", "cv": np.ones((2, 2))}, "cv must have one entry for each"),
        ("frame", {"y": [f"c{i}" for i in range(8)] + ["y"]}, "no columns that can be"),
        ("frame", {"y": "y", "sample_weight": "c0"}, "sample_weight must be 0 or more"),
        ("frame", {"y": "y", "cv": 1}, "cv must be from 2"),
        ("frame", {"y": "y", "chunk_rows": 0}, "chunk_rows must be 1 or more"),
        ("array", {}, "An array has no column names: pass y and sample_weight as NumPy arrays"),
        ("array", {"y": "y"}, "An array has no column names"),
        ("array", {"y": ["y", "z"]}, "An array has no column names"),
        ("array", {"y": np.zeros(2500), "sample_weight": "w"}, "An array has no column names"),
        ("array", {"y": np.zeros(2500), "cv": "fold"}, "An array has no column names"),
        ("array", {"y": np.zeros(2500), "columns": ["c0"]}, "and leave columns out"),
        ("array", {"y": np.zeros(3)}, "The source has 2500 rows, and y has 3"),
        ("batches", {"max_bytes": 1000}, "Moments of 8 features in 1 fold take .* 1 kB"),
        ("batches", {"cv": 5}, "needs the number of rows, and this source does not give it"),
        ("batches", {"y": np.zeros(2500)}, "Batches contain y"),
        ("batches", {"cv": "fold"}, "Batches of .X, y. have no column names for cv: pass"),
        ("batches", {"cv": np.zeros(5001, int)}, "The source has 5000 rows, and cv has 5001"),
        ("batches", {"cv": np.zeros(2600, int)}, "2500 rows in batch 1, .* and fold has 100"),
        ("text", {"y": "y"}, "The source holds .* in column 'c1', not numbers"),
        ("twice", {"y": "y"}, "The source has column 'c1' more than once"),
        ("twice of pandas", {"y": "y"}, "The source has column 'c1' more than once"),
        ("stream", {"y": np.zeros(2600)}, "The source has 2500 rows, and y has 2600"),
        ("stream", {"y": np.zeros(2400)}, "X has 2500 rows in batch 0, .*, and y has 2400"),
        ("masked", {"y": np.zeros(2500)}, "X is a masked array"),
        ("array", {"y": np.ma.masked_less(np.arange(2500), 9)}, "y is a masked array in batch 0"),
        ("array", {"y": np.zeros((2500, 1, 1))}, "y must have 1 or 2 dimensions"),
        (
            "array",
            {"y": np.array([b"a"] * 2500, dtype=object)},
            "got bytes in one column, in batch 0, .* of the source. Decode",
        ),
        ("none", {}, "no rows with a weight above 0"),
        ("other", {}, "of the same|columns|no column"),
    ],
)
def test_invalid_input_raises_a_clear_error(frame, source, options, says):
    X, y = frame[NAMES], frame["y"]
    sources = {
        "frame": frame,
        "array": X.to_numpy(),
        "batches": ((X, y) for _ in range(2)),
        "text": pa.Table.from_pandas(frame.assign(c1="a")),
        "twice": pa.table([[1.0], [2.0], [3.0]], names=["c1", "c1", "y"]),
        "twice of pandas": pd.DataFrame([[1.0, 2.0, 3.0]], columns=["c1", "c1", "y"]),
        "stream": pa.RecordBatchReader.from_stream(pa.Table.from_pandas(X)),
        "masked": np.ma.masked_less(X.to_numpy(), -1.0),
        "none": [],
        "other": [(X, y), (X.rename(columns={"c0": "d"}), y)],
    }
    with pytest.raises(ValueError, match=says):
        moments_from(sources[source], **options)


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (5, {}, "source must be a path"),
        ([np.ones((3, 2))], {}, "Each batch must be"),
        ([np.ones((3, 2))], {"y": "y"}, "y names a column, so each batch must be a data frame"),
        ([(np.ones((3, 2)), np.ones(3))], {"y": "y"}, "each batch must be a data frame; got tuple"),
        ({"c0": [1.0]}, {"y": "y"}, "source must be a path"),
    ],
)
def test_unsupported_sources_raise_type_error(source, options, says):
    with pytest.raises(TypeError, match=says):
        moments_from(source, **options)


def test_a_lazy_frame_is_refused_where_polars_cannot_stream_it(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(TypeError, match=r"LazyFrame: collect\(\) it first, or sink it to Parquet"):
        moments_from(pl.LazyFrame({"a": [1.0], "y": [1.0]}), y="y")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rows.csv", "is not a Parquet file: pass the chunks of pandas.read_csv"),
        ("rows.h5", "h5py"),
        ("rows.zarr", "zarr.open"),
        ("rows.npz", "save it as .npy"),
    ],
)
def test_errors_for_other_files_say_what_to_pass(tmp_path, name, says):
    (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=says):
        moments_from(tmp_path / name, y="y")


def test_too_many_folds_for_memory_are_refused_when_they_appear(frame):
    batches = ((frame[NAMES], frame["y"]) for _ in range(3))
    folds = lambda rows: rows // 2500 * (rows % 2500)  # noqa: E731
    with pytest.raises(ValueError, match="in 2,500 folds take"):
        moments_from(batches, cv=folds, max_bytes=1.5e6)


def test_a_path_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"y\.npy does not exist"):
        moments_from(np.ones((3, 2)), tmp_path / "y.npy")
    with pytest.raises(FileNotFoundError, match=r"rows\.parquet does not exist"):
        moments_from(tmp_path / "rows.parquet", y="y")


@pytest.mark.parametrize("kind", ["array", "frame", "Parquet", "Arrow"])
def test_rows_of_weight_0_do_not_count_for_folds(kind, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 6)), rng.normal(size=120)
    weights = rng.integers(0, 3, 120).astype(float)
    weights[-7:] = 0
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, w=weights)
    frame.to_parquet(tmp_path / "rows.parquet")
    named = {"y": "y", "sample_weight": "w"}
    source, options = {
        "array": (X, {"y": y, "sample_weight": weights}),
        "frame": (frame, named),
        "Parquet": (tmp_path / "rows.parquet", named),
        "Arrow": (pa.table(frame), named),
    }[kind]
    moments = moments_from(source, **options, cv=5, chunk_rows=17)
    in_memory = NonLinCFA(0.01).fit(X, y, sample_weight=weights)
    price = NonLinCFA(0.01).fit_moments(moments).trace_.price
    np.testing.assert_allclose(price, in_memory.trace_.price, rtol=1e-9, atol=1e-12)
