"""What each group of a summary contributes to the score, where that does not take long."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from coterie._data.progress import Tell
from coterie._model_selection.tuning import family_word
from coterie.report.inspection import Group, Summary
from coterie.report.studies._importance import GroupImportance, importance_on
from coterie.report.studies._metrics import R2, metric_name
from coterie.report.studies._splits import Samples, Splits

# At most this many multiplications in all models: about two seconds.
MAX_PRODUCTS = 2.5e9
# A model takes as long as this many multiplications besides its own.
PRODUCTS_OF_A_FIT = 6e6
# Logistic and Poisson regressions take this many steps, and to choose their penalty this many fits.
GLM_STEPS, GLM_FITS = 5, 20
# For larger tables it may take so many times longer, on so many splits: an interval needs some.
PATIENCE, MIN_SPLITS = 12, 3


def with_contributions(
    summary: Summary, fitted: Any, rows: Samples, splits: Splits, tell: Tell
) -> Summary:
    """The summary with the contribution of each group, or a note that it would take too long."""
    n_splits = _affordable_splits(summary.n_columns, rows, family_word(fitted, rows.y), splits)
    if n_splits == 0:
        return replace(summary, notes=[*summary.notes, _too_many(summary)])
    found = importance_on(fitted, rows, splits._replace(rows=splits.rows[:n_splits]), tell)
    tell(n_splits, n_splits)
    if n_splits < len(splits.rows):
        summary = replace(summary, notes=[*summary.notes, _fewer(n_splits, splits)])
    groups = [
        _with_contribution(group, found, number)
        for number, group in enumerate(summary.groups[: summary.n_columns])
    ]
    return replace(summary, groups=groups + summary.groups[summary.n_columns :])


def _affordable_splits(n_groups: int, rows: Samples, word: str, splits: Splits) -> int:
    """On how many splits all groups can be left out in about two seconds.

    For larger tables on three, if that takes half a minute at most, and else on none.
    """
    steps, n_choices = (1, 1) if metric_name(word) == R2 else (GLM_STEPS, GLM_FITS)
    of_a_fit = PRODUCTS_OF_A_FIT + steps * len(rows) * n_groups**2
    of_a_split = (n_groups + n_choices) * of_a_fit
    least = min(MIN_SPLITS, len(splits.rows))
    if least * of_a_split > PATIENCE * MAX_PRODUCTS:
        return 0
    return max(least, min(int(MAX_PRODUCTS / of_a_split), len(splits.rows)))


def _with_contribution(group: Group, found: GroupImportance, number: int) -> Group:
    contribution, error = float(found.contributions[number]), float(found.errors[number])
    return replace(
        group,
        contribution=None if math.isnan(contribution) else contribution,
        contribution_error=None if math.isnan(error) else error,
    )


def _fewer(n_splits: int, splits: Splits) -> str:
    return (
        f"What each group contributes was measured on {n_splits} of the {len(splits.rows)} splits, "
        "so its intervals are wide."
    )


def _too_many(summary: Summary) -> str:
    return (
        f"What each of {summary.n_columns:,} groups contributes to the score was not computed, "
        "since it takes long: coterie.group_importance does."
    )
