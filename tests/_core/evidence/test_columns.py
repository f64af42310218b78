import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.evidence import standardised


def test_values_have_mean_zero_and_spread_one(rng):
    values, centre, spread = standardised(rng.normal(3, 2, size=(50, 4)))
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(values.std(axis=0), 1)


@given(st.floats(-200, 200), st.floats(-6, 6))
def test_units_do_not_change_the_values(exponent, shift):
    x = np.random.default_rng(0).normal(size=(40, 1))
    scale = 10.0**exponent
    np.testing.assert_allclose(
        standardised(scale * (x + shift)).values, standardised(x).values, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("constant", [0.0, 5.0, 0.1, -1e8, 1e-200, 3e200])
def test_a_constant_column_is_zero(constant):
    values, centre, spread = standardised(np.full((7, 1), constant))
    assert not values.any()
    assert spread == [0.0]
    np.testing.assert_allclose(centre, constant)


def test_kelvins_keep_their_digits(rng):
    small = rng.normal(size=(100, 1)) * 1e-3
    np.testing.assert_allclose(
        standardised(small + 3e8).values, standardised(small).values, atol=1e-4
    )


def test_float32_is_centred_in_float64(rng):
    x = (rng.normal(size=(1000, 1)) + 1e4).astype(np.float32)
    np.testing.assert_array_equal(standardised(x).values, standardised(x.astype(float)).values)
