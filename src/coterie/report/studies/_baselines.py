"""Other ways to fewer columns, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coterie.report.studies._tasks import TaskName

Steps = list[Any]


@dataclass(frozen=True)
class Rival:
    """A way to columns.

    Parameters
    ----------
    name : str
    steps : callable
        From a number of columns to transformers that follow each other.
    tasks : tuple of str
        What it can be asked.
    """

    name: str
    steps: Callable[[int], Steps]
    tasks: tuple[TaskName, ...] = ("regression", "classes", "counts")


def _pca(size: int) -> Steps:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    return [StandardScaler(), PCA(size, random_state=0)]


def _pls(size: int) -> Steps:
    from sklearn.cross_decomposition import PLSRegression

    return [PLSRegression(size)]


def _clusters(size: int) -> Steps:
    from sklearn.cluster import FeatureAgglomeration
    from sklearn.preprocessing import StandardScaler

    return [StandardScaler(), FeatureAgglomeration(size)]


def _for_numbers(size: int) -> Steps:
    from sklearn.feature_selection import SelectKBest, f_regression

    return [SelectKBest(f_regression, k=size)]


def _for_classes(size: int) -> Steps:
    from sklearn.feature_selection import SelectKBest, f_classif

    return [SelectKBest(f_classif, k=size)]


PCA = Rival("PCA", _pca)
RIVALS = (
    PCA,
    Rival("PLS", _pls, ("regression",)),
    Rival("FeatureAgglomeration", _clusters),
    Rival("SelectKBest", _for_numbers, ("regression", "counts")),
    Rival("SelectKBest", _for_classes, ("classes",)),
)
