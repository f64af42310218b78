import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.aggregations import AGGREGATIONS, Additive, Custom, Linear
from coterie._core.evidence import RunningAggregate


def spread_of(Z):
    return Z.max(axis=1) - Z.min(axis=1)


RUNNING = {
    name: aggregation
    for name, aggregation in {**AGGREGATIONS, "custom": Custom(spread_of)}.items()
    if isinstance(aggregation, RunningAggregate)
}


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_values_are_what_the_word_says(rng, name):
    Z = rng.normal(size=(30, 5))
    np.testing.assert_allclose(AGGREGATIONS[name].values(Z), oracle.AGGREGATIONS[name](Z))


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_each_is_of_one_kind(name):
    aggregation = AGGREGATIONS[name]
    assert isinstance(aggregation, Additive) != isinstance(aggregation, RunningAggregate)


@pytest.mark.parametrize("name", [n for n, a in AGGREGATIONS.items() if isinstance(a, Linear)])
def test_weights_give_the_values(rng, name):
    Z = rng.normal(size=(30, 4))
    centre, weights = AGGREGATIONS[name].weights(Z, np.arange(4))
    np.testing.assert_allclose((Z - centre) @ weights, AGGREGATIONS[name].values(Z))


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_a_single_column_is_kept_where_it_says_so(rng, name):
    Z = rng.normal(size=(10, 1))
    kept = np.allclose(AGGREGATIONS[name].values(Z), Z[:, 0])
    assert kept == AGGREGATIONS[name].keeps_single


@pytest.mark.parametrize("name", RUNNING)
@given(size=st.integers(1, 6), seed=st.integers(0, 2**16), rounded=st.booleans())
def test_running_states_equal_starting_over(name, size, seed, rounded):
    Z = np.random.default_rng(seed).normal(size=(25, size + 3))
    Z = np.round(Z) if rounded else Z  # ties within rows
    aggregation = RUNNING[name]
    state = aggregation.first(Z[:, 0])
    for j in range(1, size):
        state = aggregation.joined(state, Z[:, j])
    np.testing.assert_allclose(aggregation.value(state), aggregation.values(Z[:, :size]))
    merged = aggregation.with_each(state, Z[:, size:])
    for k, column in enumerate(merged.T):
        expected = aggregation.values(Z[:, [*range(size), size + k]])
        if name == "principal":
            column = column * np.sign(column @ expected)
        np.testing.assert_allclose(column, expected, atol=1e-7)


def test_a_principal_component_ignores_a_small_column_at_right_angles():
    a = np.array([2.0, -2.0, 2.0, -2.0])
    b = np.array([1.0, 1.0, -1.0, -1.0])
    principal = AGGREGATIONS["principal"]
    for first, second in ((a, b), (b, a)):
        merged = principal.with_each(principal.first(first), second[:, None])[:, 0]
        np.testing.assert_allclose(np.abs(merged), np.abs(a), atol=1e-12)


def test_names_of_functions_are_words():
    assert Custom(spread_of).name == "spread_of"
    assert Custom(lambda Z: Z[:, 0]).name == "aggregate"
