"""The page says what happened to the score, above all when it was not kept."""

from dataclasses import replace

import pytest
from report.inspection.summaries import scores, summary_of

from coterie.report.inspection import Score
from coterie.report.inspection._sentences import (
    no_score_sentence,
    result_sentence,
    score_change,
    scores_sentence,
)

NAN = float("nan")


def test_a_kept_score_is_said_to_be_kept():
    said = result_sentence(summary_of(scores=scores(0.868, 0.865)))
    assert said == "12 columns became 3; the score was kept."


def test_a_lost_score_is_said_plainly():
    said = result_sentence(summary_of(scores=scores(0.80, 0.85)))
    assert said == "12 columns became 3; the score fell by 0.050."


def test_a_loss_within_its_error_names_both():
    said = score_change(scores(0.83, 0.85, 0.03))
    assert said == "the score fell by 0.020"


def test_a_risen_score_is_said_to_have_risen():
    assert score_change(scores(0.9, 0.85)) == "the score rose by 0.050"


@pytest.mark.parametrize(
    "known", [[], [Score("coterie", 3, 0.9)], scores(NAN, 0.8), scores(0.8, NAN)]
)
def test_nothing_is_claimed_without_both_scores(known):
    assert result_sentence(summary_of(scores=known)) == "12 columns became 3."


def test_thousands_are_separated():
    assert result_sentence(summary_of(5000, 600)) == "5,000 columns became 600."


def test_one_column_stays_singular():
    assert result_sentence(summary_of(1, 1)) == "1 column stayed apart."


def test_the_sentence_of_scores_names_each():
    known = [*scores(0.868, 0.865), Score("PCA", 3, 0.8684)]
    assert scores_sentence(summary_of(scores=known)) == (
        "R\N{SUPERSCRIPT TWO} on 43 held-out rows: 0.868 with 3 columns, 0.865 with all 12, "
        "0.868 with PCA (3 columns)."
    )


def test_a_missing_score_is_no_sentence():
    summary = summary_of(scores=scores(NAN, 0.8))
    assert scores_sentence(summary) == ""
    assert "could not be computed" in no_score_sentence(summary)
    assert "no score" in no_score_sentence(summary_of())


def test_a_score_below_0_counts_as_0():
    known = [Score("coterie", 6, 0.434), Score("all columns", 3450, -1e6)]
    summary = replace(summary_of(8, 2), scores=known, metric="R2")
    assert "the score rose by 0.434" in result_sentence(summary)
    assert "below 0 with all 3,450" in scores_sentence(summary)
    both = [Score("coterie", 6, -0.2), Score("all columns", 3450, -3.0)]
    assert score_change(both) == ""


def test_accuracy_is_told_in_rows():
    known = [Score("coterie", 2, 0.8), Score("all columns", 9, 0.9)]
    summary = replace(summary_of(9, 2), scores=known, metric="accuracy", n_test_rows=10)
    assert result_sentence(summary).endswith("the score fell by 0.100, which is 1 row of 10.")
