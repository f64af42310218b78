"""Coterie and its peers by the words that make them, so that a table says what was run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

# Where the names come from that configurations may use.
PLACES = {
    "Coterie": "coterie",
    "GenLinCFA": "coterie",
    "LinCFA": "coterie",
    "MutualCFA": "coterie",
    "NonLinCFA": "coterie",
    "FeatureAgglomeration": "sklearn.cluster",
    "GridSearchCV": "sklearn.model_selection",
    "PCA": "sklearn.decomposition",
    "PLSRegression": "sklearn.cross_decomposition",
    "SmartCorrelatedSelection": "feature_engine.selection",
}
WARD, SMART, VARCLUS = "FeatureAgglomeration(20)", "SmartCorrelatedSelection()", "VarClusHi()"
TUNED_PLS = "GridSearchCV(PLSRegression(), sizes, cv=5)"
RENA = "ReNA()"
# Components from which a PLS is chosen.
SIZES = [1, 2, 3, 5, 8, 10, 12, 16, 20]
DEFAULTS = ("Coterie()", "NonLinCFA()")
# The rules of the paper with a fixed tolerance, and other searches.
FIXED = (
    'NonLinCFA(0.001, cv=None, search="forward")',
    "NonLinCFA(0.001, cv=None)",
    "NonLinCFA(0.001)",
    'NonLinCFA(0.001, cv=None, search="best")',
    "GenLinCFA(0.77)",
    "LinCFA()",
)
PEERS = (WARD, "PCA(20)", "PLSRegression(20)", SMART, VARCLUS)


class Names(Mapping[str, Any]):
    """Names that are imported when a configuration asks for them."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given

    def __getitem__(self, name: str) -> Any:
        if name in self._given:
            return self._given[name]
        return getattr(import_module(PLACES[name]), name)

    def __iter__(self) -> Iterator[str]:
        return iter([*self._given, *PLACES])

    def __len__(self) -> int:
        return len(self._given) + len(PLACES)


def made(configuration: str, **given: Any) -> Any:
    """The estimator that these words make; ``given`` has further names, such as a graph."""
    return eval(configuration, {"__builtins__": {}}, Names(given))


def ready(configuration: str, X: Any, y: np.ndarray, **given: Any) -> Callable[[], Any]:
    """A function that fits an estimator to data in the form that it wants."""
    if configuration == TUNED_PLS:
        fewest = min(0.8 * X.shape[0] - 1, X.shape[1])
        sizes = {"n_components": [size for size in SIZES if size < fewest]}
        return lambda: made(configuration, sizes=sizes).fit(X, y)
    if configuration == VARCLUS:
        from varclushi import VarClusHi

        frame = _frame(X)
        return lambda: VarClusHi(frame).varclus()
    if configuration == SMART:
        frame = _frame(X)
        smart = 'SmartCorrelatedSelection(selection_method="variance")'
        return lambda: made(smart).fit(frame, y)
    if configuration == RENA:
        from nibabel import Nifti1Image
        from nilearn.regions import ReNA

        mask = Nifti1Image(np.ones(given["shape"], dtype=np.int8), np.eye(4))
        return lambda: ReNA(mask, n_clusters=given["n_groups"]).fit(X)
    return lambda: made(configuration, **given).fit(X, y)


def _frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
