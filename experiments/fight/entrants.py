"""Who takes part: reducers with the settings to choose among, each behind raw or robust inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from coterie import Coterie, GenLinCFA, NonLinCFA
from experiments.fight.problems import Split
from experiments.methods import (
    METHODS,
    FloatArray,
    IntArray,
    Method,
    Reduction,
    Setting,
    Task,
    Unavailable,
)
from experiments.methods._ancestors import ANCESTORS
from experiments.methods._peers_common import selection
from experiments.methods._peers_selection import by_f_test

SIZES = (1, 2, 4, 8, 16, 32)
N_FOLDS = 3
# Coterie's own limit for clipped inputs.
FAR = 3.0


@dataclass(frozen=True)
class Entrant:
    """A tuned rival: a method and what is tried of it."""

    method: Method
    settings: tuple[Setting, ...]

    def tried(self, split: Split) -> list[Setting]:
        """Settings that are possible with so many columns and rows in a fold."""
        most = min(split.X.shape[1], len(split.X) * (N_FOLDS - 1) // N_FOLDS - 2)
        return [s for s in self.settings if s.get("size", 1) <= most]


def sizes(*numbers: int, **other: Any) -> tuple[Setting, ...]:
    """One setting for each size."""
    return tuple({"size": number, **other} for number in numbers)


@dataclass(frozen=True)
class Uncorrelated:
    """Like SmartCorrelatedSelection: of features nearer than a threshold the best one by F test."""

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{"threshold": t} for t in (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        order = by_f_test(X, y, task)
        with np.errstate(all="ignore"):
            near = np.abs(np.nan_to_num(np.corrcoef(X.T)))
        return [selection(kept(near, order, s["threshold"]), X.shape[1]) for s in settings]


def kept(near: FloatArray, order: IntArray, threshold: float) -> IntArray:
    """Features in this order, without those nearer than the threshold to one before."""
    left, found = np.ones(len(order), bool), []
    for feature in order:
        if left[feature]:
            found.append(feature)
            left &= near[feature] <= threshold
    return np.array(found, dtype=np.intp)


TUNED: dict[str, Entrant] = {
    "FeatureAgglomeration": Entrant(METHODS["FeatureAgglomeration"], sizes(*SIZES)),
    "PCA": Entrant(METHODS["PCA"], sizes(*SIZES)),
    "PLS": Entrant(METHODS["PLS"], sizes(*SIZES)),
    "SelectKBest": Entrant(METHODS["SelectKBest"], sizes(*SIZES)),
    "kernel PCA": Entrant(METHODS["kernel PCA"], sizes(*SIZES, kernel="rbf")),
    "uncorrelated": Entrant(Uncorrelated(), tuple(Uncorrelated().settings("regression", 0, 0))),
    "CLV": Entrant(ANCESTORS["CLV"], sizes(*SIZES[1:])),
    "ReNA": Entrant(ANCESTORS["ReNA"], sizes(*SIZES)),
    "hclust": Entrant(ANCESTORS["hclust"], sizes(*SIZES)),
    "Ward then lasso": Entrant(
        ANCESTORS["Ward then lasso"],
        tuple(ANCESTORS["Ward then lasso"].settings("regression", 1000, 1000)),
    ),
    "pelora": Entrant(ANCESTORS["pelora"], sizes(1, 2, 4, 8)),
    "wilma": Entrant(ANCESTORS["wilma"], sizes(1, 2, 4, 8)),
}
OURS = ("Coterie", "NonLinCFA", "GenLinCFA")


def folds(split: Split) -> list[tuple[IntArray, IntArray]]:
    """Three folds of the training rows: in one piece in time, of whole groups, or shuffled."""
    X, y = split.X, split.y
    if split.in_time:
        return list(KFold(N_FOLDS).split(X))
    if split.task == "regression":
        if split.groups is not None:
            return list(GroupKFold(N_FOLDS).split(X, y, split.groups))
        return list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))
    if split.groups is not None:
        return list(StratifiedGroupKFold(N_FOLDS).split(X, y, split.groups))
    return list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))


def fitted_ours(name: str, split: Split, **options: Any) -> Any:
    """One of our reducers, which tune nothing; rows in time and in groups are told to Coterie."""
    y = split.y if split.task == "regression" else split.y.astype(int).astype(str)
    if name == "NonLinCFA":
        return NonLinCFA().fit(split.X, y)
    if name == "GenLinCFA":
        if len(np.unique(y)) > 2:
            raise Unavailable("is tried with two classes")
        return GenLinCFA(family="bernoulli").fit(split.X, y)
    cv: Any = TimeSeriesSplit() if split.in_time else 5
    cv = cv if split.groups is None else GroupKFold()
    task = "regression" if split.task == "regression" else "classes"
    return Coterie(task, cv=cv, **options).fit(split.X, y, groups=split.groups)


def as_reduction(reducer: Any) -> Reduction:
    """A fitted reducer of ours like all others."""
    labels = np.asarray(reducer.labels_, dtype=np.intp)
    n_measured = int((labels >= 0).sum())
    return Reduction(
        lambda X: np.asarray(reducer.transform(X), dtype=float),
        reducer.n_groups_,
        n_measured,
        labels,
    )


def robust(split: Split, how: str) -> Split:
    """The same rows with clipped or ranked columns, by what the training rows say."""
    if how == "clip":
        X, X_test = (np.clip(part, -FAR, FAR) for part in (split.X, split.X_test))
    else:
        X, X_test = (shares_below(part, split.X) for part in (split.X, split.X_test))
    center, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 1e-12, spread, np.inf)
    return split._replace(X=(X - center) / spread, X_test=(X_test - center) / spread)


def shares_below(values: FloatArray, training: FloatArray) -> FloatArray:
    """Each value as the share of training values below it, ties by half."""
    found = np.empty_like(values)
    for column, ordered in enumerate(np.sort(training, axis=0).T):
        below = np.searchsorted(ordered, values[:, column], "left")
        up_to = np.searchsorted(ordered, values[:, column], "right")
        found[:, column] = (below + up_to) / (2 * len(ordered))
    return found
