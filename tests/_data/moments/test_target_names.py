"""Targets are matched by name and order."""

import numpy as np
import pandas as pd
import pytest

from coterie import Moments, NonLinCFA, moments_from

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["a", "b"])


def test_targets_in_another_order_are_refused():
    moments = Moments().update(X[:30], Y[:30])
    with pytest.raises(ValueError, match="targets 'b', 'a' in batch 1, and before"):
        moments.update(X[30:], Y[["b", "a"]][30:])
    with pytest.raises(ValueError, match="the same targets in the same order"):
        moments + Moments().update(X[30:], Y[["b", "a"]][30:])
    assert moments.update(X[30:], Y[30:].to_numpy()).n_samples_ == 60


def test_duplicate_target_names_are_refused():
    with pytest.raises(ValueError, match="several targets of one name"):
        Moments().update(X, Y.rename(columns={"b": "a"}))


def test_a_target_is_not_a_feature(tmp_path):
    frame = pd.DataFrame(X, columns=list("cdef")).assign(y=Y["a"])
    with pytest.raises(ValueError, match="Column 'y' can be only one of feature"):
        moments_from(frame, y="y", columns=["c", "d", "y"])
    frame[frame.y > 0].to_parquet(tmp_path / "some.parquet")
    moments = moments_from(tmp_path / "some.parquet", y="y")
    assert moments.feature_names_in_.tolist() == list("cdef")


def test_sums_of_columns_with_missing_values_need_rows():
    gaps = X.copy()
    gaps[3, 1] = np.nan
    reducer = NonLinCFA(missing="pairwise").fit(gaps, Y["a"])
    with pytest.raises(ValueError, match="missing='pairwise' looks at the rows"):
        reducer.fit_.weighted_sum()
