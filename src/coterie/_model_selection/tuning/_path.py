"""The curve from tolerance to groups and scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import delayed

from coterie._core.fit import Problem
from coterie._core.threads import few_threads
from coterie._core.values import FloatArray, IntArray, Partition
from coterie._data.fields import rows_first
from coterie._data.parameters import checked_number
from coterie._data.progress import Tell, followed, in_parallel
from coterie._data.training import (
    Given,
    check_rows_at_hand,
    checked_cv,
    look_like_classes,
)
from coterie._model_selection.tuning._models import fitted_model, plain_model
from coterie.estimators import NonLinCFA, Reducer, pricing_of, problem_of, store

# Neighbours that differ by less than this share need no tolerance between them.
MIN_LOG_STEP = 0.01


@dataclass(frozen=True, eq=False)
class TolerancePath:
    """What each of T tolerances leads to.

    Parameters
    ----------
    tolerances : ndarray of shape (T,)
    n_groups : ndarray of shape (T,)
        Number of groups on all rows. It need not fall as the tolerance rises: an early merge
        can make a later one dearer.
    labels : ndarray of shape (T, n_inputs)
        The partition on all rows.
    train_scores : ndarray of shape (T,)
        Score of the model behind that partition, on the rows it was fitted on.
    cv_scores : ndarray of shape (T, n_folds)
        Score on held-out rows; partition and model come from the other rows alone.
    """

    tolerances: FloatArray
    n_groups: IntArray
    labels: IntArray
    train_scores: FloatArray
    cv_scores: FloatArray

    @property
    def cv_mean(self) -> FloatArray:
        """Mean over the folds, of shape (T,)."""
        return self.cv_scores.mean(axis=1)

    @property
    def cv_std_error(self) -> FloatArray:
        """Standard error of that mean, of shape (T,); 0 where there is one fold only."""
        n_folds = self.cv_scores.shape[1]
        if n_folds == 1:
            return np.zeros(len(self.tolerances))
        return self.cv_scores.std(axis=1, ddof=1) / np.sqrt(n_folds)

    @property
    def best(self) -> int:
        """Index of the highest mean; the first of equals, as in ``GridSearchCV``."""
        return int(np.argmax(self.cv_mean))

    @property
    def simplest(self) -> int:
        """Index of the fewest groups within one standard error of the best mean.

        Of equally many groups, those of the larger tolerance.
        """
        enough = self.cv_mean[self.best] - self.cv_std_error[self.best]
        falls_short = self.cv_mean < enough
        return self._first_by(falls_short, self.n_groups)

    def of_size(self, n: int) -> int:
        """Index of the number of groups nearest to n: of two as near, the smaller.

        Of equally many groups, those of the larger tolerance.
        """
        return self._first_by(np.abs(self.n_groups - n), self.n_groups)

    def _first_by(self, *keys: Any) -> int:
        """Index of the least first key, then the least second one, then the largest tolerance."""
        return int(np.lexsort((-self.tolerances, *reversed(keys)))[0])


class Training(NamedTuple):
    """One training set, its evidence gathered once, to be grouped at any tolerance."""

    reducer: Any
    model: Any
    X: Any
    y: Any
    given: Given
    problem: Problem

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, given: Given) -> Training:
        """Gather the evidence for copies of a reducer and of the model behind it."""
        # Any number will do: it tells the reducer that it will get numbers.
        reducer = clone(estimator).set_params(tolerance=0.0)
        X, y, given = counting(X, y, given)
        known = given if pricing_of(reducer).cv is not None else given._replace(groups=None)
        problem = problem_of(reducer, X, y, known)
        return cls(reducer, plain_model(reducer, X, y), X, y, given, problem)

    def grouped(self, tolerance: float) -> Partition:
        """The partition at a tolerance."""
        return self.problem.at(float(tolerance))

    def scores(
        self, partitions: Iterable[Partition], scorer: Any, X: Any, y: Any, weights: Any = None
    ) -> FloatArray:
        """Score on these rows of the model behind each partition."""
        # Tolerances that are close lead to the same partition, so to the same score.
        known: dict[bytes, float] = {}
        scores = []
        # Models that are small take longer on several threads.
        with few_threads(self.problem.data.is_light):
            for partition in partitions:
                key = partition.labels.tobytes() + np.asarray(partition.signs, float).tobytes()
                if key not in known:
                    known[key] = self._score(partition, scorer, X, y, weights)
                scores.append(known[key])
        return np.array(scores)

    def _score(self, partition: Partition, scorer: Any, X: Any, y: Any, weights: Any) -> float:
        from sklearn.pipeline import make_pipeline

        store(self.reducer, self.problem.fit_of(partition))
        Z = self.reducer.transform(self.X)
        model = fitted_model(self.model, Z, self.y, self.given.sample_weight)
        fitted = make_pipeline(self.reducer, model)
        if weights is None:
            return float(scorer(fitted, X, y))
        try:
            return float(scorer(fitted, X, y, sample_weight=weights))
        except TypeError as error:
            if "sample_weight" not in str(error):
                raise
            raise ValueError("scoring must take sample_weight, where rows have weights.") from error


def tolerance_path(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    tolerances: Any = None,
    n_tolerances: int = 30,
    cv: Any = 5,
    scoring: Any = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    progress: bool | Tell = False,
) -> TolerancePath:
    """Number of groups, and score of a plain model behind them, for each tolerance.

    The evidence is gathered once per training set, that is once for all rows and once for
    each fold, and each tolerance asks its questions of that. The partition at a tolerance is
    the one that the reducer finds when fitted with it.

    Parameters
    ----------
    X : array-like, sparse array or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    estimator : NonLinCFA, GenLinCFA, MutualCFA or None, default=None
        The reducer, with all its parameters but the tolerance. None: ``NonLinCFA()``. Its own
        `cv`, by which prices are scored, stays: the default "auto" means 5 folds here.
    tolerances : array-like of shape (T,) or None, default=None
        The tolerances, in any order. None: see Notes.
    n_tolerances : int, default=30
        How many, where `tolerances` is None; 2 or more.
    cv : int, splitter or iterable, default=5
        The folds on which the model is scored, as in scikit-learn: an int gives contiguous folds,
        or for classes, and for numbers that look like some, folds with about the same share of
        each.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: the model's own, see Notes.
    n_jobs : int or None, default=None
        How many folds at the same time. None: 1.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts, for prices, model and score.
    groups : array-like of shape (n_samples,), optional
        Groups of rows, for a `cv` such as ``GroupKFold``, here and in the estimator.
    progress : bool or callable, default=False
        Whether to show a progress bar; needs ``pip install 'coterie[progress]'``. A function is
        called with the number of folds done and that of all.

    Returns
    -------
    TolerancePath
        ``tolerances``, ``n_groups``, ``labels``, ``train_scores``, ``cv_scores``; ``cv_mean`` and
        ``cv_std_error``; and the indices ``best``, ``simplest`` (one-standard-error rule) and
        ``of_size(n)``.

    See Also
    --------
    ToleranceCV : A reducer that chooses its tolerance on this path.

    Notes
    -----
    The model is linear regression, scored by R2, for targets of numbers; logistic regression of
    standardised aggregates, scored by accuracy, for classes (``scoring="neg_log_loss"`` is finer);
    Poisson, gamma or inverse Gaussian regression of standardised aggregates with a slight ridge
    penalty (0.001), scored by the share of deviance explained, for counts and positive numbers;
    linear regression for a family that scikit-learn has no model of. Several targets have one
    each.

    Without `tolerances` they are found by halving. The first two are the ends of a range, 1e-6
    to 1 for NonLinCFA and for the fitted deviance, where a tolerance is a share, and 0.001 to 1000
    for the bounds of GenLinCFA, where it is a ratio. Then, again and again, one more comes
    halfway (geometrically) between two neighbours: those with the largest product of their
    distance and of the difference between their numbers of groups, as long as they differ by a
    hundredth. So tolerances lie close together where the curve is steep, and far apart where it
    is flat. Like the penalties of ``LassoCV`` they are found on all rows; what is scored on
    held-out rows never is.

    Examples
    --------
    >>> from coterie import tolerance_path
    >>> from coterie.datasets import make_groups
    >>> X, y, labels = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> path = tolerance_path(X, y, tolerances=[0.0, 0.01, 1.0])
    >>> path.n_groups
    array([3, 3, 1])
    >>> path.cv_mean.round(2)
    array([ 0.61,  0.62, -0.04])
    >>> bool((path.labels[path.simplest] == labels).all())
    True
    """
    check_rows_at_hand(X, "tolerance_path scores models on rows")
    reducer = _checked_estimator(estimator)
    scorer = _checked_scorer(reducer, scoring, X, y)
    chosen, count = _checked_tolerances(tolerances), _checked_count(n_tolerances)
    whole = Training.of(reducer, X, y, Given(sample_weight, groups))
    X, y = rows_first(X, y)
    X, y, weights, groups = indexable(X, y, sample_weight, groups)
    given = Given(None if weights is None else np.asarray(weights, dtype=np.float64), groups)
    known = _found(whole, count) if chosen is None else [(t, whole.grouped(t)) for t in chosen]
    at, partitions = np.array([t for t, _ in known]), [partition for _, partition in known]
    splits = _splits(whole.model, cv, X, y, groups)
    tasks = (delayed(_fold_scores)(reducer, at, scorer, X, y, given, split) for split in splits)
    folds = followed(progress, len(splits), "folds")(in_parallel(tasks, n_jobs, progress))
    cv_scores = np.column_stack(list(folds))
    return TolerancePath(
        tolerances=at,
        n_groups=np.array([len(partition.groups) for partition in partitions]),
        labels=np.array([partition.labels for partition in partitions]),
        train_scores=whole.scores(partitions, scorer, whole.X, whole.y, whole.given.sample_weight),
        cv_scores=_checked_scores(cv_scores),
    )


def counting(X: Any, y: Any, given: Given) -> tuple[Any, Any, Given]:
    """The same without rows of weight 0, where weights are numbers already."""
    weights = given.sample_weight
    if not isinstance(weights, np.ndarray) or weights.all() or not weights.any():
        return X, y, given
    kept = np.flatnonzero(weights)
    some = Given(*(None if one is None else _safe_indexing(one, kept) for one in given))
    return _safe_indexing(X, kept), _safe_indexing(y, kept), some


def _fold_scores(
    reducer: Any,
    tolerances: FloatArray,
    scorer: Any,
    X: Any,
    y: Any,
    given: Given,
    split: tuple[Any, Any],
) -> FloatArray:
    """Score on held-out rows at each tolerance."""
    train, test = split
    known = Given(*(None if one is None else _safe_indexing(one, train) for one in given))
    training = Training.of(reducer, _safe_indexing(X, train), _safe_indexing(y, train), known)
    partitions = map(training.grouped, tolerances)
    weights = None if given.sample_weight is None else given.sample_weight[test]
    held_out = counting(_safe_indexing(X, test), _safe_indexing(y, test), Given(weights))
    return training.scores(partitions, scorer, *held_out[:2], held_out[2].sample_weight)


def _found(training: Training, count: int) -> list[tuple[float, Partition]]:
    """Tolerances that show how the number of groups changes, and what each leads to."""
    low, high = training.problem.pricing.tolerance_range
    known = [(t, training.grouped(t)) for t in (low, high)]
    while len(known) < count:
        tolerances = np.array([t for t, _ in known])
        before = _steepest(tolerances, np.array([len(p.groups) for _, p in known]))
        middle = float(np.sqrt(tolerances[before] * tolerances[before + 1]))
        known.insert(before + 1, (middle, training.grouped(middle)))
    return known


def _steepest(tolerances: FloatArray, n_groups: IntArray) -> int:
    """Index of the tolerance after which one more would tell the most."""
    distance = np.diff(np.log(tolerances))
    change = np.abs(np.diff(n_groups)) * distance * (distance > MIN_LOG_STEP)
    return int(np.argmax(change if change.any() else distance))


def _splits(model: Any, cv: Any, X: Any, y: Any, groups: Any) -> list[tuple[Any, Any]]:
    """Pairs of training and held-out rows."""
    from sklearn.model_selection import check_cv

    if not (cv is None or isinstance(cv, Integral)):
        cv = checked_cv(cv)
    # Contiguous folds of a rare class may leave none of it to learn from.
    has_classes = is_classifier(model) or look_like_classes(y) > 0
    splits = list(check_cv(cv, y, classifier=has_classes).split(X, y, groups))
    if not splits:
        raise ValueError("cv must give at least one pair of (train, test) rows, got none.")
    return splits


def _checked_estimator(estimator: Any) -> Any:
    if estimator is None:
        return NonLinCFA()
    if isinstance(estimator, type):
        raise TypeError(
            f"estimator must be an instance, got a class: write {estimator.__name__}()."
        )
    if not isinstance(estimator, Reducer) or not hasattr(estimator, "tolerance"):
        raise TypeError(
            "estimator must be a reducer with a tolerance, such as NonLinCFA() or GenLinCFA(), "
            f"got {estimator!r}."
        )
    if estimator.n_groups is not None:
        raise ValueError(
            "estimator must have n_groups=None, since each tolerance leads to a number of groups, "
            f"got {estimator.n_groups!r}. Ask the path for of_size({estimator.n_groups!r})."
        )
    return estimator


def _checked_tolerances(tolerances: Any) -> list[float] | None:
    if tolerances is None:
        return None
    if isinstance(tolerances, str | bytes) or not np.iterable(tolerances):
        raise TypeError(
            f"tolerances must be None or a list of numbers, got {tolerances!r}. Write "
            "[0.01] for a single one."
        )
    checked = [checked_number("every tolerance", one) for one in tolerances]
    if not checked:
        raise ValueError("tolerances must hold one number or more, got none. None finds them.")
    return checked


def _checked_count(n_tolerances: Any) -> int:
    if not isinstance(n_tolerances, Integral) or isinstance(n_tolerances, bool):
        raise TypeError(f"n_tolerances must be an int, got {n_tolerances!r}.")
    if n_tolerances < 2:
        raise ValueError(
            f"n_tolerances must be 2 or more, got {n_tolerances}. To look at a single tolerance, "
            "give tolerances=[that one]."
        )
    return int(n_tolerances)


def _checked_scorer(reducer: Any, scoring: Any, X: Any, y: Any) -> Any:
    from sklearn.metrics import check_scoring
    from sklearn.pipeline import make_pipeline

    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            f"scoring must be None, the name of one scorer or a function, got {scoring!r}."
        )
    return check_scoring(make_pipeline(reducer, plain_model(reducer, X, y)), scoring=scoring)


def _checked_scores(scores: FloatArray) -> FloatArray:
    if not np.isnan(scores).any():
        return scores
    fold = int(np.argmax(np.isnan(scores).any(axis=0)))
    raise ValueError(
        f"scoring gives NaN on fold {fold} of cv, so tolerances cannot be compared. R2 needs 2 "
        "or more rows in a fold: use fewer folds, or scoring='neg_mean_squared_error'."
    )
