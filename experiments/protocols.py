"""How a method is tried: what it is fitted on, how its setting is chosen, what is recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.data import Problem
from experiments.methods import (
    SIZES,
    FloatArray,
    IntArray,
    Method,
    Reduction,
    Setting,
    Unavailable,
)


@dataclass(frozen=True)
class Outcome:
    """One line of the results: what came out of one setting."""

    protocol: str
    n_groups: int
    score: float
    seconds: float
    n_measured: int
    setting: Setting
    stability: float | None = None
    agreement: float | None = None


def model_for(problem: Problem, method: Method, style: str) -> Any:
    """The model behind a method: plain as in the paper, or behind standardised columns."""
    own = getattr(method, "model", None)
    if own is not None:
        return make_pipeline(StandardScaler(), own(problem.task, folds(problem)))
    return MODELS[style, problem.task](len(problem.y_train))


MODELS: dict[tuple[str, str], Callable[[int], Any]] = {
    ("plain", "regression"): lambda _: LinearRegression(),
    # When the paper was written, scikit-learn summed the loss over rows; now it is their mean.
    ("plain", "classification"): lambda n_samples: LogisticRegression(tol=1e-4 / n_samples),
    # Least squares; of the least norm where there are more columns than rows.
    ("standardised", "regression"): lambda _: make_pipeline(
        StandardScaler(), Ridge(alpha=1e-8, solver="svd")
    ),
    ("standardised", "classification"): lambda _: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=2000)
    ),
}


def score(reduction: Reduction, model: Any, problem: Problem) -> float:
    """R2 or accuracy on the test rows."""
    model.fit(reduction.columns(problem.X_train), problem.y_train)
    return float(model.score(reduction.columns(problem.X_test), problem.y_test))


def outcomes(
    problem: Problem,
    method: Method,
    protocol: str,
    fixed: Setting,
    *,
    style: str,
    sizes: Collection[int] = SIZES,
    resamples: bool = False,
) -> list[Outcome]:
    """What a protocol records about a method on one trial.

    Parameters
    ----------
    problem : Problem
    method : Method
    protocol : {"paper", "sizes", "honest"}
        "paper": the setting that is best on the test rows. "sizes": that, and the best on the
        test rows for each number of columns. "honest": the setting that is best in
        cross-validation inside the training rows.
    fixed : dict
        What the plan sets once; settings that say otherwise are not tried.
    style : {"plain", "standardised"}
        What the model behind the method is fed with.
    sizes : collection of int
        Numbers of columns that may be chosen.
    resamples : bool
        Whether to say how alike the results from two samples of the training rows are.
    """
    n_samples, n_features = problem.X_train.shape
    settings = method.settings(problem.task, n_samples, n_features)
    settings = [fixed | setting for setting in settings if setting.get("size", 1) in sizes]
    settings = [setting for setting in settings if setting.items() >= fixed.items()]
    if not settings:
        raise Unavailable(f"has no setting for {n_samples} rows and {n_features} columns")
    if protocol == "honest":
        return [honest(problem, method, settings, style, resamples)]
    tried = list(on_test_rows(problem, method, settings, style))
    best = max(tried, key=lambda outcome: outcome.score)
    by_size = best_of_each_size(tried) if protocol == "sizes" else []
    return [*by_size, Outcome(**{**vars(best), "protocol": "paper"})]


def on_test_rows(
    problem: Problem, method: Method, settings: list[Setting], style: str
) -> Iterator[Outcome]:
    """Each setting with its score on the test rows."""
    start = time.perf_counter()
    reductions = method.reductions(problem.X_train, problem.y_train, problem.task, settings)
    seconds = time.perf_counter() - start
    for setting, reduction in zip(settings, reductions, strict=True):
        reached = score(reduction, model_for(problem, method, style), problem)
        n_columns, n_measured = reduction.n_columns, reduction.n_measured
        yield Outcome("sizes", n_columns, reached, seconds, n_measured, setting)


def best_of_each_size(tried: list[Outcome]) -> list[Outcome]:
    """For each number of columns the best, as in a curve that looks at the test rows."""
    by_size: dict[int, Outcome] = {}
    for outcome in tried:
        rival = by_size.get(outcome.n_groups)
        if rival is None or outcome.score > rival.score:
            by_size[outcome.n_groups] = outcome
    return [by_size[size] for size in sorted(by_size)]


def honest(
    problem: Problem, method: Method, settings: list[Setting], style: str, resamples: bool
) -> Outcome:
    """The setting chosen inside the training rows, then fitted on all of them."""
    start = time.perf_counter()
    chosen = settings[0] if len(settings) == 1 else tuned(problem, method, settings, style)
    (reduction,) = method.reductions(problem.X_train, problem.y_train, problem.task, [chosen])
    # With the model, which for some is where the tuning is done.
    reached = score(reduction, model_for(problem, method, style), problem)
    seconds = time.perf_counter() - start
    return Outcome(
        "honest",
        reduction.n_columns,
        reached,
        seconds,
        reduction.n_measured,
        chosen,
        *(alike(*two_samples(problem, method, chosen), problem) if resamples else (None, None)),
    )


def tuned(problem: Problem, method: Method, settings: list[Setting], style: str) -> Setting:
    """The setting with the best mean score in five folds of the training rows."""
    scores = []
    for part in inner(problem):
        reductions = method.reductions(part.X_train, part.y_train, part.task, settings)
        model = model_for(part, method, style)
        scores.append([score(reduction, model, part) for reduction in reductions])
    return settings[int(np.argmax(np.mean(scores, axis=0)))]


def inner(problem: Problem) -> Iterator[Problem]:
    """Training and test rows of each fold of the training rows."""
    X, y = problem.X_train, problem.y_train
    for train, test in folds(problem).split(X, y):
        yield Problem(X[train], X[test], y[train], y[test], problem.task, problem.in_time)


def folds(problem: Problem) -> KFold | StratifiedKFold:
    """Five folds of the training rows: in one piece each where rows are in time."""
    shuffled = {} if problem.in_time else {"shuffle": True, "random_state": 0}
    kind = StratifiedKFold if problem.task == "classification" else KFold
    return kind(n_folds(problem), **shuffled)


def n_folds(problem: Problem) -> int:
    """Five, or as many as the rarest class has rows."""
    if problem.task == "regression":
        return 5
    return int(min(5, np.unique(problem.y_train, return_counts=True)[1].min()))


def two_samples(problem: Problem, method: Method, setting: Setting) -> tuple[Reduction, Reduction]:
    """What the method makes of two samples, each of four fifths of the training rows."""
    X, y = problem.X_train, problem.y_train
    labels = y if problem.task == "classification" else None
    samples = [
        train_test_split(np.arange(len(y)), train_size=0.8, random_state=seed, stratify=labels)[0]
        for seed in (0, 1)
    ]
    first, second = (
        method.reductions(X[sample], y[sample], problem.task, [setting])[0] for sample in samples
    )
    return first, second


def alike(
    first: Reduction, second: Reduction, problem: Problem
) -> tuple[float | None, float | None]:
    """How alike two results are: their columns, and which features go together or are used."""
    X = np.vstack([problem.X_train, problem.X_test])
    columns = adjusted_rv(first.columns(X), second.columns(X))
    if first.labels is None or second.labels is None:
        return columns, None
    return columns, agreement(first.labels, second.labels)


def adjusted_rv(first: FloatArray, second: FloatArray) -> float:
    """Likeness of two tables on the same rows: 1 for the same span and weights, 0 by chance.

    The RV coefficient of standardised columns, less what rows in random order would reach.
    """
    first, second = (StandardScaler().fit_transform(table) for table in (first, second))
    a, b = first @ first.T, second @ second.T
    size = np.linalg.norm(a) * np.linalg.norm(b)
    if size == 0:
        return 0.0
    by_chance = np.trace(a) * np.trace(b) / (len(a) - 1) / size
    return float((np.sum(a * b) / size - by_chance) / (1 - by_chance)) if by_chance < 1 else 0.0


def agreement(first: IntArray, second: IntArray) -> float:
    """Agreement of two groupings (adjusted Rand index) or of two selections (Cohen's kappa)."""
    used = first >= 0, second >= 0
    if all(is_selection(labels) for labels in (first, second)) and not all(map(np.all, used)):
        return float(cohen_kappa_score(*used))
    return float(adjusted_rand_score(first, second))


def is_selection(labels: IntArray) -> bool:
    """Whether every feature that is used is a group of its own."""
    numbers = labels[labels >= 0]
    return len(np.unique(numbers)) == len(numbers)
