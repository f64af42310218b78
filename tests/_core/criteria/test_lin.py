import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.aggregations import AGGREGATIONS
from coterie._core.criteria import Lin
from coterie._core.evidence import ComputeOptions, RowSets, build_evidence


def verdict(X, y):
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions()
    )
    return Lin().verdict(evidence.pairs(evidence.alone(0), np.array([1])))


@given(st.floats(-8, 8), st.floats(-6, 6))
def test_twins_always_merge(exponent, shift):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 30))
    X = np.column_stack([x, 10.0**exponent * (x + shift)])
    assert verdict(X, y).accepts.all()
    assert verdict(X, x).accepts.all()


def test_equal_coefficients_merge_however_unlike_the_features_are(rng):
    a, b = rng.normal(size=(2, 30))
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    answer = verdict(np.column_stack([a, b]), a + b)
    assert answer.price[0, 0] == 0
    assert answer.accepts.all()


def test_different_coefficients_without_noise_never_merge(rng):
    X = rng.normal(size=(30, 2))
    assert not verdict(X, X[:, 0] + 2 * X[:, 1]).accepts.any()
