"""MutualCFA through its public face; the criterion has its own tests."""

import numpy as np
import pytest
from complete import MutualCFA, NonLinCFA
from sklearn.metrics import mutual_info_score


def squares(rng, n_samples=800):
    left, right = rng.normal(size=(2, n_samples, 1))
    X = np.hstack([left, left, right, right]) + 0.1 * rng.normal(size=(n_samples, 4))
    return X, (left**2 - right**2).ravel() + 0.2 * rng.normal(size=n_samples)


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_what_no_line_shows_is_kept_apart(rng, search):
    X, y = squares(rng)
    assert MutualCFA(search=search).fit(X, y).labels_.tolist() == [0, 0, 1, 1]
    assert NonLinCFA(0.05, cv=None, search=search).fit(X, y).n_groups_ == 1


def test_the_price_is_what_independent_tables_give(rng):
    """With few values, information is a matter of counting."""
    u, v = rng.integers(0, 2, size=(2, 4000))
    y = (u ^ (rng.random(4000) < 0.1)).astype(float)
    X = np.column_stack([u, v]).astype(float)
    trace = MutualCFA(0.0, n_levels=3).fit(X, y).trace_
    lost = mutual_info_score(2 * u + v, y) - mutual_info_score(u + v, y)
    assert lost > 0.1
    assert trace.price[0] == pytest.approx(lost, abs=1e-3)


def test_classes_have_no_order(rng):
    X, _ = squares(rng)
    number = np.digitize(X[:, 0] ** 2, [0.3, 1.0]) + 3 * (X[:, 2] > 0)
    names = np.array(["dog", "cat", "eel", "ant", "bee", "fox"])
    one = MutualCFA().fit(X, names[number])
    other = MutualCFA().fit(X, names[rng.permutation(6)][number])
    assert sorted(one.classes_) == sorted(names)
    np.testing.assert_allclose(one.trace_.price, other.trace_.price)
    assert len(set(one.labels_[:2]) & set(one.labels_[2:])) == 0


@pytest.mark.parametrize("tolerance", ["auto", 0.05])
def test_weights_are_repeats(rng, tolerance):
    X, y = squares(rng, 300)
    weights = rng.integers(0, 4, size=300)
    reducer = MutualCFA(tolerance)
    repeated = reducer.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).trace_
    weighted = reducer.fit(X, y, sample_weight=weights).trace_
    np.testing.assert_allclose(weighted.price, repeated.price, atol=1e-9)
    np.testing.assert_allclose(weighted.allowance, repeated.allowance, atol=1e-9)


def test_gaps_leave_the_rows_that_have_both(rng):
    X, y = squares(rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    reducer = MutualCFA(missing="pairwise", n_levels=4).fit(X, y)
    assert len(set(reducer.labels_[:2]) & set(reducer.labels_[2:])) == 0
    rows = ~np.isnan(X[:, :2]).any(axis=1)
    alone = MutualCFA(n_levels=4).fit(X[rows, :2], y[rows])
    assert reducer.trace_.price[0] == pytest.approx(alone.trace_.price[0], abs=0.01)


def test_any_number_of_groups_can_be_had(rng):
    X, y = squares(rng, 200)
    for n_groups in range(1, 5):
        assert MutualCFA(n_groups=n_groups).fit(X, y).n_groups_ == n_groups


BAD = [
    (MutualCFA(n_levels=1), "n_levels must be 2 or more, got 1."),
    (MutualCFA(n_levels=1000), "n_levels must be 50 or less, got 1000."),
    (MutualCFA(n_levels=2.5), "n_levels must be None or an int, got 2.5."),
    (MutualCFA("small"), "tolerance must be one of 'auto', 'aic', 'bic', 'ric' or a number"),
]


@pytest.mark.parametrize(("reducer", "sentence"), BAD, ids=[b[1] for b in BAD])
def test_bad_parameters(rng, reducer, sentence):
    with pytest.raises((ValueError, TypeError)) as error:
        reducer.fit(*squares(rng, 60))
    assert sentence in str(error.value)


def test_too_many_classes_are_refused(rng):
    X, _ = squares(rng, 60)
    with pytest.raises(ValueError, match="MutualCFA takes up to 10 classes, got 12"):
        MutualCFA().fit(X, np.resize(list("abcdefghijkl"), 60))
