"""Sums over rows that come in batches, added in place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from coterie._core.evidence._columns import means
from coterie._core.evidence._products import add_products, in_one_piece, products_of
from coterie._core.values import FloatArray, IntArray

# The origin is moved to the means where the square of a mean exceeds the variance by this factor.
# Up to this factor, the loss of precision is two digits of sixteen.
FAR_FROM_ORIGIN = 100.0
# Columns are multiplied without centring if mean^2 / variance is at most this.
NEAR_ORIGIN = 10.0
# Relative distance between origin and mean that float64 cannot reduce further.
AS_NEAR_AS_FLOATS = 4 * float(np.finfo(np.float64).eps)
# Number of rows sampled to decide whether columns are far from 0.
N_SAMPLED_FOR_ORIGIN = 128
# Bytes of rows that are centred at a time.
AT_A_TIME = 2**27
# Largest array length passed to BLAS, whose integers may have 32 bits.
MOST = 2**30
# Rows of a matrix that are mirrored at a time.
ROWS_PER_STRIP = 512


@dataclass
class Accumulated:
    """Count, sums and sums of products of features and targets, about an origin near their means.

    Sums are additive: a new batch is added in place. It costs one matrix product and no further
    matrix.

    Parameters
    ----------
    count : float
        Number of rows, or the sum of their weights.
    origin, sums : ndarray of shape (n_features + n_targets,)
        The value subtracted from each column, and the sums of the differences.
    features : ndarray of shape (n_features, n_features)
        Sums of products, on and below the diagonal; entries above it are not used.
    cross : ndarray of shape (n_features, n_targets)
    targets : ndarray of shape (n_targets, n_targets)
    """

    count: float
    origin: FloatArray
    sums: FloatArray
    features: FloatArray
    cross: FloatArray
    targets: FloatArray

    def __post_init__(self) -> None:
        # BLAS adds in place only to contiguous arrays.
        self.features = np.ascontiguousarray(self.features)

    @classmethod
    def nothing(cls, n_features: int, n_targets: int) -> Accumulated:
        """Sums over zero rows."""
        origin, sums = np.zeros((2, n_features + n_targets))
        features = np.zeros((n_features, n_features))
        cross, targets = np.zeros((n_features, n_targets)), np.zeros((n_targets, n_targets))
        return cls(0.0, origin, sums, features, cross, targets)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def mean(self) -> FloatArray:
        """Mean of each column, features then targets."""
        return self.origin + self.from_origin

    @property
    def from_origin(self) -> FloatArray:
        """Mean of each column minus the origin."""
        return self.sums / self.count if self.count else self.sums

    @property
    def own(self) -> FloatArray:
        """Scatter of each column with itself."""
        products = np.concatenate([np.diagonal(self.features), np.diagonal(self.targets)])
        return np.maximum(products - self.count * np.square(self.from_origin), 0.0)

    @property
    def nbytes(self) -> int:
        """Memory that the sums take, in bytes."""
        return sum(each.nbytes for each in (self.features, self.cross, self.targets, self.sums))

    def add(
        self, features: FloatArray, targets: FloatArray, weights: FloatArray | None = None
    ) -> None:
        """Add rows of features and targets: finite float64 values, and positive weights if any."""
        if self.count == 0:
            self._settle(features, targets, weights)
        step = max(1, AT_A_TIME // (8 * max(1, features.shape[1])))
        for start in range(0, len(features), step):
            rows = slice(start, start + step)
            self._add(features[rows], targets[rows], None if weights is None else weights[rows])
        self._come_near()

    def _settle(
        self, features: FloatArray, targets: FloatArray, weights: FloatArray | None
    ) -> None:
        """Set the origin to the means of the first batch; 0 for features that are near 0."""
        d = self.n_features
        self.origin[d:] = means(targets, weights)
        some = features[:: max(1, len(features) // N_SAMPLED_FOR_ORIGIN)]
        if (np.square(some.mean(axis=0)) > NEAR_ORIGIN * some.var(axis=0)).any():
            self.origin[:d] = means(features, weights)

    def _add(self, features: FloatArray, targets: FloatArray, weights: FloatArray | None) -> None:
        d = self.n_features
        # Columns near 0 are multiplied without a copy.
        is_moved = bool(self.origin[:d].any())
        features = features - self.origin[:d] if is_moved else in_one_piece(features)
        targets = targets - self.origin[d:]
        counts = np.ones(len(features)) if weights is None else weights
        counted = np.column_stack([counts, counts[:, None] * targets])
        seen = products_of(features, counted)
        own = products_of(targets, counted[:, 1:])
        if weights is not None:
            roots = np.sqrt(weights)[:, None]
            features = np.multiply(roots, features, out=features if is_moved else None)
        # No large array is allocated from here on, so rows are added completely or not at all.
        self.count += float(counts.sum())
        self.sums[:d] += seen[:, 0]
        self.sums[d:] += counted[:, 1:].sum(axis=0)
        self.cross += seen[:, 1:]
        self.targets += own
        add_products(self.features, features)

    def _come_near(self) -> None:
        """Move the origin to the means if it is far from one of them."""
        gap = self.from_origin
        is_far = self.count * np.square(gap) > FAR_FROM_ORIGIN * self.own
        if (is_far & (np.abs(gap) > AS_NEAR_AS_FLOATS * np.abs(self.origin))).any():
            self.centre()

    def centre(self) -> None:
        """Move the origin to the means, so that sums of products become scatters."""
        gap = self.from_origin
        self._add_outer(gap, -self.count)
        self.origin += gap
        self.sums[:] = 0.0

    def _add_outer(self, vector: FloatArray, times: float) -> None:
        """Add the outer product of a vector with itself, multiplied by ``times``."""
        d = self.n_features
        _add_outer(self.features, vector[:d], times)
        self.cross += times * np.outer(vector[:d], vector[d:])
        self.targets += times * np.outer(vector[d:], vector[d:])

    def join(self, other: Accumulated) -> None:
        """Add the sums of another set of rows."""
        if other.count == 0:
            return
        # Both are taken about their own means, which may be far from the origin of the other.
        self.centre()
        gap = (other.origin - self.origin) + other.from_origin
        self.features += other.features
        self.cross += other.cross
        self.targets += other.targets
        self._add_outer(other.from_origin, -other.count)
        count = self.count + other.count
        self._add_outer(gap, self.count * other.count / count)
        self.origin += gap * (other.count / count)
        self.count = count

    def copy(self) -> Accumulated:
        """A deep copy."""
        return deepcopy(self)

    def with_targets(self, combined: FloatArray) -> Accumulated:
        """The same sums for linear combinations of the targets.

        ``combined`` has the weights, of shape (n_combined, n_targets). The matrix of the features
        is shared, not copied.
        """
        d = self.n_features
        return Accumulated(
            self.count,
            np.append(self.origin[:d], combined @ self.origin[d:]),
            np.append(self.sums[:d], combined @ self.sums[d:]),
            self.features,
            self.cross @ combined.T,
            combined @ self.targets @ combined.T,
        )


def sum_of_squares(rows: FloatArray) -> float:
    """Sum of all squares; finite only if all values and their squares are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        each = (blas.ddot(part, part) for part in _flat_parts(rows))
        return float(sum(each))


def _flat_parts(rows: FloatArray) -> Iterator[FloatArray]:
    flat = rows.ravel(order="K")
    for start in range(0, flat.size, MOST):
        yield flat[start : start + MOST]


def some_rows(rows: FloatArray, at: IntArray | slice) -> FloatArray:
    """Some of the rows, in the same memory order (C or Fortran) as the input."""
    if isinstance(at, slice) or not rows.flags.f_contiguous:
        return rows[at]
    return rows.T.take(at, axis=1).T


def _add_outer(products: FloatArray, vector: FloatArray, times: float) -> None:
    if len(vector):
        blas.dsyr(times, vector, a=products.T, overwrite_a=1)


def mirrored(lower: FloatArray, out: FloatArray) -> FloatArray:
    """The symmetric matrix with this lower triangle, written to ``out``."""
    out[:] = lower
    for start in range(0, len(lower), ROWS_PER_STRIP):
        end = min(start + ROWS_PER_STRIP, len(lower))
        corner = np.tril(out[start:end, start:end])
        out[start:end, start:end] = corner + np.tril(corner, -1).T
        out[start:end, end:] = out[end:, start:end].T
    return out
