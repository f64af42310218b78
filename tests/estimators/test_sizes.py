"""A partition of a given size equals merging the cheapest groups one by one."""

from itertools import permutations

import numpy as np
import oracle
import pytest
from conftest import correlated

from coterie import NonLinCFA

SEARCHES = ["best", "forward", "restart"]


def cheapest_merges(X, y, groups, n_groups, largest):
    """Merge the two groups whose merger costs the least until so many are left; the prices."""
    judge, groups, prices = oracle.nonlin_in_sample(0.0), [list(g) for g in groups], []

    def cost(pair):
        a, b = (X[:, members].mean(axis=1) for members in pair)
        return judge(a, b, X[:, [*pair[0], *pair[1]]].mean(axis=1), y)[0]

    while len(groups) > n_groups:
        a, b = min((p for p in permutations(groups, 2) if len(p[0] + p[1]) <= largest), key=cost)
        prices.append(cost((a, b)))
        groups = [g for g in groups if g not in (a, b)] + [[*a, *b]]
    return sorted(map(sorted, groups)), prices


@pytest.mark.parametrize("largest", [None, 3])
def test_where_no_tolerance_gives_the_number_the_cheapest_groups_merge(largest):
    n_forced = 0
    for seed in range(24):
        X, y = correlated(np.random.default_rng(seed), n_features=8)
        n_groups = 2 + seed % 5 + (largest is not None)
        options = {"cv": None, "search": SEARCHES[seed // 8], "max_group_size": largest}
        reducer = NonLinCFA(n_groups=n_groups, **options).fit(X, y)
        before = [[feature] for feature in range(8)]
        if np.isfinite(reducer.tolerance_):
            coarsest = NonLinCFA(reducer.tolerance_, **options).fit(X, y)
            before = [group.tolist() for group in coarsest.groups_]
        groups, prices = cheapest_merges(X, y, before, n_groups, largest or 8)
        assert [group.tolist() for group in reducer.groups_] == groups
        forced = reducer.trace_[np.isposinf(reducer.trace_.allowance)]
        np.testing.assert_allclose(forced.price, prices, atol=1e-9)
        assert forced.accepted.all()
        assert (reducer.labels_[forced.candidate] == forced.group).all()
        n_forced += len(forced)
    assert n_forced > 0


def test_the_trace_names_groups_as_they_are_now():
    for seed in range(12):
        X, y = correlated(np.random.default_rng(seed), n_features=8)
        reducer = NonLinCFA(n_groups=2, cv=None).fit(X, y)
        trace = reducer.trace_
        merged = trace[trace.accepted]
        assert (reducer.labels_[merged.candidate] == merged.group).all()
        assert len(merged) == 8 - 2


def test_no_merge_is_forced_where_a_tolerance_gives_the_number():
    n_given = 0
    for seed in range(6):
        X, y = correlated(np.random.default_rng(seed), n_features=8)
        sizes = [NonLinCFA(t, cv=None).fit(X, y).n_groups_ for t in np.geomspace(1e-9, 1.0, 12)]
        if sizes != sorted(sizes, reverse=True):
            continue  # a larger tolerance gave more groups, so that bisection may miss some
        for n_groups in {*sizes}:
            trace = NonLinCFA(n_groups=n_groups, cv=None).fit(X, y).trace_
            assert not np.isposinf(trace.allowance).any()
            n_given += 1 < n_groups < 8
    assert n_given > 0
