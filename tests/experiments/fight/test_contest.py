from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from experiments.fight import __main__ as command
from experiments.fight import results
from experiments.fight.contest import coherence, contest, tuned
from experiments.fight.entrants import OURS, TUNED, Entrant, folds, kept, robust, shares_below
from experiments.fight.models import BEHIND, ON_ALL
from experiments.fight.problems import Split, development_sets, fight_sets
from experiments.methods import METHODS


def made(rng, n=60, p=12, task="regression", **given) -> Split:
    factors = rng.normal(size=(n + 20, 3))
    X = factors[:, np.arange(p) % 3] + 0.5 * rng.normal(size=(n + 20, p))
    X = (X - X[:n].mean(0)) / X[:n].std(0)
    y = factors[:, 0] + 0.3 * rng.normal(size=n + 20)
    if task == "classification":
        y = (y > 0).astype(float)
    return Split(X[:n], X[n:], y[:n], y[n:], np.arange(p), p, task, **given)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_every_entrant_meets_every_model(task, rng):
    lines, labels = contest(made(rng, task=task), {})
    table = pd.DataFrame(lines)
    table["note"] = table.get("note", pd.Series(index=table.index, dtype=object)).fillna("")
    assert not table["note"].str.startswith("failed").any()
    absent = {"wilma", "GenLinCFA"} if task == "regression" else set()
    raw = table[(table["inputs"] == "raw") & (table["note"] == "")]
    pairs = set(zip(raw["method"], raw["model"]))
    assert pairs == {
        *(("all columns", model) for model in ON_ALL),
        *((name, model) for name in {*TUNED, *OURS} - absent for model in BEHIND),
    }
    assert raw["score"].notna().all()
    assert {name for name, _ in labels} >= {"Coterie", "CLV", "SelectKBest"}


def test_groups_are_compared_with_those_of_the_split_before(rng):
    split = made(rng)
    lines, labels = contest(split, {})
    assert not any("same" in line for line in lines)
    again, _ = contest(split, labels)
    assert {line["same"] for line in again if "same" in line} == {1.0}


def test_heavy_tails_give_rivals_robust_inputs_too(rng):
    split = made(rng, n=150)
    X, X_test = np.sinh(3 * split.X) ** 3, np.sinh(3 * split.X_test) ** 3
    center, spread = X.mean(0), X.std(0)
    heavy = split._replace(X=(X - center) / spread, X_test=(X_test - center) / spread)
    table = pd.DataFrame(contest(heavy, {})[0])
    (how,) = set(table["inputs"]) - {"raw"}
    both = table.pivot_table(index="method", columns="inputs", values="score")
    assert both.notna().all(axis=None)
    assert both.loc["PLS", how] > both.loc["PLS", "raw"]


def test_robust_inputs_follow_from_the_training_rows(rng):
    split = made(rng)
    for how in ("clip", "rank"):
        one = robust(split, how)
        other = robust(split._replace(X_test=split.X_test * 100), how)
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_allclose(one.X.std(axis=0), 1)


def test_shares_below_are_counted_with_ties_by_half():
    training = np.array([[1.0], [2.0], [2.0], [4.0]])
    values = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    expected = [(np.mean(training < v) + np.mean(training <= v)) / 2 for v in values.ravel()]
    np.testing.assert_allclose(shares_below(values, training).ravel(), expected)


def test_folds_keep_time_groups_and_classes(rng):
    split = made(rng, in_time=True)
    assert all(np.ptp(test) == len(test) - 1 for _, test in folds(split))
    groups = np.arange(60) // 4
    for task in ("regression", "classification"):
        split = made(rng, task=task, groups=groups)
        assert all(not set(groups[a]) & set(groups[b]) for a, b in folds(split))
    split = made(rng, task="classification")
    assert all(abs(split.y[b].mean() - split.y.mean()) < 0.1 for _, b in folds(split))


def test_the_setting_that_is_best_in_the_folds_is_chosen(rng):
    split = made(rng)
    noise = split._replace(X=np.column_stack([split.X[:, [0]], rng.normal(size=(60, 30))]))
    entrant = Entrant(METHODS["SelectKBest"], ({"size": 1}, {"size": 31}))
    assert tuned(entrant, noise, folds(noise)) == {"size": 1}


def test_coherence_is_the_mean_correlation_of_pairs(rng):
    near = np.abs(np.corrcoef(rng.normal(size=(30, 7)).T))
    labels = np.array([0, 0, 0, 1, 1, 2, -1])
    mean_of = {
        g: np.mean([near[i, j] for i, j in combinations(np.flatnonzero(labels == g), 2)])
        for g in (0, 1)
    }
    assert coherence(near, labels) == pytest.approx((3 * mean_of[0] + 2 * mean_of[1]) / 5)
    assert np.isnan(coherence(near, np.arange(7)))


def test_uncorrelated_features_are_kept_in_order():
    near = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    assert kept(near, np.array([1, 0, 2]), 0.5).tolist() == [1, 2]
    assert kept(near, np.array([0, 1, 2]), 0.95).tolist() == [0, 1, 2]


def test_jobs_come_in_rounds():
    order = list(command.jobs())
    untouched = [(entry.name, number) for entry, number in order if not entry.development]
    n_sets = len(fight_sets())
    assert {number for _, number in untouched[:n_sets]} == {0}
    assert len(set(untouched)) == len(untouched) == n_sets * 20
    assert len(order) - len(untouched) == len(development_sets()) * 5


def test_lines_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "fight.csv"
    words = {"set": "a", "method": "PCA", "inputs": "raw", "model": "plain"}
    numbers = {"split": 3, "score": 0.123456789, "loss": float("nan"), "seconds": 0.12345}
    line = words | numbers | {"versions": 1}
    results.append(path, [line])
    results.append(path, [line | {"split": 4, "note": "needs, classes"}])
    found = results.read(path)
    assert found["score"].tolist() == [0.12346, 0.12346]
    assert found["note"].tolist() == ["", "needs, classes"]
    assert found["loss"].isna().all()
    assert results.done(found) == {("a", 3), ("a", 4)}


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    sets = {name: fight_sets()[name] for name in ("made_blocks", "made_rare")}
    monkeypatch.setattr(command, "LABELS", tmp_path / "labels")
    monkeypatch.setattr(
        command, "jobs", lambda: iter([(entry, k) for k in (0, 1) for entry in sets.values()])
    )
    made_line = {"method": "PCA", "inputs": "raw", "model": "plain"}

    def quick_contest(rows, before):
        return [made_line | {"score": len(before)}], {("a", "b"): 1}

    monkeypatch.setattr(command, "contest", quick_contest)
    monkeypatch.setattr(results, "versions_number", lambda: 1)
    path = tmp_path / "fight.csv"
    results.append(path, [{"set": "made_blocks", "split": 0, "method": "PCA", "versions": 1}])
    command.run(path, None)
    found = results.read(path)
    assert results.done(found) == {(name, k) for name in sets for k in (0, 1)}
    assert len(found) == 4
    assert found.set_index(["set", "split"]).loc[("made_rare", 1), "score"] == 1
    command.run(path, None)
    assert "4 splits are done and 0 are left" in capsys.readouterr().out
