"""How far the groups depend on which rows were seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_consistent_length

from coterie._core.values import FitWarning, FloatArray, IntArray
from coterie._data.fields import rows_first
from coterie._data.parameters import checked_word
from coterie._data.progress import Tell, followed, in_parallel
from coterie._data.training import check_rows_at_hand
from coterie.estimators import NonLinCFA

# Beyond this a matrix of all pairs takes most of a gigabyte, and soon all memory there is.
MOST_INPUTS = 10_000

# Inputs together in just half of the resamples are not together in more than half. Average
# distances round by far less than this.
LESS_THAN_HALF = 0.5 - 1e-12


@dataclass(frozen=True)
class Stability:
    """The groups of all rows, beside those of many resamples.

    Parameters
    ----------
    labels : ndarray of shape (n_inputs,)
        The group of each input, learned from all rows.
    resampled : ndarray of shape (n_resamples, n_inputs)
        The same, learned from each resample.

    Notes
    -----
    `together` and `consensus` compare all pairs of inputs. They are made when first asked for,
    and refused for more than 10,000 inputs. The rest needs no more memory than `resampled`.

    See Also
    --------
    coterie.stability : Makes these.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie._model_selection.resampling import Stability
    >>> resampled = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 2]])
    >>> result = Stability(labels=np.array([0, 0, 1]), resampled=resampled)
    >>> result.together
    array([[1.  , 0.75, 0.25],
           [0.75, 1.  , 0.25],
           [0.25, 0.25, 1.  ]])
    >>> result.group_scores
    array([0.75, 0.75])
    >>> result.consensus
    array([0, 0, 1])
    """

    labels: IntArray
    resampled: IntArray = field(repr=False)

    @property
    def n_groups(self) -> IntArray:
        """Number of groups in each resample, of shape (n_resamples,)."""
        return self.resampled.max(axis=1) + 1

    @property
    def agreement(self) -> FloatArray:
        """Adjusted Rand index of each resample with all rows, of shape (n_resamples,).

        1 for the same groups, 0 on average for groups that are as good as drawn by lot.
        """
        return np.array([_rand_index(self.labels, labels) for labels in self.resampled])

    @property
    def group_scores(self) -> FloatArray:
        """How often each group of all rows holds, of shape (n_groups,), from 0 to 1.

        The share of resamples in which two of its members were together, on average over
        its pairs; for a group of one, the share in which it was alone. A group that became a
        part of a larger one has held together: `agreement` tells whether others joined it.
        """
        return np.mean([_held(self.labels, labels) for labels in self.resampled], axis=0)

    @cached_property
    def together(self) -> FloatArray:
        """Share of resamples in which two inputs were in one group, of shape (D, D)."""
        from scipy.spatial.distance import squareform

        return 1 - squareform(self._apart())

    @cached_property
    def consensus(self) -> IntArray:
        """Groups whose members were together in more than half of the resamples.

        On average, that is: clusters of the inputs by average linkage, for the share of
        resamples in which two were apart, joined while that is below one half. Numbered in
        order of their first member, of shape (n_inputs,).
        """
        from scipy.cluster.hierarchy import fcluster, linkage

        tree = linkage(self._apart(), method="average")
        return _numbered(fcluster(tree, LESS_THAN_HALF, criterion="distance"))

    def _apart(self) -> FloatArray:
        """Share of resamples in which two inputs were in different groups, for D (D - 1) / 2."""
        n_inputs = len(self.labels)
        if n_inputs > MOST_INPUTS:
            raise ValueError(
                f"All pairs of {n_inputs:,} inputs take {8 * n_inputs**2:,} bytes; they are "
                f"compared for at most {MOST_INPUTS:,} inputs. Use group_scores, agreement or "
                "n_groups, which need no pairs."
            )
        # Imported late: it brings in a good part of scipy.
        from scipy.spatial.distance import pdist

        return pdist(self.resampled.T, metric="hamming")


def stability(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    n_resamples: int = 100,
    resampling: Literal["subsample", "bootstrap"] = "subsample",
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Tell = False,
) -> Stability:
    """How far the groups depend on which rows were seen.

    The reducer learns groups from all rows, and again from each of many random choices of
    rows. Groups that hold in nearly all of them can be relied on; others may be an accident of
    the sample.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    estimator : reducer or None, default=None
        What learns the groups, such as ``GenLinCFA(family="bernoulli")``; it is cloned and
        stays as it is. None: ``NonLinCFA()``.
    n_resamples : int, default=100
        How many times rows are drawn.
    resampling : {"subsample", "bootstrap"}, default="subsample"
        "subsample": half of the rows, each at most once. "bootstrap": as many rows as there
        are, some of them several times; a reducer takes these for more evidence than they
        are. Rows keep their order. Where y has two values, or is text, rows are drawn
        from each class apart, so that none vanishes.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts, in every resample that has it; the reducer must take it.
    random_state : int, RandomState instance or None, default=None
        Decides which rows are drawn. The result does not depend on `n_jobs`.
    n_jobs : int or None, default=None
        How many resamples are learned from at a time, as everywhere in scikit-learn.
    progress : bool or callable, default=False
        Whether to show a progress bar; needs ``pip install 'coterie[progress]'``. A function is
        called with the number of resamples done and that of all.

    Returns
    -------
    Stability
        ``labels``, the groups of all rows; ``group_scores``, one for each of them;
        ``together``, the share of resamples in which two inputs were in one group;
        ``consensus``, the groups of inputs that mostly were; ``agreement`` and ``n_groups``,
        one for each resample; and ``resampled``, the groups of each.

    Notes
    -----
    Half of the rows know less than all: the groups of a subsample are those of a smaller study.

    References
    ----------
    Meinshausen, Buehlmann: Stability selection. Journal of the Royal Statistical Society B
    72 (2010).

    Examples
    --------
    The last feature has nothing to do with the target. It joined the second group, but would
    not always have done so:

    >>> import numpy as np
    >>> from coterie import NonLinCFA, stability
    >>> rng = np.random.default_rng(0)
    >>> warm, dry, wind = rng.normal(size=(3, 200, 1))
    >>> X = np.hstack([warm, warm, dry, dry, wind]) + 0.1 * rng.normal(size=(200, 5))
    >>> y = (3 * warm - dry).ravel() + rng.normal(size=200)
    >>> result = stability(X, y, estimator=NonLinCFA(0.02), n_resamples=20, random_state=0)
    >>> result.labels
    array([0, 0, 1, 1, 1])
    >>> result.group_scores
    array([1. , 0.7])
    >>> result.together[4]
    array([0.  , 0.  , 0.65, 0.7 , 1.  ])
    """
    check_rows_at_hand(X, "stability draws rows")
    n_resamples = _checked_count(n_resamples)
    word = checked_word("resampling", resampling, DRAWS)
    estimator = _checked_estimator(estimator)
    follow = followed(progress, n_resamples, "resamples")
    labels = _learned(estimator, X, y, sample_weight)
    X, target = rows_first(X, y)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    check_consistent_length(X, target, weights)
    classes = _classes(target)
    # A seed for each resample, and rows drawn when a worker is free: all at once take memory.
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_resamples)
    draws = (_drawn(classes, word, seed) for seed in seeds)
    fits = (delayed(_learned_again)(estimator, X, target, weights, rows) for rows in draws)
    resampled = list(follow(in_parallel(fits, n_jobs, progress)))
    _check_same_inputs(labels, resampled)
    return Stability(labels, np.array(resampled))


def _learned_again(estimator: Any, X: Any, target: Any, weights: Any, rows: IntArray) -> IntArray:
    """The groups that one resample gives."""
    known = None if weights is None else weights[rows]
    with warnings.catch_warnings():
        # What there is to say was said of all rows.
        warnings.simplefilter("ignore", FitWarning)
        return _learned(estimator, _safe_indexing(X, rows), target[rows], known)


def _learned(estimator: Any, X: Any, y: Any, weights: Any = None) -> IntArray:
    given = {} if weights is None else {"sample_weight": weights}
    fitted = clone(estimator).fit(X, y, **given)
    if not hasattr(fitted, "labels_"):
        raise TypeError(
            "estimator must have labels_ after fit, the group of each input, and "
            f"{type(estimator).__name__} has none. Use a reducer such as NonLinCFA()."
        )
    return _numbered(fitted.labels_)


def _half(rows: IntArray, rng: np.random.RandomState) -> IntArray:
    return rng.choice(rows, max(1, len(rows) // 2), replace=False)


def _as_many(rows: IntArray, rng: np.random.RandomState) -> IntArray:
    return rng.choice(rows, len(rows), replace=True)


DRAWS = {"subsample": _half, "bootstrap": _as_many}


def _drawn(classes: IntArray, word: str, seed: int) -> IntArray:
    """Rows of a resample, drawn from each class apart; in order, for folds of adjacent rows."""
    rng = np.random.RandomState(seed)
    members = [np.flatnonzero(classes == number) for number in range(classes.max() + 1)]
    return np.sort(np.concatenate([DRAWS[word](rows, rng) for rows in members]))


def _classes(target: Any) -> IntArray:
    """Number of the class of each row; 0 for all where the target is not of classes.

    Two values are classes, and so is text. Whole numbers are not: most are counts, where a
    value that occurs once would be drawn every time.
    """
    if target.ndim > 1:
        return np.zeros(len(target), dtype=np.intp)
    values = target.tolist()
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if len(numbers) > 2 and not any(isinstance(value, str | bytes) for value in numbers):
        return np.zeros(len(values), dtype=np.intp)
    return np.array([numbers[value] for value in values], dtype=np.intp)


def _numbered(labels: Any) -> IntArray:
    """The same groups, numbered in order of their first member."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def _overlaps(labels: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """For each two groups of two partitions that share members: the former, and how many."""
    n_others = others.max() + 1
    meeting, shared = np.unique(labels * n_others + others, return_counts=True)
    return meeting // n_others, shared


def _held(labels: IntArray, others: IntArray) -> FloatArray:
    """Share of the pairs of each group that another partition keeps; whether a single is alone."""
    groups, shared = _overlaps(labels, others)
    sizes = np.bincount(labels)
    kept = np.bincount(groups, weights=shared * (shared - 1))
    alone = np.bincount(labels, weights=np.bincount(others)[others] == 1)
    return np.where(sizes == 1, alone, kept / np.maximum(sizes * (sizes - 1), 1))


def _rand_index(labels: IntArray, others: IntArray) -> float:
    """Adjusted Rand index of two partitions (Hubert and Arabie 1985).

    Not that of scikit-learn, which warns where most groups have one member.
    """
    both = _pairs(_overlaps(labels, others)[1])
    ours, theirs = _pairs(np.bincount(labels)), _pairs(np.bincount(others))
    by_chance = ours * (theirs / _pairs(np.array([len(labels)])))
    most = (ours + theirs) / 2
    # Only if all are alone in both, or all together in both.
    return 1.0 if most == by_chance else (both - by_chance) / (most - by_chance)


def _pairs(sizes: IntArray) -> float:
    """Ordered pairs of members within groups of these sizes."""
    return float(np.sum(sizes * (sizes - 1)))


def _checked_count(n_resamples: object) -> int:
    if not isinstance(n_resamples, Integral) or isinstance(n_resamples, bool):
        raise TypeError(f"n_resamples must be an int, got {n_resamples!r}.")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be 1 or more, got {n_resamples}.")
    return int(n_resamples)


def _checked_estimator(estimator: Any) -> Any:
    if estimator is None:
        return NonLinCFA()
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"estimator must be an instance, got the class {name}: write {name}().")
    if not hasattr(estimator, "fit"):
        raise TypeError(f"estimator must be a reducer such as NonLinCFA(), got {estimator!r}.")
    return estimator


def _check_same_inputs(labels: IntArray, resampled: list[IntArray]) -> None:
    for others in resampled:
        if len(others) != len(labels):
            raise ValueError(
                f"labels_ has {len(labels)} entries for all rows and {len(others)} for a "
                "resample. Give the estimator inputs whose number does not depend on the rows."
            )
