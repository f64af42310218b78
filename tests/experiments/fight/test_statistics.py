import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from experiments.fight.statistics import (
    compared,
    corrected,
    drawn_means,
    interval_of,
    mean_over_splits,
    mean_ranks,
    on_each_set,
    ranked,
    resampled,
)


def scores(columns, n_sets=8, n_splits=5, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([range(n_sets), range(n_splits)], names=["set", "split"])
    index = index.set_levels([f"s{i}" for i in range(n_sets)], level="set")
    level = np.repeat(rng.uniform(0.3, 0.6, n_sets), n_splits)
    table = {
        name: level + value + noise * rng.normal(size=len(index)) for name, value in columns.items()
    }
    return pd.DataFrame(table, index=index)


def test_without_shared_rows_the_interval_is_that_of_a_t_test(rng):
    differences = rng.normal(0.1, 1, 20)
    found = corrected(differences, 0.0)
    expected = ttest_1samp(differences, 0).confidence_interval(0.95)
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_shared_rows_make_intervals_wider_by_what_the_paper_says(rng):
    differences = rng.normal(size=20)
    free, shared = corrected(differences, 0.0), corrected(differences, 1 / 3)
    ratio = (shared.high - shared.value) / (free.high - free.value)
    assert ratio == pytest.approx(np.sqrt((1 / 20 + 1 / 3) / (1 / 20)))


def test_corrected_intervals_hold_the_truth_where_plain_ones_do_not():
    # Halves of a sample drawn again and again: the mean over draws varies more than draws say.
    rng = np.random.default_rng(0)
    held = np.zeros(2)
    for _ in range(300):
        sample = rng.normal(size=40)
        drawn = np.array([rng.permutation(sample)[:10].mean() for _ in range(20)])
        for i, ratio in enumerate((0.0, 1 / 3)):
            found = corrected(drawn, ratio)
            held[i] += found.low <= 0 <= found.high
    assert held[0] / 300 < 0.8
    assert held[1] / 300 > 0.9


def test_one_split_has_no_interval():
    assert np.isnan(corrected(np.array([0.2]), 0.3).low)


def test_ranks_of_methods_that_never_change_places_are_certain():
    found = ranked(scores({"worst": 0.0, "best": 0.2, "middle": 0.1}), n_boot=50)
    assert list(found) == ["best", "middle", "worst"]
    assert [tuple(one) for one in found.values()] == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]


def test_equal_methods_share_their_rank():
    assert mean_ranks(mean_over_splits(scores({"a": 0.0, "b": 0.0})).to_numpy()).tolist() == [
        1.5,
        1.5,
    ]


def test_intervals_hold_the_value_and_shrink_with_sets():
    widths = []
    for n_sets in (6, 60):
        found = ranked(scores({"a": 0.0, "b": 0.02, "c": 0.0}, n_sets, noise=0.1), n_boot=200)
        assert all(one.low <= one.value <= one.high for one in found.values())
        widths.append(found["b"].high - found["b"].low)
    assert widths[1] < widths[0]


def test_scores_below_zero_are_zero():
    table = scores({"a": 0.0, "b": -5.0})
    assert (mean_over_splits(table)["b"] == 0).all()
    assert (resampled(table, 3)[:, :, 1] == 0).all()


def test_a_bootstrap_draws_sets_and_splits():
    table = scores({"a": 0.0}, n_sets=5, n_splits=3)
    means = resampled(table, 20)
    assert means.shape == (20, 5, 1)
    assert set(means.round(9).ravel()) <= set(mean_over_splits(table)["a"].round(9))
    assert len({tuple(one.ravel()) for one in means}) > 10


def test_means_of_drawn_splits_are_those_of_a_slow_bootstrap():
    scores_of_set = np.array([[0.1, 0.5], [0.3, np.nan], [0.8, 0.6]])
    found = drawn_means(scores_of_set, 4000, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    slow = np.array([
        np.nanmean(scores_of_set[rng.integers(3, size=3)][:, 0]) for _ in range(4000)
    ])  # fmt: skip
    np.testing.assert_allclose(found[:, 0].mean(), slow.mean(), atol=0.02)
    np.testing.assert_allclose(found[:, 0].std(), slow.std(), atol=0.02)
    assert np.nanmin(found[:, 1]) == 0.5


def test_who_is_better_by_far_is_certainly_better():
    found = compared(scores({"a": 0.2, "b": 0.0}, n_sets=20), "a", "b", n_boot=30)
    assert found.better.low > 0.95
    assert found.difference.value == pytest.approx(0.2)
    assert found.n_sets == 20


def test_less_than_a_hundredth_is_alike():
    found = compared(scores({"a": 0.004, "b": 0.0}, n_sets=20), "a", "b", n_boot=30)
    assert found.alike.low > 0.95


def test_sets_without_a_method_are_left_out_of_its_comparisons():
    table = scores({"a": 0.2, "b": 0.0})
    table.loc["s3", "b"] = np.nan
    assert compared(table, "a", "b", n_boot=5).n_sets == 7
    each = on_each_set(table, "a", "b", lambda _: 0.3)
    assert "s3" not in each
    assert each["s1"].value == pytest.approx(0.2)


def test_percentiles_are_of_the_middle():
    low, high = interval_of(np.linspace(0, 1, 1001)[:, None])
    assert (low[0], high[0]) == pytest.approx((0.025, 0.975))
