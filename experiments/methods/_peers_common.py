"""What peers share: sizes to try, the target as columns, two kinds of reduction, packages."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import sklearn
from scipy.cluster.hierarchy import cut_tree
from sklearn.feature_selection import f_classif, f_regression

from experiments.methods._reduction import (
    SIZES,
    FloatArray,
    IntArray,
    Reduction,
    Setting,
    Task,
    Unavailable,
)

# How to ask LogisticRegression for absolute values and LogisticRegressionCV for squares: before
# scikit-learn 1.8, l1_ratio means nothing unless the penalty says so; since then, penalty warns.
SINCE_1_8 = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
L1: dict[str, Any] = {"l1_ratio": 1.0} if SINCE_1_8 else {"penalty": "l1"}
L2_CV: dict[str, Any] = (
    {"l1_ratios": (0.0,), "use_legacy_attributes": False} if SINCE_1_8 else {"penalty": "l2"}
)
PENALTIES = (0.9, 0.6, 0.4, 0.25, 0.15, 0.1, 0.06, 0.03, 0.015, 0.005, 0.001)


def size_settings(most: int) -> list[Setting]:
    return [{"size": size} for size in SIZES if size <= most]


def penalty_settings() -> list[Setting]:
    """Shares of the smallest penalty that leaves no feature."""
    return [{"penalty": share} for share in PENALTIES]


def falling_path(penalties: FloatArray) -> FloatArray:
    """The penalties, and all usual ones that are larger, from large to small.

    Each start is the solution before, so with the same steps on the way a penalty gives the same
    whatever else is asked for.
    """
    larger = [share for share in PENALTIES if share > min(penalties)]
    return np.array(sorted({*larger, *penalties}, reverse=True))


def package(module: str, *, name: str) -> ModuleType:
    """A library that only some have, imported when it is needed."""
    try:
        with warnings.catch_warnings():
            # umap warns that TensorFlow is missing, which nothing here uses.
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError as error:
        reason = f"{name} is not installed: pip install 'coterie[experiments]'"
        raise Unavailable(reason) from error


def target_columns(y: FloatArray, task: Task) -> FloatArray:
    """Numbers as one column; two classes as one of 0 and 1; more classes as one for each."""
    if task == "regression":
        return y[:, None]
    classes = np.unique(y)
    marked = classes[1:] if len(classes) == 2 else classes
    return (y[:, None] == marked).astype(float)


def f_scores(X: FloatArray, y: FloatArray, task: Task) -> FloatArray:
    """How much each feature alone has to do with the target; nothing for a constant one."""
    test = f_regression if task == "regression" else f_classif
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Constant features are warned of, although their score, nan, says the same.
        warnings.simplefilter("ignore")
        scores, _ = test(X, y)
    return np.nan_to_num(scores, nan=0.0, posinf=np.inf)


def take(X: FloatArray, *, features: IntArray) -> FloatArray:
    return X[:, features]


def combine(X: FloatArray, *, weights: FloatArray) -> FloatArray:
    return X @ weights


def selection(features: IntArray, n_features: int) -> Reduction:
    """Some features as they are, each a group of its own."""
    labels = np.full(n_features, -1, dtype=np.intp)
    labels[features] = np.arange(len(features))
    return Reduction(partial(take, features=features), len(features), len(features), labels)


def cut(tree: FloatArray, sizes: Iterable[int]) -> list[IntArray]:
    """Labels of a tree cut into each number of clusters.

    From the largest to the smallest, because SciPy puts the cut into single leaves first, wherever
    it is asked for.
    """
    numbers = list(sizes)
    falling = sorted(set(numbers), reverse=True)
    cuts = dict(zip(falling, cut_tree(tree, falling).T.astype(np.intp), strict=True))
    return [cuts[size] for size in numbers]


def grouping(labels: IntArray, member_weights: FloatArray) -> Reduction:
    """One column per group, the weighted sum of its members; label -1 belongs to none."""
    used = np.flatnonzero(labels >= 0)
    weights = np.zeros((len(labels), int(labels.max()) + 1))
    weights[used, labels[used]] = member_weights[used]
    return Reduction(partial(combine, weights=weights), weights.shape[1], len(used), labels)
