"""Random combinations of all parameters, decided as the oracle decides."""

import pytest

from hunt.laws import LAWS
from hunt.running import Tally

AT_A_TIME = 20
NAME = "every decision is that of the oracle"


@pytest.mark.parametrize("first", range(0, 160, AT_A_TIME))
def test_every_decision_is_that_of_the_oracle(first):
    tally = Tally()
    for seed in range(first, first + AT_A_TIME):
        tally.run(NAME, LAWS[NAME], seed)
    assert not tally.failures, str(tally.failures[0])
    assert not tally.skips_too_many(NAME)
