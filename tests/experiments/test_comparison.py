"""Verdicts by hand-made numbers, green and red."""

import numpy as np
import pandas as pd
import pytest

from experiments import comparison
from experiments.checks import problems
from experiments.comparison import (
    compare,
    interval,
    published,
    same_in_print,
    tolerance_text,
    verdict,
)
from experiments.results import COLUMNS
from experiments.trials import STORED, compare_trials, curve_verdicts, stored

if not STORED.exists():
    pytest.skip("released archives go without the authors' results", allow_module_level=True)


def frame(*rows):
    """A result file with the given values and nothing else."""
    return pd.DataFrame([dict.fromkeys(COLUMNS, "") | row for row in rows], columns=COLUMNS)


def ten_trials(n_groups, scores, **setting):
    shared = {"dataset": "lin-100-reg", "method": "NonLinCFA", "inputs": "x", "aggregation": "mean"}
    shared |= {"tolerance": "0.001", "protocol": "paper"} | setting
    trials = enumerate(zip(np.broadcast_to(n_groups, len(scores)), scores, strict=True))
    return [shared | {"trial": t, "n_groups": d, "score": s} for t, (d, s) in trials]


def found(results, quantity="score", **where):
    rows = compare(results)
    for key, value in (where | {"quantity": quantity}).items():
        rows = rows[rows[key] == value]
    return rows.iloc[0]


THIS = {"dataset": "lin-100-reg", "method": "NonLinCFA", "tolerance": "0.001"}


@pytest.mark.parametrize(
    ("ours", "printed", "same"),
    [
        (0.86644, "0.8664", True),
        (0.86636, "0.8664", True),  # rounded up
        (0.86649, "0.8664", True),  # cut
        (0.8665, "0.8664", True),  # cut, a hair below in binary
        (0.86652, "0.8664", False),
        (0.86634, "0.8664", False),
        (-1.28619, "-1.2861", True),  # cut towards zero
        (-1.28604, "-1.2861", False),
        (39.0, "39", True),  # a mean with one digit
        (39.4, "39", False),
        (8.0, "8.0", True),
        (8.2, "8.0", False),
    ],
)
def test_printed_digits_may_be_rounded_or_cut(ours, printed, same):
    assert same_in_print(ours, printed) is same


@pytest.mark.parametrize(
    ("printed", "ours", "how", "expected"),
    [
        ("0.8928", 0.89281, {"accuracy": True}, "equal"),
        ("0.8928", 0.8938, {"accuracy": True}, "within a row"),
        ("0.8928", 0.8939, {"accuracy": True}, "different"),
        ("0.8928", 0.8938, {}, "different"),
        ("0.7457", 0.74358, {"corrected": "0.7436"}, "erratum"),
        ("0.7457", 0.74571, {"corrected": "0.7436"}, "equal"),
        ("0.7457", 0.7441, {"corrected": "0.7436"}, "different"),
    ],
)
def test_verdicts(printed, ours, how, expected):
    assert verdict(printed, ours, **how) == expected


def test_intervals_divide_by_n():
    values = pd.Series([1.0, 2.0, 3.0, 4.0])
    assert interval(values) == pytest.approx(1.96 * np.sqrt(1.25) / 2)
    assert interval(pd.Series([3.0] * 5)) == 0.0


def test_tolerances_have_one_spelling():
    assert [tolerance_text(t) for t in (0.001, "1e-3", "0.0010", "auto", "", np.nan)] == [
        *["0.001"] * 3,
        "auto",
        "",
        "",
    ]


def test_a_mean_as_printed_is_green_and_another_is_red():
    groups = [7, 7, 5, 8, 10, 8, 9, 8, 9, 9]  # mean 8.0
    right = frame(*ten_trials(groups, [0.8664] * 10))
    wrong = frame(*ten_trials(groups, [0.8674] * 10))
    assert found(right, **THIS)["verdict"] == "equal"
    assert found(right, "n_groups", **THIS)["verdict"] == "equal"
    red = found(wrong, **THIS)
    assert red["verdict"] == "different"
    assert red["difference"] == pytest.approx(0.001)
    assert any("score is 0.8674, the paper has 0.8664" in line for line in problems(wrong))


def test_a_mean_of_too_few_trials_is_not_compared():
    row = found(frame(*ten_trials(8, [0.5] * 3)), **THIS)
    assert row["verdict"] == "not run"
    assert "10 trials, here 3" in row["reason"]


def test_a_wrong_interval_is_red_although_the_mean_is_right():
    groups = [8] * 10  # the paper has ± 0.88
    row = found(frame(*ten_trials(groups, [0.8664] * 10)), "n_groups", **THIS)
    assert (row["verdict"], row["interval_verdict"]) == ("equal", "different")


def test_a_corrected_tolerance_is_an_erratum_and_needs_the_true_one():
    setting = {"dataset": "quad-1000-cls", "method": "GenLinCFA", "inputs": "x**2"}
    where = setting | {"tolerance": "0.85"}
    at_083 = frame(*ten_trials(1.6, [0.7152] * 10, **setting | {"tolerance": "0.83"}))
    assert found(at_083, **where)["verdict"] == "erratum"
    other = frame(*ten_trials(1.6, [0.75] * 10, **setting | {"tolerance": "0.83"}))
    assert found(other, **where)["verdict"] == "different"


def test_what_cannot_be_compared_says_why():
    setting = {"dataset": "parkinson_speech_subjects", "method": "GenLinCFA", "tolerance": "0.1"}
    row = found(frame(*ten_trials(20, [0.75] * 5, **setting)), **setting | {"tolerance": "e2"})
    assert row["verdict"] == "not comparable"
    assert "one row per subject" in row["reason"]
    assert "ours at 0.1" in row["reason"]


@pytest.mark.parametrize(
    ("scores", "expected", "of_interval"),
    [
        ([0.70, 0.75], "within draws", "outside draws"),
        ([0.70, 0.71], "outside draws", "outside draws"),
        ([0.74126, 0.74126], "within draws", "outside draws"),  # printed 0.7413, rounded
    ],
)
def test_what_is_printed_lies_among_the_draws_of_rows_or_does_not(scores, expected, of_interval):
    setting = {"dataset": "bankruptcy_polish_1year", "method": "PCA"}
    each = np.repeat([*scores, *scores, scores[0]], 5)
    runs = ten_trials(5, each, **setting | {"method": "PCA, resampled"}, aggregation="")
    row = found(frame(*runs), **setting)
    assert (row["verdict"], row["interval_verdict"]) == (expected, of_interval)
    assert f"5 draws: {min(scores):.4f} to {max(scores):.4f}" in row["reason"]
    few = found(frame(*runs[:5]), **setting)
    assert (few["verdict"], few["trials"]) == ("not run", 5)


def test_of_two_kinds_of_a_baseline_the_better_stands_beside_it():
    shared = {"dataset": "finance_fundamentals", "aggregation": "", "tolerance": ""}
    rows = ten_trials(9, [0.70] * 5, **shared, method="supervised PCA (Bair), resampled")
    rows += ten_trials(9, [0.77] * 5, **shared, method="supervised PCA (Barshan), resampled")
    rows += ten_trials(9, [0.80] * 5, **shared, method="supervised PCA (Barshan)")
    row = found(frame(*rows), dataset="finance_fundamentals", method="supervised PCA")
    assert row["ours"] == pytest.approx(0.77)
    assert "Barshan" in row["reason"]


def test_climate_is_not_run_for_the_reason_the_results_give():
    assert found(frame(), dataset="climate", method="PCA")["reason"] == comparison.UNAVAILABLE
    skipped = {"dataset": "climate", "method": "PCA", "note": "no file"}
    assert found(frame(skipped), dataset="climate", method="PCA")["reason"] == "no file"


def test_every_number_of_the_paper_has_one_verdict():
    compared = compare(frame())
    assert len(compared) == 2 * (published()["score"] != "").sum()
    assert set(compared["verdict"]) == {"not run"}


def test_nothing_compared_is_a_problem():
    assert len(problems(frame())) == 1


def as_stored(**where):
    rows = stored()
    rows = rows[rows["trial"].notna()]
    for key, value in where.items():
        rows = rows[rows[key] == value]
    return rows.assign(protocol="paper").to_dict("records")


def test_single_trials_are_compared_with_the_stored_ones():
    rows = as_stored(dataset="lin-100-reg", method="LinCFA", trial=0)
    assert problems(frame(*rows)) == []
    rows[0]["n_groups"] += 1
    assert "trial 0: 41 groups" in problems(frame(*rows))[0]
    rows = as_stored(dataset="lin-100-cls", method="GenLinCFA", trial=1)
    rows[0]["score"] += 0.001
    rows[1]["score"] -= 0.002
    verdicts = compare_trials(frame(*rows))["verdict"].tolist()
    assert verdicts == ["within a row", "different", *["equal"] * 3]


@pytest.mark.parametrize(
    ("dataset", "at", "by", "expected"),
    [
        ("lin-100-reg", 1, 0.0, "equal"),
        ("lin-100-reg", 30, 0.001, "different"),
        ("lin-100-cls", 30, 0.002, "within two rows"),
        ("lin-100-cls", 30, 0.02, "parts"),
        ("lin-100-cls", 1, 0.02, "different"),
        ("lin-100-cls", 10, 0.2, "different"),
    ],
)
def test_curves_may_part_only_where_solvers_decide(dataset, at, by, expected):
    rows = as_stored(dataset=dataset, method="forward selection", trial=2)
    for row in rows:
        row["protocol"] = "sizes"
        row["score"] += by * (at <= row["n_groups"] < at + 10)
    curves = curve_verdicts(frame(*rows))
    assert curves["verdict"].tolist() == [expected]
    assert ("leaves the stored curve" in " ".join(problems(frame(*rows)))) == (
        expected == "different"
    )
