"""How well held-out targets are predicted: R2, share of deviance, ROC AUC and log-loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import d2_tweedie_score, r2_score, roc_auc_score

from coterie._core.values import FloatArray

AUC, LOG_LOSS, ACCURACY = "ROC AUC", "log-loss", "accuracy"
R2, DEVIANCE = "R2", "share of deviance explained"
# The variance of these families is this power of the mean.
POWERS = {"poisson": 1, "gamma": 2, "inverse_gaussian": 3}
# Scores of which a lower value is better.
LOWER_IS_BETTER = {LOG_LOSS}
# A probability of 0 for what happened would be an endless loss.
LEAST_PROBABILITY = 1e-15


def metric_name(word: str) -> str:
    """The name of the score by which a family of targets is judged."""
    if word == "bernoulli":
        return AUC
    return DEVIANCE if word in POWERS else R2


def held_out_scores(
    model: Any, columns: FloatArray, y: NDArray[Any], weights: Any, word: str
) -> dict[str, float]:
    """Scores of a fitted model by name, the one that it is judged by first.

    Classes are judged by ROC AUC and log-loss. Accuracy is told but never judged: where 4 % of
    the rows are of one class, always predicting the other has an accuracy of 0.96.
    """
    if word in POWERS:
        return {DEVIANCE: _deviance_explained(model.predict(columns), y, weights, POWERS[word])}
    if word != "bernoulli":
        return {R2: float(r2_score(y, model.predict(columns), sample_weight=weights))}
    given = model.predict_proba(columns)
    chances, targets = (given, y.T) if y.ndim > 1 else ([given], [y])
    labels = model.classes_ if y.ndim > 1 else [model.classes_]
    parts = [
        _class_scores(target, chance, classes, weights)
        for target, chance, classes in zip(targets, chances, labels, strict=True)
    ]
    return {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}


def _deviance_explained(means: FloatArray, y: NDArray[Any], weights: Any, power: int) -> float:
    """Share of the deviance that is explained, the mean over targets; NaN if all are the same."""
    pairs = zip(means.T, y.T, strict=True) if y.ndim > 1 else [(means, y)]
    shares = [
        d2_tweedie_score(target, mean, sample_weight=weights, power=power)
        if np.ptp(target) > 0
        else np.nan
        for mean, target in pairs
    ]
    return float(np.mean(shares))


def _class_scores(
    y: NDArray[Any], chances: FloatArray, classes: NDArray[Any], weights: Any
) -> dict[str, float]:
    hits = y[:, None] == classes
    given = np.where(hits, chances, 0.0).sum(axis=1)
    loss = -np.log(given.clip(LEAST_PROBABILITY, 1.0))
    right = classes[chances.argmax(axis=1)] == y
    return {
        AUC: roc_auc(hits, chances, weights),
        LOG_LOSS: float(np.average(loss, weights=weights)),
        ACCURACY: float(np.average(right, weights=weights)),
    }


def roc_auc(hits: NDArray[Any], chances: FloatArray, weights: Any) -> float:
    """ROC AUC of the second of two classes, or the mean over classes, each against the others.

    NaN if only one class occurs.

    Parameters
    ----------
    hits, chances : ndarray of shape (n_samples, n_classes)
        Whether a row is of a class, and its predicted probability.
    """
    columns = [1] if hits.shape[1] == 2 else range(hits.shape[1])
    both = [k for k in columns if 0 < hits[:, k].sum() < len(hits)]
    areas = [roc_auc_score(hits[:, k], chances[:, k], sample_weight=weights) for k in both]
    return float(np.mean(areas)) if areas else float("nan")
