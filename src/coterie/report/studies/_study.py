"""A study: split, fit, score with other methods, and summarise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie._core.values import IntArray
from coterie._data.preparation import TablePreparer
from coterie._data.progress import Tell
from coterie._model_selection.resampling import Stability, stability
from coterie._model_selection.tuning import TolerancePath, metric_of, plain_model, tolerance_path
from coterie.estimators import GenLinCFA, NonLinCFA, pricing_of
from coterie.report.inspection import ALL_COLUMNS, Score, Summary, summarise
from coterie.report.studies._baselines import PCA
from coterie.report.studies._compare import COTERIE
from coterie.report.studies._scores import (
    fit_copy,
    ignore_sklearn_warnings,
    score_reducer,
    score_transformers,
)
from coterie.report.studies._splits import Samples, make_folds, train_test_rows
from coterie.report.studies._tasks import (
    TaskName,
    needs_text_classes,
    reducer_in_time,
    resolve_task,
)

# Called with the name of the step, the number done and the total.
ProgressCallback = Callable[[str, int, int], None]
# With fewer rows per fold, R2 or the noise cannot be estimated.
MIN_FOLD_ROWS = 4
# For larger tables, the path has fewer tolerances and folds.
MANY_FEATURES, MANY_NUMBERS = 1_000, 300_000


@dataclass(frozen=True)
class Study:
    """A fitted reducer and its summary.

    Parameters
    ----------
    reducer : reducer
        Fitted to the training rows.
    summary : Summary
    preparer : TablePreparer or None
        What made numbers of a frame with text, categories or dates; new rows need it, too.
    """

    reducer: Any
    summary: Summary
    preparer: TablePreparer | None = None


def study(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    task: TaskName | None = None,
    test_share: float = 0.25,
    by_time: bool = False,
    test_last: bool = False,
    sample_weight: Any = None,
    path: bool = True,
    n_resamples: int = 0,
    random_state: int = 0,
    positions: Any = None,
    coordinates: Any = None,
    title: str = "",
    targets: Sequence[str] = ("target",),
    notes: Sequence[str] = (),
    progress: ProgressCallback | None = None,
) -> Study:
    """Split, fit, score on held-out rows together with all columns and PCA, and summarise.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Columns of text, categories and dates are prepared by :class:`coterie.TablePreparer`.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    estimator : reducer or None, default=None
        None: :class:`coterie.Coterie` for the task.
    task : {"regression", "classes", "counts"} or None, default=None
        None: the task of the estimator; without an estimator, inferred from the values of y. For a
        reducer without a family, numeric classes are converted to text.
    test_share : float, default=0.25
        Share of the rows to hold out. With 0, all rows are training rows and there are no scores.
    by_time : bool, default=False
        Whether rows are in time order: the last rows are held out, and on the path too training
        rows come before test rows.
    test_last : bool, default=False
        Whether to hold out the last rows instead of a random choice, as in some published splits,
        without treating rows as a time series.
    sample_weight : array-like of shape (n_samples,), optional
        For the reducer, the models and the scores. PCA and the imputation of missing values for
        it ignore weights.
    path : bool, default=True
        Whether to compute the tolerance path. Reducers without a tolerance have none, those with
        "CV" in their name have their own, and with very few rows it is left out.
    n_resamples : int, default=0
        Number of random halves of the training rows on which the fit is repeated; 0 for none.
    random_state : int, default=0
    positions, coordinates, title, targets, notes
        As in `summarise`.
    progress : callable or None, default=None
        Called with the name of the step, the number done and the total.

    Returns
    -------
    Study
        ``reducer``, fitted to the training rows, and ``summary``.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> study = coterie.report.study(X, y)
    >>> [(score.name, score.n_columns) for score in study.summary.scores]
    [('coterie', 3.0), ('all columns', 12.0), ('PCA', 3.0)]
    """
    report = progress or _no_progress
    rows, preparer = Samples.from_any_table(X, y, sample_weight, estimator)
    task, reducer = resolve_task(task, rows.y, estimator)
    reducer = reducer_in_time(reducer, by_time=by_time)
    rows = rows.with_text_classes() if needs_text_classes(task, reducer) else rows
    rows = rows.with_float_target() if task == "regression" else rows
    train, test = _split_rows(rows, test_share, task, by_time or test_last, random_state)
    report("fit", 0, 1)
    fitted = fit_copy(reducer, train)
    report("fit", 1, 1)
    splitting = {"classes": task == "classes", "by_time": by_time, "seed": random_state}
    scores = _score_fit(fitted, reducer, train, test, report) if test else []
    tolerances = _compute_path(reducer, train, splitting, partial(report, "path")) if path else None
    stability_of_groups = _measure_stability(
        reducer, train, n_resamples, random_state, partial(report, "stability")
    )
    with ignore_sklearn_warnings():
        summary = summarise(
            fitted,
            train.X,
            train.y,
            sample_weight=train.weights,
            scores=scores,
            metric=metric_of(plain_model(reducer, train.X, train.y)),
            path=tolerances,
            stability=stability_of_groups,
            positions=positions,
            coordinates=coordinates,
            title=title,
            task=task,
            targets=targets,
            n_test_rows=len(test) if test else None,
            notes=[
                *notes,
                *([] if preparer is None else preparer.notes()),
                *_split_note(test, by_time or test_last, random_state),
                *_majority_note(test if task == "classes" else None),
            ],
        )
    return Study(fitted, summary, preparer)


def _measure_stability(
    reducer: Any, train: Samples, n_resamples: int, seed: int, tell: Tell
) -> Stability | None:
    """The stability of the groups under resampling, or None if not requested."""
    if n_resamples == 0:
        return None
    return stability(
        train.X,
        train.y,
        estimator=reducer,
        n_resamples=n_resamples,
        sample_weight=train.weights,
        random_state=seed,
        progress=tell,
    )


def _split_note(test: Samples | None, last: bool, seed: int) -> list[str]:
    """A note on how rows were held out."""
    if test is None:
        return []
    if last:
        return ["The held-out rows are the last ones."]
    drawn = f"The held-out rows were drawn at random (seed {seed})"
    return [f"{drawn}. If rows are in time order, neighbouring rows are in both parts."]


def _majority_note(test: Samples | None) -> list[str]:
    """A note on the accuracy of always predicting the largest class."""
    if test is None or test.y.ndim > 1:
        return []
    shares = np.unique(test.y, return_counts=True)[1] / len(test)
    return [f"Always predicting the largest class would have an accuracy of {shares.max():.3f}."]


def _no_progress(what: str, done: int, total: int) -> None:
    """Report no progress."""


def _split_rows(
    rows: Samples, share: float, task: TaskName, last: bool, seed: int
) -> tuple[Samples, Samples | None]:
    """Training rows, and held-out rows if there are any."""
    if not isinstance(share, Real) or not 0 <= share < 1:
        raise ValueError(f"test_share must be 0 or more and less than 1, got {share!r}.")
    if share == 0:
        return rows, None
    train, test = train_test_rows(rows.y, share, classes=task == "classes", last=last, seed=seed)
    if len(test) < 2 or len(train) < 2:
        raise ValueError(
            f"test_share={share!r} of {len(rows)} rows leaves {len(train)} training rows and "
            f"{len(test)} test rows; both need 2 or more. Pass more rows, or test_share=0."
        )
    return rows.take(train), rows.take(test)


def _score_fit(
    fitted: Any, reducer: Any, train: Samples, test: Samples, report: ProgressCallback
) -> list[Score]:
    """Scores of the fit, of all columns, and of PCA with as many columns as groups."""
    n_features = train.X.shape[1]
    size = min(fitted.n_groups_, n_features, len(train) - 1)
    methods = {
        COTERIE: (fitted.n_groups_, partial(score_reducer, fitted)),
        ALL_COLUMNS: (n_features, partial(score_transformers, [], reducer)),
        PCA.name: (size, partial(score_transformers, PCA.steps(size), reducer)),
    }
    scores = []
    for done, (name, (n_columns, scored)) in enumerate(methods.items()):
        report("scores", done, len(methods))
        value = scored(train, test)
        scores.append(Score(name, float(n_columns), value.score, note=value.note))
    report("scores", len(methods), len(methods))
    return scores


def _compute_path(
    reducer: Any, train: Samples, splitting: dict[str, Any], tell: Tell
) -> TolerancePath | None:
    """The tolerance path, or None for reducers without a tolerance."""
    if not isinstance(reducer, NonLinCFA | GenLinCFA) or reducer.n_groups is not None:
        return None
    n_rows, n_features = train.X.shape
    is_large = n_features > MANY_FEATURES or n_rows * n_features > MANY_NUMBERS
    splits = _path_folds(reducer, train, 3 if is_large else 5, splitting)
    if splits is None:
        return None
    with ignore_sklearn_warnings():
        return tolerance_path(
            train.X,
            train.y,
            estimator=reducer,
            n_tolerances=12 if is_large else 30,
            cv=splits,
            sample_weight=train.weights,
            progress=tell,
        )


def _path_folds(
    reducer: Any, train: Samples, most: int, splitting: dict[str, Any]
) -> list[tuple[IntArray, IntArray]] | None:
    """Folds with enough training rows, at most `most`; None if 2 folds are too many."""
    min_rows = _min_training_rows(reducer)
    for n_folds in range(min(most, len(train) // MIN_FOLD_ROWS), 1, -1):
        splits = make_folds(train.y, n_folds, **splitting)
        if min(len(rows) for rows, _ in splits) >= min_rows:
            return splits
    return None


def _min_training_rows(reducer: Any) -> int:
    """Number of rows that a reducer with a numeric tolerance needs."""
    cv = pricing_of(clone(reducer).set_params(tolerance=0.0)).cv
    # R2 needs two rows in one of the inner folds.
    return int(cv) + 1 if isinstance(cv, Integral) else 1
