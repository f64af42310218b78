"""Moments are saved to files, and loaded with validation."""

import io
import json
import random
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from coterie import Moments, NonLinCFA


@pytest.fixture
def moments(rng):
    X = rng.normal(size=(90, 4)) + 50
    names = np.array(["low", "middle", "high"])[rng.integers(0, 3, 90)]
    y = np.column_stack([rng.integers(0, 3, 90), rng.normal(size=90), names]).astype(object)
    y[:, 0] = y[:, 0].astype(int)
    y[:, 1] = y[:, 1].astype(float)
    moments = Moments(90)
    for rows in np.array_split(np.arange(90), 3):
        moments.update(X[rows], y[rows], rng.random(len(rows)), fold=rows % 2)
    return moments


@pytest.fixture
def path(moments, tmp_path):
    moments.save(tmp_path / "moments.npz")
    return tmp_path / "moments.npz"


def test_what_is_loaded_is_what_was_saved(moments, path):
    again = Moments.load(path)
    assert repr(again) == repr(moments)
    assert again.target_columns == moments.target_columns
    for here, there in zip(again.accumulated, moments.accumulated, strict=True):
        assert here.count == there.count
        for name in ("origin", "sums", "cross", "targets"):
            assert (getattr(here, name) == getattr(there, name)).all()
        assert (np.tril(here.features) == np.tril(there.features)).all()
    assert (again.kept.first == moments.kept.first).all()
    again.save(path.with_name("again.npz"))
    assert path.with_name("again.npz").stat().st_size == path.stat().st_size


def test_bytes_are_those_of_the_file(moments, path):
    content = moments.to_bytes()
    again = Moments.from_bytes(content)
    assert again.plain()["header"] == moments.plain()["header"]
    for name, values in moments.plain()["arrays"].items():
        assert (again.plain()["arrays"][name] == values).all()
    path.write_bytes(content)
    assert repr(Moments.load(path)) == repr(moments)
    with pytest.raises(ValueError, match="This cannot be loaded: it is not a moments file"):
        Moments.from_bytes(bytes(content[:-9]))


def test_sampled_rows_are_saved_and_loaded(rng, tmp_path):
    X, y = rng.normal(size=(1500, 3)), rng.normal(size=1500)
    moments = Moments(1500).update(X[:700], y[:700])
    moments.save(tmp_path / "half.npz")
    again = Moments.load(tmp_path / "half.npz").update(X[700:], y[700:])
    assert (again.kept.looked_at(1500) == X[::2]).all()
    assert NonLinCFA().fit_moments(again).penalty_ == NonLinCFA().fit(X, y).penalty_


def test_numpy_can_open_the_file(path, moments):
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["origin0"].shape == (4 + 3 + 1 + 3,)
        assert json.loads(arrays["header.json"])["n_samples"] == moments.n_samples_


def test_empty_moments_can_be_saved(tmp_path):
    Moments().save(tmp_path / "none.npz")
    assert repr(Moments.load(tmp_path / "none.npz")) == "Moments of no rows"


def test_a_truncated_file_raises_value_error(path):
    content = path.read_bytes()
    for length in [0, 1, 10, 100, *range(200, len(content), 997), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cannot be loaded: .*\.$"):
            Moments.load(path)


def test_a_damaged_file_raises_value_error_or_loads_the_same(path):
    content = path.read_bytes()
    dice = random.Random(0)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(dice.randrange(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(bytes(damaged))
        with suppress(ValueError):
            assert Moments.load(path).n_features_in_ == 4


def rewrite(path, change):
    """The file with some members changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def change_header(**entries):
    def change(members):
        document = json.loads(members["header.json"])
        document.update(entries)
        members["header.json"] = json.dumps(document)

    return change


def change_array(name, values):
    def change(members):
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(values), allow_pickle=True)
        members[f"{name}.npy"] = file.getvalue()

    return change


def remove_member(name):
    return lambda members: members.pop(name)


def claim_more_entries(members):
    """An array whose header states very many entries."""
    file = io.BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(file, fields)
    members["numbers.npy"] = file.getvalue()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (change_header(format="another"), "contains no moments"),
        (change_header(version=99), "newer coterie"),
        (change_header(n_features=10**9), "'names'|must have shape|names"),
        (change_header(counts=[1.0]), "must have 2 items"),
        (change_header(counts=[1.0, -1.0]), "numbers above 0"),
        (change_header(folds=[1, 1]), "different numbers"),
        (change_header(targets=[]), "must have shape"),
        (change_header(targets=[{"name": 1}]), "is missing|must be"),
        (change_header(is_weighted=1), "must be true or false"),
        (remove_member("header.json"), "'header.json' is missing"),
        (remove_member("sums1.npy"), "'sums1.npy' is missing"),
        (change_array("sums1", np.zeros(3)), "must have shape"),
        (change_array("sums1", np.full(11, np.nan)), "NaN or infinity"),
        (change_array("sums1", np.zeros(11, dtype=np.float32)), "float64"),
        (change_array("sums1", np.array([{}] * 11, dtype=object)), "not a NumPy array|float64"),
        (claim_more_entries, "does not have the length"),
    ],
)
def test_an_invalid_file_raises_value_error(path, change, says):
    rewrite(path, change)
    with pytest.raises(ValueError, match=says):
        Moments.load(path)


def test_a_compressed_file_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="compressed"):
        Moments.load(path)


def test_a_failed_save_leaves_the_old_file(path, moments, monkeypatch):
    before = path.read_bytes()

    def disk_full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", disk_full)
    with pytest.raises(OSError, match="No space"):
        moments.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["moments.npz"]
