"""Moments of sparse columns by fold, with few rows dense at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.joint import content_folds, content_order
from coterie._core.values import FloatArray
from coterie._data.moments import Moments

# So many numbers are dense at a time.
DENSE_AT_A_TIME = 2**24


def sparse_moments(
    X: Any, y: Any, targets: FloatArray, weights: FloatArray | None, n_folds: int
) -> Moments:
    """Moments of sparse columns. The folds are those of the same columns when they are dense.

    Parameters
    ----------
    X : sparse array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        What the moments are told: class labels or numbers.
    targets : ndarray of shape (n_samples, n_targets)
        The same as numbers, by which rows are dealt out to folds.
    weights : ndarray of shape (n_samples,) or None
    n_folds : int
    """
    X = sparse.csr_array(X)
    counts = np.ones(len(targets)) if weights is None else weights
    order = content_order(X, targets, counts, n_folds)
    # Moments have no rows that all folds share.
    folds = content_folds(targets, order.hashes, np.zeros(len(targets), dtype=bool), n_folds)
    moments = Moments()
    for part in _parts(X):
        own = None if weights is None else weights[part]
        moments.update(X[part].toarray(), y[part], own, folds[part])
    return moments


def _parts(X: Any) -> Iterator[slice]:
    step = max(1, DENSE_AT_A_TIME // X.shape[1])
    return (slice(start, start + step) for start in range(0, X.shape[0], step))
