"""The command for the paper's climate data, on small files of the layout that is expected."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from experiments import climate, data
from experiments.__main__ import main
from experiments.comparison import published
from experiments.data import Description, NoData

SHAPES = {"climate": (90, 6), "climate2": (80, 9)}


@pytest.fixture
def folder(tmp_path, rng, monkeypatch):
    """Two files as the authors' may be: row numbers, a date, features, and the target last."""
    small = {
        name: Description(name, name, "regression", *shape, "in time", "here", test=30)
        for name, shape in SHAPES.items()
    }
    monkeypatch.setattr(data, "descriptions", lambda: small)
    monkeypatch.setattr(climate, "descriptions", lambda: small)
    for name, shape in zip(climate.FILES, SHAPES.values(), strict=True):
        values = rng.normal(size=shape) + rng.normal(size=(shape[0], 1))
        table = pd.DataFrame(values, columns=[f"tg_{j}" for j in range(shape[1])])
        table.insert(0, "date", pd.date_range("2001", periods=len(table)).astype(str))
        table.assign(vhi=values.sum(axis=1) + rng.normal(size=len(table))).to_csv(tmp_path / name)
    hashes = {name: climate.git_blob(tmp_path / name) for name in climate.FILES}
    monkeypatch.setattr(climate, "FILES", hashes)
    data.load.cache_clear()
    yield tmp_path
    data.load.cache_clear()


def test_hashes_are_those_of_git(tmp_path):
    (tmp_path / "a").write_bytes(b"what is in it\r\n")
    said = subprocess.run(
        ["git", "hash-object", "--no-filters", "a"], cwd=tmp_path, capture_output=True, text=True
    )
    assert climate.git_blob(tmp_path / "a") == said.stdout.strip()


def test_files_become_the_data_sets_by_their_size(folder, tmp_path):
    assert climate.prepare(folder, tmp_path / "data") == ["climate", "climate2"]
    table = pd.read_parquet(tmp_path / "data" / "climate2.parquet")
    assert table.columns.to_list() == [*(f"tg_{j}" for j in range(9)), "target"]
    X, y = data.load("climate", tmp_path / "data")
    assert X.shape == (90, 6)
    assert np.corrcoef(X.sum(axis=1), y)[0, 1] > 0.9


def test_the_target_may_be_named(folder):
    name = next(iter(climate.FILES))
    _, table = climate.read_file(folder / name, "tg_0")
    assert table.columns[-2:].to_list() == ["vhi", "target"]
    with pytest.raises(NoData, match="has no column of numbers 'date'"):
        climate.read_file(folder / name, "date")


def test_other_files_are_refused(folder, monkeypatch):
    first, second = climate.FILES
    (folder / first).unlink()
    with pytest.raises(NoData, match=f"{first} is not there"):
        climate.read_file(folder / first)
    changed = (folder / second).read_text().replace("2001-01-01", "2001-01-02")
    (folder / second).write_text(changed)
    with pytest.raises(NoData, match=f"{second} is another file: git blob"):
        climate.read_file(folder / second)
    monkeypatch.setitem(climate.FILES, second, climate.git_blob(folder / second))
    pd.read_csv(folder / second).iloc[1:].to_csv(folder / second, index=False)
    monkeypatch.setitem(climate.FILES, second, climate.git_blob(folder / second))
    with pytest.raises(
        NoData, match=r"79 rows and 9 features besides 'vhi', from 'tg_0' to 'tg_8'"
    ):
        climate.read_file(folder / second)


def test_the_plans_have_all_that_the_paper_prints():
    table = published()
    table = table[table["dataset"].str.startswith("climate") & (table["score"] != "")]
    wanted = set(zip(table["dataset"], table["method"], strict=True))
    plans = list(climate.climate_plans())
    runs = {
        (job.dataset, job.label.partition(", resampled")[0].partition(" (")[0])
        for plan in plans
        for job in plan.jobs()
    }
    assert wanted == runs
    assert 2 * len(table) == 136


@pytest.mark.slow
def test_one_command_compares_all_numbers(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("experiments.run.warm_up", lambda: None)
    code = main(["climate", str(folder), "--into", str(tmp_path / "made"), "--jobs", "1"])
    told = capsys.readouterr().out
    assert code == 1  # random numbers are not the paper's
    assert "136 numbers: " in told
    compared = pd.read_csv(tmp_path / "made" / "compared.csv")
    assert len(compared) == 136
    assert compared["ours"].notna().all()
    assert not (compared["verdict"] == "not run").any()


def test_the_command_says_what_is_missing(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["climate", str(tmp_path)])
    assert "droughts_extended.csv is not there" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["climate"])
    assert "climate needs the folder" in capsys.readouterr().err
