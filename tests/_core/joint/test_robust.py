import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from coterie._core.joint import Clipped, Percentiles, inputs_that_pay
from coterie._core.joint._penalty import cautious_penalty
from coterie._core.joint._robust import leave_one_out


@pytest.mark.parametrize("shape", [(30, 4), (12, 20)])
def test_rows_left_out_are_predicted_as_by_models_without_them(rng, shape):
    columns = rng.normal(size=shape)
    targets = columns[:, :1] + rng.normal(size=(shape[0], 1))
    columns = StandardScaler().fit_transform(columns)
    found = leave_one_out(columns, targets, np.ones(shape[0]))
    centred = targets - targets.mean(axis=0)
    variation, vectors = np.linalg.eigh(columns.T @ columns)
    per_row = cautious_penalty(
        variation, vectors.T @ columns.T @ centred, np.square(centred).sum(axis=0), *shape
    )
    for row in range(shape[0]):
        others = np.arange(shape[0]) != row
        model = Ridge(alpha=shape[0] * per_row).fit(columns[others], targets[others])
        error = np.square(targets[row] - model.predict(columns[[row]])).item()
        assert found[row] == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("kind", [Clipped, Percentiles])
def test_weights_count_rows_and_missing_values_stay(rng, kind):
    columns = rng.normal(size=(40, 3))
    columns[3, 1] = np.nan
    counts = rng.integers(1, 4, 40)
    weighted = kind.of(columns, counts.astype(float))
    repeated = kind.of(np.repeat(columns, counts, axis=0))
    np.testing.assert_allclose(weighted(columns), repeated(columns))
    assert np.isnan(weighted(columns)).sum() == 1


def test_percentiles_go_back_to_the_training_values(rng):
    columns = rng.normal(size=(40, 3))
    shares = Percentiles.of(columns)
    np.testing.assert_allclose(shares(columns).mean(axis=0), 0.5)
    np.testing.assert_allclose(shares.inverse_transform(shares(columns)), columns)


def test_heavy_tails_are_tamed_only_where_it_pays(rng):
    columns = rng.normal(size=(300, 5))
    targets = (columns @ np.ones((5, 1)) + rng.normal(size=(300, 1))) / 2
    assert inputs_that_pay(columns, targets) is None
    heavy = np.sign(columns) * np.expm1(2 * np.abs(columns))
    assert inputs_that_pay(heavy, targets) is Percentiles
