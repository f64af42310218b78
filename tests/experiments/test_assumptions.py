"""The simulations behind docs/how-it-works/assumptions.md, on a few draws."""

import json

import numpy as np

from experiments import assumptions


def test_a_harmless_merge_is_refused_as_rarely_as_the_f_test_says(rng):
    refusals = []
    for _ in range(2000):
        u, v = assumptions.inputs(rng, 150)
        y = assumptions.TARGETS["as_assumed"](rng, u, v)
        refusals.append(assumptions.rejected(u, v, (u + v) / 2, y, np.log(150)))
    assert 0.015 < np.mean(refusals) < 0.04


def test_the_bound_is_an_equality_where_coefficients_are_equal():
    increase, bound, is_proved = assumptions.increase_and_bound(np.eye(2), np.array([0.5, 0.5]))
    assert abs(increase) < 1e-12
    assert bound >= increase
    assert is_proved


def test_the_committed_file_is_that_of_the_script():
    found = json.loads(assumptions.RESULTS.read_text("utf-8"))
    assert set(assumptions.SIMULATIONS) <= set(found)
    assert {name: found[name] for name in assumptions.tables(found)} == assumptions.tables(found)
    assert assumptions.family_has_no_effect(2) == {"problems": 2, "bernoulli": 2, "poisson": 2}
