"""An interrupted count resumes from its checkpoint, if the rows are the same."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Moments, NonLinCFA, moments_from
from coterie._data.sources._checksum import Checksum
from coterie.datasets import make_groups

N, NAMES = 2500, [f"c{i}" for i in range(6)]


class StopError(Exception):
    """An interruption."""


def stop_after(after):
    """A progress function that interrupts after so many chunks."""

    def tell(done, _):
        if done > after:
            raise StopError

    return tell


@pytest.fixture(scope="module")
def frame():
    X, y, _ = make_groups(N, 6, 2, noise=2.0, random_state=0)
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y, z=-y, w=1.0 + np.arange(N) % 2)
    return frame.assign(fold=np.arange(N) % 5)


@pytest.fixture
def folder(frame, tmp_path):
    place = tmp_path / "rows"
    place.mkdir()
    for number in range(5):
        part = frame.iloc[500 * number : 500 * number + 500]
        part.to_parquet(place / f"{number}.parquet", row_group_size=150, index=False)
    return place


@pytest.fixture
def path(tmp_path):
    return tmp_path / "moments.npz"


def numpy_file(frame, folder):
    np.save(folder.parent / "X.npy", frame[NAMES].to_numpy())
    return folder.parent / "X.npy"


def batches(frame, size=500):
    return (frame.iloc[start : start + size] for start in range(0, N, size))


NAMED = {"y": "y", "columns": NAMES}
SOURCES = {
    "folder": lambda frame, folder: (folder, {**NAMED, "cv": 5}),
    "npy": lambda frame, folder: (
        numpy_file(frame, folder),
        {"y": frame["y"], "cv": 5, "sample_weight": frame["w"]},
    ),
    "pandas": lambda frame, folder: (frame, {**NAMED, "sample_weight": "w", "cv": "fold"}),
    "arrow": lambda frame, folder: (pa.Table.from_pandas(frame), {**NAMED, "cv": 5}),
    "stream": lambda frame, folder: (
        pa.RecordBatchReader.from_stream(pa.Table.from_pandas(frame)),
        {**NAMED, "sample_weight": "w"},
    ),
    "dataset": lambda frame, folder: (ds.dataset(folder), {**NAMED, "cv": "fold"}),
    "batches": lambda frame, folder: (batches(frame), {**NAMED, "cv": lambda rows: rows % 3}),
    "text": lambda frame, folder: (
        frame[NAMES].to_numpy(),
        {"y": np.where(frame["y"] > 0, "much", "little")},
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_counting_resumes_where_it_stopped(frame, folder, path, kind):
    source, options = SOURCES[kind](frame, folder)
    size = {} if kind == "batches" else {"chunk_rows": 400}
    with pytest.raises(StopError):
        moments_from(source, **options, **size, checkpoint=path, progress=stop_after(3))
    half = Moments.load(path)
    assert half.n_samples_ == (1500 if kind == "batches" else 1200)
    source, _ = SOURCES[kind](frame, folder)
    # Chunks may be of another size.
    size = {} if kind == "batches" else {"chunk_rows": 170}
    moments = moments_from(source, **options, **size, checkpoint=path)
    source, _ = SOURCES[kind](frame, folder)
    whole = moments_from(source, **options)
    assert (moments.n_samples_, moments.n_folds) == (N, whole.n_folds)
    np.testing.assert_allclose(moments.scatter(), whole.scatter(), rtol=1e-9)
    reducer = NonLinCFA(n_groups=3)
    labels = [reducer.fit_moments(each).labels_.tolist() for each in (moments, whole)]
    assert labels[0] == labels[1]
    assert repr(Moments.load(path)) == repr(moments)
    assert [each.name for each in path.parent.glob("*.part")] == []


def test_files_that_did_not_change_are_not_read_again(frame, folder, path):
    reported = []
    options = {**NAMED, "chunk_rows": 300, "checkpoint": path}
    with pytest.raises(StopError):
        moments_from(folder, **options, progress=stop_after(6))
    # Of 1,800 rows the last are in the file number 3: what comes later may change.
    os.utime(folder / "4.parquet", ns=(0, 0))
    moments_from(folder, **options, progress=lambda *n: reported.append(n))
    assert reported == [(0, 3), (1, 3), (2, 3), (3, 3)]
    for name, n_chunks in [("0.parquet", 9), ("", 0), ("4.parquet", 9), ("", 0)]:
        if name:
            (folder / name).touch()
        reported.clear()
        moments = moments_from(folder, **options, progress=lambda *n: reported.append(n))
        assert reported[-1] == (n_chunks, n_chunks)
        assert moments.n_samples_ == N


CHANGES = {
    "columns": ({"columns": NAMES[:5]}, "columns is .* in the checkpoint"),
    "order of columns": ({"columns": NAMES[::-1]}, "columns is .* in the checkpoint"),
    "target": ({"y": "z"}, r"y is \['y'\] in the checkpoint, \['z'\] now"),
    "several targets": ({"y": ["y", "z"]}, r"y is \['y'\] in the checkpoint"),
    "weights": ({"sample_weight": "w"}, "sample_weight is False in the checkpoint, 'w' now"),
    "weights beside": (
        {"sample_weight": np.ones(N)},
        "sample_weight is False in the checkpoint, True now",
    ),
    "number of folds": ({"cv": 4}, "cv has other values"),
    "function for folds": ({"cv": lambda rows: rows % 5}, "cv has other values"),
    "column for folds": ({"cv": "fold"}, "cv is True in the checkpoint, 'fold' now"),
    "no folds": ({"cv": None}, "cv is True in the checkpoint, False now"),
}


@pytest.mark.parametrize("kind", ["folder", "pandas"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_checkpoint_of_something_else_is_refused(frame, folder, path, kind, change):
    source = {"folder": folder, "pandas": frame}[kind]
    options = {"y": "y", "columns": NAMES, "cv": 5, "checkpoint": path}
    with pytest.raises(StopError):
        moments_from(source, **options, chunk_rows=400, progress=stop_after(2))
    before = path.read_bytes()
    changed, says = CHANGES[change]
    with pytest.raises(ValueError, match=rf"moments.npz is of other data .*{says}.*: remove"):
        moments_from(source, **{**options, **changed})
    assert path.read_bytes() == before


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("kind", ["folder", "npy", "pandas", "batches"])
def test_a_checkpoint_of_other_rows_is_refused(frame, folder, path, kind, is_whole):
    source, options = SOURCES[kind](frame, folder)
    if is_whole:
        moments_from(source, **options, checkpoint=path)
    else:
        size = {} if kind == "batches" else {"chunk_rows": 500}
        with pytest.raises(StopError):
            moments_from(source, **options, **size, checkpoint=path, progress=stop_after(3))
    other = frame.copy()
    other.loc[700, "c2"] += 1e-9
    other.iloc[500:1000].to_parquet(folder / "1.parquet", index=False)
    source, options = SOURCES[kind](other, folder)
    with pytest.raises(ValueError, match=r"is of other data \(X has other values"):
        moments_from(source, **options, checkpoint=path)


def test_changed_arrays_given_with_files_are_refused(frame, folder, path):
    source, options = SOURCES["npy"](frame, folder)
    moments_from(source, **options, checkpoint=path)
    shuffled = frame["y"].to_numpy()[::-1]
    for change in ({"y": shuffled}, {"sample_weight": frame["w"] + 1}, {"cv": np.arange(N) % 5}):
        name = next(iter(change))
        with pytest.raises(ValueError, match=f"{name} has other values|n_expected"):
            moments_from(source, **{**options, **change}, checkpoint=path)
    assert moments_from(source, **options, checkpoint=path).n_samples_ == N


def test_another_number_of_rows_is_refused(frame, folder, path):
    moments_from(folder, **NAMED, checkpoint=path)
    frame.iloc[:10].to_parquet(folder / "5.parquet", index=False)
    with pytest.raises(ValueError, match="n_rows is 2500 in the checkpoint, 2510 now"):
        moments_from(folder, **NAMED, checkpoint=path)


def test_a_batch_must_end_where_the_checkpoint_ends(frame, path):
    with pytest.raises(StopError):
        moments_from(batches(frame), **NAMED, checkpoint=path, progress=stop_after(3))
    with pytest.raises(ValueError, match="it ends at row 1,500, which is in the middle of a batch"):
        moments_from(batches(frame, 400), **NAMED, checkpoint=path)
    with pytest.raises(ValueError, match="the source ends after 1,000 rows"):
        moments_from(batches(frame.iloc[:1000]), **NAMED, checkpoint=path)
    assert moments_from(batches(frame, 250), **NAMED, checkpoint=path).n_samples_ == N


def test_moments_without_a_source_are_not_a_checkpoint(frame, path):
    Moments().update(frame[NAMES], frame["y"]).save(path)
    with pytest.raises(ValueError, match="it has no valid checksum"):
        moments_from(frame, **NAMED, checkpoint=path)
    path.unlink()
    moments_from(frame, **NAMED, checkpoint=path)
    Moments.load(path).update(frame[NAMES], frame["y"]).save(path)
    with pytest.raises(ValueError, match="it has no valid checksum"):
        moments_from(frame, **NAMED, checkpoint=path)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="cannot be loaded"):
        moments_from(frame, **NAMED, checkpoint=path)


def test_counting_resumes_with_rows_of_weight_0(frame, path):
    weighted = frame.assign(w=np.arange(N) % 3 > 0)
    options = {**NAMED, "sample_weight": "w", "checkpoint": path, "chunk_rows": 100}
    with pytest.raises(StopError):
        moments_from(weighted, **options, progress=stop_after(5))
    assert moments_from(weighted, **options).n_samples_ == weighted["w"].sum()


def test_a_checkpoint_needs_a_folder(frame, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"The folder .*away of checkpoint does not exist"):
        moments_from(frame, **NAMED, checkpoint=tmp_path / "away" / "m.npz")


def test_checkpoints_are_saved_regularly(frame, path, monkeypatch):
    monkeypatch.setattr("coterie._data.sources._checkpoint.SAVE_INTERVAL", -1.0)
    monkeypatch.setattr("coterie._data.sources._checkpoint.SAVE_INTERVAL_FACTOR", 0.0)
    saved = []
    monkeypatch.setattr(
        "coterie._data.sources._checkpoint.write_moments",
        lambda moments, *_: saved.append(moments.n_read),
    )
    moments_from(frame, **NAMED, chunk_rows=1000, checkpoint=path)
    assert saved == [1000, 2000, 2500, 2500]


def test_a_full_disk_does_not_stop_counting(frame, path, monkeypatch):
    with pytest.raises(StopError):
        moments_from(frame, **NAMED, chunk_rows=500, checkpoint=path, progress=stop_after(2))
    before = path.read_bytes()

    def disk_full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", disk_full)
    says = "moments.npz could not be written .No space left on device.: counting goes on"
    with pytest.warns(RuntimeWarning, match=says):
        moments = moments_from(frame, **NAMED, chunk_rows=500, checkpoint=path)
    monkeypatch.undo()
    assert moments.n_samples_ == N
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["moments.npz"]
    assert moments_from(frame, **NAMED, checkpoint=path).n_samples_ == N


def test_a_partly_counted_batch_is_not_saved(frame, path, monkeypatch):
    with pytest.raises(StopError):
        moments_from(frame, **NAMED, chunk_rows=500, checkpoint=path, progress=stop_after(2))
    before, count = path.read_bytes(), Moments._count

    def half(self, *batch):
        count(self, *batch)
        raise MemoryError

    monkeypatch.setattr(Moments, "_count", half)
    with pytest.raises(MemoryError):
        moments_from(frame, **NAMED, chunk_rows=500, checkpoint=path)
    assert path.read_bytes() == before


def test_ctrl_c_while_a_checkpoint_is_written_leaves_the_older_one(frame, path, monkeypatch):
    with pytest.raises(StopError):
        moments_from(frame, **NAMED, chunk_rows=500, checkpoint=path, progress=stop_after(2))
    before = path.read_bytes()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        moments_from(frame, **NAMED, chunk_rows=500, checkpoint=path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["moments.npz"]


@settings(deadline=None)
@given(st.lists(st.integers(0, 60), max_size=5), st.integers(0, 2**31), st.booleans())
def test_a_checksum_does_not_depend_on_chunks(cuts, seed, by_column):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.normal(size=(60, 3)), order="F" if by_column else "C")
    y, words = rng.normal(size=(60, 2)), rng.choice(["a", "b"], 60)
    checksum = Checksum()
    for rows in np.split(np.arange(60), sorted(cuts)):
        checksum = checksum.with_rows(X[rows], len(rows), y[rows], words[rows], None)
    assert checksum == Checksum().with_rows(X, 60, y, words, None)
    i, j = rng.integers(60), rng.integers(3)
    changed = X.copy()
    changed[i, j] = np.nextafter(changed[i, j], 9)
    for other in (changed, X[::-1], X[:, ::-1]):
        assert Checksum().with_rows(other, 60, y, words, None).X != checksum.X
    assert Checksum().with_rows(X, 60, y[:, ::-1], words, None).y != checksum.y


SCRIPT = """
import sys, time
import coterie._data.sources._checkpoint as checkpoints
from coterie import moments_from
checkpoints.SAVE_INTERVAL = float(sys.argv[3])
checkpoints.SAVE_INTERVAL_FACTOR = 0.0
def tell(done, _):
    print(done, flush=True)
    # From then on it waits for what comes, however busy the machine is.
    time.sleep(0.02 if done < 10 else 60)
moments_from(
    sys.argv[1], "y", cv=5, chunk_rows=50, checkpoint=sys.argv[2], progress=tell
)
"""


def start_counting(folder, path, save_interval):
    command = [sys.executable, "-c", SCRIPT, str(folder), str(path), str(save_interval)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    for line in process.stdout:
        if line.strip() == "8":
            break
    return process


def assert_it_resumes(folder, path):
    half = Moments.load(path)
    assert 0 < half.n_samples_ < N
    options = {"y": "y", "cv": 5}
    reported = []
    moments = moments_from(
        folder, **options, chunk_rows=50, checkpoint=path, progress=lambda *n: reported.append(n)
    )
    assert reported[0] == (0, (N - half.n_read) // 50)
    whole = moments_from(folder, **options)
    assert moments.n_samples_ == N
    np.testing.assert_allclose(moments.scatter(), whole.scatter(), rtol=1e-9)
    np.testing.assert_allclose(moments.mean, whole.mean, rtol=1e-9)
    labels = [NonLinCFA(0.01).fit_moments(each).labels_.tolist() for each in (moments, whole)]
    assert labels[0] == labels[1]


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_in_the_middle_leaves_a_checkpoint(folder, path):
    process = start_counting(folder, path, 60.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert_it_resumes(folder, path)


@pytest.mark.slow
def test_a_kill_in_the_middle_leaves_the_last_checkpoint(folder, path):
    process = start_counting(folder, path, 0.0)
    time.sleep(0.1)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert_it_resumes(folder, path)
