"""The law of the oracle: every decision is the one that it makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hunt import oracle
from hunt.problems import Problem
from hunt.trials import SkippedError, Trial, assert_near, searches

# Who joins first among copies of one column, nobody can say.
NO_COPIES = {"special columns": ["nothing", "opposites", "constants"]}


def every_decision_is_that_of_the_oracle(trial: Trial) -> None:
    """Groups, signs, questions, answers, and the aggregates of old rows and new ones."""
    problem = trial.drawn()
    if problem.reducer.search == "best" or _takes_long(problem):
        problem = trial.drawn(**NO_COPIES, shape=["small"])
    with searches("numpy"):
        fitted = problem.fitted()
    expected = oracle.answer(problem, fitted)
    if expected.is_close:
        raise SkippedError("a question of the oracle")
    assert_as_expected(fitted, expected)
    new = problem.X[::-3] * 1.5 + 0.25
    # Constants have no principal direction, so what becomes of others than these is anything.
    has_direction = problem.reducer.aggregation != "principal" or not any(expected.constant)
    for rows in (problem.X, new) if has_direction else (problem.X,):
        made = fitted.transform(rows)
        np.testing.assert_allclose(made, expected.aggregates(rows), rtol=1e-8, atol=1e-8)
    with searches("compiled"):
        assert_as_expected(problem.fitted(), expected)


def _takes_long(problem: Problem) -> bool:
    """Whether the oracle would be busy with it for more than a second or two."""
    is_plain = problem.reducer.get_params().get("cv") is None and problem.y.ndim == 1
    return problem.drawn["shape"] == "wide" and not is_plain


def assert_as_expected(fitted: Any, expected: oracle.Answer) -> None:
    """A fit with the groups, the signs and the decisions of the oracle."""
    assert [group.tolist() for group in fitted.groups_] == expected.groups
    assert fitted.signs_.astype(int).tolist() == expected.signs
    trace, asked = fitted.trace_, expected.asked
    if fitted.search == "best":
        # Of refusals it keeps only those that ended a group.
        if fitted.get_params().get("n_groups") is None:
            assert_as_refused(fitted, expected)
        trace, asked = trace[trace.accepted], [one for one in asked if one.accepted]
    assert len(trace) == len(asked), (len(trace), len(asked))
    for told, one in zip(trace, asked):
        # Either of a pair that opens a group may have asked the other.
        assert one.opens or told.candidate == one.candidate, one
        assert told.accepted == one.accepted, one
        assert told.group == fitted.labels_[one.members[0]], one
    assert_near(trace.price, [one.price for one in asked], "trace_.price")
    if fitted.get_params().get("n_groups") is None:
        assert_near(trace.allowance, [one.allowance for one in asked], "trace_.allowance")


def assert_as_refused(fitted: Any, expected: oracle.Answer) -> None:
    """Refusals that ended a group, at the prices of the oracle."""
    for told in fitted.trace_[~fitted.trace_.accepted]:
        first = expected.groups[told.group][0]
        price, allowance = expected.refusal(first, int(told.candidate))
        assert_near(told.price, price, f"price of {told}")
        assert_near(told.allowance, allowance, f"allowance of {told}")
