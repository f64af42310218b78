"""Why two features are together, or not: what is told agrees with the fit."""

from itertools import combinations

import numpy as np
import pytest

import coterie
from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA, ToleranceCV, explain
from coterie.datasets import make_groups

X, y, _ = make_groups(200, 10, 3, noise=3.0, random_state=0)
PAIRS = list(combinations(range(10), 2))


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
@pytest.mark.parametrize(
    "reducer",
    [NonLinCFA(), GenLinCFA(family="gaussian"), LinCFA(), MutualCFA(n_levels=4)],
    ids=lambda reducer: type(reducer).__name__,
)
def test_a_merge_is_accepted_when_its_price_does_not_exceed_its_allowance(reducer, search):
    reducer.set_params(search=search).fit(X, y)
    for one, other in PAIRS:
        why = explain(reducer, one, other, X, y)
        assert why.together == (reducer.labels_[one] == reducer.labels_[other])
        assert why.together == (why.price <= why.allowance)
        assert f"{why.price:.3g}" in str(why)


def test_refusals_are_told_from_a_complete_trace_or_from_the_data_once_more():
    kept, complete = NonLinCFA().fit(X, y), NonLinCFA(trace="all").fit(X, y)
    for one, other in PAIRS:
        assert explain(complete, one, other) == explain(kept, one, other, X, y)
        if kept.labels_[one] == kept.labels_[other]:
            assert explain(kept, one, other) == explain(complete, one, other)
        else:
            with pytest.raises(ValueError, match="are apart: give explain X and y, too"):
                explain(kept, one, other)
    with pytest.raises(ValueError, match="must be those that the reducer was fitted to"):
        explain(kept, 0, 1, X, -y + 3 * X[:, 0])


def test_arguments_of_fit_are_given_again():
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = NonLinCFA().fit(X, y, sample_weight=weights)
    repeated = NonLinCFA().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    one = explain(weighted, 0, 1, X, y, sample_weight=weights)
    other = explain(repeated, 0, 1, np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert one.price == pytest.approx(other.price)


def test_what_the_user_decided_is_told_as_such():
    rows = np.column_stack([X, np.ones(len(X))])
    reducer = NonLinCFA(initial_groups=[[0, 1]], keep=[5])
    with pytest.warns(coterie.FitWarning, match="constant"):
        reducer.fit(rows, y)
    assert "since initial_groups says so" in str(explain(reducer, 0, 1, rows, y))
    assert "a limit that you set" in str(explain(reducer, 5, 4, rows, y))
    assert "A constant feature" in str(explain(reducer, 3, 10, rows, y))
    with pytest.raises(ValueError, match="give explain X and y, too"):
        explain(reducer, 0, 1)


def test_groups_that_merge_to_reach_a_number_are_told_as_such():
    # Copies merge all at once at any tolerance, or not at all.
    copies = np.repeat(X[:, :1], 4, axis=1)
    reducer = NonLinCFA(n_groups=3).fit(copies, y)
    one, other = reducer.groups_[int(np.argmax([len(group) for group in reducer.groups_]))]
    assert "to reach n_groups" in str(explain(reducer, one, other, copies, y))


def test_a_chosen_tolerance_is_that_of_the_fit_inside():
    tuned = ToleranceCV(NonLinCFA()).fit(X, y)
    for one, other in PAIRS[:6]:
        assert explain(tuned, one, other, X, y).together == (
            tuned.labels_[one] == tuned.labels_[other]
        )


def test_coterie_tells_without_the_data():
    rows = np.column_stack([X, np.ones(len(X))])
    reducer = Coterie().fit(rows, y)
    for one, other in combinations(range(11), 2):
        why = explain(reducer, one, other)
        label, beside = reducer.labels_[[one, other]]
        assert why.together == (label == beside >= 0)
        assert str(why).count("left out because it is constant") == (10 in (one, other))
        if why.together:
            assert why.price <= why.allowance
            assert f"in group {label}" in str(why)
        elif why.price is not None:
            assert why.price > why.allowance
        else:
            assert "left out" in str(why) or "too unlike" in str(why) or "would have" in str(why)


def test_coterie_tells_the_allowance_that_a_merge_exceeds():
    noisy = np.random.default_rng(0).normal(size=(400, 8)) * 0.3
    wide = np.repeat(np.random.default_rng(1).normal(size=(400, 2)), 4, axis=1) + noisy
    target = wide[:, :2].sum(axis=1) - wide[:, 2:4].sum(axis=1)
    reducer = Coterie().fit(wide, target)
    reasons = {str(explain(reducer, one, other)) for one, other in combinations(range(8), 2)}
    assert any("the target needs them apart" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("x0", 0, "must be two features, got 'x0' twice"),
        ("x0", "x99", "second names 'x99', which is no column"),
        (0, 10, "second must name columns, or number them from 0 to 9, got 10"),
    ],
)
def test_bad_features_are_one_sentence(first, second, words):
    with pytest.raises(ValueError, match=words):
        explain(Coterie().fit(X, y), first, second)


def test_groups_that_the_path_never_merges_have_a_price(rng):
    base = rng.normal(size=(400, 1))
    ramp = base + np.linspace(0, 1, 12) * rng.normal(size=(400, 1)) * 0.5
    X = ramp + 0.05 * rng.normal(size=(400, 12))
    y = X[:, 2] - X[:, 9] + 0.02 * rng.normal(size=400)
    reducer = Coterie().fit(X, y)
    firsts = [int(members[0]) for members in reducer.groups_]
    told = [explain(reducer, a, b) for a in firsts for b in firsts if a < b]
    assert told
    assert all(one.price is not None and one.allowance > 0 for one in told)
    assert any("needs them apart" in one.sentence for one in told)
