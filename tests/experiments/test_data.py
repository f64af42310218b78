import hashlib

import numpy as np
import pandas as pd
import pytest

from coterie.datasets import load_tecator
from experiments import data
from experiments.data import (
    NoData,
    descriptions,
    drawn,
    fair_problem,
    load,
    paper_problem,
    permuted_problem,
    prepared,
    resampled_problem,
    splits,
)

FOLDER = data.data_folder()
needs_data = pytest.mark.skipif(
    FOLDER is None or not FOLDER.is_dir(), reason="COTERIE_DATA names no folder"
)


def test_tecator_needs_no_folder():
    X, y = load("nir_tecator_fat", None)
    np.testing.assert_array_equal(X.to_numpy(), load_tecator().data)
    np.testing.assert_array_equal(y, load_tecator().target)


def test_a_missing_file_says_where_to_get_it(tmp_path):
    with pytest.raises(NoData, match=r"nir_gasoline.parquet is not there; .*data.toml says where"):
        load("nir_gasoline", tmp_path)


def test_another_file_of_the_same_name_is_not_taken_for_it(tmp_path):
    table = pd.DataFrame({"a": np.arange(3.0), "target": np.arange(3.0)})
    table.to_parquet(tmp_path / "nir_gasoline.parquet")
    content = hashlib.sha256((tmp_path / "nir_gasoline.parquet").read_bytes()).hexdigest()
    with pytest.raises(NoData, match=f"another file than was described: SHA-256 {content[:12]}"):
        load("nir_gasoline", tmp_path)


def test_the_climate_files_of_the_paper_are_read_where_someone_has_them(tmp_path, rng):
    values = rng.normal(size=(867, 2409))
    names = [*(f"t_{j}" for j in range(2408)), "target"]
    pd.DataFrame(values, columns=names).to_parquet(tmp_path / "climate2.parquet")
    problem = data.paper_problem("climate2_class", 0, tmp_path)
    assert problem.X_train.shape == (581, 2408)
    assert problem.task == "classification"
    assert problem.in_time
    expected = values[:, -1] >= values[:, -1].mean()
    np.testing.assert_array_equal(problem.y_test, expected[581:])


def test_a_climate_file_of_another_size_is_refused(tmp_path, rng):
    frame = pd.DataFrame(rng.normal(size=(5, 3)), columns=["a", "b", "target"])
    frame.to_parquet(tmp_path / "climate.parquet")
    with pytest.raises(NoData, match="should have 981 rows and 1991 features, got 5 and 2"):
        load("climate", tmp_path)


def test_every_description_says_where_the_data_are_from():
    for known in descriptions().values():
        assert known.source
        assert known.title
        assert known.name.startswith("climate") or known.sha256


@needs_data
@pytest.mark.parametrize("name", [n for n, known in descriptions().items() if known.sha256])
def test_the_real_data_are_as_described(name):
    X, y = load(name, FOLDER)
    known = descriptions()[name]
    assert X.shape == (known.rows, known.features)
    problem = fair_problem(name, 4, FOLDER)
    assert np.isfinite(problem.X_train).all()
    if known.task == "classification":
        assert set(problem.y_test) == set(y)


@needs_data
def test_rows_are_drawn_once_for_five_orders_of_the_columns():
    first, again, other = (
        permuted_problem("bankruptcy_polish_1year", trial, FOLDER) for trial in (0, 4, 5)
    )
    np.testing.assert_array_equal(first.y_train, again.y_train)
    assert not np.array_equal(first.X_train, again.X_train)
    np.testing.assert_allclose(np.sort(first.X_train), np.sort(again.X_train))
    assert not np.array_equal(first.y_train, other.y_train)
    assert len(first.y_train) + len(first.y_test) == 813 + 271


def test_resampled_rows_are_training_rows_with_repetition(tmp_path, rng, monkeypatch):
    small = {
        "climate": data.Description("climate", "", "regression", 60, 3, "in time", "", test=20)
    }
    monkeypatch.setattr(data, "descriptions", lambda: small)
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=[*"abc", "target"])
    table.to_parquet(tmp_path / "climate.parquet")
    load.cache_clear()
    whole, first, second = (
        paper_problem("climate", 0, tmp_path),
        *(resampled_problem("climate", trial, tmp_path) for trial in (0, 1)),
    )
    load.cache_clear()
    np.testing.assert_allclose(np.sort(whole.X_test), np.sort(first.X_test))
    assert len(first.y_train) == 40
    assert set(first.y_train) < set(whole.y_train)
    assert not np.array_equal(first.y_train, second.y_train)


def test_rows_are_prepared_by_what_the_training_rows_say(rng):
    X = rng.normal(5, 3, size=(30, 4))
    X[:, 3] = 7.0
    X[2, 0] = X[25, 1] = np.nan
    train = np.arange(20)
    values = prepared(X, train)
    np.testing.assert_allclose(values[train].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(values[train][:, :3].std(axis=0), 1)
    assert values[2, 0] == values[25, 1] == 0
    assert not values[:, 3].any()
    other = X.copy()
    other[20:] += 100
    np.testing.assert_array_equal(prepared(other, train)[train], values[train])


def test_trials_in_time_are_tested_on_what_comes_after():
    known = descriptions()["count_flu_bybw"]
    for train, test in splits(np.zeros(414), known):
        assert train.max() < test.min()
        assert len(test) == 52


def test_as_many_rows_of_each_class_are_drawn_as_asked(rng):
    y = np.repeat([0.0, 1.0], [50, 20])
    rows = drawn(y, (12, 7), rng)
    assert len(set(rows)) == 19
    assert (y[rows] == 1).sum() == 7


def test_the_folder_may_be_named_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    assert data.data_folder() == tmp_path
    assert data.data_folder(tmp_path / "given") == tmp_path / "given"
