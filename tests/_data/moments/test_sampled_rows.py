"""The sample of rows does not depend on how rows are counted."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import Moments
from coterie._core.evidence._effective import _some_rows
from coterie._data.moments import RowLocation


@given(st.integers(0, 2**31), st.sampled_from(["whole", "tenths", "thirds", "random", "mean 1"]))
def test_sampled_rows_do_not_depend_on_how_weights_are_summed(seed, kind):
    rng = np.random.default_rng(seed)
    whole = rng.integers(1, 9, 2048)
    weights = {
        "whole": whole,
        "tenths": (whole + 5) / 10,
        "thirds": whole / 3,
        "random": 2 * rng.random(2048),
        "mean 1": whole / whole.mean(),
    }[kind]
    X, y = np.arange(4096.0).reshape(2048, 2), rng.normal(size=2048)
    expected = X[_some_rows(2048, weights)[0]]
    cuts = np.sort(rng.integers(0, 2049, 4))
    parts = np.split(np.arange(2048), cuts)
    totals = np.cumsum([0.0, *(weights[rows].sum() for rows in parts)])
    one, several = Moments(weights.sum()), Moments()
    for rows, before in zip(parts, totals[:-1], strict=True):
        one.update(X[rows], y[rows], weights[rows])
        several += Moments(totals[-1], n_before=before).update(X[rows], y[rows], weights[rows])
    if weights.sum() > 1024:
        for moments in (one, several):
            np.testing.assert_array_equal(moments.kept.looked_at(moments.count), expected)


def test_sizeof_includes_the_matrices(rng):
    moments = Moments().update(rng.normal(size=(300, 200)), rng.normal(size=300))
    assert moments.nbytes < sys.getsizeof(moments) < moments.nbytes + 10_000


def test_errors_name_the_location_of_rows():
    X = np.full((3, 2), np.nan)
    with pytest.raises(
        ValueError, match=r"^X has NaN in columns 0, 1 of partition 7, rows 5 to 7\."
    ):
        Moments().take(X, np.zeros(3), None, None, RowLocation("partition 7", 5))
