"""Columns of a group, its candidates, their merged aggregates and the target, row by row."""

from __future__ import annotations

from typing import NamedTuple

from coterie._core.values import FloatArray


class PairColumns(NamedTuple):
    """Values of u (the group), v (m candidates), w (the group merged with each) and y.

    For criteria that need more than moments. The columns of u, v and w have mean 0 and spread 1
    over the rows that have a value. Missing values are 0, and a constant column is 0 everywhere.

    Parameters
    ----------
    u : ndarray of shape (n_samples, 1)
        The aggregate of the group.
    v : ndarray of shape (n_samples, m)
        The candidates.
    w : ndarray of shape (n_samples, m)
        The aggregate of the group with each candidate.
    y : ndarray of shape (n_samples, 1)
        The target, in its own units.
    weights : ndarray of shape (n_samples, 1) or (n_samples, m)
        The weight of each row.
    offset : ndarray of shape (n_samples, 1)
        The known part of the linear predictor.

    Examples
    --------
    A criterion gets columns instead of moments if it says that it needs rows:

    >>> import numpy as np
    >>> from coterie import CustomCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.extending import Verdict
    >>> class SameSign:
    ...     needs_rows = True
    ...
    ...     def verdict(self, pairs):
    ...         differ = np.mean(pairs.u * pairs.v < 0, axis=0)
    ...         price = differ[None]  # of shape (1, m): one group, m candidates
    ...         return Verdict(price, allowance=np.full_like(price, 0.25))
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> CustomCFA(SameSign()).fit(X, y).n_groups_
    3
    """

    u: FloatArray
    v: FloatArray
    w: FloatArray
    y: FloatArray
    weights: FloatArray
    offset: FloatArray
