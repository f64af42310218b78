"""The search knows no covariance: its questions here are written by hand."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coterie._core.search import Limits, best, forward, restart
from coterie._core.values import Verdict

SEARCHES = [forward, restart, best]


@dataclass
class ByHand:
    """A question whose prices are a function of (members, candidate)."""

    n_features: int
    price: object
    allowance: float = 1.0
    foresight: int = 4
    restarts: int = 32
    breadth: int = 32
    asked: int = 0

    def alone(self, feature):
        return (feature,)

    def joined(self, group, features):
        return (*group, *features.tolist())

    def judge(self, group, candidates):
        self.asked += len(candidates)
        price = np.array([float(self.price(group, int(j))) for j in candidates])
        return Verdict(price, np.full(len(price), self.allowance))

    def judge_along(self, group, links, candidates):
        groups = [self.joined(group, links[: k + 1]) for k in range(len(links))]
        return Verdict(*map(np.stack, zip(*(self.judge(g, candidates) for g in groups))))

    def judge_in_turn(self, group, links, candidates):
        before = (self.joined(group, links[links < j]) for j in candidates)
        answers = [self.judge(g, candidates[[k]]) for k, g in enumerate(before)]
        return Verdict(*map(np.concatenate, zip(*answers)))

    def judge_singles(self, features, candidates):
        answers = (self.judge((feature,), candidates) for feature in features.tolist())
        return Verdict(*map(np.stack, zip(*answers)))


def groups_of(outcome):
    return [group.tolist() for group in outcome[0].groups]


def decisions_of(outcome):
    return [(int(r.group), int(r.candidate), bool(r.accepted)) for r in outcome[1]]


def same_parity(group, j):
    return 0 if all(j % 2 == i % 2 for i in group) else 9


@pytest.mark.parametrize("search", SEARCHES)
def test_classes_are_found(search):
    outcome = search(ByHand(7, same_parity))
    assert groups_of(outcome) == [[0, 2, 4, 6], [1, 3, 5]]
    assert outcome[0].labels.tolist() == [0, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("search", SEARCHES)
def test_nothing_merges_at_a_price_too_high(search):
    assert groups_of(search(ByHand(4, lambda g, j: 2))) == [[0], [1], [2], [3]]


@pytest.mark.parametrize("search", SEARCHES)
def test_everything_merges_when_allowances_have_no_end(search):
    question = ByHand(6, lambda g, j: sum(g) * j, allowance=np.inf)
    assert groups_of(search(question)) == [[0, 1, 2, 3, 4, 5]]


def needs_three(group, j):
    """1 is welcome only once 3 is in; everybody else but 2 always."""
    return {1: 0 if 3 in group else 9, 2: 9}.get(j, 0)


def test_forward_asks_each_candidate_once():
    outcome = forward(ByHand(4, needs_three))
    assert groups_of(outcome) == [[0, 3], [1], [2]]
    assert decisions_of(outcome) == [(0, 1, False), (0, 2, False), (0, 3, True), (1, 2, False)]


def test_restart_asks_the_refused_again():
    outcome = restart(ByHand(4, needs_three))
    assert groups_of(outcome) == [[0, 1, 3], [2]]
    assert decisions_of(outcome) == [
        (0, 1, False),
        (0, 2, False),
        (0, 3, True),
        (0, 1, True),
        (0, 2, False),
    ]


def test_best_takes_the_cheapest_pair_first():
    price = {(0, 1): 0.9, (1, 2): 0.1}

    def pairwise(group, j):
        return max(price.get((min(i, j), max(i, j)), 9) for i in group)

    outcome = best(ByHand(3, pairwise))
    assert groups_of(outcome) == [[0], [1, 2]]
    assert decisions_of(outcome)[0] == (1, 2, True)


def test_best_weighs_prices_against_allowances():
    class Generous(ByHand):
        def judge(self, group, candidates):
            price = np.where(candidates == 2, 0.5, 0.4)
            return Verdict(price, np.where(candidates == 2, 9.0, 0.41))

    opened = best(Generous(3, None))[1][0]
    assert opened.candidate == 2


@pytest.mark.parametrize("search", SEARCHES)
def test_a_candidate_must_touch_a_member(search):
    chain = sparse.csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    chain[2, 3] = chain[3, 2] = 0
    chain.eliminate_zeros()
    outcome = search(ByHand(5, lambda g, j: 0), Limits(neighbours=sparse.csr_array(chain)))
    assert groups_of(outcome) == [[0, 1, 2], [3, 4]]


def test_a_pass_can_reach_only_forward_what_it_has_not_passed():
    # 0 touches 2, 2 touches 1: a single pass has left 1 behind when 2 joins.
    graph = sparse.csr_array(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=float))
    assert groups_of(forward(ByHand(3, lambda g, j: 0), Limits(graph))) == [[0, 2], [1]]
    assert groups_of(restart(ByHand(3, lambda g, j: 0), Limits(graph))) == [[0, 1, 2]]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_group_is_larger_than_allowed(search, size):
    outcome = search(ByHand(7, lambda g, j: 0), Limits(max_group_size=size))
    assert max(map(len, outcome[0].groups)) == size
    assert len(outcome[0].labels) == 7


@pytest.mark.parametrize("search", [forward, restart])
@given(seed=st.integers(0, 2**20), welcome=st.floats(0, 1), foresight=st.integers(2, 40))
def test_foresight_changes_no_decision(search, seed, welcome, foresight):
    def whims(group, j):
        """Anything at all, but the same whenever it is asked."""
        return 0 if np.random.default_rng([seed, j, *sorted(group)]).uniform() < welcome else 9

    one_by_one = search(ByHand(25, whims, foresight=1))
    foreseen = search(ByHand(25, whims, foresight=foresight))
    assert groups_of(foreseen) == groups_of(one_by_one)
    assert decisions_of(foreseen) == decisions_of(one_by_one)


def test_forward_asks_little_more_than_it_must():
    # Each acceptance voids the rest of a block, so blocks must stay short while many join.
    question = ByHand(400, same_parity)
    found = forward(question)
    assert question.asked <= 8 * len(found.trace)


def test_a_search_can_be_repeated():
    for search in SEARCHES:
        one, other = search(ByHand(9, same_parity)), search(ByHand(9, same_parity))
        assert (one[1] == other[1]).all()


def test_copies_join_together_or_not_at_all():
    copies = np.array([0, 1, 1])

    def one_is_enough(group, j):
        """Once one of the copies 1 and 2 is in, the other is not welcome."""
        return 9 if {1, 2} & {*group} and j in {1, 2} else 0.5 - 0.1 * (j in {1, 2})

    assert groups_of(best(ByHand(3, one_is_enough))) == [[0, 1], [2]]
    assert groups_of(best(ByHand(3, one_is_enough), Limits(copies=copies))) == [[0], [1], [2]]

    def dearer_by_the_copy(group, j):
        return 0.1 * len(group)

    outcome = best(ByHand(3, dearer_by_the_copy), Limits(copies=copies))
    assert groups_of(outcome) == [[0, 1, 2]]
    np.testing.assert_allclose(outcome.trace.price, [0.1, 0.2])


def test_prices_without_end_still_merge_when_allowances_have_none():
    graph = sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(2)))
    question = ByHand(4, lambda g, j: np.inf, allowance=np.inf)
    assert groups_of(best(question, Limits(graph))) == [[0, 1], [2, 3]]


def test_where_copies_are_not_all_welcome_the_next_cheapest_joins():
    copies = np.array([0, 1, 1, 2, 3])

    def price(group, j):
        """0 and 3 open a group; the copies 1 and 2 would be next, but only one of them."""
        if {1, 2} & {*group} and j in {1, 2}:
            return 9
        if len(group) == 1:
            return 0.1 if {*group, j} == {0, 3} else 0.9
        return {1: 0.2, 2: 0.2, 4: 0.3}.get(j, 9)

    outcome = best(ByHand(5, price), Limits(copies=copies))
    assert groups_of(outcome) == [[0, 3, 4], [1], [2]]
    assert decisions_of(outcome)[:4] == [(0, 3, True), (0, 4, True), (0, 1, False), (0, 2, False)]


@pytest.mark.parametrize(
    ("size", "groups"),
    [
        (1, [[0], [1], [2], [3]]),
        (2, [[0, 1], [2, 3]]),
        (3, [[0, 1, 2], [3]]),
        (4, [[0, 1, 2, 3]]),
    ],
)
def test_copies_join_together_only_as_far_as_there_is_room(size, groups):
    question = ByHand(4, lambda g, j: 0)
    outcome = best(question, Limits(max_group_size=size, copies=np.array([0, 1, 1, 1])))
    assert groups_of(outcome) == groups


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_best_takes_the_first_of_those_equal_up_to_rounding(scale):
    def dearer_by(gap):
        prices = {1: scale + gap * max(1.0, scale), 2: scale}
        question = ByHand(3, lambda g, j: prices.get(j, 9e9), allowance=np.inf)
        return decisions_of(best(question))[0]

    assert dearer_by(1e-13) == (0, 1, True)
    assert dearer_by(1e-11) == (0, 2, True)


def test_best_tells_the_last_refusal_of_those_who_stay_alone():
    outcome = best(ByHand(3, lambda g, j: 5 - j))
    assert decisions_of(outcome) == [(0, 2, False), (1, 2, False), (2, 1, False)]
    assert outcome[1].price.tolist() == [3, 3, 4]


def test_those_who_could_ask_nobody_have_no_refusal_to_tell():
    kinds = np.array([1, -1, 1])
    assert decisions_of(best(ByHand(3, lambda g, j: 2), Limits(kinds=kinds))) == [
        (0, 2, False),
        (2, 0, False),
    ]


def test_a_feature_may_be_turned_away_with_one_set_of_copies_after_another():
    copies = np.array([0, 1, 1, 2, 2])

    def one_of_each(group, j):
        """0 goes with anybody, but with no second copy; copies go with nobody else."""
        same = {1: {1, 2}, 2: {1, 2}, 3: {3, 4}, 4: {3, 4}}.get(j, set())
        return 0.1 * max(j, *group) if 0 in {*group, j} and not same & {*group} else 9

    outcome = best(ByHand(5, one_of_each), Limits(copies=copies))
    assert groups_of(outcome) == [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("kinds", "groups"),
    [
        ([1, 0, 2, 1, -1, 0], [[0, 1, 3, 5], [2], [4]]),
        ([0, 2, 1, 2, 0, 1], [[0, 1, 3, 4], [2, 5]]),
        ([-1, 0, 0, -1, 3, 3], [[0], [1, 2, 4, 5], [3]]),
    ],
)
def test_features_of_different_kinds_never_share_a_group(search, kinds, groups):
    outcome = search(ByHand(6, lambda g, j: 0), Limits(kinds=np.array(kinds)))
    assert groups_of(outcome) == groups


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([1, 2, 2, 1], [[0, 1], [2, 3]]),
        ([2, 2, 1], [[0, 2], [1]]),
        ([3, 1, 1, 1], [[0], [1, 2, 3]]),
    ],
)
def test_features_count_for_as_many_as_they_are_where_groups_are_limited(search, sizes, groups):
    limits = Limits(max_group_size=3, sizes=np.array(sizes))
    assert groups_of(search(ByHand(len(sizes), lambda g, j: 0), limits)) == groups


def test_limits_are_the_same_for_features_in_another_order():
    order = np.array([2, 0, 1])
    graph = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1.0]]))
    limits = Limits(graph, 2, np.array([5, 6, 7]), np.array([1, 2, 3]))
    there = limits.reordered(order)
    np.testing.assert_array_equal(there.neighbours.toarray(), graph.toarray()[order][:, order])
    assert there.max_group_size == 2
    assert there.kinds.tolist() == [7, 5, 6]
    assert there.sizes.tolist() == [3, 1, 2]
    assert Limits().reordered(order) == Limits()
