"""Tables for the command line, and the command itself in this process."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from coterie.cli._commands import coterie
from coterie.datasets import make_groups
from coterie.report import study

FEATURES = [f"f{k}" for k in range(12)]


@pytest.fixture(scope="session")
def frame():
    """Twelve features in three groups, a target, classes, counts, weights and days."""
    rng = np.random.default_rng(0)
    X, y, _ = make_groups(120, 12, 3, noise=2.0, random_state=0)
    return pl.DataFrame(
        {f"f{k}": X[:, k] for k in range(12)}
        | {
            "y": y,
            "kind": np.where(y > 0, "high", "low"),
            "count": rng.poisson(np.exp(y / 8)),
            "weight": rng.integers(1, 4, size=120),
            "day": rng.permutation(120),
        }
    )


@pytest.fixture
def data(frame, tmp_path, monkeypatch):
    """A file with features and target y, in the working directory."""
    monkeypatch.chdir(tmp_path)
    frame.drop("kind", "count", "weight", "day").write_csv("data.csv")
    return "data.csv"


@pytest.fixture(scope="session")
def twin(frame):
    """What Python makes of the features and y."""
    return study(frame.select(FEATURES), frame["y"].to_numpy(), path=False)


@pytest.fixture(scope="session")
def finished(run, frame, tmp_path_factory):
    """A folder with a file and what was fitted to it, to be looked at or copied."""
    folder = tmp_path_factory.mktemp("finished")
    frame.select(*FEATURES, "y").write_csv(folder / "data.csv")
    words = ["fit", folder / "data.csv", "-t", "y", "-q", "-o", folder / "data-coterie"]
    assert run(*words).exit_code == 0
    return folder


@pytest.fixture
def model(finished, data):
    """A model in the working directory, beside the file that it was fitted to."""
    shutil.copytree(finished / "data-coterie", "data-coterie")
    return Path("data-coterie/model.json")


@pytest.fixture(scope="session")
def run():
    """Run a command; what it printed, what it complained about, and its exit code."""

    def called(*words, stdin=None):
        result = CliRunner().invoke(coterie, [str(word) for word in words], input=stdin)
        unexpected = result.exception is not None and not isinstance(result.exception, SystemExit)
        assert not unexpected, result.exception
        return result

    return called
