import math

import pytest
from scipy.stats import chi2

from coterie._core.criteria import PENALTIES

NUMBERS = [1, 2, 10, 100, 10_000, 10**6]


@pytest.mark.parametrize("n", NUMBERS[2:])
def test_aic_and_bic_know_only_the_rows_and_ric_only_the_columns(n):
    for D, M in ((7, 3.0), (500, 40.0)):
        assert PENALTIES["aic"](n, D, M) == 2
        assert PENALTIES["bic"](n, D, M) == pytest.approx(math.log(n))
        assert PENALTIES["ric"](n, D, M) == pytest.approx(2 * math.log(D))


@pytest.mark.parametrize("M", NUMBERS)
def test_auto_lets_in_the_dearest_of_candidates_that_are_nothing_but_noise(M):
    # On few rows BIC asks for less. Noise gives up a chi-square; of M independent ones, the
    # largest stays below the penalty at least as often as one of them stays below AIC's.
    penalty = PENALTIES["auto"](3, M, M)
    assert chi2.cdf(penalty, 1) ** M >= chi2.cdf(2.0, 1) - 1e-12
    # Nor is it higher than it must be: a quarter less would not do for many.
    assert M < 100 or chi2.cdf(0.75 * penalty, 1) ** M < chi2.cdf(2.0, 1)


def test_auto_is_never_less_than_bic_nor_than_aic():
    for n in NUMBERS[1:]:
        for M in NUMBERS:
            auto, aic, bic = (PENALTIES[word](n, M, M) for word in ("auto", "aic", "bic"))
            assert auto >= max(aic, bic)
    assert PENALTIES["auto"](10**6, 5, 1.0) == pytest.approx(math.log(10**6))
