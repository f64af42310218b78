"""Coterie with counts that have an exposure, and with rare classes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from coterie import Coterie, normalised_weights

SIZE, WEALTH, AGE = (0, 1, 2), (3, 4, 5), (6, 7, 8)


@pytest.fixture
def hidden(rng):
    return rng.normal(size=(3, 2000))


@pytest.fixture
def table(hidden, rng):
    """Three blocks of three features each, and three columns of noise."""
    n = hidden.shape[1]
    blocks = [block[:, None] + 0.4 * rng.normal(size=(n, 3)) for block in hidden]
    return np.hstack([*blocks, rng.normal(size=(n, 3))])


def groups_of(reducer):
    return {tuple(members.tolist()) for members in reducer.groups_}


def test_rates_are_predicted_whatever_goes_with_the_exposure(table, hidden, rng):
    size, wealth, age = hidden
    # Small counts, and an exposure that goes with features which do not matter.
    exposure = np.exp(age)
    y = rng.poisson(0.5 * exposure * np.exp(0.5 * size - 0.4 * wealth))
    reducer = Coterie().fit(table, y, exposure=exposure)
    assert reducer.task_ == "counts"
    assert groups_of(reducer) == {SIZE, WEALTH}
    assert (reducer.labels_[list(AGE)] == -1).all()
    assert (Coterie().fit(table, y).labels_[list(AGE)] >= 0).all()


def test_rows_of_twice_the_exposure_have_the_same_rate(table, hidden, rng):
    exposure = np.where(np.arange(2000) % 2, 2.0, 1.0)
    y = rng.poisson(exposure * np.exp(0.7 * hidden[0] - 0.6 * hidden[2]))
    assert groups_of(Coterie().fit(table, y, exposure=exposure)) == {SIZE, AGE}


def test_an_exposure_is_a_regression_of_rates_with_weights(table, hidden, rng):
    exposure = 2.0 ** rng.integers(-2, 3, 2000)
    counts = rng.integers(1, 4, 2000)
    y = rng.poisson(3 * exposure * np.exp(0.3 * hidden[1]))
    folds = KFold(5)
    of_counts = Coterie("counts", cv=folds).fit(table, y, counts, exposure=exposure)
    weights = normalised_weights(counts * exposure) * counts.mean()
    of_rates = Coterie("regression", cv=folds).fit(table, y / exposure, weights)
    np.testing.assert_array_equal(of_counts.labels_, of_rates.labels_)
    np.testing.assert_allclose(of_counts.path_["score"], of_rates.path_["score"], rtol=1e-9)
    assert of_counts.fit_.n_samples == pytest.approx(counts.sum())


def test_only_ratios_of_exposures_matter_and_an_offset_is_their_log(table, hidden, rng):
    exposure = rng.uniform(1, 5, 2000)
    y = rng.poisson(exposure * np.exp(0.5 * hidden[1]))
    reducer = Coterie(cv=KFold(5))
    first = clone(reducer).fit(table, y, exposure=exposure)
    for other in (
        clone(reducer).fit(table, y, exposure=1024 * exposure),
        clone(reducer).fit(table, y, offset=np.log(exposure) - 7),
    ):
        np.testing.assert_array_equal(first.labels_, other.labels_)
        np.testing.assert_allclose(first.path_["score"], other.path_["score"], rtol=1e-6)
    constant = Coterie().fit(table, y, exposure=np.full(2000, 3.0))
    plain = Coterie("regression").fit(table, y)
    np.testing.assert_array_equal(constant.labels_, plain.labels_)
    np.testing.assert_array_equal(constant.path_["score"], plain.path_["score"])


@pytest.mark.parametrize(
    ("task", "given", "message"),
    [
        ("regression", {"exposure": 1.0}, "for counts, got task='regression': divide y by"),
        ("classes", {"offset": 0.0}, "for counts, got task='classes': use GenLinCFA"),
        ("auto", {"exposure": 0.0}, "exposure must be more than 0, got 0"),
        ("auto", {"exposure": np.nan}, "exposure has NaN or infinity in row 0"),
        ("auto", {"exposure": 1.0, "offset": 0.0}, "Give offset or exposure, not both"),
    ],
)
def test_bad_exposures_are_one_sentence(table, rng, task, given, message):
    y = rng.poisson(2, len(table))
    given = {
        name: np.where(np.arange(len(table)) == 0, value, 1.0) for name, value in given.items()
    }
    with pytest.raises(ValueError, match=message):
        Coterie(task).fit(table, y, **given)


def test_offsets_that_no_number_holds_are_one_sentence(table, rng):
    offset = np.where(np.arange(len(table)) == 0, -800.0, 0.0)
    with pytest.raises(ValueError, match="too unlike for one model"):
        Coterie().fit(table, rng.poisson(2, len(table)), offset=offset)


def test_an_exposure_needs_rows_in_memory(table, rng):
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(table, chunks=(500, -1))
    with pytest.raises(ValueError, match="exposure needs the rows in memory"):
        Coterie().fit(lazy, rng.poisson(2, len(table)), exposure=np.ones(len(table)))


def test_rare_classes_find_their_features(table, hidden, rng):
    risk = hidden[0] - hidden[2] + 0.3 * rng.normal(size=2000)
    y = np.where(risk > np.quantile(risk, 0.97), "ill", "well")
    assert groups_of(Coterie().fit(table, y)) == {SIZE, AGE}


def test_each_of_several_classes_counts_as_much_however_rare(table, hidden, rng):
    # Most rows are of two classes that wealth tells apart; what makes the rare one is age alone.
    common = np.where(hidden[1] > 0, "poor", "rich")
    age = hidden[2] + 0.1 * rng.normal(size=2000)
    y = np.where(age > np.quantile(age, 0.97), "rare", common)
    reducer = Coterie().fit(table, y)
    assert reducer.classes_.tolist() == ["poor", "rare", "rich"]
    assert groups_of(reducer) == {WEALTH, AGE}
