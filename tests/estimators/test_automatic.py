"""The automatic rule, on a ladder of partitions written by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from coterie._core.fit import Problem
from coterie._core.values import Partition, SearchResult

N = 120
FIRST = 8.0


def extended_bic(residual, n_groups, in_effect, importance):
    """n log(residual / n) + d (log n + 2 log M) + 2 M log d, each target as much as it counts."""
    each = N * np.log(residual / N) + n_groups * math.log(N)
    choice = 2 * n_groups * math.log(in_effect) + 2 * in_effect * math.log(n_groups)
    return float(np.sum(importance * each)) + choice


def into(n_groups):
    return Partition(tuple(np.array([feature]) for feature in range(n_groups)))


def ladder(rungs, *, in_effect=3.0, importance=(1.0,)):
    """The penalty chosen where halving it gives these numbers of groups and residuals in turn."""
    asked = []

    def by(penalty):
        asked.append(penalty)
        partition = into(rungs[round(math.log2(FIRST / penalty))][0])
        return SearchResult(partition, "trace", np.zeros(len(partition.groups)))

    left = {n_groups: np.atleast_1d(residual) for n_groups, residual in rungs}
    data = SimpleNamespace(
        n=N,
        n_targets=1,
        min_rows=None,
        importance=np.array(importance),
        residual_ss=lambda partition: left[len(partition.groups)],
    )
    pricing = SimpleNamespace(criterion=lambda data, target, tolerance, is_penalty: tolerance)
    groupable = SimpleNamespace(by=by, relevance=np.zeros(N))
    chosen = Problem(data, None, pricing, groupable).lowered(FIRST, in_effect)
    assert asked == [FIRST / 2**k for k in range(len(asked))]
    return chosen.penalty, len(asked), len(chosen.partition.groups)


def falling(n_rungs, by=0.5):
    """Each rung has a group more and leaves so much less that it pays."""
    return [(k + 1, 100.0 * by**k) for k in range(n_rungs)]


def test_halving_goes_on_as_long_as_it_pays_and_twelve_times_at_most():
    assert ladder(falling(13)) == (FIRST / 2**12, 13, 13)


def test_after_two_halvings_that_do_not_pay_none_is_tried():
    rungs = [(1, 100.0), (2, 30.0), (3, 30.0), (4, 30.0), (5, 1e-9)]
    assert ladder(rungs) == (FIRST / 2, 4, 2)


def test_one_halving_that_does_not_pay_is_passed_over():
    rungs = [(1, 100.0), (2, 99.9), (3, 10.0), (4, 9.99), (5, 0.1), (6, 0.1), (7, 0.1), (8, 0.1)]
    assert ladder(rungs) == (FIRST / 16, 7, 5)


def test_more_groups_than_a_third_of_the_rows_are_not_believed():
    just, too_many = N // 3, N // 3 + 1
    assert ladder([(1, 100.0), (just, 1e-30), (too_many, 1e-60)]) == (FIRST / 2, 3, just)
    # Beyond that nothing is asked, though two may not pay.
    assert ladder([(1, 100.0), (too_many, 1e-60), (too_many + 1, 0.0)]) == (FIRST, 2, 1)


@pytest.mark.parametrize("in_effect", [1.5, 4.0, 30.0])
@pytest.mark.parametrize("importance", [(1.0,), (1.0, 0.25)])
@pytest.mark.parametrize("groups", [2, 3, 9])
def test_a_partition_is_taken_where_its_extended_bic_is_lower(groups, importance, in_effect):
    # Two residuals, one a little below and one a little above where the costs are equal.
    importance = np.array(importance)
    alone = extended_bic(np.full(len(importance), 100.0), 1, in_effect, importance)
    kept = extended_bic(np.full(len(importance), 100.0), groups, in_effect, importance)
    equal = 100.0 * math.exp((alone - kept) / (N * importance.sum()))
    for factor, expected in ((0.9999, groups), (1.0001, 1)):
        rungs = [(1, np.full(len(importance), 100.0))]
        rungs += [(groups, np.full(len(importance), factor * equal))]
        rungs += [(groups + k, np.full(len(importance), equal)) for k in (1, 2)]
        _, _, chosen = ladder(rungs, in_effect=in_effect, importance=importance)
        assert chosen == expected


def test_of_equals_the_coarser_stays():
    assert ladder([(2, 50.0), (2, 50.0), (2, 50.0)]) == (FIRST, 3, 2)
