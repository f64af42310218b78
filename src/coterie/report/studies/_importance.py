"""What each group contributes to the score on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray, data_frame
from coterie._data.frames import frame_html, frame_text
from coterie._data.preparation import source_of
from coterie._data.progress import Tell
from coterie._model_selection.tuning import family_word, penalised_model, with_same_penalty
from coterie.report.inspection import check_fitted_reducer
from coterie.report.studies._dates import times_for
from coterie.report.studies._metrics import metric_name
from coterie.report.studies._scores import aggregates_of, model_on_columns, score_model
from coterie.report.studies._splits import Samples, Splits, check_groups, repeated_folds
from coterie.report.studies._verdict import mean_with_error


@dataclass(frozen=True, eq=False, repr=False)
class GroupImportance:
    """By how much the score on held-out rows falls if a group is left out.

    Parameters
    ----------
    names : list of str
        The groups, as in ``get_feature_names_out``.
    metric : str
    score : float
        Mean score with all groups.
    contributions, errors : ndarray of shape (n_groups,)
        Mean loss without the group, and half the width of its 95 % interval.
    """

    names: list[str]
    metric: str
    score: float
    contributions: FloatArray
    errors: FloatArray

    def __repr__(self) -> str:
        return frame_text(self._headline, self)

    def _repr_html_(self) -> str:
        return frame_html(self._headline, self)

    @property
    def _headline(self) -> str:
        return f"What {self.metric} loses without each of {len(self.names):,} groups"

    def to_frame(self) -> Any:
        """A pandas data frame with 95 % intervals, largest contribution first."""
        columns = {
            "group": self.names,
            "contribution": self.contributions,
            "interval_low": self.contributions - self.errors,
            "interval_high": self.contributions + self.errors,
        }
        return data_frame(columns).sort_values("contribution", ascending=False, ignore_index=True)


def group_importance(
    reducer: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    n_repeats: int = 3,
    by_time: Any = False,
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
    random_state: int = 0,
) -> GroupImportance:
    """Contribution of each group to the score on held-out rows, with an interval.

    A penalised linear model is fitted to the aggregates, and again without each of them, with the
    same penalty and on the same repeated splits. Groups that predict the same share it: each alone
    then contributes little. Levels of one column (0/1 columns such as ``city=Rome``) are left out
    together, since one of them follows from the others: they have the same contribution.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X, y : array-like
        As in :func:`coterie.report.study`, like the next.
    sample_weight, groups, offset, exposure : array-like or None, default=None
        What belongs to the rows.
    by_time : bool, default=False
        Whether rows are in time order.
    random_state : int, default=0
        Seed of the order of the rows.
    cv, n_repeats : int
        Number of folds, and how often they are made.

    Returns
    -------
    GroupImportance
        ``contributions`` and ``errors``, and ``to_frame()``.

    Notes
    -----
    The groups are those of the reducer on all splits. If it was fitted to the same rows, the score
    is too good; compare contributions with each other.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> reducer = coterie.Coterie().fit(X, y)
    >>> importance = coterie.group_importance(reducer, X, y)
    >>> importance.contributions.shape, bool((importance.contributions > 0).all())
    ((3,), True)
    """
    check_fitted_reducer(reducer)
    rows = Samples.from_arrays(X, y, sample_weight, groups, offset, exposure)
    word = family_word(reducer, rows.y)
    found = times_for(X, y, by_time, is_asked=True)
    rows = rows if found is None else rows.in_time(found.times)
    by_time = found is not None or by_time is True
    check_groups(rows, cv, by_time)
    splitting = {"classes": word == "bernoulli", "by_time": by_time, "seed": random_state}
    splits = repeated_folds(rows, cv, n_repeats, **splitting)
    return importance_on(reducer, rows, splits)


def importance_on(
    reducer: Any, rows: Samples, splits: Splits, tell: Tell | None = None
) -> GroupImportance:
    """Contribution of each group of a fitted reducer to the score on these splits."""
    aggregates = aggregates_of(reducer, rows)
    sets = sets_left_out(reducer, rows)
    scores = []
    for done, (train, test) in enumerate(splits.rows):
        if tell is not None:
            tell(done, len(splits.rows))
        scores.append(_scores_without(reducer, aggregates, sets, rows, train, test))
    lost = np.subtract([[score] for score, _ in scores], [without for _, without in scores])
    told = [mean_with_error(each, splits.test_ratio) for each in lost.T]
    return GroupImportance(
        [str(name) for name in reducer.get_feature_names_out()],
        metric_name(family_word(reducer, rows.y)),
        mean_with_error([score for score, _ in scores], splits.test_ratio)[0],
        np.array([mean for mean, _ in told]),
        np.array([np.nan if error is None else error for _, error in told]),
    )


def sets_left_out(reducer: Any, rows: Samples) -> list[tuple[int, ...]]:
    """For each group, the groups that are left out with it: those of levels of the same column."""
    n_groups = reducer.n_groups_
    names = reducer.fit_.features.names
    if names is None or len(names) != len(reducer.labels_):
        return [(one,) for one in range(n_groups)]
    sources: list[str | None] = []
    for members in reducer.groups_:
        told = {source_of(str(names[one])) for one in members}
        is_level = all("=" in str(names[one]) for one in members)
        flags = is_level and len(told) == 1 and _are_flags(rows, members)
        sources.append(told.pop() if flags else None)
    return [
        (one,)
        if sources[one] is None
        else tuple(other for other in range(n_groups) if sources[other] == sources[one])
        for one in range(n_groups)
    ]


def _are_flags(rows: Samples, members: Any) -> bool:
    """Whether columns hold nothing but 0 and 1."""
    table = rows.table
    columns = table.iloc[:, members] if hasattr(table, "iloc") else table[:, members]
    values = np.asarray(columns, dtype=np.float64)
    return bool(np.isin(values[np.isfinite(values)], (0.0, 1.0)).all())


def _scores_without(
    reducer: Any,
    aggregates: FloatArray,
    sets: list[tuple[int, ...]],
    rows: Samples,
    train: IntArray,
    test: IntArray,
) -> tuple[float, list[float]]:
    """The score with all aggregates, and without each set of them, on one split."""
    learned, tested = rows.take(train), rows.take(test)
    model = model_on_columns(reducer, penalised_model, aggregates[train], learned)

    def score(model: Any, columns: FloatArray) -> float:
        both = columns[train], columns[test]
        return next(iter(score_model(reducer, model, both, learned, tested).values()))

    # Choosing a penalty again for each would take most of the time, and change little.
    without: dict[tuple[int, ...], float] = {}
    for left_out in dict.fromkeys(sets):
        columns = _without(aggregates, left_out)
        smaller = model_on_columns(
            reducer, lambda *_: with_same_penalty(model), columns[train], learned
        )
        without[left_out] = score(smaller, columns)
    return score(model, aggregates), [without[left_out] for left_out in sets]


def _without(aggregates: FloatArray, left_out: tuple[int, ...]) -> FloatArray:
    """The aggregates without some, which become columns of zeros."""
    return np.where(np.isin(np.arange(aggregates.shape[1]), left_out), 0.0, aggregates)
