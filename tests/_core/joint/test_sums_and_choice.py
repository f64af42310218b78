import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit

from coterie._core.joint import Path, Penalty, Splits, Step, _sums, products_of, sums_of_rows
from coterie._core.joint._choice import least_squares, number_within_allowance
from coterie._core.joint._held_out import _standardised
from coterie._core.joint._penalty import (
    CAUTION,
    PENALTIES,
    cautious_penalty,
    penalty_and_noise,
    ridge_slopes,
)


@pytest.fixture
def rows(rng):
    columns = rng.normal(size=(40, 5)) + [1, 2, 3, 4, 5]
    return columns, columns[:, :2] @ rng.normal(size=(2, 2)) + 0.3 * rng.normal(size=(40, 2))


@pytest.mark.parametrize("at_a_time", [1, 3, 7, 100])
def test_products_in_blocks_are_those_of_all_rows(rng, monkeypatch, at_a_time):
    monkeypatch.setattr(_sums, "ROWS_AT_A_TIME", at_a_time)
    rows = rng.normal(size=(7, 40))
    products = products_of(rows)
    np.testing.assert_allclose(products, np.einsum("ir,jr->ij", rows, rows), atol=1e-12)
    assert (products == products.T).all()


@pytest.mark.parametrize("splitter", [KFold(4), TimeSeriesSplit(3)])
def test_errors_from_sums_are_those_of_models_that_are_run(rows, splitter):
    columns, targets = rows
    pairs = list(splitter.split(columns))
    sums = sums_of_rows(columns, targets, None, Splits.of_pairs(pairs, 40))
    for split, (train, test) in enumerate(pairs):
        scatter = sums.over(sums.train[split])
        slopes = least_squares(scatter, np.eye(5))
        found = sums.squared_error(sums.test[split], scatter.mean, slopes[None])[0]
        model = LinearRegression().fit(columns[train], targets[train])
        expected = np.square(targets[test] - model.predict(columns[test])).sum(axis=1).mean()
        assert found == pytest.approx(expected, rel=1e-6)


def test_ridge_slopes_are_those_of_scikit_learn(rows):
    columns, targets = rows
    sums = sums_of_rows(columns, targets, None, Splits.of_folds(np.arange(40) % 2))
    for penalty in (0.1, 2.0):
        slopes = ridge_slopes(sums.everything(), np.ones(5), penalty)
        model = Ridge(alpha=40 * penalty).fit(columns, targets)
        np.testing.assert_allclose(slopes, model.coef_.T, rtol=1e-8)


def test_weights_count_rows(rows, rng):
    columns, targets = rows
    counts = rng.integers(1, 4, 40)
    fold = np.arange(40) % 4
    weighted = sums_of_rows(columns, targets, counts.astype(float), Splits.of_folds(fold))
    repeated = sums_of_rows(
        np.repeat(columns, counts, axis=0),
        np.repeat(targets, counts, axis=0),
        None,
        Splits.of_folds(np.repeat(fold, counts)),
    )
    np.testing.assert_allclose(weighted.products, repeated.products)
    np.testing.assert_allclose(weighted.total, repeated.total)


def noise_of(sums, sizes):
    everything = np.ones((sums.n_splits, len(sizes)), dtype=bool)
    return penalty_and_noise(sums, sizes, everything[0], everything)


def test_noise_asks_for_a_larger_penalty(rng):
    columns = rng.normal(size=(60, 20))
    splits = Splits.of_folds(np.arange(60) % 5)
    signal = columns @ np.ones((20, 1)) + rng.normal(size=(60, 1))
    noise = rng.normal(size=(60, 1))
    found = [noise_of(sums_of_rows(columns, y, None, splits), np.ones(20)) for y in (signal, noise)]
    assert found[0].per_row < 0.3 < found[1].per_row
    assert [one.predicts for one in found] == [True, False]


def test_the_penalty_is_three_times_the_most_likely(rows):
    columns, targets = rows
    columns, targets = columns - columns.mean(axis=0), targets - targets.mean(axis=0)

    def log_likelihood(per_row):
        # Targets with coefficients from the prior, and the noise that is the most likely for each.
        prior = columns @ columns.T / (40 * per_row) + np.eye(40)
        total = 0.0
        for y in targets.T:
            # One degree of freedom is the mean.
            noise = y @ np.linalg.solve(prior, y) / 39
            cov = noise * prior
            total += multivariate_normal(cov=cov).logpdf(y)
            total += 0.5 * np.log(noise) + 0.5 * y @ np.linalg.solve(cov, y) - 0.5 * 39
        return total

    variation, vectors = np.linalg.eigh(columns.T @ columns)
    found = cautious_penalty(
        variation, vectors.T @ columns.T @ targets, np.square(targets).sum(axis=0), 40, 5
    )
    assert found / CAUTION == PENALTIES[np.argmax([log_likelihood(one) for one in PENALTIES])]


def test_noise_is_the_held_out_error_of_a_model_that_is_run(rows):
    columns, targets = rows
    pairs = list(KFold(4).split(columns))
    found = noise_of(sums_of_rows(columns, targets, None, Splits.of_pairs(pairs, 40)), np.ones(5))
    errors = []
    for train, test in pairs:
        model = Ridge(alpha=30 * found.per_row).fit(columns[train], targets[train])
        errors.append(np.square(targets[test] - model.predict(columns[test])).sum(axis=1).mean())
    assert found.noise == pytest.approx(np.mean(errors))


def path_of(prices):
    """A path on which groups are left out, at these prices."""
    n = len(prices) + 1
    return Path(np.arange(n), [Step(k, -1, -1, price) for k, price in enumerate(prices)])


def penalty(noise, null=None):
    # Where the error of the mean is all noise, nothing is negligible.
    return Penalty(1.0, noise, null or noise, True)


@pytest.mark.parametrize(
    ("prices", "number"),
    [
        # Each step may cost four times the noise.
        ([1, 3, 5, 9], 3),
        ([4, 4, 4, 4], 1),
        ([4.1, 4.1, 4.1, 4.1], 5),
        # A dear step counts together with the cheap ones that follow.
        ([1, 6, 1, 9], 2),
        ([1, 9, 1, 9], 4),
    ],
)
def test_steps_are_taken_while_they_cost_their_allowances_together(prices, number):
    assert number_within_allowance(path_of(prices), penalty(1.0), 1000) == number


def test_steps_that_are_negligible_together_are_taken():
    # R2 is .8, so 1 % of R2 (1 - R2) of a sum of squares of 1000 is 1.6. The allowance is .8.
    path = path_of([0.9, 0.9, 0.9, 9])
    found = [number_within_allowance(path, penalty(0.2, 1.0), n) for n in (100, 1000, 2000)]
    assert found == [5, 4, 2]


def test_there_are_at_most_a_third_as_many_groups_as_rows():
    path = path_of([5, 5, 5, 5])
    assert [number_within_allowance(path, penalty(1.0), n) for n in (16, 12, 3, 1)] == [
        5,
        4,
        1,
        1,
    ]


def test_what_rounding_leaves_of_a_constant_is_not_enlarged(rng):
    columns, targets = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    columns[:20, 0] = 1 + 1e-9 * rng.normal(size=20)
    sums = sums_of_rows(columns, targets, None, Splits.of_folds(np.arange(40) // 20))
    some = _standardised(sums.over(np.array([True, False])), sums.everything())
    assert some.columns[0, 0] == 0.0
    assert some.columns[1, 1] == pytest.approx(20 * columns[:, 1].var())
