"""Coterie and its peers, each as a function that fits X and y."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA

from coterie import GenLinCFA, LinCFA, NonLinCFA

Fit = Callable[[np.ndarray, np.ndarray], Any]


def smart_correlated(X: np.ndarray, y: np.ndarray) -> Any:
    import pandas as pd
    from feature_engine.selection import SmartCorrelatedSelection

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return SmartCorrelatedSelection(selection_method="variance").fit(frame, y)


def varclus(X: np.ndarray, y: np.ndarray) -> Any:
    import pandas as pd
    from varclushi import VarClusHi

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return VarClusHi(frame).varclus()


OURS: dict[str, Fit] = {
    "NonLin in-sample, forward": NonLinCFA(1e-3, cv=None, search="forward").fit,
    "NonLin in-sample, restart": NonLinCFA(1e-3, cv=None).fit,
    "NonLin 5-fold, restart": NonLinCFA(1e-3).fit,
    "GenLin": GenLinCFA(0.77).fit,
    "LinCFA": LinCFA().fit,
    "NonLin in-sample, best": NonLinCFA(1e-3, cv=None, search="best").fit,
}
PEERS: dict[str, Fit] = {
    "FeatureAgglomeration (Ward)": lambda X, y: FeatureAgglomeration(20).fit(X),
    "PCA(20)": lambda X, y: PCA(20).fit(X),
    "PLS(20)": lambda X, y: PLSRegression(20).fit(X, y),
    "SmartCorrelatedSelection": smart_correlated,
    "VarClusHi": varclus,
}
METHODS = OURS | PEERS
