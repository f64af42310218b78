"""Stability of the groups under resampling of the rows."""

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

from coterie._core.values import FitWarning, FloatArray, IntArray, data_frame
from coterie._data.fields import rows_first
from coterie._data.frames import frame_html, frame_text
from coterie._data.parameters import checked_word
from coterie._data.progress import Tell, followed, in_parallel
from coterie._data.training import rows_at_hand
from coterie.estimators import Coterie

# A matrix of all pairs of this many inputs takes nearly a gigabyte.
MOST_INPUTS = 10_000

# Inputs that share a group in exactly half of the resamples do not share it in more than half. The
# margin is far above the rounding errors of average distances.
LESS_THAN_HALF = 0.5 - 1e-12


@dataclass(frozen=True, repr=False)
class Stability:
    """The groups on all rows, compared with those on many resamples.

    Parameters
    ----------
    labels : ndarray of shape (n_inputs,)
        Group number of each input, learned from all rows; -1 if it is left out.
    resampled : ndarray of shape (n_resamples, n_inputs)
        Group number of each input, learned from each resample; -1 if it is left out.

    Notes
    -----
    Inputs that are left out are in no group: two of them are not together, and one of them is not a
    group of one.

    `together` and `consensus` compare all pairs of inputs. They are computed on first access, and
    raise an error for more than 10,000 inputs. The other attributes need no more memory than
    `resampled`.

    See Also
    --------
    coterie.stability : Computes this result.

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
        """Adjusted Rand index of the groups of each resample and of all rows, (n_resamples,).

        It is 1 for the same groups, and 0 on average for random groups. Each input that is left out
        counts as a part of its own.
        """
        ours = _each_apart(self.labels)
        return np.array([_rand_index(ours, _each_apart(labels)) for labels in self.resampled])

    @property
    def group_scores(self) -> FloatArray:
        """Stability of each group of all rows, from 0 to 1, of shape (n_groups,).

        This is the share of resamples in which two members share a group, averaged over all pairs
        of members. For a group of one it is the share of resamples in which the input is a group of
        its own. A group that is part of a larger group in a resample counts as stable; `agreement`
        shows whether other inputs joined it.
        """
        held = [_held(_each_apart(self.labels), labels) for labels in self.resampled]
        return np.mean(held, axis=0)[: self.labels.max() + 1]

    def __repr__(self) -> str:
        return frame_text(self._headline, self)

    def _repr_html_(self) -> str:
        return frame_html(self._headline, self)

    @property
    def _headline(self) -> str:
        n_resamples, n_inputs = self.resampled.shape
        return f"Stability of the groups of {n_inputs:,} columns over {n_resamples:,} resamples"

    def to_frame(self) -> Any:
        """The groups of all rows as a pandas data frame: number, size and stability."""
        scores = self.group_scores
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=len(scores))
        return data_frame(
            {"group": np.arange(len(scores)), "n_members": sizes, "stability": scores}
        )

    @cached_property
    def together(self) -> FloatArray:
        """Share of resamples in which two inputs share a group, of shape (D, D)."""
        from scipy.spatial.distance import squareform

        return 1 - squareform(self._apart())

    @cached_property
    def consensus(self) -> IntArray:
        """Groups whose members share a group in more than half of the resamples, (n_inputs,).

        They are found by average linkage. The distance of two inputs is the share of resamples in
        which they are in different groups. Clusters are merged while the average distance is below
        one half. Groups are numbered in order of their first member. Inputs that are left out of
        half of the resamples or more have -1.
        """
        from scipy.cluster.hierarchy import fcluster, linkage

        tree = linkage(self._apart(), method="average")
        groups = fcluster(tree, LESS_THAN_HALF, criterion="distance")
        is_left_out = (self.resampled < 0).mean(axis=0) > LESS_THAN_HALF
        return _numbered(np.where(is_left_out, -1, groups))

    def _apart(self) -> FloatArray:
        """Share of resamples in which two inputs are in different groups, (D (D - 1) / 2,)."""
        n_inputs = len(self.labels)
        if n_inputs > MOST_INPUTS:
            raise ValueError(
                f"All pairs of {n_inputs:,} inputs take {8 * n_inputs**2:,} bytes; they are "
                f"compared for at most {MOST_INPUTS:,} inputs. Use group_scores, agreement or "
                "n_groups, which need no pairs."
            )
        # Imported late: this imports much of scipy.
        from scipy.spatial.distance import pdist

        apart = np.array([_each_apart(labels) for labels in self.resampled])
        return pdist(apart.T, metric="hamming")


def stability(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    n_resamples: int = 100,
    resampling: Literal["subsample", "bootstrap"] = "subsample",
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Tell = False,
) -> Stability:
    """Stability of the groups under resampling of the rows.

    The reducer learns groups from all rows, and again from each of many random resamples. Groups
    that appear in nearly all resamples are reliable. Others may be due to chance.

    Parameters
    ----------
    X : array-like, data frame or xarray field of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    estimator : reducer or None, default=None
        The reducer, such as ``GenLinCFA(family="bernoulli")``. It is cloned and not changed. None:
        ``Coterie()``.
    n_resamples : int, default=100
        Number of resamples.
    resampling : {"subsample", "bootstrap"}, default="subsample"
        "subsample": half of the rows, without replacement. "bootstrap": as many rows as in X, with
        replacement; a reducer treats repeated rows as additional evidence, which they are not.
        Rows keep their order. If y has two distinct values, or is text, the resamples are
        stratified by class.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts. The reducer must accept `sample_weight` in fit.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that belong together, such as patients: whole groups are drawn, without
        regard to classes. They are passed to `fit` of a reducer whose `cv` is a splitter.
    offset, exposure : array-like of shape (n_samples,), optional
        For reducers that take them in fit, such as GenLinCFA.
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling. The result does not depend on `n_jobs`.
    n_jobs : int or None, default=None
        Number of resamples to run in parallel, as in scikit-learn.
    progress : bool or callable, default=False
        Whether to show a progress bar; needs ``pip install 'coterie[progress]'``. A callable is
        called with the number of finished resamples and the number of all resamples.

    Returns
    -------
    Stability
        ``labels``, the groups on all rows; ``group_scores``, the stability of each of them;
        ``together``, the share of resamples in which two inputs share a group; ``consensus``, the
        groups of inputs that share one in most resamples; ``agreement`` and ``n_groups``, one
        value per resample; and ``resampled``, the groups of each resample.

    Notes
    -----
    A subsample has half of the rows, so its groups are those of a smaller data set.

    References
    ----------
    Meinshausen, Buehlmann: Stability selection. Journal of the Royal Statistical Society B
    72 (2010).

    Examples
    --------
    The last feature is independent of the target. Coterie leaves it out, and finds the two groups
    again in all resamples:

    >>> import numpy as np
    >>> from coterie import NonLinCFA, stability
    >>> rng = np.random.default_rng(2)
    >>> warm, dry, wind = rng.normal(size=(3, 200, 1))
    >>> X = np.hstack([warm, warm, dry, dry, wind]) + 0.1 * rng.normal(size=(200, 5))
    >>> y = (3 * warm - dry).ravel() + rng.normal(size=200)
    >>> result = stability(X, y, n_resamples=20, random_state=0)
    >>> result.labels
    array([ 0,  0,  1,  1, -1])
    >>> result.group_scores
    array([1., 1.])

    The rule of the paper has every feature in a group. On all rows the last one joins the second
    group, but it does not do so in all resamples:

    >>> result = stability(X, y, estimator=NonLinCFA(0.02), n_resamples=20, random_state=0)
    >>> result.labels
    array([0, 0, 1, 1, 1])
    >>> result.group_scores
    array([1. , 0.9])
    >>> result.together[4]
    array([0.  , 0.  , 0.85, 0.85, 1.  ])
    """
    X = rows_at_hand(X, "stability draws rows")
    n_resamples = _checked_count(n_resamples)
    word = checked_word("resampling", resampling, DRAWS)
    estimator = _checked_estimator(estimator)
    follow = followed(progress, n_resamples, "resamples")
    known = {
        name: None if one is None else np.asarray(one)
        for name, one in {
            "sample_weight": sample_weight,
            "groups": groups,
            "offset": offset,
            "exposure": exposure,
        }.items()
    }
    labels = _learned(estimator, X, y, known)
    X, target = rows_first(X, y)
    check_consistent_length(X, target, *known.values())
    # Each resample has its own seed, and its rows are drawn when a worker is free, to save memory.
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_resamples)
    if groups is None:
        classes = _classes(target)
        draws = (_drawn(classes, word, seed) for seed in seeds)
    else:
        draws = (_drawn_groups(known["groups"], word, seed) for seed in seeds)
    fits = (delayed(_learned_again)(estimator, X, target, known, rows) for rows in draws)
    resampled = list(follow(in_parallel(fits, n_jobs, progress)))
    _check_same_inputs(labels, resampled)
    return Stability(labels, np.array(resampled))


def _learned_again(
    estimator: Any, X: Any, target: Any, known: dict[str, Any], rows: IntArray
) -> IntArray:
    """The group labels of one resample."""
    drawn = {name: None if one is None else one[rows] for name, one in known.items()}
    with warnings.catch_warnings():
        # The fit on all rows has issued these warnings already.
        warnings.simplefilter("ignore", FitWarning)
        return _learned(estimator, _safe_indexing(X, rows), target[rows], drawn)


def _learned(estimator: Any, X: Any, y: Any, known: dict[str, Any]) -> IntArray:
    given = {name: one for name, one in known.items() if one is not None}
    # Other folds would ignore groups, with a warning.
    if not hasattr(getattr(estimator, "cv", None), "get_n_splits"):
        given.pop("groups", None)
    fitted = clone(estimator).fit(X, y, **given)
    if not hasattr(fitted, "labels_"):
        raise TypeError(
            "estimator must have labels_ after fit, the group of each input, and "
            f"{type(estimator).__name__} has none. Use a reducer such as Coterie()."
        )
    return _numbered(fitted.labels_)


def _half(rows: IntArray, rng: np.random.RandomState) -> IntArray:
    return rng.choice(rows, max(1, len(rows) // 2), replace=False)


def _as_many(rows: IntArray, rng: np.random.RandomState) -> IntArray:
    return rng.choice(rows, len(rows), replace=True)


DRAWS = {"subsample": _half, "bootstrap": _as_many}


def _drawn(classes: IntArray, word: str, seed: int) -> IntArray:
    """Rows of a resample, stratified by class, and sorted for contiguous folds."""
    rng = np.random.RandomState(seed)
    members = [np.flatnonzero(classes == number) for number in range(classes.max() + 1)]
    return np.sort(np.concatenate([DRAWS[word](rows, rng) for rows in members]))


def _drawn_groups(groups: Any, word: str, seed: int) -> IntArray:
    """Rows of a resample that draws whole groups of rows, in order."""
    names, number = np.unique(groups, return_inverse=True)
    drawn = DRAWS[word](np.arange(len(names)), np.random.RandomState(seed))
    times = np.bincount(drawn, minlength=len(names))[number]
    return np.repeat(np.arange(len(number)), times)


def _classes(target: Any) -> IntArray:
    """Class number of each row; 0 for all rows if the target has no classes.

    Targets with two distinct values and text are classes. Other integers are not: most are
    counts, and a value that occurs once would be in every resample.
    """
    if target.ndim > 1:
        return np.zeros(len(target), dtype=np.intp)
    values = target.tolist()
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if len(numbers) > 2 and not any(isinstance(value, str | bytes) for value in numbers):
        return np.zeros(len(values), dtype=np.intp)
    return np.array([numbers[value] for value in values], dtype=np.intp)


def _numbered(labels: Any) -> IntArray:
    """The labels of the same groups, numbered in order of their first member; -1 stays."""
    values, first, group = np.unique(labels, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(np.where(values < 0, -1, first)))
    return place[group] - int(values[0] < 0)


def _each_apart(labels: IntArray) -> IntArray:
    """The labels, with a number of its own for each input that is left out, after the groups."""
    is_left_out = labels < 0
    apart = labels.copy()
    apart[is_left_out] = labels.max() + 1 + np.arange(np.count_nonzero(is_left_out))
    return apart


def _overlaps(labels: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """For each pair of overlapping groups of two partitions: the first group, and the overlap."""
    n_others = others.max() + 1
    meeting, shared = np.unique(labels * n_others + others, return_counts=True)
    return meeting // n_others, shared


def _held(labels: IntArray, others: IntArray) -> FloatArray:
    """Share of the pairs of each group that share a group in another partition.

    For a group of one: 1 if the input is a group of its own in the other partition, else 0.
    """
    is_grouped, others = others >= 0, _each_apart(others)
    groups, shared = _overlaps(labels, others)
    sizes = np.bincount(labels)
    kept = np.bincount(groups, weights=shared * (shared - 1))
    alone = np.bincount(labels, weights=is_grouped & (np.bincount(others)[others] == 1))
    return np.where(sizes == 1, alone, kept / np.maximum(sizes * (sizes - 1), 1))


def _rand_index(labels: IntArray, others: IntArray) -> float:
    """Adjusted Rand index of two partitions (Hubert and Arabie 1985).

    The function of scikit-learn is not used, because it warns if most groups have one member.
    """
    both = _pairs(_overlaps(labels, others)[1])
    ours, theirs = _pairs(np.bincount(labels)), _pairs(np.bincount(others))
    by_chance = ours * (theirs / _pairs(np.array([len(labels)])))
    most = (ours + theirs) / 2
    # Equal only if both partitions have only groups of one, or both have a single group.
    return 1.0 if most == by_chance else (both - by_chance) / (most - by_chance)


def _pairs(sizes: IntArray) -> float:
    """Number of ordered pairs of members within groups of these sizes."""
    return float(np.sum(sizes * (sizes - 1)))


def _checked_count(n_resamples: object) -> int:
    if not isinstance(n_resamples, Integral) or isinstance(n_resamples, bool):
        raise TypeError(f"n_resamples must be an int, got {n_resamples!r}.")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be 1 or more, got {n_resamples}.")
    return int(n_resamples)


def _checked_estimator(estimator: Any) -> Any:
    if estimator is None:
        return Coterie()
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"estimator must be an instance, got the class {name}: write {name}().")
    if not hasattr(estimator, "fit"):
        raise TypeError(f"estimator must be a reducer such as Coterie(), got {estimator!r}.")
    return estimator


def _check_same_inputs(labels: IntArray, resampled: list[IntArray]) -> None:
    for others in resampled:
        if len(others) != len(labels):
            raise ValueError(
                f"labels_ has {len(labels)} entries for all rows and {len(others)} for a "
                "resample. Give the estimator inputs whose number does not depend on the rows."
            )
