"""Sums and correlations of standardised columns, without forming them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from coterie._core.values import FloatArray, IntArray, is_sparse

# A standard deviation below this share of the mean is rounding: the column is constant.
CONSTANT_TOLERANCE = 1e-12


class StandardisedColumns(NamedTuple):
    """Columns of mean 0 and variance 1. They are never formed; sums of them are products of X.

    Parameters
    ----------
    columns : array of shape (n_samples, n_features)
        Missing values are filled with the means.
    mean, spread : ndarray of shape (n_features,)
        A constant feature has spread infinity, so that it is standardised to 0.
    share : ndarray of shape (n_samples,)
        Share of each row in the total weight.
    observed : ndarray of shape (n_samples, n_features) or None
        Mask of values that are not missing; None if none is missing.
    variance : ndarray of shape (n_features,)
        Variance of the standardised columns over all rows: 1, 0 for a constant column, and less
        than 1 with missing values.
    """

    columns: Any
    mean: FloatArray
    spread: FloatArray
    share: FloatArray
    observed: Any
    variance: FloatArray

    @classmethod
    def of(cls, columns: Any, weights: Any = None) -> StandardisedColumns:
        """Standardise columns, each by the rows without a missing value."""
        n_samples = columns.shape[0]
        share = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=np.float64)
        share = share / share.sum()
        observed = None
        if not is_sparse(columns) and np.isnan(columns).any():
            observed = ~np.isnan(columns)
        total = np.ones(columns.shape[1]) if observed is None else share @ observed
        mean = (share @ (columns if observed is None else np.where(observed, columns, 0.0))) / total
        filled = columns if observed is None else np.where(observed, columns, mean)
        deviation = _standard_deviation(filled, mean, share) / np.sqrt(total)
        is_constant = deviation <= CONSTANT_TOLERANCE * np.abs(mean)
        spread = np.where(is_constant, np.inf, deviation)
        return cls(filled, mean, spread, share, observed, total * ~is_constant)

    def sums(self, sets: Any) -> FloatArray:
        """Weighted sums over sets of features, of shape (n_samples, n_sets).

        Each row is multiplied by the square root of its share.

        Parameters
        ----------
        sets : sparse array of shape (n_features, n_sets)
            Weight of each feature in each set.
        """
        scaled = sparse.diags_array(1 / self.spread) @ sets
        values = self.columns @ scaled - (self.mean @ scaled)
        return np.sqrt(self.share)[:, None] * np.asarray(values)

    def observed_together(self, sets: Any) -> Any:
        """Mean share of rows in which two features, one of each set, are both observed.

        Of shape (n_sets, n_sets). Pairs of two different features only, so NaN for a set of one
        feature with itself; 1 without missing values.
        """
        if self.observed is None:
            return 1.0
        sizes = np.asarray(abs(sets).sum(axis=0))
        counts = np.sqrt(self.share)[:, None] * (self.observed @ abs(sets))
        together, pairs = counts.T @ counts, np.outer(sizes, sizes)
        np.fill_diagonal(together, np.diagonal(together) - (self.share @ self.observed) @ abs(sets))
        np.fill_diagonal(pairs, sizes * (sizes - 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return together / pairs

    def mean_correlations(self, sets: Any) -> FloatArray:
        """Mean correlation between two different features, one of each set.

        Of shape (n_sets, n_sets); 1 for a set of one feature with itself, 0 for a constant.
        """
        sizes = np.asarray(abs(sets).sum(axis=0))
        sums = self.sums(sets)
        pairs = np.outer(sizes, sizes)
        # Leave out the product of each feature with itself.
        own = (sets**2).T @ self.variance
        together = sums.T @ sums
        np.fill_diagonal(together, np.diagonal(together) - own)
        np.fill_diagonal(pairs, sizes * (sizes - 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = together / pairs / self.observed_together(sets)
        np.fill_diagonal(means, np.where(sizes > 1, np.diagonal(means), own > 0))
        return np.nan_to_num(means.clip(-1, 1))


def _standard_deviation(columns: Any, mean: FloatArray, share: FloatArray) -> FloatArray:
    """Weighted standard deviation of each column."""
    if is_sparse(columns):
        return np.sqrt((share @ columns.multiply(columns) - mean**2).clip(0))
    deviations = columns - mean
    # Scale first: large numbers would overflow when squared.
    largest = np.abs(deviations).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    deviations /= largest
    return largest * np.sqrt(share @ deviations**2)


def share_with_both(
    one: StandardisedColumns, left: IntArray, other: StandardisedColumns, right: IntArray
) -> Any:
    """Share of rows in which a left and a right feature are both observed.

    Pairs are taken in order; 1 without missing values.
    """
    if one.observed is None and other.observed is None:
        return 1.0
    masks = [
        np.ones((len(one.share), len(columns)), dtype=bool)
        if table.observed is None
        else table.observed[:, columns]
        for table, columns in ((one, left), (other, right))
    ]
    return one.share @ (masks[0] & masks[1])


def membership_matrix(labels: IntArray, signs: FloatArray | None = None) -> Any:
    """Sparse matrix of shape (n_features, n_sets): which feature is in which set."""
    n = len(labels)
    values = np.ones(n) if signs is None else np.asarray(signs, dtype=np.float64)
    return sparse.csr_array((values, (np.arange(n), labels)), shape=(n, int(labels.max()) + 1))


def selection_matrix(members: IntArray, n_features: int) -> Any:
    """Sparse matrix of shape (n_features, n_members) that selects features."""
    shape = (n_features, len(members))
    return sparse.csr_array((np.ones(len(members)), (members, np.arange(len(members)))), shape)
