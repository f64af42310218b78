"""Moments of files, streams and batches."""

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
    assert NonLinCFA().fit_moments(moments_from(table, target="y")).penalty_ == expected
    weights = np.arange(2500) % 3
    weighted = moments_from(frame, target="y", weights=weights)
    expected = NonLinCFA().fit(X, y, weights).penalty_
    assert NonLinCFA().fit_moments(weighted).penalty_ == expected


@pytest.mark.parametrize("kind", ["arrow", "pandas", "parquet"])
def test_columns_may_be_weights_and_folds(frame, tmp_path, kind):
    frame = frame.assign(w=np.arange(2500) % 3, fold=np.arange(2500) % 4, note="text")
    source = {"arrow": pa.Table.from_pandas(frame), "pandas": frame}.get(kind)
    if source is None:
        source = tmp_path / "rows.parquet"
        frame.to_parquet(source)
    moments = moments_from(source, target="y", columns=NAMES, weights="w", folds="fold")
    direct = Moments().update(frame[NAMES], frame["y"], frame["w"], frame["fold"].to_numpy())
    np.testing.assert_allclose(moments.scatter(), direct.scatter(), rtol=1e-9)
    assert (moments.count, moments.n_folds) == (direct.count, 4)
    assert moments.feature_names_in_.tolist() == NAMES


def test_several_targets_and_labels(frame):
    frame = frame.assign(level=np.where(frame["y"] > 0, "much", "little"))
    both = moments_from(frame, target=["y", "level"], columns=NAMES)
    expected = NonLinCFA().fit(frame[NAMES], frame[["y", "level"]].to_numpy())
    assert (NonLinCFA().fit_moments(both).labels_ == expected.labels_).all()
    one = moments_from(pa.Table.from_pandas(frame), target="level", columns=NAMES)
    reducer = GenLinCFA(family="bernoulli").fit_moments(one)
    assert reducer.classes_.tolist() == ["little", "much"]


def test_the_scale_of_weights_does_not_change_the_sampled_rows(frame, rng):
    weights = rng.random(2500) + 0.1
    moments = moments_from(frame, target="y", weights=weights, chunk_rows=77)
    expected = NonLinCFA().fit(frame[NAMES], frame["y"], weights).penalty_
    assert NonLinCFA().fit_moments(moments).penalty_ == expected


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
    moments_from(frame, target="y", chunk_rows=1000, progress=lambda *done: told.append(done))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_small_products_use_one_thread(frame):
    def threads(*_):
        pools = threadpool_info()
        return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]

    before, within = threads(), []
    moments_from(frame, target="y", progress=lambda *_: within.extend(threads()))
    assert {*within} == {1}
    assert threads() == before


def test_the_progress_bar_shows_the_memory(frame, capsys):
    moments_from(frame, target="y", chunk_rows=1000, folds=5, progress=True)
    assert "chunks, up to 324 kB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("frame", {"target": "z"}, "The source has no column 'z'"),
        ("frame", {"target": "y", "columns": ["c0", "d"]}, "The source has no column 'd'"),
        ("frame", {}, "Pass either target, the name"),
        ("frame", {"target": "y", "memory": 1000}, "Moments of 8 features in 1 fold take .* 1 kB"),
        ("frame", {"target": "y", "memory": 4e5, "folds": 99}, r"take .* Use chunk_rows=\d+, or"),
        (
            "frame",
            {"target": "y", "memory": 4e5, "folds": 1200},
            "take .* Use a smaller chunk_rows with fewer folds, or",
        ),
        ("frame", {"y": "y"}, r"y='y' is not the path of a .npy file\. .* pass its name as target"),
        ("frame", {"target": "y", "folds": np.arange(9)}, "has 2500 rows, and folds has 9"),
        ("frame", {"target": "y", "folds": np.ones((2, 2))}, "folds must have one entry for each"),
        ("frame", {"target": [f"c{i}" for i in range(8)] + ["y"]}, "no columns that can be"),
        ("frame", {"target": "y", "weights": "c0"}, "sample_weight must be 0 or more"),
        ("frame", {"target": "y", "folds": 1}, "folds must be from 2"),
        ("frame", {"target": "y", "chunk_rows": 0}, "chunk_rows must be 1 or more"),
        ("array", {}, "pass y, weights and folds as arrays"),
        ("array", {"y": np.zeros(3)}, "The source has 2500 rows, and y has 3"),
        ("array", {"y": np.zeros(2500), "target": "y"}, "leave target and columns out"),
        ("batches", {"memory": 1000}, "Moments of 8 features in 1 fold take .* 1 kB"),
        ("batches", {"folds": 5}, "needs the number of rows, and this source does not give it"),
        ("batches", {"y": np.zeros(2500)}, "Batches contain y"),
        ("batches", {"folds": "fold"}, "folds name columns, and batches of .X, y. have no names"),
        ("batches", {"folds": np.zeros(5001, int)}, "The source has 5000 rows, and folds has 5001"),
        ("batches", {"folds": np.zeros(2600, int)}, "2500 rows in batch 1, .* and fold has 100"),
        ("text", {"target": "y"}, "The source holds .* in column 'c1', not numbers"),
        ("twice", {"target": "y"}, "The source has column 'c1' more than once"),
        ("twice of pandas", {"target": "y"}, "The source has column 'c1' more than once"),
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
        ([np.ones((3, 2))], {"target": "y"}, "each batch must be a data frame"),
        ({"c0": [1.0]}, {"target": "y"}, "source must be a path"),
    ],
)
def test_unsupported_sources_raise_type_error(source, options, says):
    with pytest.raises(TypeError, match=says):
        moments_from(source, **options)


def test_a_lazy_frame_is_refused_where_polars_cannot_stream_it(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(TypeError, match=r"LazyFrame: collect\(\) it first, or sink it to Parquet"):
        moments_from(pl.LazyFrame({"a": [1.0], "y": [1.0]}), target="y")


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
        moments_from(tmp_path / name, target="y")


def test_too_many_folds_for_memory_are_refused_when_they_appear(frame):
    batches = ((frame[NAMES], frame["y"]) for _ in range(3))
    folds = lambda rows: rows // 2500 * (rows % 2500)  # noqa: E731
    with pytest.raises(ValueError, match="in 2,500 folds take"):
        moments_from(batches, folds=folds, memory=1.5e6)


def test_a_path_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"y\.npy does not exist"):
        moments_from(np.ones((3, 2)), tmp_path / "y.npy")
    with pytest.raises(FileNotFoundError, match=r"rows\.parquet does not exist"):
        moments_from(tmp_path / "rows.parquet", target="y")


@pytest.mark.parametrize("kind", ["array", "frame", "Parquet", "Arrow"])
def test_rows_of_weight_0_do_not_count_for_folds(kind, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 6)), rng.normal(size=120)
    weights = rng.integers(0, 3, 120).astype(float)
    weights[-7:] = 0
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, w=weights)
    frame.to_parquet(tmp_path / "rows.parquet")
    named = {"target": "y", "weights": "w"}
    source, options = {
        "array": (X, {"y": y, "weights": weights}),
        "frame": (frame, named),
        "Parquet": (tmp_path / "rows.parquet", named),
        "Arrow": (pa.table(frame), named),
    }[kind]
    moments = moments_from(source, **options, folds=5, chunk_rows=17)
    in_memory = NonLinCFA(0.01).fit(X, y, sample_weight=weights)
    price = NonLinCFA(0.01).fit_moments(moments).trace_.price
    np.testing.assert_allclose(price, in_memory.trace_.price, rtol=1e-9, atol=1e-12)
