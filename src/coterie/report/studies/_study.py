"""A study: fit, score on many splits beside other methods, recommend, and summarise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from coterie._core.values import TellStep, tell_nobody
from coterie._data.preparation import TablePreparer, giveaway_notes, source_of
from coterie._data.progress import Tell
from coterie._model_selection.resampling import Stability, stability
from coterie._model_selection.tuning import family_word
from coterie.estimators import Coterie, GenLinCFA, NonLinCFA
from coterie.report.inspection import (
    Difference,
    Score,
    StudyVerdict,
    Summary,
    columns_sentence,
    metric_label,
    pluralise,
    summarise,
)
from coterie.report.studies import _baselines
from coterie.report.studies._contributions import with_contributions
from coterie.report.studies._dates import notes_on_order, times_for
from coterie.report.studies._frames import (
    group_lines,
    score_line,
    scores_frame,
    scores_html,
    warnings_in,
)
from coterie.report.studies._metrics import AUC, R2, metric_name
from coterie.report.studies._path import path_of_study
from coterie.report.studies._scores import (
    HeldOutScore,
    as_score,
    fit_copy,
    fit_on_split,
    has_lasso,
    ignore_sklearn_warnings,
    lasso_model,
    name_with_inputs,
    score_guess,
    score_reducer,
    score_transformers,
    with_inputs,
)
from coterie.report.studies._splits import (
    MIN_FOLD_ROWS,
    Samples,
    Splits,
    as_floats,
    check_groups,
    last_rows,
    repeated_folds,
)
from coterie.report.studies._tasks import (
    TaskName,
    needs_text_classes,
    resolve_task,
    with_own_folds,
)
from coterie.report.studies._verdict import (
    COTERIE,
    LASSO,
    MEAN,
    PCA,
    RIDGE,
    SHARES,
    judge,
)

# Called with the name of the step, the number done and the total.
# Folds are repeated for tables of at most this many numbers.
THREE_TIMES, TWICE = 250_000, 500_000
# Logistic and Poisson regressions take about this many times as long as least squares.
GLM_COST = 3
# Shown as 1.000.
PERFECT_SCORE = 0.9995


@dataclass(frozen=True, repr=False)
class Study:
    """A fitted reducer and its summary.

    Parameters
    ----------
    reducer : reducer
        Fitted to all rows; with `test_last`, to the training rows.
    summary : Summary
        What the report shows.
    preparer : TablePreparer or None
        What made numbers of a frame with text, categories or dates; new rows need it, too.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> study = coterie.report.study(X, y)
    >>> study.reducer.n_groups_, study.preparer is None
    (3, True)
    """

    reducer: Any
    summary: Summary
    preparer: TablePreparer | None = None

    @property
    def verdict(self) -> StudyVerdict | None:
        """What to do, with its error; None if nothing was scored."""
        return self.summary.verdict

    def to_frame(self) -> Any:
        """The scores of all methods as a pandas data frame."""
        return scores_frame(self.summary.scores, self.summary.metric, self._differences)

    def __repr__(self) -> str:
        scores = [score_line(one, self._differences) for one in self.summary.scores]
        lines = [self._headline(), *warnings_in(self.summary.notes), *scores]
        return "\n".join([*lines, "Groups:", *group_lines(self.summary)])

    def _repr_html_(self) -> str:
        headline = " ".join([self._headline(), *warnings_in(self.summary.notes)])
        return scores_html(
            headline, self.summary.scores, group_lines(self.summary), self._differences
        )

    @property
    def _differences(self) -> Sequence[Difference]:
        return [] if self.verdict is None else self.verdict.differences

    def _headline(self) -> str:
        return str(self.verdict or f"{columns_sentence(self.summary)}.")


def study(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    task: TaskName | None = None,
    test_share: float = 0.2,
    by_time: Any = None,
    test_last: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
    path: bool = True,
    n_resamples: int = 0,
    random_state: int = 0,
    positions: Any = None,
    coordinates: Any = None,
    title: str = "",
    targets: Sequence[str] = ("target",),
    notes: Sequence[str] = (),
    progress: TellStep | None = None,
) -> Study:
    """Fit, score on many held-out splits beside the usual methods, recommend, and summarise.

    The reducer is fitted to all rows. To say how well this predicts, the whole fit is repeated on
    the training rows of many splits, and scored on their test rows with a ridge regression (or a
    logistic or Poisson one) on the groups. On the same splits stand ridge and lasso on all columns,
    PCA with as many columns as groups, and the mean or the class shares. Where the reducer clips or
    ranks the columns, these methods get them so, too, and their names say so. Classes are judged by
    ROC AUC and log-loss, not by accuracy. Models of counts predict no mean beyond those of the
    training rows, and a split with an R2 or a share of deviance below -1 counts as -1. Differences
    have 95 % intervals of the corrected resampled t-test (Nadeau and Bengio 2003).

    Parameters
    ----------
    X : array-like, data frame or xarray field of shape (n_samples, n_features)
        Columns of text, categories and dates are prepared by :class:`coterie.TablePreparer`.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    estimator : reducer or None, default=None
        None: :class:`coterie.Coterie` for the task.
    task : {"regression", "classes", "counts"} or None, default=None
        None: the task of the estimator; without an estimator, inferred from the values of y. For a
        reducer without a family, numeric classes are converted to text.
    test_share : float, default=0.2
        Share of the rows that each split holds out: 0.2 is 5 folds. They are shuffled and made
        three times; less often for large tables. With 0, there are no scores and no verdict.
    by_time : bool, array-like of shape (n_samples,) or None, default=None
        Whether rows are in time order: training rows come before test rows, in the scores, in the
        fit and on the path. An array is the time of each row: rows are sorted by it. None: if X is
        a data frame whose rows are arranged in time, and neither `groups` nor `test_last` is given.
        That is told by dates, also as text, in order, latest first or as several series over the
        same dates; by years with months or quarters; by seconds since 1970; a note says so.
    test_last : bool, default=False
        Whether to hold out the last rows once, as in some published splits, without treating rows
        as a time series. The reducer is then fitted to the other rows, and scores have no error.
    sample_weight : array-like of shape (n_samples,), optional
        For the reducer, the models and the scores. PCA and the imputation of missing values for
        it ignore weights.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that belong together, such as patients: no group is on both sides of a
        split, nor inside the fit.
    offset, exposure : array-like of shape (n_samples,), optional
        For counts: a known part of the linear predictor, or the exposure, of which it is the log.
    path : bool, default=True
        Whether to compute the tolerance path. Reducers without a tolerance have none, those with
        "CV" in their name have their own, and with very few rows it is left out.
    n_resamples : int, default=0
        Number of random halves of the rows on which the fit is repeated; 0 for none.
    random_state : int, default=0
        Seed of the splits and the resamples.
    positions, coordinates : array-like, optional
        Where features lie, as in :func:`coterie.report.summarise`, like the next.
    title, targets, notes : str and lists of str, optional
        The title of the report, the names of the targets, and further sentences.
    progress : callable or None, default=None
        Called with the name of the step, the number done and the total.

    Returns
    -------
    Study
        ``verdict``, what to do; ``reducer``, fitted; and ``summary``.

    References
    ----------
    Nadeau, Bengio: Inference for the generalization error. Machine Learning 52 (2003).

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> study = coterie.report.study(X, y)
    >>> study.verdict.code, study.verdict.n_columns
    ('use_groups', 3)
    >>> [score.name for score in study.summary.scores]
    ['coterie', 'ridge on all columns', 'lasso on all columns', 'PCA', 'the mean']
    """
    report = progress or tell_nobody
    found = times_for(X, y, by_time, is_asked=groups is not None or test_last)
    by_time = found is not None or by_time is True
    shuffled = not (by_time or test_last or groups is not None)
    order_notes = notes_on_order(X, y, found) if shuffled or found else []
    rows, preparer = Samples.from_any_table(
        X, y, estimator, sample_weight, groups, offset=offset, exposure=exposure
    )
    task, reducer = resolve_task(task, rows.y, estimator)
    reducer = with_own_folds(reducer, rows.groups, by_time=by_time)
    rows = rows.with_text_classes() if needs_text_classes(task, reducer) else rows
    rows = rows.with_float_target() if task == "regression" else rows
    rows = rows if found is None else rows.in_time(found.times)
    splitting = {"classes": task == "classes", "by_time": by_time, "seed": random_state}
    splits = _make_splits(rows, test_share, test_last, reducer, splitting)
    train = rows.take(splits.rows[0][0]) if splits and test_last else rows
    report("fit", 0, 1)
    fitted = fit_copy(reducer, train)
    report("fit", 1, 1)
    metric = metric_name(family_word(reducer, rows.y))
    scores: list[Score] = []
    verdict = None
    if splits is not None:
        scores, verdict = _score_methods(fitted, reducer, rows, splits, metric, report)
    tolerances = (
        path_of_study(reducer, train, splitting, metric, partial(report, "path")) if path else None
    )
    stability_of_groups = _measure_stability(
        reducer, train, n_resamples, random_state, partial(report, "stability")
    )
    with ignore_sklearn_warnings():
        summary = summarise(
            fitted,
            train.X,
            train.y,
            sample_weight=train.weights,
            offset=train.offset,
            scores=scores,
            metric=metric,
            path=tolerances,
            stability=stability_of_groups,
            positions=positions,
            coordinates=coordinates,
            title=title,
            task=task,
            targets=targets,
            n_test_rows=len(splits.rows[0][1]) if splits and len(splits.rows) == 1 else None,
            verdict=verdict,
            notes=[
                *_leak_notes(rows, task),
                *_perfect_note(verdict),
                *notes,
                *([] if preparer is None else preparer.notes()),
                *order_notes,
                *_split_note(splits, random_state, order_notes, shuffled=shuffled),
                *_rare_class_note(rows.y, metric),
            ],
        )
    if splits is not None:
        summary = with_contributions(summary, fitted, rows, splits, partial(report, "importance"))
    return Study(fitted, summary, preparer)


def _make_splits(
    rows: Samples, share: float, test_last: bool, reducer: Any, splitting: dict[str, Any]
) -> Splits | None:
    """The splits that scores are measured on, or None for a share of 0."""
    if not isinstance(share, Real) or not 0 <= share < 1:
        raise ValueError(f"test_share must be 0 or more and less than 1, got {share!r}.")
    if share == 0:
        return None
    n_rows = len(rows)
    n_test = round(share * n_rows)
    if min(n_test, n_rows - n_test) < 2:
        raise ValueError(
            f"test_share={share!r} of {n_rows} rows leaves "
            f"{pluralise(n_rows - n_test, 'training row')} and {pluralise(n_test, 'test row')}; "
            "both need 2 or more. Pass more rows, or test_share=0."
        )
    if test_last:
        return last_rows(n_rows, share)
    n_folds = max(2, min(round(1 / share), n_rows // MIN_FOLD_ROWS))
    check_groups(rows, n_folds, splitting["by_time"])
    return repeated_folds(rows, n_folds, _n_repeats(rows, reducer), **splitting)


def _n_repeats(rows: Samples, reducer: Any) -> int:
    """How often folds are made: three times, less often where a fit takes long."""
    if not isinstance(reducer, Coterie | NonLinCFA | GenLinCFA):
        return 1
    size = len(rows) * rows.table.shape[1]
    size *= 1 if metric_name(family_word(reducer, rows.y)) == R2 else GLM_COST
    return 3 if size <= THREE_TIMES else 2 if size <= TWICE else 1


def _score_methods(
    fitted: Any,
    reducer: Any,
    rows: Samples,
    splits: Splits,
    metric: str,
    report: TellStep,
) -> tuple[list[Score], StudyVerdict]:
    """The scores of all methods on all splits, and what they recommend."""
    plain: dict[str, list[tuple[int, HeldOutScore]]] = {}
    kinds = set()
    for done, (train, test) in enumerate(splits.rows):
        report("scores", done, len(splits.rows))
        learned, tested = rows.take(train), rows.take(test)
        on_split = fit_on_split(reducer, learned)
        kinds.add(getattr(on_split, "inputs_", "raw"))
        for name, n_columns, score in _methods(on_split, reducer, learned, tested, rows.y):
            plain.setdefault(name, []).append((n_columns, score))
    report("scores", len(splits.rows), len(splits.rows))
    found = {name_with_inputs(name, kinds): each for name, each in plain.items()}
    values = {
        name: {one: [score.scores[one] for _, score in each] for one in each[0][1].scores}
        for name, each in found.items()
    }
    verdict = judge(
        metric,
        values,
        test_ratio=splits.test_ratio,
        n_columns=fitted.n_groups_,
        n_features=rows.table.shape[1],
        n_sources=_n_sources(rows),
        splits=splits.text,
    )
    scores = [as_score(name, metric, each, splits.test_ratio) for name, each in found.items()]
    return scores, verdict


def _n_sources(rows: Samples) -> int:
    """Number of columns of the table, before some were encoded."""
    names = getattr(rows.table, "columns", None)
    return rows.table.shape[1] if names is None else len({source_of(str(one)) for one in names})


def _methods(
    fitted: Any, reducer: Any, train: Samples, test: Samples, y: Any
) -> Iterator[tuple[str, int, HeldOutScore]]:
    """Name, number of columns and scores of each method on one split."""
    yield COTERIE, fitted.n_groups_, score_reducer(fitted, train, test)
    train, test = with_inputs(fitted, train, test)
    n_features, word = train.table.shape[1], family_word(reducer, train.y)
    yield RIDGE, n_features, score_transformers([], reducer, train, test)
    # Of all rows, so that each method is scored on each split.
    if has_lasso(word, y):
        lasso = score_transformers([], reducer, train, test, lasso_model)
        yield LASSO, n_features, lasso
    size = min(fitted.n_groups_, n_features, len(train) - 1)
    yield PCA, size, score_transformers(_baselines.PCA.steps(size), reducer, train, test)
    yield SHARES if word == "bernoulli" else MEAN, 0, score_guess(reducer, train, test)


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
        **{k: one for k, one in train.fit_arguments(reducer).items() if k != "groups"},
        groups=train.groups,
        random_state=seed,
        progress=tell,
    )


def _leak_notes(rows: Samples, task: str) -> list[str]:
    """Which columns give the target away, if any do."""
    table = rows.table
    if task == "regression" and rows.y.dtype.kind not in "iuf":
        return []
    names = getattr(table, "columns", None)
    names = [f"column {k}" for k in range(table.shape[1])] if names is None else map(str, names)
    try:
        columns = as_floats(table)
    except (TypeError, ValueError):
        # Columns that only the inputs of the user's own can read.
        return []
    return giveaway_notes(columns, list(names), rows.y)


def _perfect_note(verdict: StudyVerdict | None) -> list[str]:
    """A warning of a score that is too good to be true."""
    if verdict is None or not verdict.score >= PERFECT_SCORE:
        return []
    label = metric_label(verdict.metric)
    note = (
        f"Warning: {label} is {verdict.score:.3f} on held-out rows. Is there a column that is made "
        "from the target, or are rows repeated?"
    )
    return [note]


def _split_note(
    splits: Splits | None, seed: int, order_notes: list[str], *, shuffled: bool
) -> list[str]:
    """A note on how rows were held out."""
    if splits is None:
        return []
    if not shuffled:
        return [f"Held out: {splits.text}."]
    note = f"Held out: {splits.text} (seed {seed})."
    if order_notes:
        return [note]
    return [f"{note} If rows are in time order, say so: now neighbouring rows are on both sides."]


def _rare_class_note(y: Any, metric: str) -> list[str]:
    """A note on the accuracy of always predicting the largest class."""
    if metric != AUC or y.ndim > 1:
        return []
    share = np.unique(y, return_counts=True)[1].max() / len(y)
    return [f"Always predicting the largest class would have an accuracy of {share:.3f}."]
