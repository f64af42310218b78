import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.aggregations import AGGREGATIONS
from coterie._core.criteria import GenLin
from coterie._core.evidence import ComputeOptions, RowSets, build_evidence
from coterie.families import FAMILIES


def price(X, y, *, curvature=1.0, bound="general", aggregation="mean"):
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS[aggregation], RowSets.all_rows(), ComputeOptions()
    )
    pairs = evidence.pairs(evidence.alone(0), np.array([1]))
    return GenLin(1.0, curvature, bound).verdict(pairs).price[0, 0]


@given(st.floats(0.05, 0.99), st.floats(0.05, 3.0))
def test_nearly_twins_cost_what_the_formula_says_and_twins_nothing(r, curvature):
    n = 200
    x, e = np.linalg.qr(np.random.default_rng(0).normal(size=(n, 3)) - 0.0)[0].T[:2]
    x, e = x - x.mean(), e - e.mean()
    e -= x * (x @ e) / (x @ x)
    x, e = x / x.std(), e / e.std()
    y = r * x + np.sqrt(1 - r**2) * e
    r_unbiased = r * n / (n - 1)
    expected = (2 * r_unbiased + curvature / 2) / (r_unbiased + 2 * curvature)
    nearly = np.column_stack([x, x + 1e-5 * np.sin(np.arange(n))])
    np.testing.assert_allclose(price(nearly, y, curvature=curvature), expected, rtol=1e-4)
    for twin in (x, 3 * x + 2):
        assert price(np.column_stack([x, twin]), y, curvature=curvature) == 0


@pytest.mark.parametrize("noise", [1.0, 10.0])
@pytest.mark.parametrize("bound", ["general", "bivariate"])
def test_opposites_can_never_merge(rng, bound, noise):
    x = rng.normal(size=40)
    y = x + noise * rng.normal(size=40)
    assert price(np.column_stack([x, -x]), y, bound=bound) > 1e12


def test_two_constants_cost_nothing(rng):
    assert price(np.ones((20, 2)), rng.normal(size=20)) == 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bound", ["general", "bivariate"])
def test_the_direction_of_the_target_does_not_matter(rng, bound, sign):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    np.testing.assert_allclose(price(X, sign * y, bound=bound), price(X, y, bound=bound))


def test_families_know_their_curvature(rng):
    classes = (rng.uniform(size=1000) < 0.1).astype(float)
    counts = rng.poisson(9.0, size=1000).astype(float)
    numbers = rng.normal(5, 3, size=1000)
    p, mean = classes.mean(), counts.mean()
    bernoulli, poisson, gaussian = (FAMILIES[f] for f in ("bernoulli", "poisson", "gaussian"))
    np.testing.assert_allclose(
        bernoulli.curvature(classes.mean(), classes.std(), "zero"), 0.25 / classes.std()
    )
    np.testing.assert_allclose(
        bernoulli.curvature(classes.mean(), classes.std(), "null"), np.sqrt(p * (1 - p))
    )
    np.testing.assert_allclose(
        poisson.curvature(counts.mean(), counts.std(), "zero"), 1 / counts.std()
    )
    np.testing.assert_allclose(
        poisson.curvature(counts.mean(), counts.std(), "null"), mean / counts.std()
    )
    assert (
        gaussian.curvature(numbers.mean(), numbers.std(), "zero")
        == gaussian.curvature(numbers.mean(), numbers.std(), "null")
        == 1.0
    )
    assert gaussian.curvature(numbers.mean(), numbers.std(), 0.5) == 0.5


@pytest.mark.parametrize("curvature", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("order", [1, -1])
def test_a_constant_adds_nothing_to_the_variance_of_both(rng, order, curvature):
    x, y = rng.normal(size=(2, 40))
    X = np.column_stack([x, np.full(40, 2.0)])[:, ::order]
    # Standardised, a constant is 0: u + v varies as x alone, and so does the aggregate.
    assert price(X, y, curvature=curvature) == pytest.approx(1.0)
    cov = abs(np.cov(x / x.std(), y / y.std())[0, 1])
    expected = cov / (curvature / 2)
    assert price(X, y, curvature=curvature, bound="bivariate") == pytest.approx(expected)


@pytest.mark.parametrize("bound", ["general", "bivariate"])
def test_a_twin_that_changes_the_aggregate_costs_what_the_formula_says(rng, bound):
    x, y = rng.normal(size=(2, 60))
    X = np.column_stack([x, 10 * x])
    # The larger of x and 10 x is another column than x, though x and 10 x are twins.
    w = X.max(axis=1)
    judge = oracle.genlin(1.0, 0.5, bound, standardise_target=True)
    expected, _ = judge(*X.T, w, y)
    found = price(X, y, curvature=0.5, bound=bound, aggregation="max")
    assert found == pytest.approx(expected)
