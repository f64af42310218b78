"""What a fit does that nobody asked for is said, and what has no effect is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import correlated
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from coterie import (
    FitWarning,
    GenLinCFA,
    LinCFA,
    MutualCFA,
    NonLinCFA,
    ToleranceCV,
    normalised_weights,
    stability,
)
from coterie._core.devices import _foreign


def silent(action):
    """What an action gives, and no warning on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return action()


@pytest.mark.parametrize("reducer", [NonLinCFA(), GenLinCFA(), NonLinCFA(0.1), GenLinCFA(0.8)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_whole_numbers_that_look_like_classes_are_pointed_out(rng, reducer, n_classes):
    X = rng.normal(size=(90, 4))
    y = np.arange(90) % n_classes
    with pytest.warns(FitWarning, match=f"{n_classes} whole numbers that look like classes"):
        labels = reducer.fit(X, y).labels_
    assert (silent(lambda: reducer.fit(X, y.astype(float)).labels_) == labels).all()
    silent(lambda: GenLinCFA(family="bernoulli").fit(X, y))
    silent(lambda: NonLinCFA().fit(X, y.astype(str)))
    silent(lambda: LinCFA().fit(X, y))
    silent(lambda: MutualCFA().fit(X, y))
    silent(lambda: GenLinCFA(family="poisson").fit(X, y))


def test_counts_and_other_whole_numbers_are_not(rng):
    X = rng.normal(size=(90, 4))
    for y in (rng.poisson(5, size=90), np.arange(90), rng.integers(3, 6, size=90)):
        silent(lambda y=y: NonLinCFA().fit(X, y))


def test_the_tuned_reducer_says_it_once(rng):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    with pytest.warns(FitWarning) as caught:
        ToleranceCV(tolerances=[0.01, 0.1]).fit(X, y)
    assert len(caught) == 1


@pytest.mark.parametrize("tolerance", ["auto", "aic", "bic", "ric"])
def test_what_has_no_effect_under_a_word_is_refused(problem, tolerance):
    for given in ({"curvature": 77}, {"curvature": "null"}, {"bound": "bivariate"}):
        name = next(iter(given))
        with pytest.raises(ValueError, match=rf"{name}=.* no effect with tolerance='{tolerance}'"):
            GenLinCFA(tolerance, **given).fit(*problem)
    with pytest.raises(ValueError, match=r"curvature=2 has no effect with bound='fitted'"):
        GenLinCFA(0.1, bound="fitted", curvature=2).fit(*problem)
    GenLinCFA(0.8, bound="bivariate", curvature=2).fit(*problem)
    ToleranceCV(GenLinCFA(bound="bivariate", curvature=2), tolerances=[0.8]).fit(*problem)


def test_more_groups_than_a_third_of_the_rows_are_too_many(rng):
    X, y = rng.normal(size=(30, 40)), rng.normal(size=30)
    with pytest.warns(FitWarning, match=r"40 groups for 30 rows, more than rows: .* n_groups"):
        NonLinCFA(-0.0, cv=None).fit(X, y)
    with pytest.warns(FitWarning, match=r"11 groups for 30 rows, more than a third of the rows"):
        NonLinCFA(0.0, cv=None).fit(X[:, :11], y)
    silent(lambda: NonLinCFA(0.0, cv=None).fit(X[:, :10], y))
    # Who asks for a number knows it.
    silent(lambda: NonLinCFA(n_groups=20).fit(X, y))


def test_weights_count_as_rows_there_too(rng):
    X, y = rng.normal(size=(30, 12)), rng.normal(size=30)
    silent(lambda: NonLinCFA(0.0, cv=None).fit(X, y, sample_weight=np.full(30, 2.0)))


def test_spreads_that_differ_by_a_thousand_drown_each_other(rng):
    X, y = correlated(rng, n_features=4)
    frame = pd.DataFrame(X * [1.0, 1e5, 1.0, 1e5], columns=["age", "income", "rooms", "price"])
    with pytest.warns(FitWarning, match=r"'(age|rooms)' and '(income|price)' share a group"):
        NonLinCFA(10.0).fit(frame, y)
    with pytest.warns(FitWarning, match=r"scale=True"):
        NonLinCFA(10.0, search="best").fit(sparse.csr_array(frame.to_numpy()), y)
    silent(lambda: NonLinCFA(10.0, scale=True).fit(frame, y))
    silent(lambda: NonLinCFA(10.0, separate=[["age", "rooms"], ["income", "price"]]).fit(frame, y))
    silent(lambda: NonLinCFA(10.0).fit(X * [1.0, 500.0, 1.0, 500.0], y))


def test_resamples_say_nothing_of_their_own(rng):
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    # Constant in most resamples, and not in all rows.
    X[:, 4] = 0.0
    X[0, 4] = 1.0
    silent(lambda: stability(X, y, estimator=NonLinCFA(1.0), n_resamples=5, random_state=0))


def test_folds_of_a_rare_class_hold_some_of_each(rng):
    X = rng.normal(size=(100, 4))
    y = np.repeat([0, 1], [90, 10])
    with pytest.warns(FitWarning, match="look like classes"):
        tuned = ToleranceCV(tolerances=[0.01, 0.1]).fit(X, y)
    expected = ToleranceCV(tolerances=[0.01, 0.1], cv=StratifiedKFold(5)).fit(X, 1.0 * y).path_
    np.testing.assert_array_equal(tuned.path_.cv_scores, expected.cv_scores)


def test_normalised_weights_have_the_sum_that_is_asked_for(rng):
    weights = rng.uniform(size=50)
    weights[:10] = 0.0
    rows = normalised_weights(1000 * weights)
    assert rows.sum() == pytest.approx(40)
    np.testing.assert_allclose(rows / rows.sum(), weights / weights.sum())
    effective = normalised_weights(weights, total="effective")
    assert effective.sum() == pytest.approx(weights.sum() ** 2 / np.sum(weights**2))
    np.testing.assert_allclose(normalised_weights(np.full(7, 3.0), total="effective"), 1.0)
    for bad, error in ((None, TypeError), ([1.0, -1.0], ValueError), ([0.0, 0.0], ValueError)):
        with pytest.raises(error, match="sample_weight"):
            normalised_weights(bad)
    with pytest.raises(ValueError, match="total must be one of"):
        normalised_weights(weights, total="all")


def test_normalised_weights_do_not_depend_on_their_unit(rng):
    X, y = correlated(rng, n_features=8)
    weights = rng.uniform(0.1, 3.0, size=len(y))
    reducers = [
        NonLinCFA().fit(X, y, sample_weight=normalised_weights(unit * weights))
        for unit in (1e-3, 1.0, 1024.0)
    ]
    for reducer in reducers[1:]:
        np.testing.assert_array_equal(reducer.labels_, reducers[0].labels_)
        np.testing.assert_allclose(reducer.trace_.price, reducers[0].trace_.price, atol=1e-12)


def test_mutual_cfa_speaks_of_itself_where_rows_lie_on_a_device(monkeypatch, rng):
    strict = pytest.importorskip("array_api_strict")
    monkeypatch.setattr(_foreign, "lies_on_host", lambda X: False)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    with pytest.raises(ValueError, match=r"^MutualCFA counts rows, and X lies on a device"):
        MutualCFA().fit(strict.asarray(X), y)
