"""Moments of files, streams and batches."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from coterie import GenLinCFA, Moments, NonLinCFA, moments_from
from coterie.datasets import make_groups

NAMES = [f"c{i}" for i in range(8)]


class Slices:
    """An array that lies elsewhere, as those of HDF5 and Zarr."""

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


def parquet(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=400)
    return moments_from(folder / "rows.parquet", target="y", folds=5, chunk_rows=300)


def many_files(table, folder):
    (folder / "rows").mkdir()
    for number in range(4):
        pq.write_table(table.slice(700 * number, 700), folder / "rows" / f"{number}.parquet")
    return moments_from(str(folder / "rows"), target="y", folds=5)


def npy(table, folder):
    frame = table.to_pandas()
    np.save(folder / "X.npy", frame[NAMES].to_numpy())
    np.save(folder / "y.npy", frame["y"].to_numpy())
    return moments_from(folder / "X.npy", folder / "y.npy", folds=5, chunk_rows=999)


def sliced(table, folder):
    source = Slices(table.to_pandas()[NAMES].to_numpy())
    moments = moments_from(source, table["y"].to_numpy(), folds=5, chunk_rows=100)
    assert source.longest == 100
    return moments


def stream(table, folder):
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=77))
    return moments_from(reader, target="y", folds=lambda rows: rows // 500, chunk_rows=256)


def dataset(table, folder):
    return moments_from(pyarrow.dataset.dataset(table), target="y", folds=5)


def frames(table, folder):
    frame = table.to_pandas()
    pieces = (frame.iloc[start : start + 500] for start in range(0, 2500, 500))
    return moments_from(pieces, target="y", folds=lambda rows: rows // 500)


def tuples(table, folder):
    X, y = table.to_pandas()[NAMES].to_numpy(), table["y"].to_numpy()
    rows = np.split(np.arange(2500), [600, 601, 1900])
    return moments_from(((X[r], y[r]) for r in rows), folds=np.arange(2500) // 500)


SOURCES = {
    "parquet": parquet,
    "many files": many_files,
    "npy": npy,
    "sliced": sliced,
    "stream": stream,
    "dataset": dataset,
    "arrow": lambda table, _: moments_from(table, target="y", folds=5, chunk_rows=600),
    "polars": lambda table, _: moments_from(pl.from_arrow(table), target="y", folds=5),
    "pandas": lambda table, _: moments_from(table.to_pandas(), target="y", folds=5, chunk_rows=70),
    "frames": frames,
    "tuples": tuples,
}


@pytest.mark.parametrize("read", SOURCES.values(), ids=SOURCES)
def test_every_source_gives_the_groups_of_all_rows(frame, table, tmp_path, read):
    moments = read(table, tmp_path)
    X, y = frame[NAMES].to_numpy(), frame["y"].to_numpy()
    assert moments.n_samples_ == 2500
    np.testing.assert_allclose(moments.scatter(), 2500 * np.cov(X.T, ddof=0), rtol=1e-9)
    for reducer in (NonLinCFA(0.01), NonLinCFA()):
        labels = reducer.fit(X, y).labels_.tolist()
        assert reducer.fit_moments(moments).labels_.tolist() == labels
    assert moments.n_folds == 5


def test_where_the_number_of_rows_is_known_the_same_rows_are_looked_at(frame, table):
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


def test_rows_of_three_bring_weights(frame):
    X, y = frame[NAMES].to_numpy(), frame["y"].to_numpy()
    weights = np.arange(2500) % 2 + 1.0
    moments = moments_from([(X[:900], y[:900], weights[:900]), (X[900:], y[900:], weights[900:])])
    assert moments.count == weights.sum()


def test_progress_is_told(frame):
    told = []
    moments_from(frame, target="y", chunk_rows=1000, progress=lambda *done: told.append(done))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_memory_is_told_before_the_work_begins(frame, capsys):
    moments_from(frame, target="y", chunk_rows=1000, folds=5, progress=True)
    assert "chunks, up to 260 kB" in capsys.readouterr().err


def test_work_is_saved_now_and_then(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.sources._from.SAVED_EVERY", -1.0)
    saved = []
    monkeypatch.setattr(Moments, "save", lambda self, _: saved.append(self.n_samples_))
    moments_from(frame, target="y", chunk_rows=1000, checkpoint=tmp_path / "m.npz")
    assert saved == [1000, 2000, 2500, 2500]


def test_work_goes_on_where_it_stopped(frame, tmp_path):
    path, table = tmp_path / "moments.npz", pa.Table.from_pandas(frame)
    broken = frame.copy()
    broken.loc[2499, "c3"] = np.nan
    with pytest.raises(ValueError, match="NaN in column 'c3' of batch 4"):
        moments_from(broken, target="y", chunk_rows=600, checkpoint=path)
    assert Moments.load(path).n_samples_ == 2400
    seen = []
    moments = moments_from(
        table, target="y", chunk_rows=600, checkpoint=path, progress=lambda *n: seen.append(n)
    )
    assert len(seen) == 2
    whole = moments_from(frame, target="y")
    np.testing.assert_allclose(moments.scatter(), whole.scatter(), rtol=1e-9)
    assert NonLinCFA().fit_moments(moments).penalty_ == NonLinCFA().fit_moments(whole).penalty_
    assert moments_from(table, target="y", checkpoint=path).n_samples_ == 2500
    assert [each.name for each in tmp_path.iterdir()] == ["moments.npz"]
    with pytest.raises(ValueError, match="moments of other data"):
        moments_from(frame.iloc[:100], target="y", checkpoint=path)


def test_ctrl_c_leaves_a_checkpoint(frame, tmp_path):
    X, y = frame[NAMES].to_numpy(), frame["y"].to_numpy()

    def batches(stop):
        for number, rows in enumerate(np.split(np.arange(2500), 5)):
            if number == stop:
                raise KeyboardInterrupt
            yield X[rows], y[rows]

    with pytest.raises(KeyboardInterrupt):
        moments_from(batches(3), checkpoint=tmp_path / "m.npz")
    moments = moments_from(batches(None), checkpoint=tmp_path / "m.npz")
    assert moments.n_samples_ == 2500
    np.testing.assert_allclose(moments.scatter(), 2500 * np.cov(X.T, ddof=0), rtol=1e-9)


def test_a_parquet_file_cut_short_is_one_sentence(table, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    content = path.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"rows.parquet cannot be read: .*\.$"):
            moments_from(path, target="y")


def test_a_file_of_numpy_cut_short_is_one_sentence(frame, tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, frame[NAMES].to_numpy())
    content = path.read_bytes()
    for length in (0, 50, len(content) // 2):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"X.npy cannot be read"):
            moments_from(path, frame["y"])


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("frame", {"target": "z"}, "The source has no column 'z'"),
        ("frame", {"target": "y", "columns": ["c0", "d"]}, "The source has no column 'd'"),
        ("frame", {}, "A table needs target"),
        ("frame", {"target": "y", "memory": 1000}, "Moments of 8 features in 1 fold take .* 1 kB"),
        ("frame", {"target": "y", "folds": 1}, "folds must be from 2"),
        ("frame", {"target": "y", "chunk_rows": 0}, "chunk_rows must be 1 or more"),
        ("array", {}, "give y as an array"),
        ("array", {"y": np.zeros(3)}, "The source has 2500 rows, and y has 3"),
        ("array", {"y": np.zeros(2500), "target": "y"}, "neither target nor columns"),
        ("batches", {"memory": 1000}, "Moments of 8 features in 1 fold take .* 1 kB"),
        ("batches", {"folds": 5}, "does not tell their number"),
        ("batches", {"y": np.zeros(2500)}, "bring their own y"),
        ("text", {"target": "y"}, "Column 'c1' of the source holds .*, not numbers"),
        ("none", {}, "no rows that count"),
        ("other", {}, "of the same|columns|no column"),
    ],
)
def test_what_is_wrong_is_one_sentence(frame, source, options, says):
    X, y = frame[NAMES], frame["y"]
    sources = {
        "frame": frame,
        "array": X.to_numpy(),
        "batches": ((X, y) for _ in range(2)),
        "text": pa.Table.from_pandas(frame.assign(c1="a")),
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
        ([np.ones((3, 2))], {"target": "y"}, "each batch must be a frame"),
        (pl.LazyFrame({"y": [1]}), {"target": "y"}, "collect"),
    ],
)
def test_what_is_no_source_says_so(source, options, says):
    with pytest.raises(TypeError, match=says):
        moments_from(source, **options)


def test_a_path_that_leads_nowhere(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no .*rows\.parquet"):
        moments_from(tmp_path / "rows.parquet", target="y")
