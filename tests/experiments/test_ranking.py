"""The Bayesian signed-rank test against mathematics, and tables of ranks."""

import numpy as np
import pandas as pd
import pytest

from experiments.ranking import against_each, by_data_set, losses, probabilities, ranks, scores
from experiments.results import COLUMNS


def brute_force(differences, alike, n_draws, rng):
    """Draw weights one at a time and add up pairs one at a time."""
    values = [0.0, *differences]
    counts = np.zeros(3)
    for _ in range(n_draws):
        weights = rng.gamma([0.5] + [1.0] * len(differences))
        weights /= weights.sum()
        shares = np.zeros(3)
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                mean = (a + b) / 2
                place = 0 if mean > alike else 2 if mean < -alike else 1
                shares[place] += weights[i] * weights[j]
        counts[np.argmax(shares)] += 1
    return counts / n_draws


def test_probabilities_equal_brute_force(rng):
    differences = rng.normal(0.01, 0.02, size=6)
    expected = brute_force(differences, 0.01, 3000, rng)
    np.testing.assert_allclose(probabilities(differences), expected, atol=0.03)


def test_probabilities_add_up_and_swap_with_the_methods(rng):
    differences = rng.normal(0.0, 0.02, size=9)
    better, alike, worse = probabilities(differences)
    assert better + alike + worse == pytest.approx(1)
    assert probabilities(-differences) == pytest.approx((worse, alike, better))


def test_large_differences_are_certain_and_small_ones_alike():
    assert probabilities(np.full(12, 0.2))[0] > 0.999
    assert probabilities(np.full(12, -0.2))[2] > 0.999
    assert probabilities(np.full(12, 0.009))[1] == pytest.approx(1)
    assert probabilities(np.full(12, 0.01))[1] == pytest.approx(1)


def test_one_data_set_by_hand():
    # Weight w of the one data set is Beta(1, 1/2). Pairs of it with itself and with the prior's
    # zero lie above: 1 - (1 - w)^2 > 1/2, or w > 1 - sqrt(1/2), of probability (1/2)^(1/4).
    better, _, worse = probabilities(np.array([0.5]), n_draws=200_000)
    assert better == pytest.approx(0.5**0.25, abs=0.005)
    assert worse == 0


TABLE = pd.DataFrame(
    {
        "NonLinCFA auto": [0.9, 0.8, 0.7],
        "lasso": [0.8, 0.9, 0.705],
        "LDA": [np.nan, 0.95, np.nan],
    },
    index=pd.MultiIndex.from_product([["a", "b", "c"], [0]], names=["dataset", "trial"]),
)


def test_ranks_are_among_those_that_ran_on_all_data_sets():
    ranked = ranks(TABLE, "NonLinCFA auto")
    assert np.isnan(ranked.loc["LDA", "rank"])
    assert ranked.loc["NonLinCFA auto", "rank"] == pytest.approx((1 + 2 + 2) / 3)
    assert ranked.loc["lasso", "rank"] == pytest.approx((2 + 1 + 1) / 3)
    assert ranked["datasets"].to_dict() == {"NonLinCFA auto": 3, "lasso": 3, "LDA": 1}


def test_only_one_of_ours_takes_part_in_a_rank():
    table = TABLE.assign(**{"NonLinCFA best": TABLE["NonLinCFA auto"] - 0.001})
    ranked, before = (ranks(t, "NonLinCFA auto")["rank"] for t in (table, TABLE))
    assert ranked["lasso"] == before["lasso"]
    assert ranked["NonLinCFA best"] == before["NonLinCFA auto"]


def test_methods_are_compared_on_common_data_sets():
    compared = against_each(TABLE, "NonLinCFA auto").set_index("method")
    assert compared.loc["LDA", "datasets"] == 1
    assert compared.loc["lasso", "datasets"] == 3
    assert compared.loc["LDA", "difference"] == pytest.approx(-0.15)


def test_methods_are_compared_on_common_trials():
    index = pd.MultiIndex.from_product([["a"], range(3)], names=["dataset", "trial"])
    table = pd.DataFrame({"long": [0.5, 0.6, 0.1], "short": [0.4, 0.7, np.nan]}, index=index)
    (compared,) = against_each(table, "long").to_dict("records")
    assert compared["difference"] == pytest.approx(0)


def test_losses_are_more_than_a_hundredth():
    lost = losses(TABLE, ["NonLinCFA auto"])
    assert lost[["dataset", "peer"]].to_numpy().tolist() == [["b", "LDA"]]
    assert lost["lost"].iloc[0] == pytest.approx(0.15)
    assert losses(TABLE.iloc[:0], ["NonLinCFA auto"]).empty


def test_scores_are_means_of_honest_trials_of_the_plan():
    rows = [
        ("beyond", "honest", 0, 0.8),
        ("beyond", "honest", 1, 0.9),
        ("beyond", "honest", 2, np.nan),
        ("beyond", "paper", 0, 0.1),
        ("table-finance", "honest", 0, 0.1),
    ]
    results = pd.DataFrame(rows, columns=["plan", "protocol", "trial", "score"])
    results = results.assign(dataset="a", method="lasso", inputs="x", aggregation="", tolerance="")
    others = ["n_groups", "seconds", "n_measured", "stability", "agreement"]
    table = scores(results.assign(**dict.fromkeys(others, "")))
    assert by_data_set(table).loc["a", "lasso"] == pytest.approx(0.85)


def test_means_below_zero_count_as_zero():
    rows = [
        {
            "plan": "beyond",
            "protocol": "honest",
            "dataset": "a",
            "method": m,
            "trial": t,
            "score": s,
        }
        for m, both in (("first", (-300.0, 0.5)), ("second", (-0.2, 0.4)))
        for t, s in enumerate(both)
    ]
    results = pd.DataFrame([dict.fromkeys(COLUMNS, "") | row for row in rows])
    table = by_data_set(scores(results))
    assert table.loc["a", "first"] == 0
    assert table.loc["a", "second"] == pytest.approx(0.1)
