"""The tolerance path: number of groups and scores for each tolerance."""

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
from coterie._core.values import FloatArray, IntArray, Partition, data_frame
from coterie._data.fields import rows_first
from coterie._data.frames import frame_html, frame_text
from coterie._data.parameters import checked_number
from coterie._data.progress import Tell, followed, in_parallel
from coterie._data.training import (
    Given,
    checked_cv,
    look_like_classes,
    rows_at_hand,
)
from coterie._model_selection.tuning._models import fitted_model, plain_model
from coterie.estimators import NonLinCFA, Reducer, pricing_of, problem_of, store

# No tolerance is added between two that differ by less than this, on a log scale.
MIN_LOG_STEP = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class TolerancePath:
    """Number of groups, labels and scores for each of T tolerances.

    Parameters
    ----------
    tolerances : ndarray of shape (T,)
    n_groups : ndarray of shape (T,)
        Number of groups on all rows. It may rise with the tolerance: an early merge can raise the
        price of a later one.
    labels : ndarray of shape (T, n_inputs)
        Group number of each input, on all rows.
    train_scores : ndarray of shape (T,)
        Training score of the model on the aggregates, on all rows.
    cv_scores : ndarray of shape (T, n_folds)
        Score on the held-out rows of each fold. Groups and model are learned from the other rows.
    """

    tolerances: FloatArray
    n_groups: IntArray
    labels: IntArray
    train_scores: FloatArray
    cv_scores: FloatArray

    @property
    def cv_mean(self) -> FloatArray:
        """Mean score over the folds, of shape (T,)."""
        return self.cv_scores.mean(axis=1)

    @property
    def cv_std_error(self) -> FloatArray:
        """Standard error of the mean score, of shape (T,); 0 for one fold."""
        n_folds = self.cv_scores.shape[1]
        if n_folds == 1:
            return np.zeros(len(self.tolerances))
        return self.cv_scores.std(axis=1, ddof=1) / np.sqrt(n_folds)

    @property
    def best(self) -> int:
        """Index of the highest mean score; the first of equals, as in ``GridSearchCV``."""
        return int(np.argmax(self.cv_mean))

    @property
    def simplest(self) -> int:
        """Index of the fewest groups within one standard error of the best mean score.

        Of equal numbers of groups, the one with the larger tolerance.
        """
        enough = self.cv_mean[self.best] - self.cv_std_error[self.best]
        falls_short = self.cv_mean < enough
        return self._first_by(falls_short, self.n_groups)

    def of_size(self, n: int) -> int:
        """Index of the number of groups nearest to n; of two equally near, the smaller.

        Of equal numbers of groups, the one with the larger tolerance.
        """
        return self._first_by(np.abs(self.n_groups - n), self.n_groups)

    def __repr__(self) -> str:
        return frame_text(self._headline, self)

    def _repr_html_(self) -> str:
        return frame_html(self._headline, self)

    @property
    def _headline(self) -> str:
        return f"Groups and scores for {len(self.tolerances):,} tolerances"

    def to_frame(self) -> Any:
        """A pandas data frame with one row for each tolerance."""
        steps = np.arange(len(self.tolerances))
        return data_frame(
            {
                "tolerance": self.tolerances,
                "n_groups": self.n_groups,
                "train_score": self.train_scores,
                "cv_score": self.cv_mean,
                "cv_std_error": self.cv_std_error,
                "is_best": steps == self.best,
                "is_simplest": steps == self.simplest,
            }
        )

    def _first_by(self, *keys: Any) -> int:
        """Index of the smallest keys, compared in order; of equals, the largest tolerance."""
        return int(np.lexsort((-self.tolerances, *reversed(keys)))[0])


class Training(NamedTuple):
    """One training set with its evidence, ready to be grouped at any tolerance."""

    reducer: Any
    model: Any
    X: Any
    y: Any
    given: Given
    problem: Problem

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, given: Given) -> Training:
        """Compute the evidence, for a clone of a reducer and the model on its aggregates."""
        # Any number works here: it says that tolerances are numbers.
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
        """Score on these rows of the model on each partition."""
        # Similar tolerances often give the same partition, so scores are cached.
        known: dict[bytes, float] = {}
        scores = []
        # Small models are slower on several threads.
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
    """Number of groups, and score of a default model on the aggregates, for each tolerance.

    The evidence is computed once for all rows and once for each fold, and used for all tolerances.
    The partition at a tolerance is the one that the reducer finds when it is fitted with that
    tolerance.

    Parameters
    ----------
    X : array-like, sparse array or data frame of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    estimator : NonLinCFA, GenLinCFA, MutualCFA or None, default=None
        The reducer. Its tolerance is ignored, and its other parameters are used. None:
        ``NonLinCFA()``. The `cv` of the reducer, which scores prices, is used too: its default
        "auto" means 5 folds here.
    tolerances : array-like of shape (T,) or None, default=None
        The tolerances, in any order. None: chosen automatically, see Notes.
    n_tolerances : int, default=30
        Number of tolerances if `tolerances` is None; 2 or more.
    cv : int, splitter or iterable, default=5
        The folds on which the model is scored, as in scikit-learn. An int gives contiguous folds,
        or stratified folds for classes and for numbers that look like classes.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: the score of the model, see Notes.
    n_jobs : int or None, default=None
        Number of folds to run in parallel. None: 1.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts, for prices, model and score.
    groups : array-like of shape (n_samples,), optional
        Group labels of the rows, for a `cv` such as ``GroupKFold``, here and in the estimator.
    progress : bool or callable, default=False
        Whether to show a progress bar; needs ``pip install 'coterie[progress]'``. A callable is
        called with the number of finished folds and the number of all folds.

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
    The model depends on the target. Numbers: linear regression, scored by R2. Classes: logistic
    regression on standardised aggregates, scored by accuracy (``scoring="neg_log_loss"`` is more
    sensitive). Counts and positive numbers: Poisson, gamma or inverse Gaussian regression on
    standardised aggregates with a small ridge penalty (0.001), scored by the share of deviance
    explained. Families without a model in scikit-learn: linear regression. Several targets have
    one model each.

    If `tolerances` is None, they are chosen by bisection. The first two are the ends of a range:
    1e-6 to 1 for NonLinCFA and for the fitted deviance, where a tolerance is a share, and 0.001 to
    1000 for the bounds of GenLinCFA, where it is a ratio. Each further tolerance is the geometric
    mean of two neighbours: those with the largest product of log distance and difference in the
    number of groups. Neighbours that differ by less than 1% are left alone. Tolerances are
    therefore close together where the curve is steep, and far apart where it is flat. Like the
    penalties of ``LassoCV``, they are chosen on all rows. Groups and models that are scored on
    held-out rows are learned from the training rows only.

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
    X = rows_at_hand(X, "tolerance_path scores models on rows")
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
    """The same data without rows of weight 0, if the weights are a NumPy array."""
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
    """Score on the held-out rows of one split, at each tolerance."""
    train, test = split
    known = Given(*(None if one is None else _safe_indexing(one, train) for one in given))
    training = Training.of(reducer, _safe_indexing(X, train), _safe_indexing(y, train), known)
    partitions = map(training.grouped, tolerances)
    weights = None if given.sample_weight is None else given.sample_weight[test]
    held_out = counting(_safe_indexing(X, test), _safe_indexing(y, test), Given(weights))
    return training.scores(partitions, scorer, *held_out[:2], held_out[2].sample_weight)


def _found(training: Training, count: int) -> list[tuple[float, Partition]]:
    """Tolerances chosen by bisection, and the partition at each."""
    low, high = training.problem.pricing.tolerance_range
    known = [(t, training.grouped(t)) for t in (low, high)]
    while len(known) < count:
        tolerances = np.array([t for t, _ in known])
        before = _steepest(tolerances, np.array([len(p.groups) for _, p in known]))
        middle = float(np.sqrt(tolerances[before] * tolerances[before + 1]))
        known.insert(before + 1, (middle, training.grouped(middle)))
    return known


def _steepest(tolerances: FloatArray, n_groups: IntArray) -> int:
    """Index of the tolerance after which the next one is inserted."""
    distance = np.diff(np.log(tolerances))
    change = np.abs(np.diff(n_groups)) * distance * (distance > MIN_LOG_STEP)
    return int(np.argmax(change if change.any() else distance))


def _splits(model: Any, cv: Any, X: Any, y: Any, groups: Any) -> list[tuple[Any, Any]]:
    """The splits, as pairs of training and held-out rows."""
    from sklearn.model_selection import check_cv

    if not (cv is None or isinstance(cv, Integral)):
        cv = checked_cv(cv)
    # Contiguous training folds may miss a rare class.
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
