"""Compare a reducer with other methods on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from coterie._data.progress import Tell, followed
from coterie._model_selection.tuning import family_word, plain_model
from coterie.report.inspection import Difference, Score
from coterie.report.studies._baselines import BASELINES, Baseline
from coterie.report.studies._dates import times_for
from coterie.report.studies._frames import score_line, scores_frame, scores_html
from coterie.report.studies._metrics import metric_name
from coterie.report.studies._scores import (
    HeldOutScore,
    as_score,
    fit_on_split,
    has_lasso,
    lasso_model,
    name_with_inputs,
    score_guess,
    score_reducer,
    score_transformers,
    with_inputs,
)
from coterie.report.studies._splits import Samples, check_groups, make_folds, repeated_folds
from coterie.report.studies._tasks import (
    TaskName,
    needs_text_classes,
    resolve_task,
    with_own_folds,
)
from coterie.report.studies._verdict import COTERIE, LASSO, MEAN, RIDGE, SHARES, difference

# Numbers of columns that a baseline can choose from.
BASELINE_SIZES = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
# Folds of the training rows for that choice.
INNER_FOLDS = 3


@dataclass(frozen=True, repr=False)
class Comparison:
    """Scores of several methods on held-out rows.

    Parameters
    ----------
    task, metric : str
        What y was taken to be, and the name of the score.
    scores : list of Score
        Means over the folds: coterie first, then the others from high to low.
    fold_scores : dict of lists of float
        The score of each method on each fold, by name.
    test_ratio : float
        Number of test rows for each training row.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> comparison = coterie.report.compare(X, y)
    >>> comparison.metric, comparison.scores[0].name, comparison.scores[0].n_columns
    ('R2', 'coterie', 3.0)
    """

    task: str
    metric: str
    scores: list[Score]
    fold_scores: dict[str, list[float]]
    test_ratio: float

    def beside(self, name: str) -> Difference:
        """Mean difference between the scores of coterie and `name`, with its 95 % interval.

        The interval is that of the corrected resampled t-test (Nadeau and Bengio 2003).
        """
        ours, theirs = ({self.metric: self.fold_scores[one]} for one in (COTERIE, name))
        return difference(self.metric, ours, name, theirs, self.test_ratio)

    def to_frame(self) -> Any:
        """The scores of all methods as a pandas data frame."""
        return scores_frame(self.scores, self.metric, self._differences)

    def __repr__(self) -> str:
        lines = [score_line(one, self._differences) for one in self.scores]
        return "\n".join([f"{self.metric} on held-out folds:", *lines])

    def _repr_html_(self) -> str:
        headline = f"{self.metric} on held-out folds:"
        return scores_html(headline, self.scores, differences=self._differences)

    @property
    def _differences(self) -> list[Difference]:
        return [self.beside(one.name) for one in self.scores[1:]]


def compare(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    task: TaskName | None = None,
    cv: int = 5,
    by_time: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
    random_state: int = 0,
    progress: bool | Tell = False,
) -> Comparison:
    """Compare a reducer with ridge, lasso, PCA, PLS, FeatureAgglomeration and SelectKBest.

    Each method is fitted to the training rows of a fold and scored on the test rows, with the same
    linear model on its columns: a ridge, logistic or Poisson regression whose penalty the training
    rows choose. Where the reducer clips or ranks the columns, the other methods get them so, too.
    Classes are scored by ROC AUC. The other methods choose their number of columns by
    cross-validation on three folds of the training rows; the reducer is used as given.

    Parameters
    ----------
    X : array-like, data frame or xarray field of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Target.
    estimator : reducer or None, default=None
        None: :class:`coterie.Coterie` for the task.
    task : {"regression", "classes", "counts"} or None, default=None
        None infers it from the values of y.
    cv : int, default=5
        Number of folds.
    by_time : bool, array-like of shape (n_samples,) or None, default=None
        Whether rows are in time order, or the time of each row, as in :func:`study`.
    sample_weight : array-like of shape (n_samples,), optional
        For the reducer, the models and the scores. The transformers of the other methods ignore
        weights.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that belong together: no group is in two folds.
    offset, exposure : array-like of shape (n_samples,), optional
        For counts: a known part of the linear predictor, or the exposure, of which it is the log.
    random_state : int, default=0
        Random seed of the folds.
    progress : bool or callable, default=False
        Whether to show a progress bar. A function is called with the number of fits done and the
        total.

    Returns
    -------
    Comparison
        ``scores`` with ``name``, ``n_columns``, ``score`` and ``std_error``; ``fold_scores``.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(200, 12, 3, noise=3.0, random_state=0)
    >>> result = coterie.report.compare(X, y)
    >>> result.metric, [score.name for score in result.scores][0]
    ('R2', 'coterie')
    """
    found = times_for(X, y, by_time, is_asked=groups is not None)
    by_time = found is not None or by_time is True
    rows, _ = Samples.from_any_table(
        X, y, estimator, sample_weight, groups, offset=offset, exposure=exposure
    )
    if rows.y.ndim > 1:
        raise ValueError("y must have one target: call compare for each target.")
    task, reducer = resolve_task(task, rows.y, estimator)
    reducer = with_own_folds(reducer, rows.groups, by_time=by_time)
    rows = rows.with_text_classes() if needs_text_classes(task, reducer) else rows
    rows = rows.with_float_target() if task == "regression" else rows
    rows = rows if found is None else rows.in_time(found.times)
    baselines = [baseline for baseline in BASELINES if task in baseline.tasks]
    _check_folds(cv, len(rows))
    splitting: dict[str, Any] = {
        "classes": task == "classes",
        "by_time": by_time,
        "seed": random_state,
    }
    check_groups(rows, cv, by_time)
    splits = repeated_folds(rows, cv, 1, **splitting)
    steps = _score_methods(rows, splits.rows, reducer, baselines, splitting)
    n_methods = 3 + has_lasso(family_word(reducer, rows.y), rows.y) + len(baselines)
    given = list(followed(progress, len(splits.rows) * n_methods, "fits")(steps))
    kinds = {kind for *_, kind in given}
    results = [(name_with_inputs(name, kinds), *each) for name, *each, _ in given]
    metric = metric_name(family_word(reducer, rows.y))
    return _build_comparison(task, metric, results, splits.test_ratio)


def _check_folds(cv: Any, n_rows: int) -> None:
    if not isinstance(cv, Integral) or isinstance(cv, bool):
        raise TypeError(f"cv must be a number of folds, got {cv!r}.")
    if not 2 <= int(cv) <= n_rows // 2:
        raise ValueError(
            f"cv must be from 2 to {n_rows // 2}, so that each fold of {n_rows} rows has 2 or "
            f"more, got {cv}."
        )


def _score_methods(
    rows: Samples, splits: Any, reducer: Any, baselines: Sequence[Baseline], splitting: Any
) -> Iterator[tuple[str, int, HeldOutScore, str]]:
    """Name, number of columns, score and inputs of each method on each fold."""
    for learned, tested in splits:
        train, test = rows.take(learned), rows.take(tested)
        fitted = fit_on_split(reducer, train)
        kind = getattr(fitted, "inputs_", "raw")
        yield COTERIE, fitted.n_groups_, score_reducer(fitted, train, test), kind
        train, test = with_inputs(fitted, train, test)
        for each in _rivals(reducer, train, test, baselines, splitting, rows.y):
            yield *each, kind


def _rivals(
    reducer: Any,
    train: Samples,
    test: Samples,
    baselines: Sequence[Baseline],
    splitting: Any,
    y: Any,
) -> Iterator[tuple[str, int, HeldOutScore]]:
    """Name, number of columns and score of each other method on one fold."""
    n_features, word = train.table.shape[1], family_word(reducer, train.y)
    yield RIDGE, n_features, score_transformers([], reducer, train, test)
    if has_lasso(word, y):
        lasso = score_transformers([], reducer, train, test, lasso_model)
        yield LASSO, n_features, lasso
    yield SHARES if word == "bernoulli" else MEAN, 0, score_guess(reducer, train, test)
    for baseline in baselines:
        size = _best_size(baseline, reducer, train, splitting)
        score = score_transformers(baseline.steps(size), reducer, train, test)
        yield baseline.name, size, score


def _best_size(baseline: Baseline, reducer: Any, train: Samples, splitting: Any) -> int:
    """The number of columns with the best mean score on folds of the training rows."""
    splits = make_folds(train, INNER_FOLDS, **splitting)
    most = min(train.table.shape[1], min(len(rows) for rows, _ in splits) - 1)
    sizes = [size for size in BASELINE_SIZES if size <= most] or [1]
    parts = [(train.take(rows), train.take(others)) for rows, others in splits]
    # The penalty is chosen for the best number only: here it would take most of the time.
    means = [
        np.mean(
            [
                score_transformers(baseline.steps(size), reducer, *part, plain_model).score
                for part in parts
            ]
        )
        for size in sizes
    ]
    # An undefined score, such as R2 of one row, counts as the worst.
    return sizes[int(np.argmax(np.nan_to_num(means, nan=-np.inf)))]


def _build_comparison(task: str, metric: str, results: list[Any], ratio: float) -> Comparison:
    found: dict[str, list[tuple[int, HeldOutScore]]] = {}
    for name, n_columns, score in results:
        found.setdefault(name, []).append((n_columns, score))
    ours, *others = (as_score(name, metric, each, ratio) for name, each in found.items())
    others.sort(key=lambda score: -score.score)
    by_fold = {name: [score.scores[metric] for _, score in each] for name, each in found.items()}
    return Comparison(task, metric, [ours, *others], by_fold, ratio)
