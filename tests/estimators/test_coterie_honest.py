"""Held-out rows have no say, whatever the table: noise is called noise, and signal is found."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from coterie import Coterie


@pytest.mark.parametrize("shape", [(60, 2000), (50, 600), (100, 200)])
def test_noise_in_wide_tables_is_called_noise(rng, shape):
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    with pytest.warns(UserWarning, match="Nothing in X predicts y"):
        reducer = Coterie().fit(X, y)
    assert reducer.path_["score"].max() < 0.1
    assert "no number of groups predicts" in reducer.choice_ or reducer.n_groups_ <= 3


def test_scores_of_wide_tables_are_those_of_models_that_are_run(rng):
    X = rng.normal(size=(100, 1000))
    y = X[:, 0] + rng.normal(size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = Coterie(n_groups=3).fit(X, y).path_
        pipeline = make_pipeline(Coterie(n_groups=3), LinearRegression())
        run = cross_val_score(pipeline, X, y, scoring="r2").mean()
    assert told["score"][told["n_groups"] == 3] == pytest.approx(run, abs=0.25)


@pytest.mark.parametrize("n_kinds", [2, 4, 6])
def test_one_hot_columns_predict(rng, n_kinds):
    kind = rng.integers(n_kinds, size=1000)
    y = rng.random(1000) < np.where(kind % 2 == 0, 0.1, 0.9)
    reducer = Coterie().fit(np.eye(n_kinds)[kind], y)
    # The share of the variance that the kinds explain: (.8 / 2)^2 / .25.
    assert reducer.path_["score"].max() == pytest.approx(0.64, abs=0.06)


def test_few_different_rows_predict(rng):
    bits = (rng.random((2000, 3)) < 0.5) * 1.0
    y = rng.random(2000) < np.where(bits[:, 0] > 0, 0.85, 0.15)
    assert Coterie().fit(bits * [1, 2, 4], y).path_["score"].max() == pytest.approx(0.49, abs=0.06)


@pytest.mark.parametrize("seed", range(12))
def test_binary_tables_in_any_order_give_the_same_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(60, 2))
    X = (hidden[:, rng.integers(2, size=6)] + rng.normal(size=(60, 6)) > 0) * 1.0
    y = (hidden[:, 0] + rng.normal(size=60) > 0) * 1
    rows, columns = rng.permutation(60), rng.permutation(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = Coterie().fit(X, y), Coterie().fit(X[rows][:, columns], y[rows])
        for name, values in one.path_.items():
            np.testing.assert_array_equal(values, other.path_[name])
    np.testing.assert_array_equal(one.labels_[columns] < 0, other.labels_ < 0)
    assert one.inputs_ == other.inputs_


@pytest.mark.parametrize("inputs", ["clip", "rank", None])
def test_inputs_in_any_order_give_the_same_to_the_bit(rng, inputs):
    X = rng.standard_t(3, size=(100, 6))
    y = X[:, 0] + rng.normal(size=100)
    rows = rng.permutation(100)
    one, other = Coterie(inputs=inputs).fit(X, y), Coterie(inputs=inputs).fit(X[rows], y[rows])
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert one.choice_ == other.choice_


def test_most_members_have_a_plus_whatever_the_order(rng):
    base = rng.normal(size=(80, 1))
    X = np.hstack([-base, base, base]) + 0.1 * rng.normal(size=(80, 3))
    names = [
        Coterie().fit(X[:, order], base[:, 0]).get_feature_names_out().tolist()
        for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0])
    ]
    assert names == [["mean(-x0, x1, x2)"], ["mean(x0, -x1, x2)"], ["mean(x0, x1, -x2)"]]


def test_weights_that_only_compare_rows_are_refused(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    with pytest.raises(ValueError, match="Weights count rows"):
        Coterie().fit(X, y, sample_weight=np.full(50, 0.02))


@pytest.mark.parametrize("unit", [1e-300, 1e155, 1e300])
def test_the_unit_of_the_target_is_any_number(rng, unit):
    X = rng.normal(size=(60, 4))
    assert Coterie().fit(X, X[:, 0] * unit).path_["score"].max() == pytest.approx(1)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "more would explain no more of the target than noise does"),
        ({"rest": "keep"}, "min_correlation and the other limits allow no fewer"),
    ],
)
def test_the_reason_for_the_number_is_true(rng, parameters, said):
    X, y = rng.normal(size=(200, 8)), rng.normal(size=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert said in Coterie(**parameters).fit(X, y).choice_
