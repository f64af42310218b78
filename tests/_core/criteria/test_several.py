"""Several must agree: verdicts written by hand, so that who decides can be seen."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from coterie._core.criteria import ForAll, OnEnoughRows
from coterie._core.values import Verdict


@dataclass
class Says:
    """A criterion that answers what it was told to answer, whatever it sees."""

    price: object
    allowance: object

    def verdict(self, pairs):
        return Verdict(np.atleast_2d(self.price), np.atleast_2d(self.allowance))


def agreed(*answers, importance=None):
    criteria = [Says(*answer) for answer in answers]
    weights = np.ones(len(answers)) if importance is None else np.array(importance)
    return ForAll(criteria, weights).verdict([None] * len(answers))


def test_the_target_with_the_highest_price_less_allowance_decides():
    # The first pays more, but may; the second pays less, and may not.
    verdict = agreed(([0.5], [0.6]), ([0.4], [0.1]))
    assert (verdict.price, verdict.allowance) == (0.4, 0.1)
    assert not verdict.accepts.any()


def test_each_candidate_is_decided_by_its_own_target():
    verdict = agreed(([0.5, 0.1], [0.2, 0.2]), ([0.1, 0.5], [0.3, 0.3]))
    np.testing.assert_array_equal(verdict.price, [[0.5, 0.5]])
    np.testing.assert_array_equal(verdict.allowance, [[0.2, 0.3]])


@pytest.mark.parametrize("order", [1, -1])
def test_where_no_allowance_has_an_end_the_highest_price_is_told(order):
    answers = [([0.2, np.inf], [np.inf, np.inf]), ([3.0, 0.1], [np.inf, np.inf])]
    verdict = agreed(*answers[::order])
    np.testing.assert_array_equal(verdict.price, [[3.0, np.inf]])
    np.testing.assert_array_equal(verdict.allowance, np.inf)
    assert verdict.accepts.all()


def test_prices_count_as_much_as_their_target_and_allowances_in_full():
    verdict = agreed(([0.8], [0.3]), ([0.4], [0.2]), importance=[0.25, 1.0])
    assert (verdict.price, verdict.allowance) == (0.4, 0.2)
    alone = agreed(([0.8], [0.3]), importance=[0.25])
    assert (alone.price, alone.allowance) == (0.2, 0.3)


def test_targets_and_evidence_are_as_many():
    with pytest.raises(ValueError):
        ForAll([Says([0.0], [1.0])] * 2, np.ones(2)).verdict([None])


def test_one_set_with_too_few_rows_is_enough_to_refuse():
    # Two sets of rows for two candidates: the first candidate has too few in the first set only.
    n = np.array([[[5.0, 6.0]], [[9.0, 9.0]]])
    criterion = OnEnoughRows(Says([0.0, 0.0], [1.0, 1.0]), 6.0)
    verdict = criterion.verdict(SimpleNamespace(n=n))
    np.testing.assert_array_equal(verdict.price, [[np.inf, 0.0]])
    np.testing.assert_array_equal(verdict.allowance, [[0.0, 1.0]])
    assert verdict.accepts.tolist() == [[False, True]]


def test_each_set_has_its_own_least_number_of_rows():
    least = np.array([6.0, 3.0])[:, None, None]
    criterion = OnEnoughRows(Says([0.0, 0.0], [np.inf, np.inf]), least)
    n = np.array([[[7.0, 7.0]], [[3.0, 2.0]]])
    assert criterion.verdict(SimpleNamespace(n=n)).accepts.tolist() == [[True, False]]
