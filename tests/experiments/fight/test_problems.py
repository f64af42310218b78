from dataclasses import replace

import numpy as np
import pytest

from experiments.fight import sources
from experiments.fight.generated import BLOCK, GENERATED, TRUTH
from experiments.fight.problems import (
    LOADERS,
    FightSet,
    Table,
    development_sets,
    fight_sets,
    rows_of,
    split_of,
)
from experiments.methods import Unavailable


def entry(**given) -> FightSet:
    words = ("name", "title", "package", "version", "licence", "object", "why")
    said = dict.fromkeys(words, "") | {"task": "regression", "split": "shuffled"}
    return FightSet(**said | given)


def test_the_list_is_complete():
    sets = fight_sets()
    assert len(sets) >= 20
    assert {"shuffled", "grouped", "in time", "fresh"} == {one.split for one in sets.values()}
    assert {name for name, one in sets.items() if one.split != "fresh"} == set(LOADERS)
    for one in sets.values():
        assert all([one.title, one.package, one.version, one.licence, one.why])
        assert one.splits >= 20
        assert one.task in ("regression", "classes")


def test_no_set_of_the_list_was_used_for_the_design():
    looked_at = {"breast_cancer", "digits", "wine", "gasoline", "coffee", "fruit", "meats"}
    assert not looked_at & ({one.object for one in fight_sets().values()} | set(fight_sets()))
    assert len(development_sets()) == 12
    assert not set(development_sets()) & set(fight_sets())


def test_tests_in_time_come_after_training_and_the_gap():
    one = entry(split="in time", window=50, gap=7, test=20, splits=9)
    for train, test in rows_of(one, Table(np.zeros((300, 1)), np.zeros(300))):
        assert len(train) == 50
        assert test.min() == train.max() + 8
    assert test.max() == 299


def test_groups_of_rows_are_never_on_both_sides(rng):
    groups = np.repeat(np.arange(24), 3)
    y = np.repeat(np.arange(24) % 3, 3).astype(float)
    table = Table(rng.normal(size=(72, 2)), y, groups)
    found = rows_of(entry(split="grouped", task="classes"), table)
    assert len(found) == 20
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
        assert set(y[test]) == set(y[train]) == {0, 1, 2}


def test_classes_keep_their_shares(rng):
    y = np.repeat([0.0, 1.0], [180, 20])
    for _, test in rows_of(entry(task="classes"), Table(rng.normal(size=(200, 2)), y)):
        assert y[test].sum() == 5


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_generated_depends_on_the_split_alone(name):
    one, again, other = GENERATED[name](0), GENERATED[name](0), GENERATED[name](1)
    assert all(np.array_equal(a, b) for a, b in zip(one, again))
    assert not np.array_equal(one[0], other[0])


def test_generated_blocks_are_as_they_are_called():
    X, *_ = GENERATED["blocks"](0)
    correlations = np.corrcoef(X.T)
    same = TRUTH["blocks"][:, None] == TRUTH["blocks"]
    assert correlations[same].mean() > 0.75
    assert abs(correlations[~same]).mean() < 0.15
    assert X.shape[1] == 8 * BLOCK


def test_training_rows_alone_prepare(monkeypatch, rng):
    X = rng.normal(3, 2, (40, 5))
    X[:, 1] = 7.0
    X[3, 0] = np.nan
    table = Table(X, rng.normal(size=40))
    monkeypatch.setattr("experiments.fight.problems.table_of", lambda *_: table)
    before = split_of(entry(columns=3), 0)
    assert before.X.shape == (30, 3)
    assert 1 not in before.features
    np.testing.assert_allclose(before.X.mean(axis=0), 0, atol=1e-12)
    _, test = rows_of(entry(), table)[0]
    X[test] *= 100
    after = split_of(entry(columns=3), 0)
    np.testing.assert_array_equal(before.X, after.X)


def test_a_missing_package_is_one_sentence(tmp_path):
    with pytest.raises(sources.NoSource, match="r-cran-nothing is not installed: make fight"):
        sources.r_package("r-cran-nothing", "nothing", (tmp_path,))
    with pytest.raises(Unavailable, match="coterie-of-nobody is not installed: make fight"):
        sources.python_file("coterie-of-nobody", "any.csv")


def test_an_installed_r_package_is_found_with_its_version(tmp_path):
    folder = tmp_path / sources.LIBRARIES[1] / "some"
    folder.mkdir(parents=True)
    (folder / "DESCRIPTION").write_text("Package: some\nVersion: 1.2-3\n")
    assert sources.r_version(sources.r_package("r-cran-some", "some", (tmp_path,))) == "1.2-3"


@pytest.mark.parametrize("one", fight_sets().values(), ids=lambda one: one.name)
def test_sets_that_are_installed_load(one):
    try:
        split = split_of(replace(one, splits=2) if one.split == "shuffled" else one, 1)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert np.isfinite(split.X).all()
    assert np.isfinite(split.X_test).all()
    assert np.isfinite(split.y).all()
    assert len(split.y) == len(split.X) >= 20
    np.testing.assert_allclose(split.X.std(axis=0), 1, atol=1e-6)
