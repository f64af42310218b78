"""Columns and targets that do not vary where a fold is trained, or where it is scored."""

import numpy as np
import oracle
import pytest
from complete import NonLinCFA
from sklearn.model_selection import KFold

from coterie import Moments

# Columns are of all magnitudes here, and some do not vary.
pytestmark = pytest.mark.filterwarnings("ignore::coterie.FitWarning")


def made(seed, *, constant_target):
    """A problem in mixed units; one column is constant in all training rows of a fold."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 80))
    X = rng.normal(size=(n, 6)) * 10.0 ** rng.integers(-3, 4, 6) + 10.0 ** rng.integers(-3, 5, 6)
    y = X @ rng.normal(size=6) / np.abs(X).max() + rng.normal(size=n)
    splits = list(KFold(5).split(X))
    X[splits[int(rng.integers(5))][0], int(rng.integers(6))] = X[0, 0]
    if constant_target:
        # A number whose mean is exact, or the score of scikit-learn is rounding itself.
        y[splits[0][1]] = 3.5
    return X, y, splits


@pytest.mark.parametrize("constant_target", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 6, 13, 34, 64, 76, 118])
def test_prices_are_those_of_regressions_that_are_run(seed, constant_target):
    X, y, splits = made(seed, constant_target=constant_target)
    judge = oracle.nonlin_held_out(0.05, splits)
    groups, asked = oracle.SEARCHES["restart"](X, y, oracle.AGGREGATIONS["mean"], judge)
    reducer = NonLinCFA(0.05).fit(X, y)
    assert [group.tolist() for group in reducer.groups_] == [sorted(group) for group in groups]
    expected = np.array([price for *_, price, _, _ in asked])
    np.testing.assert_allclose(reducer.trace_.price, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", [1, 6, 51])
def test_rows_in_memory_and_their_moments_agree(seed):
    X, y, splits = made(seed, constant_target=True)
    moments = Moments()
    for fold, (_, rows) in enumerate(splits):
        moments.update(X[rows], y[rows], fold=fold)
    from_moments = NonLinCFA(0.05).fit_moments(moments)
    assert from_moments.labels_.tolist() == NonLinCFA(0.05).fit(X, y).labels_.tolist()
