"""Other methods to reduce the number of columns, from scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coterie.report.studies._tasks import TaskName

Transformers = list[Any]


@dataclass(frozen=True)
class Baseline:
    """A method that reduces the number of columns.

    Parameters
    ----------
    name : str
    steps : callable
        From a number of columns to a list of transformers.
    tasks : tuple of str
        The tasks it can be used for.
    """

    name: str
    steps: Callable[[int], Transformers]
    tasks: tuple[TaskName, ...] = ("regression", "classes", "counts")


def _pca(size: int) -> Transformers:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    return [StandardScaler(), PCA(size, random_state=0)]


def _pls(size: int) -> Transformers:
    from sklearn.cross_decomposition import PLSRegression

    return [PLSRegression(size)]


def _agglomeration(size: int) -> Transformers:
    from sklearn.cluster import FeatureAgglomeration
    from sklearn.preprocessing import StandardScaler

    return [StandardScaler(), FeatureAgglomeration(size)]


def _k_best_for_numbers(size: int) -> Transformers:
    from sklearn.feature_selection import SelectKBest, f_regression

    return [SelectKBest(f_regression, k=size)]


def _k_best_for_classes(size: int) -> Transformers:
    from sklearn.feature_selection import SelectKBest, f_classif

    return [SelectKBest(f_classif, k=size)]


PCA = Baseline("PCA", _pca)
BASELINES = (
    PCA,
    Baseline("PLS", _pls, ("regression",)),
    Baseline("FeatureAgglomeration", _agglomeration),
    Baseline("SelectKBest", _k_best_for_numbers, ("regression", "counts")),
    Baseline("SelectKBest", _k_best_for_classes, ("classes",)),
)
