"""Why branches share a group: prices of the path, and what keeps branches apart."""

import numpy as np
import pytest

from coterie import Coterie, NonLinCFA
from coterie.estimators import tree_reasons


@pytest.fixture(scope="module")
def table():
    """Two blocks, noise and a constant; the second half of the first block has its own effect."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400, 1))
    own = rng.normal(size=(400, 1))
    first = a + 0.5 * np.hstack([np.zeros((400, 3)), np.repeat(own, 3, axis=1)])
    X = np.hstack([first, np.repeat(b, 4, axis=1)]) + 0.3 * rng.normal(size=(400, 10))
    X = np.hstack([X, rng.normal(size=(400, 3)), np.ones((400, 1))])
    y = a.ravel() + 2 * own.ravel() + b.ravel() + 0.5 * rng.normal(size=400)
    return X, y


def members_of(tree, n):
    found = [{k} for k in range(n)]
    for one, other in tree[:, :2].astype(int):
        found.append(found[one] | found[other])
    return found[n:]


def test_prices_are_those_of_the_trace(table):
    X, y = table
    reducer = Coterie(n_groups=3).fit(X, y)
    reasons = tree_reasons(reducer)
    within = [
        price
        for price, members in zip(reasons.prices, members_of(reducer.tree_, 14), strict=True)
        if len({int(reducer.labels_[k]) for k in members}) == 1
        and reducer.labels_[min(members)] >= 0
    ]
    np.testing.assert_allclose(np.sort(within), np.sort(reducer.trace_.price))
    assert reasons.allowance == pytest.approx(reducer.trace_.allowance[0])


def test_what_may_not_join_never_shares_a_group(table):
    X, y = table
    reducer = Coterie().fit(X, y)
    reasons = tree_reasons(reducer)
    for may_join, members in zip(reasons.may_join, members_of(reducer.tree_, 14), strict=True):
        labels = {int(reducer.labels_[k]) for k in members}
        if labels != {-1} and len(labels) == 1:
            assert may_join == 0
    likeness = 1 - reducer.tree_[:, 2]
    assert (reasons.may_join[likeness < 0.49] == 1).all()
    assert reasons.may_join[-1] == 1


def test_what_is_left_out_has_a_price_or_is_constant(table):
    X, y = table
    reducer = Coterie().fit(X, y)
    reasons = tree_reasons(reducer)
    left_out = reducer.labels_ < 0
    assert reasons.is_constant.tolist() == [False] * 13 + [True]
    assert left_out[10:].all()
    np.testing.assert_array_equal(np.isfinite(reasons.exit_prices), left_out & ~reasons.is_constant)
    assert np.nanmax(reasons.exit_prices) <= reasons.allowance


def test_limits_of_the_user_keep_branches_apart(table):
    X, y = table
    reducer = Coterie(max_group_size=2).fit(X, y)
    reasons = tree_reasons(reducer)
    members = members_of(reducer.tree_, 14)
    of_pairs = [one for one, own in zip(reasons.may_join, members, strict=True) if len(own) == 2]
    assert set(of_pairs) <= {0, 1}
    larger = [one for one, own in zip(reasons.may_join, members, strict=True) if len(own) > 2]
    # The last one joins the constant.
    assert larger[-1] == 1
    assert 2 in larger
    assert 0 not in larger


def test_members_that_must_stay_together_have_no_price(table):
    X, y = table
    reducer = Coterie(initial_groups=[[0, 10]]).fit(X, y)
    reasons = tree_reasons(reducer)
    members = members_of(reducer.tree_, 14)
    assert np.isnan(reasons.prices[members.index({0, 10})])


def test_other_reducers_have_no_reasons(table):
    X, y = table
    assert tree_reasons(NonLinCFA().fit(X[:, :10], y)) is None
