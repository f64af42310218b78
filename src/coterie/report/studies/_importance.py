"""What each group contributes to the score, and the member that stands for it best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._model_selection.tuning import family_word, penalised_model
from coterie.estimators import inputs_of
from coterie.report.inspection import StandardisedColumns, check_fitted_reducer
from coterie.report.studies._metrics import metric_name
from coterie.report.studies._scores import aggregates_of, score_columns
from coterie.report.studies._splits import Samples, check_groups, repeated_folds
from coterie.report.studies._verdict import mean_with_error


@dataclass(frozen=True, eq=False)
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

    def to_frame(self) -> Any:
        """A pandas data frame, largest contribution first."""
        from coterie.report.studies._frames import data_frame

        columns = {
            "group": self.names,
            "contribution": self.contributions,
            "error": self.errors,
        }
        return data_frame(columns).sort_values("contribution", ascending=False, ignore_index=True)


def group_importance(
    reducer: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    n_repeats: int = 3,
    by_time: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
    random_state: int = 0,
) -> GroupImportance:
    """Contribution of each group to the score on held-out rows, with an interval.

    A penalised linear model is fitted to the aggregates, and again without each of them, on the
    same repeated splits. Groups that predict the same share it: each alone then contributes little.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X, y, sample_weight, groups, offset, exposure, by_time, random_state
        As in :func:`coterie.report.study`.
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
    check_groups(rows, cv, by_time)
    splitting = {"classes": word == "bernoulli", "by_time": by_time, "seed": random_state}
    splits = repeated_folds(rows, cv, n_repeats, **splitting)  # type: ignore[arg-type]
    aggregates = aggregates_of(reducer, rows)
    n_groups = aggregates.shape[1]
    scores = np.array(
        [_scores_without(reducer, aggregates, rows, *rows_of) for rows_of in splits.rows]
    )
    lost = scores[:, :1] - scores[:, 1:]
    told = [mean_with_error(lost[:, one], splits.test_ratio) for one in range(n_groups)]
    return GroupImportance(
        [str(name) for name in reducer.get_feature_names_out()],
        metric_name(word),
        mean_with_error(scores[:, 0], splits.test_ratio)[0],
        np.array([mean for mean, _ in told]),
        np.array([np.nan if error is None else error for _, error in told]),
    )


def _scores_without(
    reducer: Any, aggregates: FloatArray, rows: Samples, train: IntArray, test: IntArray
) -> list[float]:
    """The score with all aggregates, and without each of them, on one split."""
    parts = rows.take(train), rows.take(test)
    n_groups = aggregates.shape[1]
    kept = [aggregates, *(_without(aggregates, one) for one in range(n_groups))]
    return [
        score_columns(reducer, penalised_model, one[train], one[test], *parts).score for one in kept
    ]


def _without(aggregates: FloatArray, one: int) -> FloatArray:
    """The aggregates without one, which becomes a column of zeros."""
    return np.where(np.arange(aggregates.shape[1]) == one, 0.0, aggregates)


def representatives(reducer: Any, X: Any) -> IntArray:
    """The member of each group that is most correlated with its aggregate.

    For those who want to measure fewer features: each stands for its group.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like, data frame or xarray field of shape (n_samples, n_features)
        Rows on which correlations are computed, such as the training rows.

    Returns
    -------
    ndarray of shape (n_groups,)
        Numbers of the features.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> reducer = coterie.Coterie().fit(X, y)
    >>> chosen = coterie.representatives(reducer, X)
    >>> X[:, chosen].shape
    (300, 3)
    """
    check_fitted_reducer(reducer)
    columns = inputs_of(reducer, X)
    aggregates = reducer.fit_.transform(columns)
    ours = StandardisedColumns.of(columns)
    theirs = StandardisedColumns.of(
        aggregates.toarray() if hasattr(aggregates, "toarray") else aggregates
    )
    return np.array(
        [
            members[np.argmax(np.abs(_correlations(ours, members, theirs, group)))]
            for group, members in enumerate(reducer.groups_)
        ]
    )


def _correlations(
    ours: StandardisedColumns, members: IntArray, theirs: StandardisedColumns, group: int
) -> FloatArray:
    """Correlations of some columns with one aggregate."""
    part = ours.columns[:, members]
    part = part.toarray() if hasattr(part, "toarray") else part
    own = (part - ours.mean[members]) / ours.spread[members]
    aggregate = (theirs.columns[:, group] - theirs.mean[group]) / theirs.spread[group]
    return np.asarray((ours.share * aggregate) @ own)
